//! A folder of the user's cache: files that may vanish at any time and are put in place whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

/// What is left over is cleared after so long; somebody may still be about to read it.
const GRACE: Duration = Duration::from_secs(3600);
/// What nobody used for so long is cleared.
const FORGOTTEN: Duration = Duration::from_secs(60 * 24 * 3600);

/// Numbers temporary files within this process.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A folder of the user's cache.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
}

impl CacheFolder {
    /// The folder of this name, made where it is missing and open to its owner alone; none where that cannot be.
    pub fn open(parent: &Path, name: &str) -> Option<Self> {
        let path = parent.join(name);
        let fresh = !path.is_dir();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).ok()?;
        if fresh {
            forget(parent);
        }
        Some(Self { path })
    }

    /// A file's bytes.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = fs::File::open(self.path.join(name)).ok()?;
        let size = file.metadata().ok()?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Whether there is a file.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).is_file()
    }

    /// Puts a file in place, whole.
    pub fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = self.path.join(format!("{name}.{}.{number}.tmp", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let written = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary);
        let written = written.and_then(|mut file| file.write_all(bytes));
        let placed = written.and_then(|()| fs::rename(&temporary, self.path.join(name)));
        if placed.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        placed
    }

    /// Takes a file away.
    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }

    /// Notes that a file was used.
    pub fn touch(&self, name: &str) {
        let file = fs::OpenOptions::new().append(true).open(self.path.join(name));
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Clears what is not kept and has not been touched for a while.
    pub fn clear(&self, kept: &dyn Fn(&str) -> bool) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let old =
                entry.metadata().and_then(|data| data.modified()).is_ok_and(|time| is_older(time, GRACE));
            if old && !entry.file_name().to_str().is_some_and(kept) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Clears the folders that nobody has used for long.
fn forget(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let used = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let used = used.filter_map(|file| file.metadata().and_then(|data| data.modified()).ok()).max();
        // Only folders that we named are ours.
        let ours = entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if ours && used.is_some_and(|time| is_older(time, FORGOTTEN)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_older(time: SystemTime, than: Duration) -> bool {
    SystemTime::now().duration_since(time).is_ok_and(|age| age > than)
}
