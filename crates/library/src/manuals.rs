//! The manuals: read-only folders of Markdown and JSON, each with an id.

use std::path::PathBuf;

use annai_core::{ErrorKind, ToolError};

use crate::error::LibraryError;
use crate::fs::{self, EntryKind, RelPath, Root, TextFile, nfc};
use crate::text::{LineIndex, Node, json_node, markdown_nodes};

/// The maximum size of a file of a manual, which is held in memory as a whole, as in the index. A larger one is refused.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// The file with additional synonyms and exception words.
const WORD_FILE: &str = "synonyms.yaml";
/// The maximum size of that file, which is read with every find. A larger one is ignored, and counts as a warning.
const MAX_WORD_FILE_BYTES: u64 = 1 << 20;
/// How many ids the error about an unknown manual lists; the rest is left out.
const MAX_NAMED_MANUALS: usize = 20;
/// How many characters of an unknown id the error shows; the rest is left out.
const MAX_SHOWN_ID_CHARS: usize = 80;

/// The manuals in the configured folders.
pub struct Manuals {
    folders: Vec<PathBuf>,
}

/// One manual.
pub struct Manual {
    /// Its id: the name of its folder.
    pub id: String,
    root: Root,
}

/// A file with additional synonyms and exception words.
pub struct WordFile {
    /// Its path.
    pub path: PathBuf,
    /// Its content.
    pub file: TextFile,
}

/// The type of a file of a manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// Markdown.
    Md,
    /// JSON.
    Json,
}

impl FileType {
    /// The type of a file, by its extension; `None` for files that do not belong to a manual.
    pub fn of(path: &str) -> Option<Self> {
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        match extension.as_deref() {
            Some("md") => Some(Self::Md),
            Some("json") => Some(Self::Json),
            _ => None,
        }
    }
}

/// A parsed file of a manual.
pub struct Document {
    /// The stored path.
    pub path: String,
    /// The type of the file.
    pub file_type: FileType,
    /// Its text and hash.
    pub file: TextFile,
    /// Its lines.
    pub lines: LineIndex,
    /// Its nodes, in order.
    pub nodes: Vec<Node>,
}

/// The location of a manual that is not opened yet.
struct ManualLocation<'a> {
    id: String,
    root: &'a PathBuf,
    /// The name of its folder in the root; `None` when the root itself is the manual.
    folder: Option<String>,
}

impl Manuals {
    /// The manuals in these folders. A folder that contains `.md` or `.json` files directly is a single manual.
    pub const fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The ids of all manuals, sorted.
    pub fn ids(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.locate()?.into_iter().map(|found| found.id).collect())
    }

    /// The manual with this id, or else the only one whose id differs from it in nothing but its Unicode form.
    pub fn get(&self, id: &str) -> Result<Manual, ToolError> {
        if id.is_empty()
            || id == ".."
            || id == "."
            || id.contains(['/', '\\'])
            || id.chars().any(char::is_control)
        {
            return Err(LibraryError::InvalidManualId.into());
        }
        let all = self.locate()?;
        let exact = all.iter().find(|found| found.id == id);
        let mut alike = all.iter().filter(|found| nfc(&found.id) == nfc(id));
        let found = match (exact, alike.next(), alike.next()) {
            (Some(exact), ..) => exact,
            (None, Some(only), None) => only,
            (None, Some(_), Some(_)) => return Err(LibraryError::AmbiguousManualId.into()),
            (None, None, _) => {
                let known: Vec<_> =
                    all.iter().take(MAX_NAMED_MANUALS).map(|found| found.id.as_str()).collect();
                let id = id.chars().take(MAX_SHOWN_ID_CHARS).collect();
                return Err(LibraryError::ManualNotFound { id, known: known.join(", ") }.into());
            }
        };
        let root = open(found.root)?;
        let root = match &found.folder {
            Some(folder) => root.below(folder)?,
            None => root,
        };
        Ok(Manual { id: found.id.clone(), root })
    }

    /// The word files that apply to these manuals: the shared ones, then the own file of each; and how many of them could
    /// not be read.
    pub fn word_files(&self, ids: &[String]) -> (Vec<WordFile>, usize) {
        let shared = self.folders.iter().filter_map(|folder| open(folder).ok());
        let own = ids.iter().filter_map(|id| Some(self.get(id).ok()?.root));
        let (mut files, mut unreadable) = (Vec::<WordFile>::new(), 0);
        for root in shared.chain(own) {
            let Ok(path) = RelPath::parse(WORD_FILE) else { continue };
            let read = root
                .open_file(&path)
                .and_then(|(file, path)| fs::read_text(file, &path, MAX_WORD_FILE_BYTES));
            match read {
                // The file of a root that is itself a manual is both shared and its own.
                Ok(file) if !files.iter().any(|known| known.file.sha256 == file.sha256) => {
                    files.push(WordFile { path: root.path().join(WORD_FILE), file });
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => unreadable += 1,
            }
        }
        (files, unreadable)
    }

    /// Finds the manuals. When two have the same name, the first one counts.
    fn locate(&self) -> Result<Vec<ManualLocation<'_>>, ToolError> {
        let mut all: Vec<ManualLocation<'_>> = Vec::new();
        let mut missing = None;
        let mut opened = 0;
        for path in &self.folders {
            let root = match open(path) {
                Ok(root) => root,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    missing = missing.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            opened += 1;
            let entries = root.top()?.entries()?;
            let holds_files =
                entries.iter().any(|entry| entry.kind == EntryKind::File && is_part(&entry.name, entry.kind));
            if holds_files {
                let id = fs::folder_name(path).unwrap_or_else(|| "manual".to_owned());
                all.push(ManualLocation { id, root: path, folder: None });
                continue;
            }
            let folders = entries
                .into_iter()
                .filter(|entry| entry.kind == EntryKind::Folder && is_part(&entry.name, entry.kind));
            all.extend(folders.map(|entry| ManualLocation {
                id: entry.name.clone(),
                root: path,
                folder: Some(entry.name),
            }));
        }
        match missing {
            Some(error) if opened == 0 => return Err(error),
            _ => {}
        }
        // The sort is stable, so that the first of two equal names stays first.
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all.dedup_by(|later, first| later.id == first.id);
        Ok(all)
    }
}

fn open(folder: &std::path::Path) -> Result<Root, ToolError> {
    Root::open(folder).map_err(|errno| {
        let folder = folder.display().to_string();
        let error = std::io::Error::from(errno);
        let failure = match error.kind() {
            std::io::ErrorKind::NotFound => LibraryError::ManualsFolderNotFound { folder },
            _ => LibraryError::ManualsFolderClosed { folder, cause: error.to_string() },
        };
        failure.into()
    })
}

/// Whether a folder is entered, or a file belongs to a manual. Hidden ones do not, such as `.git`.
pub fn is_part(path: &str, kind: EntryKind) -> bool {
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    !hidden && (kind == EntryKind::Folder || FileType::of(path).is_some())
}

impl Manual {
    /// The path of its folder.
    pub fn folder(&self) -> &std::path::Path {
        self.root.path()
    }

    /// Its root.
    pub fn into_root(self) -> Root {
        self.root
    }

    /// The stored paths of its files, sorted.
    pub fn files(&self) -> Result<Vec<String>, ToolError> {
        Ok(fs::files(&self.root.top()?, &is_part)?.files)
    }

    /// Reads and parses a file.
    pub fn document(&self, path: &RelPath) -> Result<Document, ToolError> {
        let hidden = path.segments().any(|name| name.starts_with('.'));
        let file_type = FileType::of(path.as_str()).filter(|_| !hidden).ok_or_else(|| {
            LibraryError::not_found(
                path.as_str(),
                "does not belong to a manual: only .md and .json files that are not hidden do",
            )
        })?;
        fs::retry_if_changed(|| {
            let (file, stored) = self.root.open_file(path)?;
            let file = fs::read_text(file, &stored, MAX_FILE_BYTES)?;
            Ok(Document::new(stored, file_type, file))
        })
    }
}

impl Document {
    fn new(path: String, file_type: FileType, file: TextFile) -> Self {
        let lines = LineIndex::new(&file.text);
        let name = path.rsplit('/').next().unwrap_or(&path);
        let nodes = match file_type {
            FileType::Md => markdown_nodes(&file.text, &lines, name),
            FileType::Json => vec![json_node(&lines, name)],
        };
        Self { path, file_type, file, lines, nodes }
    }

    /// The index of the innermost node that contains a line.
    pub fn node_at(&self, line: usize) -> Option<usize> {
        let after = self.nodes.partition_point(|node| node.start_line <= line);
        after.checked_sub(1).or((!self.nodes.is_empty()).then_some(0))
    }

    /// The text from one line to another, without the last line break.
    pub fn text_of(&self, first: usize, last: usize) -> &str {
        let last = last.min(self.lines.count());
        self.lines.range(first, last).and_then(|range| self.file.text.get(range)).unwrap_or_default()
    }
}
