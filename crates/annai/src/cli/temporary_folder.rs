//! A temporary folder of a command, which is deleted when the command ends.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Failure;

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
                Ok(()) => return Ok(Self(path)),
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
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
