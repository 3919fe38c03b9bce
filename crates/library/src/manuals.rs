//! The manuals: read-only folders of Markdown and JSON, each with an id.

use std::path::PathBuf;

use annai_core::{ErrorKind, ToolError};

use crate::error::LibraryError;
use crate::fs::{self, Kind, RelPath, Root, TextFile, nfc};
use crate::text::{LineIndex, Node, json_node, markdown_nodes};

/// The maximum size of a file of a manual, which is read as a whole: the same as in the index. A larger one is refused.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// The file that lists synonyms and words of exception.
const WORD_FILE: &str = "synonyms.yaml";
/// The maximum size of that file, which is read with every find. A larger one is passed over, and counts as a warning.
const MAX_WORD_FILE_BYTES: u64 = 1 << 20;
/// How many manuals an error names where the one that was asked for does not exist.
const MAX_NAMED_MANUALS: usize = 20;
/// How much of an id that does not exist an error shows.
const MAX_SHOWN_ID_CHARS: usize = 80;

/// The folders that manuals are looked for in.
pub struct Manuals {
    folders: Vec<PathBuf>,
}

/// One manual.
pub struct Manual {
    /// Its id, which is its folder's name.
    pub id: String,
    root: Root,
}

/// A file of words that mean the same.
pub struct WordFile {
    /// Where it is.
    pub place: PathBuf,
    /// The file.
    pub file: TextFile,
}

/// What a file of a manual is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// Markdown.
    Md,
    /// JSON.
    Json,
}

impl FileType {
    /// The type of a file by its name; `None` for what is no part of a manual.
    pub fn of(path: &str) -> Option<Self> {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        match ending.as_deref() {
            Some("md") => Some(Self::Md),
            Some("json") => Some(Self::Json),
            _ => None,
        }
    }
}

/// A file of a manual, read and taken apart.
pub struct Document {
    /// The stored path.
    pub path: String,
    /// The kind of problem.
    pub kind: FileType,
    /// The text and its hash.
    pub file: TextFile,
    /// Its lines.
    pub lines: LineIndex,
    /// Its nodes, in order.
    pub nodes: Vec<Node>,
}

/// Where a manual is, before it is opened.
struct ManualLocation<'a> {
    id: String,
    root: &'a PathBuf,
    /// Its folder in the root; none where the root itself is the manual.
    folder: Option<String>,
}

impl Manuals {
    pub const fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The ids of all manuals, sorted.
    pub fn ids(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.find()?.into_iter().map(|found| found.id).collect())
    }

    /// The manual of this id: that very name, else the one that differs only in its Unicode form.
    pub fn get(&self, id: &str) -> Result<Manual, ToolError> {
        if id.is_empty()
            || id == ".."
            || id == "."
            || id.contains(['/', '\\'])
            || id.chars().any(char::is_control)
        {
            return Err(LibraryError::InvalidManualId.into());
        }
        let all = self.find()?;
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

    /// The files of words that hold for these manuals: those beside them, then each one's own; and how many of them
    /// cannot be read.
    pub fn word_files(&self, ids: &[String]) -> (Vec<WordFile>, usize) {
        let shared = self.folders.iter().filter_map(|folder| open(folder).ok());
        let own = ids.iter().filter_map(|id| Some(self.get(id).ok()?.root));
        let (mut files, mut bad) = (Vec::<WordFile>::new(), 0);
        for root in shared.chain(own) {
            let Ok(path) = RelPath::parse(WORD_FILE) else { continue };
            let read = root
                .open_file(&path)
                .and_then(|(file, path)| fs::read_text(file, &path, MAX_WORD_FILE_BYTES));
            match read {
                // A root that is itself a manual comes twice.
                Ok(file) if !files.iter().any(|known| known.file.sha256 == file.sha256) => {
                    files.push(WordFile { place: root.path().join(WORD_FILE), file });
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => bad += 1,
            }
        }
        (files, bad)
    }

    /// Looks for manuals; of two folders with one name the first counts.
    fn find(&self) -> Result<Vec<ManualLocation<'_>>, ToolError> {
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
                entries.iter().any(|entry| entry.kind == Kind::File && is_part(&entry.name, entry.kind));
            if holds_files {
                let id = fs::folder_name(path).unwrap_or_else(|| "manual".to_owned());
                all.push(ManualLocation { id, root: path, folder: None });
                continue;
            }
            let folders = entries
                .into_iter()
                .filter(|entry| entry.kind == Kind::Folder && is_part(&entry.name, entry.kind));
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
        // A stable sort keeps the order of the folders among equals.
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

/// Whether a folder is looked into, or a file belongs to the manual. Hidden ones are somebody else's.
pub fn is_part(path: &str, kind: Kind) -> bool {
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    !hidden && (kind == Kind::Folder || FileType::of(path).is_some())
}

impl Manual {
    /// Where its folder is.
    pub fn folder(&self) -> &std::path::Path {
        self.root.path()
    }

    /// Its folder.
    pub fn into_root(self) -> Root {
        self.root
    }

    /// The stored paths of its files, sorted.
    pub fn files(&self) -> Result<Vec<String>, ToolError> {
        Ok(fs::files(&self.root.top()?, &is_part)?.files)
    }

    /// Reads a file and takes it apart.
    pub fn document(&self, path: &RelPath) -> Result<Document, ToolError> {
        let hidden = path.segments().any(|name| name.starts_with('.'));
        let kind = FileType::of(path.as_str()).filter(|_| !hidden).ok_or_else(|| {
            LibraryError::not_found(
                path.as_str(),
                "is no part of a manual: only .md and .json files that are not hidden are",
            )
        })?;
        fs::steadily(|| {
            let (file, stored) = self.root.open_file(path)?;
            let file = fs::read_text(file, &stored, MAX_FILE_BYTES)?;
            Ok(Document::new(stored, kind, file))
        })
    }
}

impl Document {
    fn new(path: String, kind: FileType, file: TextFile) -> Self {
        let lines = LineIndex::new(&file.text);
        let name = path.rsplit('/').next().unwrap_or(&path);
        let nodes = match kind {
            FileType::Md => markdown_nodes(&file.text, &lines, name),
            FileType::Json => vec![json_node(&lines, name)],
        };
        Self { path, kind, file, lines, nodes }
    }

    /// The innermost node that a line belongs to, as an index.
    pub fn node_at(&self, line: usize) -> Option<usize> {
        let after = self.nodes.partition_point(|node| node.start_line <= line);
        after.checked_sub(1).or((!self.nodes.is_empty()).then_some(0))
    }

    /// The text from one line to another, without the last break.
    pub fn text_of(&self, first: usize, last: usize) -> &str {
        let last = last.min(self.lines.count());
        self.lines.range(first, last).and_then(|range| self.file.text.get(range)).unwrap_or_default()
    }
}
