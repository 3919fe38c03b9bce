//! The vault: its root, the rules about what may be written where, and the writer, which holds the lock.

mod names;
mod quota;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use annai_core::{Date, ErrorKind, ToolError};
use rustix::io::Errno;

use self::names::NameRules;
use self::quota::{SizeChange, VaultQuota};
use crate::error::LibraryError;
use crate::fs::{
    self, EntryKind, ExecuteBit, Membership, RelPath, ResolvedPath, Root, SYSTEM_DIR, Sha256, WriteLock,
};
use annai_core::cancellation::Cancellation;
use annai_text::{Encoding, LineEnding, LineEndingCounter};

pub use self::names::is_hidden;
pub use self::quota::VaultLimits;

const ARTIFACTS: &str = "artifacts";
const DAILY: &str = "daily";

/// Whether a stored path lies in the folder of artifacts.
pub fn is_artifact(path: &str) -> bool {
    path.split('/').next().is_some_and(|first| fs::fold_name(first) == ARTIFACTS)
}

/// Whether a stored path lies in the folder of daily files.
pub fn is_daily(path: &str) -> bool {
    is_artifact(path) && path.split('/').nth(1).is_some_and(|second| fs::fold_name(second) == DAILY)
}

/// A writable folder of text files.
pub struct Vault {
    path: PathBuf,
    /// Whether somebody chose the folder; any other is used if it exists, and not created.
    is_chosen: bool,
    root: Mutex<Option<Arc<Root>>>,
    quota: VaultQuota,
    names: NameRules,
}

/// What a call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VaultOperation {
    /// Create it with `vault_create`.
    Create,
    /// Create it as the target of a copy.
    CreateByCopy,
    /// Replace its content, or parts of it.
    Overwrite,
    /// Append to it.
    Append,
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteReport {
    /// The stored path.
    pub path: String,
    /// The number of bytes that were written.
    pub bytes: usize,
    /// The SHA-256 of the whole file afterwards.
    pub sha256: Sha256,
}

impl Vault {
    /// The vault in a folder. `allowed_names` are the exceptions that its owner made from the rules about names.
    pub fn new(path: PathBuf, is_chosen: bool, limits: VaultLimits, allowed_names: &[String]) -> Self {
        Self {
            path,
            is_chosen,
            root: Mutex::new(None),
            quota: VaultQuota::new(limits),
            names: NameRules::new(allowed_names),
        }
    }

    /// The root, which is opened once, and again only when its folder was removed.
    pub fn root(&self) -> Result<Arc<Root>, ToolError> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = root.as_ref().filter(|root| root.still_exists()) {
            return Ok(root.clone());
        }
        let opened = Arc::new(Root::open(&self.path).map_err(|errno| self.open_error(errno))?);
        *root = Some(opened.clone());
        Ok(opened)
    }

    /// The root for writing, which is created when it does not exist and somebody chose it.
    fn root_for_writing(&self) -> Result<Arc<Root>, ToolError> {
        match self.root() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_root(&self.path)?;
                self.root()
            }
            other => other,
        }
    }

    fn open_error(&self, errno: Errno) -> ToolError {
        let folder = self.path.display().to_string();
        let failure = match errno {
            Errno::NOENT if !self.is_chosen => LibraryError::VaultNotSet,
            Errno::NOENT => LibraryError::VaultNotFound { folder },
            _ => LibraryError::VaultClosed { folder, cause: std::io::Error::from(errno).to_string() },
        };
        failure.into()
    }

    /// Runs a write while no other process writes to the vault. When the call was cancelled while it waited for the lock,
    /// nothing is written.
    pub fn write<T>(
        &self,
        cancellation: &Cancellation,
        work: impl FnOnce(&mut VaultWriter<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let root = self.root_for_writing()?;
        let lock = WriteLock::acquire(&root, &|| cancellation.check())?;
        cancellation.check()?;
        work(&mut VaultWriter { vault: self, root: &root, lock })
    }

    /// Refuses to read a path that is reserved for the server, or hidden.
    pub fn check_readable(&self, path: &RelPath) -> Result<(), ToolError> {
        self.names.check_readable(path)
    }

    /// Refuses an operation that the rules of the vault do not allow on a path.
    pub fn check_write(&self, path: &RelPath, operation: VaultOperation) -> Result<(), ToolError> {
        self.names.check_writable(path)?;
        check_place(path, operation)
    }

    /// Parses the path of a folder that listings and searches may enter; `None` is the root.
    pub fn parse_visible_folder(&self, path: Option<&str>) -> Result<Option<RelPath>, ToolError> {
        let folder = path.map(RelPath::parse_folder).transpose()?.flatten();
        folder.as_ref().map_or(Ok(()), |folder| self.check_readable(folder))?;
        Ok(folder)
    }
}

/// Whether listings and searches show an entry, by its stored path. What is below a hidden folder is not looked at, unless the
/// caller names that folder and the owner allowed it, so that the last name decides.
pub fn visibility(path: &str) -> Membership {
    let name = path.rsplit('/').next().unwrap_or(path);
    if !is_hidden(name) {
        Membership::Searched
    } else if fs::fold_name(path) == SYSTEM_DIR {
        Membership::Ignored
    } else {
        Membership::Hidden
    }
}

/// Refuses an operation that is not allowed in the folder of a path: `artifacts` has rules of its own.
fn check_place(path: &RelPath, operation: VaultOperation) -> Result<(), ToolError> {
    if matches!(operation, VaultOperation::Create | VaultOperation::CreateByCopy) {
        path.check_portable()?;
    }
    let folded = path.folded();
    let parts: Vec<_> = folded.iter().map(String::as_str).collect();
    let forbid = |problem: &str| Err(LibraryError::forbidden(path.as_str(), problem).into());
    match parts.as_slice() {
        [ARTIFACTS] | [ARTIFACTS, DAILY] => forbid("is a folder; give the path of a file in it"),
        [ARTIFACTS, DAILY, name] => {
            let date = path.name().strip_suffix(".md").filter(|_| name.ends_with(".md"));
            if date.and_then(Date::parse).is_none() {
                return forbid(
                    "is not a date: artifacts/daily/ accepts only YYYY-MM-DD.md with a valid date",
                );
            }
            match operation {
                VaultOperation::Create | VaultOperation::Append => Ok(()),
                VaultOperation::CreateByCopy => {
                    forbid("does not exist; create a daily file with vault_create, then append to it")
                }
                VaultOperation::Overwrite => forbid("can only be appended to"),
            }
        }
        [ARTIFACTS, DAILY, ..] => forbid("is in a subfolder: artifacts/daily/ accepts only YYYY-MM-DD.md"),
        [ARTIFACTS, .., name] if !name.ends_with(".md") && !name.ends_with(".json") => {
            forbid("has the wrong extension: artifacts/ accepts only .md and .json files")
        }
        _ => Ok(()),
    }
}

/// A writer that holds the lock of the vault.
pub struct VaultWriter<'a> {
    vault: &'a Vault,
    root: &'a Root,
    lock: WriteLock,
}

impl VaultWriter<'_> {
    /// Creates a file, and its folders.
    pub fn create(
        &mut self,
        path: &RelPath,
        content: &str,
        operation: VaultOperation,
    ) -> Result<WriteReport, ToolError> {
        self.vault.check_write(path, operation)?;
        let change = SizeChange { before: None, after: content.len() as u64 };
        let usage = self.vault.quota.check(self.root, &self.lock, path.as_str(), change)?;
        let folder = fs::create_folders(self.root, path.parent().as_ref())?;
        if let Some((stored, _)) = folder.find(path.name())? {
            let problem = "already exists; vault_write changes it";
            return Err(LibraryError::conflict(folder.join(&stored), problem).into());
        }
        self.lock.record_usage(usage);
        let written = fs::create(&mut self.lock, &folder, path.name(), content.as_bytes());
        self.settle(written)?;
        let sha256 = Sha256::of(content.as_bytes());
        Ok(WriteReport { path: folder.join(path.name()), bytes: content.len(), sha256 })
    }

    /// Resolves the path of a file that must exist.
    pub fn existing(&self, path: &RelPath) -> Result<ResolvedPath, ToolError> {
        let missing = || LibraryError::conflict(path.as_str(), "does not exist; vault_create creates it");
        let file = match self.root.resolve(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing().into()),
            other => other?,
        };
        match file.kind {
            Some(EntryKind::File) => Ok(file),
            Some(EntryKind::Folder) => Err(LibraryError::wrong_path(file.path(), fs::IS_FOLDER).into()),
            None => Err(missing().into()),
        }
    }

    /// Whether a file or folder exists at a path.
    pub fn exists(&self, path: &RelPath) -> Result<bool, ToolError> {
        match self.root.resolve(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            other => Ok(other?.kind.is_some()),
        }
    }

    /// Refuses when the hash of the file is not the one that the caller expects.
    pub fn check_hash(&self, file: &ResolvedPath, expected: Option<&str>) -> Result<(), ToolError> {
        let Some(expected) = expected else { return Ok(()) };
        let found = hash_of(file)?;
        if found.to_string().eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        let problem = "has changed (its SHA-256 is not if_sha256); read it again. Nothing was written";
        Err(LibraryError::conflict(file.path(), problem).into())
    }

    /// Refuses to write to a file that is not UTF-8, and returns its line ending. Text in another encoding would be garbled
    /// by an addition in UTF-8, and programs that expect its encoding by a replacement.
    pub fn check_encoding(&self, file: &ResolvedPath) -> Result<LineEnding, ToolError> {
        let mut counter = LineEndingCounter::default();
        let opened = file.folder.open_file(&file.name)?;
        let found =
            fs::stream_text(opened, &file.path(), &mut |piece| counter.add(piece)).map_err(|error| {
                match error.kind() {
                    ErrorKind::Forbidden => {
                        let problem = "is not text, and was not changed; create a new file with vault_create";
                        LibraryError::forbidden(file.path(), problem).into()
                    }
                    _ => error,
                }
            })?;
        check_utf8(&file.path(), found.encoding)?;
        Ok(counter.ending())
    }

    /// Replaces the content of a file.
    pub fn overwrite(&mut self, file: &ResolvedPath, content: &str) -> Result<WriteReport, ToolError> {
        let before = file.folder.stamp(&file.name)?.size;
        let change = SizeChange { before: Some(before), after: content.len() as u64 };
        let usage = self.vault.quota.check(self.root, &self.lock, &file.path(), change)?;
        let execute_bit = self.execute_bit(file);
        self.lock.record_usage(usage);
        let written =
            fs::overwrite(&mut self.lock, &file.folder, &file.name, content.as_bytes(), execute_bit);
        self.settle(written)?;
        Ok(WriteReport { path: file.path(), bytes: content.len(), sha256: Sha256::of(content.as_bytes()) })
    }

    /// Whether a file ends with a line break, or is empty.
    pub fn ends_with_break(&self, file: &ResolvedPath) -> Result<bool, ToolError> {
        fs::ends_with_break(file.folder.open_file(&file.name)?, &file.path())
    }

    /// Appends to a file.
    pub fn append(&mut self, file: &ResolvedPath, content: &str) -> Result<WriteReport, ToolError> {
        let before = file.folder.stamp(&file.name)?.size;
        let after = before.saturating_add(content.len() as u64);
        let change = SizeChange { before: Some(before), after };
        let usage = self.vault.quota.check(self.root, &self.lock, &file.path(), change)?;
        let execute_bit = self.execute_bit(file);
        self.lock.record_usage(usage);
        let written = fs::append(&mut self.lock, &file.folder, &file.name, content.as_bytes(), execute_bit);
        self.settle(written)?;
        Ok(WriteReport { path: file.path(), bytes: content.len(), sha256: hash_of(file)? })
    }

    /// Whether a file with an execute bit may be changed.
    fn execute_bit(&self, file: &ResolvedPath) -> ExecuteBit {
        if self.vault.names.allows(&file.name) { ExecuteBit::Accepted } else { ExecuteBit::Refused }
    }

    /// After a write that failed, what the vault holds is not known: the next writer measures it again.
    fn settle(&self, written: Result<(), ToolError>) -> Result<(), ToolError> {
        if written.is_err() {
            self.lock.record_usage(None);
        }
        written
    }
}

/// Refuses to change a file in another encoding than UTF-8, and says how to convert it.
pub fn check_utf8(path: &str, encoding: Encoding) -> Result<(), ToolError> {
    let Some(encoding) = encoding.other_name() else { return Ok(()) };
    let problem = format!(
        "is in {encoding}, and only UTF-8 files can be changed. To convert it, read it with vault_read and create a new file with vault_create, which is UTF-8"
    );
    Err(LibraryError::forbidden(path, problem).into())
}

fn hash_of(file: &ResolvedPath) -> Result<Sha256, ToolError> {
    fs::hash_file(file.folder.open_file(&file.name)?, &file.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_entries_are_not_shown() {
        for (path, expected) in [
            ("a.md", Membership::Searched),
            (".system", Membership::Ignored),
            (".System", Membership::Ignored),
            (".git", Membership::Hidden),
            ("a/.system", Membership::Hidden),
            ("a/.b.md", Membership::Hidden),
            (".allowed/b.md", Membership::Searched),
        ] {
            assert_eq!(visibility(path), expected, "{path}");
        }
    }

    #[test]
    fn each_operation_is_allowed_only_where_the_rules_permit_it() {
        use VaultOperation::{Append, Create, CreateByCopy, Overwrite};
        let limits = VaultLimits { max_bytes: 0, max_files: 0, max_file_bytes: 0 };
        for (path, operation, allowed) in [
            ("notes/a.txt", Create, true),
            ("notes/a.txt", Overwrite, true),
            (".system/x", Append, false),
            (".SYSTEM/x", Create, false),
            ("notes/.a.txt", Create, false),
            ("AGENTS.md", Append, false),
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
            ("artifacts/daily/2026-02-28.md", CreateByCopy, false),
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
            let vault = Vault::new(PathBuf::new(), false, limits, &[]);
            assert_eq!(vault.check_write(&path, operation).is_ok(), allowed, "{path:?} {operation:?}");
        }
    }
}
