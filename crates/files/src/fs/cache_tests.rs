use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A folder that is removed at the end of the test.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("annai-cache-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> Option<CacheFolder> {
        CacheFolder::open(&self.0, NAME, &self.0)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(NAME).join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const NAME: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn only_regular_files_of_this_user_are_read() {
    let place = Place::new();
    let folder = place.open().unwrap();
    folder.write("a", b"text").unwrap();
    assert_eq!(folder.read("a", 4).as_deref(), Some(b"text".as_slice()));
    assert_eq!(folder.read("a", 3), None, "it is larger than the limit");
    symlink(place.file("a"), place.file("link")).unwrap();
    rustix::fs::mkfifoat(&folder.fd, "fifo", Mode::from_raw_mode(0o600)).unwrap();
    fs::write(place.file("shared"), "x").unwrap();
    fs::set_permissions(place.file("shared"), fs::Permissions::from_mode(0o666)).unwrap();
    let sparse = File::create(place.file("sparse")).unwrap();
    sparse.set_len(200 << 30).unwrap();
    for name in ["link", "fifo", "shared", "sparse"] {
        assert_eq!(folder.read(name, 1 << 20), None, "{name}");
        assert!(!folder.has(name, 1 << 20), "{name}");
        // They are replaced, and what a link leads to is not.
        folder.write(name, b"new").unwrap();
        assert_eq!(folder.read(name, 4).as_deref(), Some(b"new".as_slice()), "{name}");
    }
    assert_eq!(folder.read("a", 4).as_deref(), Some(b"text".as_slice()));
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let place = Place::new();
    drop(place.open().unwrap());
    let path = place.0.join(NAME);
    for mode in [0o777, 0o770, 0o702] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(place.open().is_none(), "{mode:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(place.open().is_some());
    fs::rename(&path, place.0.join("elsewhere")).unwrap();
    symlink(place.0.join("elsewhere"), &path).unwrap();
    assert!(place.open().is_none(), "a link is not followed");
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    // Only root can give a folder away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new();
    drop(place.open().unwrap());
    std::os::unix::fs::chown(place.0.join(NAME), Some(12_345), None).unwrap();
    assert!(place.open().is_none());
}

#[test]
fn the_cache_of_a_folder_that_is_gone_is_removed() {
    let place = Place::new();
    let source = place.0.join("manual");
    fs::create_dir(&source).unwrap();
    let folder = CacheFolder::open(&place.0, NAME, &source).unwrap();
    folder.write("a.segment", b"text of a manual").unwrap();
    remove_orphaned_caches(&place.0);
    assert!(place.file("a.segment").exists());
    fs::remove_dir(&source).unwrap();
    remove_orphaned_caches(&place.0);
    assert!(!place.0.join(NAME).exists());
    // Other folders are never touched.
    fs::create_dir(place.0.join("notes")).unwrap();
    fs::write(place.0.join("notes/source"), "/nowhere").unwrap();
    remove_orphaned_caches(&place.0);
    assert!(place.0.join("notes/source").exists());
}

#[test]
fn what_is_not_kept_is_removed_at_once_except_what_is_being_written() {
    let place = Place::new();
    let folder = place.open().unwrap();
    for name in ["kept", "old", "x.1.2.tmp"] {
        folder.write(name, b"x").unwrap();
    }
    folder.remove_unused(&|name| name == "kept");
    assert!(
        folder.has("kept", 9999)
            && !folder.has("old", 9999)
            && folder.has("x.1.2.tmp", 9999)
            && folder.has(SOURCE_NAME, 9999)
    );
}
