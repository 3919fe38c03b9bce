//! Disks that cannot be written.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::support::{Helper, Scene};

/// A user without rights; permissions do not bind root.
const NOBODY: u32 = 65534;

fn set_mode(path: &std::path::Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("permissions");
}

pub fn read_only() {
    let scene = Scene::new(100);
    let before = scene.number("SELECT count(*) FROM users");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("worker").arg(scene.database()).arg(scene.session.expose()).arg("sign-ups");
    if std::fs::metadata(&scene.folder).expect("the folder").uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    // Others may read the files, but write neither them nor their folder.
    set_mode(&scene.folder, 0o555);
    for extension in ["db", "db-wal", "db-shm"] {
        set_mode(&scene.database().with_extension(extension), 0o444);
    }
    let lines = Helper::spawn(command).rest();
    assert!(lines[0].starts_with("error 503 the database "), "{lines:?}");
    assert_eq!(lines[1..], ["signed-up 0", "again 503"]);
    set_mode(&scene.folder, 0o755);
    for extension in ["db", "db-wal", "db-shm"] {
        set_mode(&scene.database().with_extension(extension), 0o644);
    }
    assert_eq!((scene.reserved(), scene.number("SELECT count(*) FROM users")), (0, before));
}

pub fn full() {
    let scene = Scene::new(100);
    let before = scene.number("SELECT count(*) FROM users");
    // No file may grow beyond 400 KiB; the signal about it is ignored, as a full disk sends none.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 800; exec \"$@\"", "sh"]);
    command.arg(std::env::current_exe().expect("this program"));
    command.arg("worker").arg(scene.database()).arg(scene.session.expose()).arg("sign-ups");
    let lines = Helper::spawn(command).rest();
    assert!(lines[0].starts_with("error 503 the disk with the database"), "{lines:?}");
    assert_eq!(lines[2], "again 503");
    let signed_up: i64 =
        lines[1].strip_prefix("signed-up ").and_then(|count| count.parse().ok()).expect("a count");
    assert!(signed_up > 0);
    // Every sign-up that was reported is there, and nothing of the one that failed.
    assert_eq!(scene.number("SELECT count(*) FROM users"), before + signed_up);
    assert_eq!(scene.number("SELECT count(*) FROM user_emails"), before + signed_up);
    assert_eq!(scene.number("SELECT count(*) FROM gpt_sessions"), before + signed_up);
    assert_eq!(scene.reserved(), 0);
    assert_eq!(scene.start(&["once"]).rest().len(), 2, "with space again, runs work");
}
