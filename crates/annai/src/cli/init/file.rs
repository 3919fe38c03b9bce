//! The settings file of a client: read whole, backed up, and replaced in one step.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use annai_core::owner_only::OwnerOnly as _;

use super::super::Failure;

/// The maximum size of a settings file. Those of clients have a few megabytes at most; anything larger is something else.
const MAX_BYTES: u64 = 64 << 20;

/// A settings file as it was read.
pub(super) struct SettingsFile {
    /// The file itself, behind any symbolic links.
    path: PathBuf,
    /// Its text; `None` if it does not exist.
    pub text: Option<String>,
    /// Its permissions. A new file is for its owner alone, because settings may contain keys.
    permissions: Option<Permissions>,
}

impl SettingsFile {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |problem: &str| Failure::new(format!("{}: {problem}", path.display()));
        let path = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::symlink_metadata(path).is_ok() {
                    return Err(failed(
                        "is a symbolic link to a file that does not exist; create that file first",
                    ));
                }
                return Ok(Self { path: path.to_owned(), text: None, permissions: None });
            }
            Err(error) => return Err(failed(&error.to_string())),
        };
        let metadata = fs::metadata(&path).map_err(|error| failed(&error.to_string()))?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return Err(failed("is not a settings file: expected a regular file of at most 64 MiB"));
        }
        let bytes = fs::read(&path).map_err(|error| failed(&error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error
                .as_bytes()
                .get(..valid)
                .unwrap_or_default()
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            failed(&format!("line {}: the text is not UTF-8; it was not changed", line + 1))
        })?;
        Ok(Self { path, text: Some(text), permissions: Some(metadata.permissions()) })
    }

    /// The file, behind any symbolic links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file is kept as it was before the server was added.
    pub(super) fn backup_path(&self) -> PathBuf {
        with_ending(&self.path, ".annai-backup")
    }

    /// The text of the backup.
    pub(super) fn backup(&self) -> Option<String> {
        fs::read_to_string(self.backup_path()).ok()
    }

    /// Keeps the text as it was read; returns whether there was any.
    pub(super) fn back_up(&self) -> Result<bool, Failure> {
        let Some(text) = &self.text else { return Ok(false) };
        self.check_writable()?;
        self.replace(&self.backup_path(), text)?;
        Ok(true)
    }

    pub(super) fn delete_backup(&self) {
        let _ = fs::remove_file(self.backup_path());
    }

    /// Replaces the text in one step, unless another program has changed the file since it was read.
    pub(super) fn write(&self, text: &str) -> Result<(), Failure> {
        self.check_writable()?;
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(|error| self.failed(folder, &error))?;
        }
        self.check_unchanged()?;
        self.replace(&self.path, text)
    }

    /// Deletes the file, unless another program has changed it since it was read.
    pub(super) fn delete(&self) -> Result<(), Failure> {
        self.check_writable()?;
        self.check_unchanged()?;
        fs::remove_file(&self.path).map_err(|error| self.failed(&self.path, &error))
    }

    /// A file that nobody may write is not replaced, although its folder would allow that.
    fn check_writable(&self) -> Result<(), Failure> {
        if self.permissions.as_ref().is_some_and(Permissions::readonly) {
            let path = self.path.display();
            return Err(Failure::new(format!(
                "{path} is read-only and was not changed; allow writing with chmod u+w"
            )));
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<(), Failure> {
        if fs::read_to_string(&self.path).ok() == self.text {
            return Ok(());
        }
        let path = self.path.display();
        Err(Failure::new(format!("{path} was changed by another program meanwhile; run the command again")))
    }

    /// Writes a file beside its place, and moves it there when it is complete.
    fn replace(&self, path: &Path, text: &str) -> Result<(), Failure> {
        let temporary = with_ending(path, &format!(".annai-{}", std::process::id()));
        let _ = fs::remove_file(&temporary);
        let written = self.create(&temporary, text).and_then(|()| fs::rename(&temporary, path));
        written.map_err(|error| {
            let _ = fs::remove_file(&temporary);
            self.failed(path, &error)
        })
    }

    fn create(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut file: File = OpenOptions::new().write(true).create_new(true).owner_only().open(path)?;
        if let Some(permissions) = &self.permissions {
            file.set_permissions(permissions.clone())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn failed(&self, path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("{} cannot be written: {error}", path.display()))
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
