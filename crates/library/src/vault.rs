//! The vault: where it is, what may be touched in it, and the one way to write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use annai_core::{Date, ErrorKind, ToolError};
use rustix::io::Errno;

use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::fs::{self, Kind, Lock, Place, RelPath, Root, SYSTEM, Sha256};

const ARTIFACTS: &str = "artifacts";
const DAILY: &str = "daily";

/// A writable folder of text.
pub struct Vault {
    path: PathBuf,
    root: Mutex<Option<Arc<Root>>>,
}

/// What is about to be done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultOperation {
    /// Making a file with `vault_create`.
    Create,
    /// Making a file in another way.
    CreateOtherwise,
    /// Replacing a file's content, or parts of it.
    Overwrite,
    /// Adding at a file's end.
    Append,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The stored path.
    pub path: String,
    /// How many bytes were given.
    pub bytes: usize,
    /// The hash of the whole file afterwards.
    pub sha256: Sha256,
}

impl Vault {
    pub const fn new(path: PathBuf) -> Self {
        Self { path, root: Mutex::new(None) }
    }

    /// The root, opened once; again only when the folder was removed since.
    pub fn root(&self) -> Result<Arc<Root>, ToolError> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = root.as_ref().filter(|root| root.is_there()) {
            return Ok(root.clone());
        }
        let opened = Arc::new(Root::open(&self.path).map_err(|errno| self.missing(errno))?);
        *root = Some(opened.clone());
        Ok(opened)
    }

    /// The root for writing; where there is none yet, it is made.
    fn root_for_writing(&self) -> Result<Arc<Root>, ToolError> {
        match self.root() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::make_root(&self.path)?;
                self.root()
            }
            other => other,
        }
    }

    fn missing(&self, errno: Errno) -> ToolError {
        let folder = self.path.display().to_string();
        let failure = match errno {
            Errno::NOENT => LibraryError::VaultNotFound { folder },
            _ => LibraryError::VaultClosed { folder, cause: std::io::Error::from(errno).to_string() },
        };
        failure.into()
    }

    /// Runs one write while no other writer, in any process, touches the vault.
    /// A caller who has gone by then gets nothing written.
    pub fn write<T>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut Writer<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let root = self.root_for_writing()?;
        let lock = Lock::acquire(&root, &|| cancellation.check())?;
        cancellation.check()?;
        work(&mut Writer { root: &root, lock })
    }
}

/// Refuses what is reserved for the server.
pub fn check_open(path: &RelPath) -> Result<(), ToolError> {
    let reserved = path.folded().first().is_some_and(|first| first == SYSTEM);
    if reserved || path.segments().any(fs::is_temporary) {
        return Err(LibraryError::forbidden(path.as_str(), "is reserved for the server").into());
    }
    Ok(())
}

/// Whether a stored path is open to listings and searches.
pub fn is_open(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    !first.starts_with('.') || fs::fold_name(first) != SYSTEM
}

/// Refuses what the rules of the vault do not allow to be done to a path.
pub fn check_write(path: &RelPath, operation: VaultOperation) -> Result<(), ToolError> {
    check_open(path)?;
    if matches!(operation, VaultOperation::Create | VaultOperation::CreateOtherwise) {
        path.check_portable()?;
    }
    let folded = path.folded();
    let parts: Vec<_> = folded.iter().map(String::as_str).collect();
    let forbid = |why: &str| Err(LibraryError::forbidden(path.as_str(), why).into());
    match parts.as_slice() {
        [ARTIFACTS] | [ARTIFACTS, DAILY] => forbid("is a folder of its own; give a file below it"),
        [ARTIFACTS, DAILY, name] => {
            let date = path.name().strip_suffix(".md").filter(|_| name.ends_with(".md"));
            if date.and_then(Date::parse).is_none() {
                return forbid("is not a day: artifacts/daily/ takes only YYYY-MM-DD.md with a real date");
            }
            match operation {
                VaultOperation::Create | VaultOperation::Append => Ok(()),
                VaultOperation::CreateOtherwise => {
                    forbid("does not exist; a day is made with vault_create, then appended to")
                }
                VaultOperation::Overwrite => forbid("can only be appended to"),
            }
        }
        [ARTIFACTS, DAILY, ..] => forbid("is too deep: artifacts/daily/ takes only YYYY-MM-DD.md"),
        [ARTIFACTS, .., name] if !name.ends_with(".md") && !name.ends_with(".json") => {
            forbid("has no fitting ending: artifacts/ takes only .md and .json files")
        }
        _ => Ok(()),
    }
}

/// The one who may write.
pub struct Writer<'a> {
    root: &'a Root,
    lock: Lock,
}

impl Writer<'_> {
    /// Makes a new file, and its folders.
    pub fn create(
        &mut self,
        path: &RelPath,
        content: &str,
        operation: VaultOperation,
    ) -> Result<Written, ToolError> {
        check_write(path, operation)?;
        let folder = fs::make_folders(self.root, path.parent().as_ref())?;
        if let Some((stored, _)) = folder.find(path.name())? {
            let problem = "exists already; vault_write changes it";
            return Err(LibraryError::conflict(folder.join(&stored), problem).into());
        }
        fs::create(&mut self.lock, &folder, path.name(), content.as_bytes())?;
        let sha256 = Sha256::of(content.as_bytes());
        Ok(Written { path: folder.join(path.name()), bytes: content.len(), sha256 })
    }

    /// The file that a path leads to; it must be there.
    pub fn existing(&self, path: &RelPath) -> Result<Place, ToolError> {
        let missing = || LibraryError::conflict(path.as_str(), "does not exist; vault_create makes it");
        let place = match self.root.find(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing().into()),
            other => other?,
        };
        match place.found {
            Some(Kind::File) => Ok(place),
            Some(Kind::Folder) => {
                Err(LibraryError::wrong_path(place.path(), "is a folder, not a file").into())
            }
            None => Err(missing().into()),
        }
    }

    /// Whether a path leads to a file.
    pub fn exists(&self, path: &RelPath) -> Result<bool, ToolError> {
        match self.root.find(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            other => Ok(other?.found.is_some()),
        }
    }

    /// Refuses when the file is not the one that the caller saw last.
    pub fn check_hash(&self, place: &Place, expected: Option<&str>) -> Result<(), ToolError> {
        let Some(expected) = expected else { return Ok(()) };
        let found = hash(place)?;
        if found.to_string().eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        let problem = "is not the file you saw (its SHA-256 differs); read it again. Nothing was written";
        Err(LibraryError::conflict(place.path(), problem).into())
    }

    /// Puts new content in the place of a file.
    pub fn overwrite(&mut self, place: &Place, content: &str) -> Result<Written, ToolError> {
        fs::overwrite(&mut self.lock, &place.folder, &place.name, content.as_bytes())?;
        Ok(Written { path: place.path(), bytes: content.len(), sha256: Sha256::of(content.as_bytes()) })
    }

    /// Whether a file ends with a line break, or is empty.
    pub fn ends_with_break(&self, place: &Place) -> Result<bool, ToolError> {
        fs::ends_with_break(place.folder.open_file(&place.name)?, &place.path())
    }

    /// Adds at the end of a file.
    pub fn append(&mut self, place: &Place, content: &str) -> Result<Written, ToolError> {
        fs::append(&mut self.lock, &place.folder, &place.name, content.as_bytes())?;
        Ok(Written { path: place.path(), bytes: content.len(), sha256: hash(place)? })
    }
}

fn hash(place: &Place) -> Result<Sha256, ToolError> {
    fs::hash(place.folder.open_file(&place.name)?, &place.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_vault() {
        use VaultOperation::{Append, Create, CreateOtherwise, Overwrite};
        for (path, operation, allowed) in [
            ("notes/a.txt", Create, true),
            ("notes/a.txt", Overwrite, true),
            (".system/x", Append, false),
            (".SYSTEM/x", Create, false),
            ("a/.annai-tmp-1-2", Create, false),
            ("artifacts/plan.md", Create, true),
            ("artifacts/deep/graph.JSON", Overwrite, true),
            ("artifacts/plan.txt", Create, false),
            ("Artifacts/plan.txt", Append, false),
            ("artifacts", Create, false),
            ("artifacts/daily", Create, false),
            ("artifacts/daily/2026-02-28.md", Create, true),
            ("artifacts/daily/2026-02-28.md", Append, true),
            ("artifacts/daily/2026-02-28.md", Overwrite, false),
            ("artifacts/daily/2026-02-28.md", CreateOtherwise, false),
            ("artifacts/daily/2026-02-30.md", Create, false),
            ("artifacts/daily/2026-02-28.MD", Create, false),
            ("artifacts/daily/note.md", Create, false),
            ("artifacts/daily/x/2026-02-28.md", Create, false),
            ("ARTIFACTS/Daily/2026-02-28.md", Overwrite, false),
            ("artifacts/DAILY/note.md", Create, false),
            ("artifacts./daily /2026-02-28.md", Overwrite, false),
            ("x/artifacts/daily/note.txt", Overwrite, true),
        ] {
            let path = RelPath::parse(path).unwrap();
            assert_eq!(check_write(&path, operation).is_ok(), allowed, "{path:?} {operation:?}");
        }
    }
}
