//! The token file: only its owner may read it, it is replaced as a whole, and a lock keeps two programs from losing each
//! other's changes.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use annai_core::owner_only::OwnerOnly as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::platform::{self, Stamp};
use super::record::{NoRandomNumbers, TokenRecord};

/// The maximum size of the file in bytes, enough for some thousand tokens. A larger file is refused.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The version of the format.
const FORMAT_VERSION: u64 = 1;

/// Why the token file cannot be used: it cannot be read or written, others could read or replace it, or it is something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct UnusableFile {
    /// What is wrong, with the path of the file.
    pub problem: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Why the tokens cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be used.
    #[error(transparent)]
    Unusable(#[from] UnusableFile),
    /// Another token has this name.
    #[error("a token is already named \"{0}\"; choose another name, or revoke that one first")]
    DuplicateName(String),
    /// No token has this id or name.
    #[error("no token has the id or name \"{0}\"; `annai token list` shows them")]
    Unknown(String),
    /// The system has no random numbers.
    #[error(transparent)]
    NoRandomNumbers(#[from] NoRandomNumbers),
}

/// The version of a token file, whatever else is in it.
#[derive(Deserialize)]
struct Version {
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u64,
    tokens: Vec<TokenRecord>,
}

/// The file that holds the static tokens.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file at this path, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tokens; none if there is no file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or others can read it.
    pub fn read(&self) -> Result<Vec<TokenRecord>, UnusableFile> {
        let Some(bytes) = read_bytes(&self.path)? else { return Ok(Vec::new()) };
        // A newer version may have other members, so the version comes first.
        let Version { version } = parse(&self.path, &bytes)?;
        if version > FORMAT_VERSION {
            let path = self.path.display();
            let problem = format!("{path} has version {version}, and this program knows {FORMAT_VERSION}");
            return Err(UnusableFile { problem, remedy: "update this program" });
        }
        if version < FORMAT_VERSION {
            return Err(malformed(&self.path, &format!("there is no version {version}")));
        }
        Ok(parse::<Content>(&self.path, &bytes)?.tokens)
    }

    /// Adds a token.
    ///
    /// # Errors
    ///
    /// The name is taken, or the file cannot be changed.
    pub fn add(&self, record: TokenRecord) -> Result<(), TokenFileError> {
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == record.name) {
                return Err(TokenFileError::DuplicateName(record.name));
            }
            tokens.push(record);
            Ok(())
        })
    }

    /// Removes the token with this id or name, and returns it.
    ///
    /// # Errors
    ///
    /// There is no such token, or the file cannot be changed.
    pub fn revoke(&self, id_or_name: &str) -> Result<TokenRecord, TokenFileError> {
        self.change(|tokens| {
            // An id comes first: a name that looks like the id of another token must not revoke the wrong one.
            let by_id = tokens.iter().position(|token| token.id == id_or_name);
            let index = by_id.or_else(|| tokens.iter().position(|token| token.name == id_or_name));
            let index = index.ok_or_else(|| TokenFileError::Unknown(id_or_name.to_owned()))?;
            Ok(tokens.remove(index))
        })
    }

    /// What tells whether the file has changed; `None` if there is no file.
    pub(super) fn stamp(&self) -> Result<Option<Stamp>, UnusableFile> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(io_error(&self.path, &cause)),
        }
    }

    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> Result<T, TokenFileError>,
    ) -> Result<T, TokenFileError> {
        let _lock = self.lock()?;
        let mut tokens = self.read()?;
        let result = change(&mut tokens)?;
        self.replace(&self.path, &Content { version: FORMAT_VERSION, tokens })?;
        Ok(result)
    }

    /// Waits until no other program changes the files next to this one. The lock ends when the value is dropped.
    pub(super) fn lock(&self) -> Result<File, UnusableFile> {
        let path = self.path.with_extension("lock");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let create = DirBuilder::new().recursive(true).owner_only().create(folder);
            create.map_err(|cause| io_error(folder, &cause))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).owner_only();
        let lock = platform::open_itself(&mut options, &path).map_err(|cause| io_error(&path, &cause))?;
        lock.lock().map_err(|cause| io_error(&path, &cause))?;
        Ok(lock)
    }

    /// Reads a file of JSON; `None` if there is none.
    pub(super) fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, UnusableFile> {
        read_bytes(path)?.map(|bytes| parse(path, &bytes)).transpose()
    }

    /// Replaces a file as a whole: whoever reads it sees the old content or the new one.
    pub(super) fn replace(&self, path: &Path, content: &impl Serialize) -> Result<(), UnusableFile> {
        let temporary = path.with_extension("new");
        let write = || -> io::Result<()> {
            // Left behind by a program that was killed; the lock is held, so nobody else is writing it.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).owner_only().open(&temporary)?;
            platform::give_to_owner(&file)?;
            file.write_all(&serde_json::to_vec_pretty(content)?)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&temporary, path)?;
            match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                Some(folder) => platform::sync_folder(folder),
                None => Ok(()),
            }
        };
        write().map_err(|cause| io_error(path, &cause))
    }
}

/// Reads a file that must be a regular one of this user, which nobody else can read; `None` if there is none.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, UnusableFile> {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let link = || unsafe_file(path, "is a symbolic link", "set ANNAI_TOKEN_FILE to the file itself");
    let file = match platform::open_itself(OpenOptions::new().read(true), path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(_) if is_link() => return Err(link()),
        Err(error) => return Err(io_error(path, &error)),
    };
    let metadata = file.metadata().map_err(|cause| io_error(path, &cause))?;
    if metadata.is_symlink() {
        return Err(link());
    }
    if !metadata.is_file() {
        return Err(unsafe_file(path, "is not a regular file", "set ANNAI_TOKEN_FILE to another path"));
    }
    if let Some((problem, remedy)) = platform::others_can_use(&metadata) {
        return Err(unsafe_file(path, problem, remedy));
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|cause| io_error(path, &cause))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(malformed(path, &format!("it is larger than {MAX_FILE_BYTES} bytes")));
    }
    Ok(Some(bytes))
}

fn parse<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, UnusableFile> {
    serde_json::from_slice(bytes).map_err(|error| malformed(path, &error.to_string()))
}

fn io_error(path: &Path, cause: &io::Error) -> UnusableFile {
    let remedy = match cause.kind() {
        io::ErrorKind::PermissionDenied => {
            "let the user that runs this program read and change it (chown), or set ANNAI_TOKEN_FILE to another file"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        _ => "set ANNAI_TOKEN_FILE to a file that can be read and written",
    };
    UnusableFile { problem: format!("{}: {cause}", path.display()), remedy }
}

fn unsafe_file(path: &Path, problem: &str, remedy: &'static str) -> UnusableFile {
    UnusableFile { problem: format!("{} {problem}", path.display()), remedy }
}

fn malformed(path: &Path, problem: &str) -> UnusableFile {
    let problem = format!("{} is not a token file: {problem}", path.display());
    UnusableFile { problem, remedy: "restore it from a backup, or delete it and make new tokens" }
}
