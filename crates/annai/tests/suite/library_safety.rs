//! Hostile paths and files: nothing outside the root is read or written, and no special file is opened.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::Shelf;

/// Every tool that takes a vault path, with arguments for it.
fn with_path(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("vault_read", json!({ "path": path, "full": true })),
        ("vault_scan", json!({ "path": path })),
        ("vault_create", json!({ "path": path, "content": "x" })),
        ("vault_write", json!({ "path": path, "content": "x", "mode": "append" })),
        ("vault_write", json!({ "path": path, "content": "x", "mode": "overwrite" })),
        ("vault_replace", json!({ "path": path, "find": "a", "replace": "b" })),
        (
            "bridge_copy_file",
            json!({ "manual_id": "m", "from_path": "t.json", "to_path": path, "mode": "append" }),
        ),
    ]
}

#[test]
fn paths_outside_the_folder_are_refused() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/t.json", "{}");
    shelf.write("vault/a.md", "a");
    shelf.write("outside.md", "a");
    let (long, deep) = ("x".repeat(300), "d/".repeat(3000));
    for path in [
        "",
        ".",
        "..",
        "/",
        "/etc/passwd",
        "../outside.md",
        "a/../../outside.md",
        "./../outside.md",
        "..\\outside.md",
        "\\\\host\\share",
        "//host/share",
        "C:\\outside.md",
        "c:/outside.md",
        "C:outside.md",
        "a\u{0}b",
        "a\nb",
        "~",
        "~/x",
        "file:///etc/passwd/..",
        &long,
        &deep,
    ] {
        for (tool, arguments) in with_path(path) {
            let error = shelf.fail(tool, arguments.clone());
            assert_eq!(error["code"], "invalid_path", "{tool} {path:?}: {error}");
        }
    }
    // Names that are invalid on other systems are never created.
    for path in ["NUL", "con.md", "aux.tar.md", "dots./x.md", "space /x.md"] {
        assert_eq!(
            shelf.fail("vault_create", json!({ "path": path, "content": "" }))["code"],
            "invalid_path",
            "{path}"
        );
    }
    assert_eq!(std::fs::read_to_string(shelf.home.0.join("outside.md")).unwrap(), "a");
}

#[test]
fn symbolic_links_are_neither_followed_nor_listed() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/t.json", "{}");
    shelf.write("vault/real/a.md", "inside");
    shelf.write("secret/s.md", "secret");
    let at = |path: &str| shelf.home.0.join(path);
    symlink(at("secret"), at("vault/dir")).unwrap();
    symlink(at("secret/s.md"), at("vault/file.md")).unwrap();
    symlink(at("secret/new.md"), at("vault/dangling.md")).unwrap();
    symlink(at("vault/real/a.md"), at("vault/inner.md")).unwrap();
    symlink(at("secret"), at("manuals/linked")).unwrap();
    symlink(at("secret/s.md"), at("manuals/m/s.md")).unwrap();
    for path in ["dir/s.md", "file.md", "dangling.md", "inner.md"] {
        for (tool, arguments) in with_path(path) {
            assert_eq!(shelf.fail(tool, arguments)["code"], "out_of_scope", "{tool} {path}");
        }
    }
    assert_eq!(shelf.fail("vault_ls", json!({ "relative_dir": "dir" }))["code"], "out_of_scope");
    let entries = shelf.call("vault_ls", json!({}))["entries"].take();
    assert_eq!(entries, json!([{ "path": "real", "type": "dir", "size_bytes": null }]));
    assert_eq!(shelf.call("vault_search", json!({ "query": "secret" }))["results"], json!([]));
    assert_eq!(shelf.call("manual_list", json!({}))["items"], json!([{ "manual_id": "m" }]));
    assert_eq!(shelf.call("manual_ls", json!({ "manual_id": "m" }))["items"].as_array().unwrap().len(), 1);
    let place = json!({ "target": "manual", "manual_id": "m", "path": "s.md" });
    assert_eq!(shelf.fail("manual_read", json!({ "ref": place }))["code"], "out_of_scope");
    assert!(!shelf.home.0.join("secret/new.md").exists());
    assert_eq!(std::fs::read_to_string(shelf.home.0.join("secret/s.md")).unwrap(), "secret");
}

#[test]
fn replacing_a_folder_with_a_link_does_not_leak_files() {
    let mut shelf = Shelf::new(&[]);
    let (inside, parked, outside) =
        (shelf.home.0.join("vault/d"), shelf.home.0.join("vault/parked"), shelf.home.0.join("outside"));
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(AtomicUsize::new(0));
    let flipper = std::thread::spawn({
        let (stop, calls, inside, outside) = (stop.clone(), calls.clone(), inside, outside.clone());
        move || {
            let mut flips = 0;
            while !stop.load(Ordering::Relaxed) || flips < 1000 {
                // Now and then the folder stays until a call has both begun and ended, so that some of them can write.
                let (seen, rests) = (calls.load(Ordering::Relaxed), flips % 64 == 0);
                while rests && calls.load(Ordering::Relaxed) < seen + 2 && !stop.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                std::fs::rename(&inside, &parked).unwrap();
                // The server may have created the folder again in the meantime; then the link cannot be created.
                if symlink(&outside, &inside).is_ok() {
                    std::fs::remove_file(&inside).unwrap();
                }
                for made in 0.. {
                    if std::fs::rename(&parked, &inside).is_ok() {
                        break;
                    }
                    let _ = std::fs::rename(&inside, inside.with_file_name(format!("made-{flips}-{made}")));
                }
                flips += 1;
            }
            flips
        }
    });
    let (mut written, mut refused) = (0, 0);
    for number in 0..300 {
        let path = format!("d/f{number}.md");
        for (tool, arguments) in [
            ("vault_create", json!({ "path": path, "content": "x" })),
            ("vault_write", json!({ "path": path, "content": "y", "mode": "overwrite" })),
            ("vault_write", json!({ "path": path, "content": "z", "mode": "append" })),
        ] {
            let reply = shelf.server.call(tool, arguments);
            calls.fetch_add(1, Ordering::Relaxed);
            if reply["result"]["isError"] == true { refused += 1 } else { written += 1 }
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(flipper.join().unwrap() >= 1000);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0, "{written} written, {refused} refused");
    assert!(written > 0, "{refused} refused");
}

#[test]
fn file_names_match_in_any_unicode_normalization() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/か\u{3099}く.md", "NFD");
    shelf.write("manuals/マニュアル\u{30cf}\u{309a}/本.md", "# 本\n");
    let read = shelf.call("vault_read", json!({ "path": "がく.md", "full": true }));
    assert_eq!(read["text"], "NFD");
    let written = shelf.call("vault_write", json!({ "path": "がく.md", "content": "!", "mode": "append" }));
    assert_eq!(written["written_path"], "か\u{3099}く.md", "the stored spelling is told");
    assert_eq!(shelf.fail("vault_create", json!({ "path": "がく.md", "content": "" }))["code"], "conflict");
    assert_eq!(
        shelf.call("manual_ls", json!({ "manual_id": "マニュアルパ" }))["items"].as_array().unwrap().len(),
        1
    );
    // An exact name wins; without one, two candidates are an error.
    shelf.write("vault/がく.md", "NFC");
    assert_eq!(shelf.call("vault_read", json!({ "path": "がく.md", "full": true }))["text"], "NFC");
    shelf.write("vault/\u{1e9b}\u{323}.md", "1");
    shelf.write("vault/\u{17f}\u{323}\u{307}.md", "2");
    let error = shelf.fail("vault_read", json!({ "path": "\u{17f}\u{307}\u{323}.md", "full": true }));
    assert_eq!(error["code"], "conflict");
}

#[test]
fn special_files_are_never_opened() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/a.md", "text");
    let fifo = shelf.home.0.join("vault/pipe.md");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(shelf.home.0.join("vault/s.md")).unwrap();
    // Opening the pipe would block forever, and the calls would fail for lack of a reply.
    for path in ["pipe.md", "s.md"] {
        assert_eq!(shelf.fail("vault_read", json!({ "path": path, "full": true }))["code"], "forbidden");
        assert_eq!(
            shelf.fail("vault_write", json!({ "path": path, "content": "x", "mode": "append" }))["code"],
            "forbidden"
        );
    }
    assert_eq!(
        shelf.call("vault_ls", json!({}))["entries"].as_array().unwrap().len(),
        1,
        "a.md and nothing special"
    );
    shelf.call("vault_search", json!({ "query": "x" }));
}

#[test]
fn binary_files_are_refused_as_not_text() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/bin.md", b"\xff\xfe\x00a\nbc");
    shelf.write("manuals/m/bin.md", b"# A\n\xff\n");
    shelf.write("manuals/m/good.md", "# Good\n");
    for (tool, arguments) in [
        ("vault_read", json!({ "path": "bin.md", "full": true })),
        ("vault_scan", json!({ "path": "bin.md" })),
        ("vault_replace", json!({ "path": "bin.md", "find": "a", "replace": "b" })),
    ] {
        let error = shelf.fail(tool, arguments);
        assert!(error["message"].as_str().unwrap().contains("is not text"), "{error}");
    }
    let contents = shelf.call("manual_toc", json!({ "manual_id": "m" }));
    assert_eq!(contents["items"].as_array().unwrap().len(), 1);
    assert_eq!(contents["warnings"], 1);
    assert_eq!(contents["skipped"][0]["path"], "bin.md");
    assert!(contents["skipped"][0]["reason"].as_str().unwrap().starts_with("is not text in UTF-8"));
}

#[test]
fn large_files_are_read_and_searched_in_little_memory() {
    // Twice the memory that is allowed, and few enough for a debug build to search on a busy machine before its time limit.
    const BLOCKS: usize = 200;
    let quota = [("VAULT_MAX_BYTES", "4294967296"), ("VAULT_MAX_FILE_BYTES", "4294967296")];
    let mut shelf = Shelf::new(&quota);
    let line = format!("{}\n", "0123456789abcdef".repeat(64));
    let block = line.repeat(1024);
    let path = shelf.home.0.join("vault/large.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..BLOCKS {
        std::io::Write::write_all(&mut file, block.as_bytes()).unwrap();
    }
    std::io::Write::write_all(&mut file, b"the needle\n").unwrap();
    drop(file);
    assert!(std::fs::metadata(&path).unwrap().len() > 200 << 20);
    let lines = BLOCKS * 1024 + 1;
    let read = shelf.call("vault_read", json!({ "path": "large.md", "range": { "start_line": lines } }));
    assert_eq!(read["text"], "the needle");
    let found = shelf.call("vault_search", json!({ "query": "needle", "mode": "plain" }));
    assert_eq!(
        found["results"],
        json!([{ "path": "large.md", "start_line": lines, "snippet": "the needle" }])
    );
    shelf.call("vault_write", json!({ "path": "large.md", "content": "more\n", "mode": "append" }));
    assert_eq!(
        shelf.fail("vault_replace", json!({ "path": "large.md", "find": "needle", "replace": "x" }))["code"],
        "forbidden"
    );
    let peak = shelf.server.process.peak_mib();
    assert!(peak < 100.0, "{peak} MiB");
    std::fs::remove_file(path).unwrap();
}
