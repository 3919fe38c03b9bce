//! The types of files that manuals consist of, and which files belong to a manual.

use crate::fs::{EntryKind, Membership};

/// The file with additional synonyms and exception words.
pub const WORD_FILE: &str = "synonyms.yaml";

/// The type of a file of a manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// Markdown: `.md`, `.markdown` and `.mdx`.
    Md,
    /// Plain text: `.txt`. It has no headings, so the file is one node.
    Txt,
    /// JSON: `.json`. The file is one node.
    Json,
    /// HTML: `.html` and `.htm`. Its text is reduced to headings and rows of text; line numbers are the original's.
    Html,
}

impl FileType {
    /// The extensions of all types, for messages.
    pub const EXTENSIONS: &'static str = ".md, .markdown, .mdx, .txt, .json, .html and .htm";

    /// The type of a file, by its extension; `None` for files that are not searched.
    pub fn of(path: &str) -> Option<Self> {
        // Every file of a manual is asked with every find, so nothing is allocated.
        const TYPES: [(&str, FileType); 7] = [
            ("md", FileType::Md),
            ("markdown", FileType::Md),
            ("mdx", FileType::Md),
            ("txt", FileType::Txt),
            ("json", FileType::Json),
            ("html", FileType::Html),
            ("htm", FileType::Html),
        ];
        let (_, extension) = path.rsplit_once('.')?;
        TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, file_type)| *file_type)
    }

    /// The name that results show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Txt => "txt",
            Self::Json => "json",
            Self::Html => "html",
        }
    }
}

/// Whether a folder is entered, and a file is searched. Hidden ones do not belong to a manual, such as `.git`, and neither
/// does the word file; all other files do, whether they can be searched or not.
pub fn membership(path: &str, kind: EntryKind) -> Membership {
    let is_hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    match kind {
        _ if is_hidden || path == WORD_FILE => Membership::Ignored,
        EntryKind::File if FileType::of(path).is_none() => Membership::Unsearchable,
        EntryKind::File | EntryKind::Folder => Membership::Searched,
    }
}
