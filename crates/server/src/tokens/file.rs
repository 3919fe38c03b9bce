//! The token file: only its owner may read it, it is replaced as a whole, and a lock keeps two programs from losing each
//! other's changes.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::TokenRecord;

/// The maximum size of the file in bytes, enough for some thousand tokens. A larger file is refused.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The version of the format.
const FORMAT_VERSION: u32 = 1;

/// Why the token file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        cause: io::Error,
    },
    /// Somebody else could read or replace the tokens.
    #[error("{path} {problem}")]
    Unsafe {
        /// The file.
        path: String,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
    /// The content is not a token file.
    #[error(
        "{path} is not a token file: {problem}; restore it from a backup, or delete it and make new tokens"
    )]
    Malformed {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Another token has this name.
    #[error("a token is already named \"{0}\"; choose another name, or revoke that one first")]
    DuplicateName(String),
    /// No token has this id or name.
    #[error("no token has the id or name \"{0}\"; `annai token list` shows them")]
    Unknown(String),
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    NoRandomNumbers,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    tokens: Vec<TokenRecord>,
}

/// The file that holds the static tokens.
#[derive(Debug, Clone)]
pub struct TokenFile {
    path: PathBuf,
}

/// What changes when a file is replaced or edited, or its mode is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    changed_at: (i64, i64),
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
    pub fn read(&self) -> Result<Vec<TokenRecord>, TokenFileError> {
        let Some(content) = self.read_json::<Content>(&self.path)? else { return Ok(Vec::new()) };
        if content.version != FORMAT_VERSION {
            let problem =
                format!("its version is {}, and this program knows {FORMAT_VERSION}", content.version);
            return Err(TokenFileError::Malformed { path: self.path.display().to_string(), problem });
        }
        Ok(content.tokens)
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
    pub(super) fn stamp(&self) -> Result<Option<Stamp>, TokenFileError> {
        match fs::symlink_metadata(&self.path) {
            Ok(metadata) => Ok(Some(Stamp {
                inode: metadata.ino(),
                size: metadata.size(),
                changed_at: (metadata.ctime(), metadata.ctime_nsec()),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(io_error(&self.path, cause)),
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
    pub(super) fn lock(&self) -> Result<File, TokenFileError> {
        let path = self.path.with_extension("lock");
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let create = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            create.map_err(|cause| io_error(folder, cause))?;
        }
        let open = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // Without NONBLOCK, opening a pipe would wait for a reader.
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&path);
        let lock = open.map_err(|cause| io_error(&path, cause))?;
        lock.lock().map_err(|cause| io_error(&path, cause))?;
        Ok(lock)
    }

    /// Reads a file that must be a regular one of this user, which nobody else can read; `None` if there is none.
    pub(super) fn read_json<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, TokenFileError> {
        // Without NONBLOCK, opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => {
                return Err(unsafe_file(path, "is a symbolic link; set ANNAI_TOKEN_FILE to the file itself"));
            }
            Err(errno) => return Err(io_error(path, errno.into())),
        };
        let metadata = file.metadata().map_err(|cause| io_error(path, cause))?;
        if !metadata.is_file() {
            return Err(unsafe_file(path, "is not a regular file; set ANNAI_TOKEN_FILE to another path"));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(unsafe_file(
                path,
                "can be read or changed by other users; take their permissions away (chmod 600)",
            ));
        }
        let owner = metadata.uid();
        if owner != rustix::process::geteuid().as_raw() && owner != 0 {
            return Err(unsafe_file(
                path,
                "belongs to another user; give it to the user that runs the server (chown)",
            ));
        }
        let mut bytes = Vec::new();
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|cause| io_error(path, cause))?;
        let malformed =
            |problem: String| TokenFileError::Malformed { path: path.display().to_string(), problem };
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(malformed(format!("it is larger than {MAX_FILE_BYTES} bytes")));
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| malformed(error.to_string()))
    }

    /// Replaces a file as a whole: whoever reads it sees the old content or the new one.
    pub(super) fn replace(&self, path: &Path, content: &impl Serialize) -> Result<(), TokenFileError> {
        let temporary = path.with_extension("new");
        let write = || -> io::Result<()> {
            // Left behind by a program that was killed; the lock is held, so nobody else is writing it.
            match fs::remove_file(&temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            // The umask may have taken even the owner's rights away.
            file.set_permissions(Permissions::from_mode(0o600))?;
            file.write_all(&serde_json::to_vec_pretty(content)?)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&temporary, path)?;
            match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                Some(folder) => File::open(folder)?.sync_all(),
                None => Ok(()),
            }
        };
        write().map_err(|cause| io_error(path, cause))
    }
}

fn io_error(path: &Path, cause: io::Error) -> TokenFileError {
    TokenFileError::Io { path: path.display().to_string(), cause }
}

fn unsafe_file(path: &Path, problem: &'static str) -> TokenFileError {
    TokenFileError::Unsafe { path: path.display().to_string(), problem }
}
