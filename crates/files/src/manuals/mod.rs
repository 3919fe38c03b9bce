//! The manuals: read-only folders of files in the formats that are known, each with an id.

mod folders;

use std::path::PathBuf;

use annai_core::{ErrorKind, ToolError};

use self::folders::{FoundManuals, WORD_FILE, is_manual_id};
use crate::error::LibraryError;
use crate::fs::{
    self, Listing, ReadError, RelPath, Root, Sha256, TextFile, Unsearchable, UnsearchableReason, nfc,
};
use annai_text::{Document, Encoding, Format, extension_list, format_of, page_name};

pub use self::folders::{ManualFolder, membership};

/// The maximum size of a file of a manual, which is held in memory as a whole, as in the index. A larger one is refused.
pub const MAX_FILE_BYTES: u64 = 256 << 20;
/// The maximum size of that file, which is read with every find. A larger one is ignored, and counts as a warning.
const MAX_WORD_FILE_BYTES: u64 = 1 << 20;
/// How many ids the error about an unknown manual lists; the rest is left out.
const MAX_NAMED_MANUALS: usize = 20;
/// How many characters of an unknown id the error shows; the rest is left out.
const MAX_SHOWN_ID_CHARS: usize = 80;

/// The manuals in the configured folders.
pub struct Manuals {
    folders: Vec<ManualFolder>,
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

/// A file of a manual.
pub struct ManualFile {
    /// The stored path.
    pub path: String,
    /// Its format.
    pub format: &'static dyn Format,
    /// The hash of its bytes.
    pub sha256: Sha256,
    /// The encoding of its bytes.
    pub encoding: Encoding,
    /// Its content.
    pub document: Document,
}

/// The location of a manual that is not opened yet.
struct ManualLocation<'a> {
    id: String,
    root: &'a ManualFolder,
    /// The name of its folder in the root; `None` when the root itself is the manual.
    folder: Option<String>,
}

impl ManualLocation<'_> {
    fn open(&self) -> Result<Manual, ToolError> {
        let root = self.root.open()?;
        let root = match &self.folder {
            Some(folder) => root.below(folder)?,
            None => root,
        };
        Ok(Manual { id: self.id.clone(), root })
    }
}

impl Manuals {
    /// The manuals in these folders. A folder that is a link is resolved now.
    pub fn new(folders: Vec<ManualFolder>) -> Self {
        Self { folders: folders.into_iter().map(ManualFolder::resolved).collect() }
    }

    /// What lies beside the manuals and is not searched: files, and links, which are not followed.
    pub fn beside(&self) -> Vec<Unsearchable> {
        let found = self.folders.iter().filter_map(|folder| folder.look().ok());
        let mut beside: Vec<_> = found
            .flat_map(|found| match found {
                FoundManuals::Itself => Vec::new(),
                FoundManuals::Below { beside, .. } => beside,
            })
            .collect();
        beside.sort_unstable();
        beside.dedup();
        beside
    }

    /// The ids of manuals that another manual of the same id hides.
    pub fn hidden_ids(&self) -> Vec<String> {
        let mut ids: Vec<_> =
            self.locate_all().unwrap_or_default().into_iter().map(|found| found.id).collect();
        let names = ids.clone();
        ids.dedup();
        ids.retain(|id| names.iter().filter(|name| *name == id).count() > 1);
        ids
    }

    /// The ids of all manuals, sorted.
    pub fn ids(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.locate()?.into_iter().map(|found| found.id).collect())
    }

    /// The manual with this id, or else the only one whose id differs from it in nothing but its Unicode form.
    pub fn get(&self, id: &str) -> Result<Manual, ToolError> {
        if !is_manual_id(id) {
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
                self.check_named(id)?;
                let known: Vec<_> =
                    all.iter().take(MAX_NAMED_MANUALS).map(|found| found.id.as_str()).collect();
                let id = id.chars().take(MAX_SHOWN_ID_CHARS).collect();
                return Err(LibraryError::ManualNotFound { id, known: known.join(", ") }.into());
            }
        };
        found.open()
    }

    /// Says why the manual with an id is none: its folder does not exist, or is a link.
    fn check_named(&self, id: &str) -> Result<(), ToolError> {
        let is_named =
            |folder: &&ManualFolder| matches!(folder, ManualFolder::Named { id: named, .. } if named == id);
        if let Some(folder) = self.folders.iter().find(is_named) {
            folder.open()?;
        }
        let is_link = |file: &Unsearchable| file.path == id && file.reason == UnsearchableReason::Link;
        match self.beside().iter().any(is_link) {
            true => Err(LibraryError::LinkedManual { id: id.to_owned() }.into()),
            false => Ok(()),
        }
    }

    /// The manuals with these stored ids, in this order. The folders are listed once for all of them.
    pub fn get_all(&self, ids: &[String]) -> Result<Vec<Result<Manual, ToolError>>, ToolError> {
        let all = self.locate()?;
        let get = |id: &String| match all.binary_search_by(|found| found.id.cmp(id)) {
            Ok(index) => all.get(index).map_or_else(|| self.get(id), ManualLocation::open),
            Err(_) => self.get(id),
        };
        Ok(ids.iter().map(get).collect())
    }

    /// The word files that apply to these manuals: the shared ones, then the own file of each; and how many of them could
    /// not be read.
    pub fn word_files(&self, ids: &[String]) -> (Vec<WordFile>, usize) {
        let shared = self.folders.iter().filter_map(|folder| folder.open().ok());
        let own =
            self.get_all(ids).unwrap_or_default().into_iter().filter_map(|manual| Some(manual.ok()?.root));
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
        let mut all = self.locate_all()?;
        all.dedup_by(|later, first| later.id == first.id);
        Ok(all)
    }

    /// All manuals, sorted by their names.
    fn locate_all(&self) -> Result<Vec<ManualLocation<'_>>, ToolError> {
        let mut all: Vec<ManualLocation<'_>> = Vec::new();
        let mut missing = None;
        let mut opened = 0;
        // A name that somebody gave counts more than one that a folder happens to have.
        let (named, others): (Vec<_>, Vec<_>) =
            self.folders.iter().partition(|folder| matches!(folder, ManualFolder::Named { .. }));
        for root in named.into_iter().chain(others) {
            let found = match root.look() {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    missing = missing.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            opened += 1;
            match found {
                FoundManuals::Itself => {
                    let id = match root {
                        ManualFolder::Named { id, .. } => id.clone(),
                        _ => fs::folder_name(root.path()).unwrap_or_else(|| "manual".to_owned()),
                    };
                    all.push(ManualLocation { id, root, folder: None });
                }
                FoundManuals::Below { folders, .. } => {
                    all.extend(folders.into_iter().map(|name| ManualLocation {
                        id: name.clone(),
                        root,
                        folder: Some(name),
                    }));
                }
            }
        }
        match missing {
            Some(error) if opened == 0 => return Err(error),
            _ => {}
        }
        // The sort is stable, so that the first of two equal names stays first.
        all.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(all)
    }
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

    /// The stored paths of its searchable files, sorted.
    pub fn files(&self) -> Result<Vec<String>, ToolError> {
        Ok(self.listing()?.files)
    }

    /// The stored paths of its searchable files, and what is known to be unsearchable without reading the files.
    pub fn listing(&self) -> Result<Listing<String>, ToolError> {
        fs::files(&self.root.top()?, &membership)
    }

    /// Why a file cannot be searched; `None` when it can.
    pub fn unsearchable_reason(&self, path: &str) -> Option<UnsearchableReason> {
        let opened = RelPath::parse(path).and_then(|path| self.root.open_file(&path));
        let Ok((file, stored)) = opened else { return Some(UnsearchableReason::Unreadable) };
        match fs::try_read_text(file, &stored, MAX_FILE_BYTES).err()? {
            ReadError::NotText => Some(UnsearchableReason::Encoding),
            ReadError::TooLarge { .. } => Some(UnsearchableReason::TooLarge),
            // It is being changed, and may be readable a moment later.
            ReadError::Failed(error) if error.kind() == ErrorKind::Conflict => None,
            ReadError::Failed(_) => Some(UnsearchableReason::Unreadable),
        }
    }

    /// Reads and parses a file.
    pub fn file(&self, path: &RelPath) -> Result<ManualFile, ToolError> {
        let hidden = path.segments().any(|name| name.starts_with('.'));
        let format = format_of(path.as_str()).filter(|_| !hidden).ok_or_else(|| {
            let problem = format!(
                "is not a searchable file of a manual: only {} files that are not hidden are",
                extension_list()
            );
            LibraryError::not_found(path.as_str(), problem)
        })?;
        fs::retry_if_changed(|| {
            let (file, path) = self.root.open_file(path)?;
            let TextFile { text, sha256, encoding, .. } = fs::read_text(file, &path, MAX_FILE_BYTES)?;
            let document = format.parse(text, page_name(&path, &self.id));
            Ok(ManualFile { path, format, sha256, encoding, document })
        })
    }
}
