//! A folder in the user's cache directory. Its files may be removed at any time, and are replaced atomically.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

/// Unused files are removed after an hour: another process may have read their names and not yet their content.
const UNUSED_FILE_AGE: Duration = Duration::from_secs(3600);
/// Folders that were not used for 60 days are removed; a collection that is used again later is indexed anew.
const UNUSED_FOLDER_AGE: Duration = Duration::from_secs(60 * 24 * 3600);

/// Numbers the temporary files of this process.
static NEXT_NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A folder in the user's cache directory.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
}

impl CacheFolder {
    /// Opens the folder with this name, and creates it for its owner alone when it is missing; `None` when that fails.
    pub fn open(parent: &Path, name: &str) -> Option<Self> {
        let path = parent.join(name);
        let is_new = !path.is_dir();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).ok()?;
        if is_new {
            remove_unused_folders(parent);
        }
        Some(Self { path })
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = fs::File::open(self.path.join(name)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether a file exists.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).is_file()
    }

    /// Writes a file atomically.
    pub fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = self.path.join(format!("{name}.{}.{number}.tmp", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let written = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary);
        let written = written.and_then(|mut file| file.write_all(bytes));
        let renamed = written.and_then(|()| fs::rename(&temporary, self.path.join(name)));
        if renamed.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        renamed
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }

    /// Records that a file was used now.
    pub fn touch(&self, name: &str) {
        let file = fs::OpenOptions::new().append(true).open(self.path.join(name));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Removes the files that `is_kept` does not name and that were not used for an hour.
    pub fn remove_unused(&self, is_kept: &dyn Fn(&str) -> bool) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let old = entry
                .metadata()
                .and_then(|data| data.modified())
                .is_ok_and(|time| is_older(time, UNUSED_FILE_AGE));
            if old && !entry.file_name().to_str().is_some_and(is_kept) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Removes the folders that were not used for a long time.
fn remove_unused_folders(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let files = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let last_use = files.filter_map(|file| file.metadata().and_then(|data| data.modified()).ok()).max();
        // Only names that the index cache gives (32 hexadecimal digits) are removed.
        let is_cache = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_cache && last_use.is_some_and(|time| is_older(time, UNUSED_FOLDER_AGE)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_older(time: SystemTime, than: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age > than)
}
