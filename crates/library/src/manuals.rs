//! The manuals: read-only folders of Markdown and JSON, each with an id.

use std::path::PathBuf;

use annai_core::{ErrorKind, ToolError};
use serde_json::json;

use crate::fs::{self, Kind, RelPath, Root, TextFile, nfc};
use crate::text::{LineIndex, Node, json_node, markdown_nodes};

/// Larger files are not read as a whole.
const MOST_BYTES: u64 = 256 << 20;
/// A file that changes while it is read is read again, so often.
const ATTEMPTS: usize = 3;

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
    /// What it is.
    pub kind: FileType,
    /// The text and its hash.
    pub file: TextFile,
    /// Its lines.
    pub lines: LineIndex,
    /// Its nodes, in order.
    pub nodes: Vec<Node>,
}

impl Manuals {
    pub const fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// All manuals, by id; of two with the same id the first one counts.
    pub fn all(&self) -> Result<Vec<Manual>, ToolError> {
        let mut found: Vec<Manual> = Vec::new();
        let mut missing = Vec::new();
        for folder in &self.folders {
            let Ok(root) = Root::open(folder) else {
                missing.push(folder.display().to_string());
                continue;
            };
            let entries = root.top()?.entries()?;
            let holds_files =
                entries.iter().any(|entry| entry.kind == Kind::File && is_part(&entry.name, entry.kind));
            let mut add = |manual: Manual| {
                if !found.iter().any(|known| nfc(&known.id) == nfc(&manual.id)) {
                    found.push(manual);
                }
            };
            if holds_files {
                let id = fs::folder_name(folder).unwrap_or_else(|| "manual".to_owned());
                add(Manual { id, root });
                continue;
            }
            for entry in
                entries.into_iter().filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'))
            {
                if let Ok(below) = root.below(&entry.name) {
                    add(Manual { id: entry.name, root: below });
                }
            }
        }
        if let (true, [first, ..]) = (missing.len() == self.folders.len(), missing.as_slice()) {
            let sentence = format!(
                "the manuals folder {first} does not exist; make it, or set MANUALS_ROOT or --manuals"
            );
            return Err(ToolError::new(ErrorKind::NotFound, sentence));
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// The manual of this id.
    pub fn get(&self, id: &str) -> Result<Manual, ToolError> {
        if id.is_empty()
            || id == ".."
            || id == "."
            || id.contains(['/', '\\'])
            || id.chars().any(char::is_control)
        {
            let sentence =
                "manual_id: expected the name of a manual, without separators or `..`; manual_list has them";
            return Err(ToolError::new(ErrorKind::InvalidPath, sentence));
        }
        let mut all = self.all()?;
        let exact = all.iter().position(|manual| manual.id == id);
        let index = exact.or_else(|| all.iter().position(|manual| nfc(&manual.id) == nfc(id)));
        match index {
            Some(index) => Ok(all.swap_remove(index)),
            None => {
                let known: Vec<_> = all.iter().take(20).map(|manual| manual.id.as_str()).collect();
                let shown: String = id.chars().take(80).collect();
                let sentence =
                    format!("manual_id: no manual is named \"{shown}\"; there are: {}", known.join(", "));
                Err(ToolError::new(ErrorKind::NotFound, sentence).with_details(json!({ "manual_id": shown })))
            }
        }
    }
}

/// Whether a folder is looked into, or a file belongs to the manual. Hidden ones are somebody else's.
fn is_part(path: &str, kind: Kind) -> bool {
    let hidden = path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    !hidden && (kind == Kind::Folder || FileType::of(path).is_some())
}

impl Manual {
    /// The stored paths of its files, sorted.
    pub fn files(&self) -> Result<Vec<String>, ToolError> {
        Ok(fs::files(&self.root.top()?, &is_part)?.files)
    }

    /// Reads a file and takes it apart.
    pub fn document(&self, path: &RelPath) -> Result<Document, ToolError> {
        let kind = FileType::of(path.as_str()).ok_or_else(|| {
            fs::at(ErrorKind::NotFound, path.as_str(), "is no part of a manual: only .md and .json files are")
        })?;
        for attempt in 1.. {
            let (file, stored) = self.root.open_file(path)?;
            match fs::read_text(file, &stored, MOST_BYTES) {
                Err(error) if error.kind() == ErrorKind::Conflict && attempt < ATTEMPTS => {}
                other => return Ok(Document::new(stored, kind, other?)),
            }
        }
        Err(ToolError::internal("unreachable"))
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
