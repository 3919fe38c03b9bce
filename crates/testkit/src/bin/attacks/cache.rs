//! Attacks on the cache of the index.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::Figures;
use crate::place::{Place, timed_call};

/// The files of the cache.
fn files(place: &Place) -> Vec<PathBuf> {
    let list =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    list(place.folder.join(".cache/annai")).flat_map(list).collect()
}

fn find(place: &Place, query: &str) -> (bool, f64) {
    let mut server = place.library();
    let (reply, seconds) = timed_call(&mut server, "manual_find", json!({ "query": query }));
    let found = reply.is_some_and(|reply| reply["result"]["structuredContent"]["summary"]["candidates"] == 1);
    (found, seconds)
}

pub fn hostile_cache(place: &Place) -> Figures {
    place.write("manuals/m/a.md", "# Widgets\nThe widget has a gauge.\n");
    let _ = find(place, "widget");
    type Change = (&'static str, fn(&PathBuf));
    let changes: [Change; 5] = [
        ("FIFOs", |path| {
            std::fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("links", |path| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        }),
        ("200 GB of nothing", |path| {
            std::fs::remove_file(path).unwrap();
            std::fs::File::create(path).unwrap().set_len(200 << 30).unwrap();
        }),
        ("damaged files", |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(31) ^ 0x5a);
            std::fs::write(path, bytes).unwrap();
        }),
        ("empty files", |path| std::fs::write(path, b"").unwrap()),
    ];
    let mut figures = Figures::default();
    for (name, change) in changes {
        let all = files(place);
        let count = all.len();
        all.iter().for_each(change);
        let (found, seconds) = find(place, "widget");
        figures = figures.check(&format!("{count} {name}: found"), found && count >= 2);
        figures = figures.add(&format!("{name}: reply"), seconds, "s", 5.0);
    }
    figures
}

pub fn deleted_text(place: &Place) -> Figures {
    place.write("manuals/m/a.md", "# Widgets\nThe widget has a gauge.\n");
    place.write("manuals/m/b.md", "# Secret\nThe xylophone code is plover.\n");
    place.write("manuals/n/c.md", "# Other\nThe quixotic word is zugzwang.\n");
    let holds = |word: &str| {
        let mut files = files(place).into_iter().map(|path| std::fs::read(path).unwrap_or_default());
        files.any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
    };
    let _ = find(place, "widget");
    let were_there = holds("xylophone") && holds("zugzwang");
    std::fs::remove_file(place.folder.join("manuals/m/b.md")).unwrap();
    std::fs::remove_dir_all(place.folder.join("manuals/n")).unwrap();
    let _ = find(place, "widget");
    Figures::default()
        .check("the cache had the text", were_there)
        .check("the text of a deleted file is gone after the next find", !holds("xylophone"))
        .check("the text of a deleted manual is gone, too", !holds("zugzwang"))
}
