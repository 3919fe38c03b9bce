//! A temporary folder of a command, which is deleted when the command ends.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Failure;

/// The folders that exist, so that a second signal can delete them before it ends the process.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// How often deleting is tried again, because the rest of the process may still create files in the folder.
const DELETE_ATTEMPTS: usize = 20;

/// Deletes all temporary folders of the process.
pub(super) fn delete_all() {
    let folders = FOLDERS.lock().map(|mut folders| std::mem::take(&mut *folders));
    folders.unwrap_or_default().iter().for_each(|folder| delete(folder));
}

fn delete(folder: &Path) {
    for _ in 0..DELETE_ATTEMPTS {
        let deleted = std::fs::remove_dir_all(folder);
        if !deleted.is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty) {
            return;
        }
    }
}

/// A temporary folder, deleted when it is dropped.
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a folder whose name begins with `annai-` and the name of the command.
    pub(super) fn new(command: &str) -> Result<Self, Failure> {
        let parent = std::env::temp_dir();
        // A command that was killed may have left a folder with the same name; then the next number is used.
        for attempt in 0..1000 {
            let path = parent.join(format!("annai-{command}-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    if let Ok(mut folders) = FOLDERS.lock() {
                        folders.push(path.clone());
                    }
                    return Ok(Self(path));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let fix = "set TMPDIR to a writable folder";
                    return Err(Failure::new(format!(
                        "{} cannot be created: {error}; {fix}",
                        path.display()
                    )));
                }
            }
        }
        Err(Failure::new(format!(
            "{} contains too many annai-{command} folders; delete them and try again",
            parent.display()
        )))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a new file and the folders that it lies in, and returns its path.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.0.join(name);
        let failed =
            |error: io::Error| Failure::new(format!("{} cannot be written: {error}", path.display()));
        std::fs::create_dir_all(path.parent().unwrap_or(&self.0)).map_err(failed)?;
        std::fs::File::create_new(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(failed)?;
        Ok(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        delete(&self.0);
        if let Ok(mut folders) = FOLDERS.lock() {
            folders.retain(|folder| *folder != self.0);
        }
    }
}
