//! Folders for tests.

#![expect(clippy::disallowed_methods, reason = "tests write what they read")]
#![expect(clippy::unwrap_used, reason = "a test that cannot write its files fails")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells the folders of tests apart that run at the same time.
static NEXT_FOLDER: AtomicUsize = AtomicUsize::new(0);

/// A temporary folder with these files, removed when it is dropped.
pub struct TempFolder(pub PathBuf);

impl TempFolder {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let number = NEXT_FOLDER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("annai-explore-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
