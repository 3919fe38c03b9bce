//! Input that is made to be expensive or harmful: patterns, globs, artifacts, caches, and writes beyond the quota.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use annai_testkit::mcp::StdioServer;
use annai_testkit::process::TEST_TIMEOUT;
use serde_json::{Value, json};

use crate::Shelf;

/// Starts a call, cancels it when it works, and asserts that it stops working soon.
fn assert_cancellable(server: &mut StdioServer, tool: &str, arguments: &Value) {
    let before = server.process.cpu_time();
    let id = server.start_request("tools/call", json!({ "name": tool, "arguments": arguments }));
    let started = Instant::now();
    while server.process.cpu_time() - before < Duration::from_millis(200) {
        assert!(started.elapsed() < TEST_TIMEOUT, "{tool} does not work long enough to be cancelled");
        std::thread::sleep(Duration::from_millis(5));
    }
    server.notify("notifications/cancelled", json!({ "requestId": id }));
    // Without optimization and on a busy machine it may take a while; what is not cancellable would take minutes.
    let cancelled = Instant::now();
    loop {
        let before = server.process.cpu_time();
        std::thread::sleep(Duration::from_millis(300));
        if server.process.cpu_time() - before <= Duration::from_millis(20) {
            break;
        }
        assert!(cancelled.elapsed() < TEST_TIMEOUT, "{tool} works on after it was cancelled");
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_search_can_be_cancelled_inside_a_long_match() {
    let mut shelf = Shelf::new(&[]);
    // Without any period, or the matcher would need few states and be done in milliseconds (xorshift by Marsaglia).
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let bits: String = (0..100_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            format!("{state:064b}")
        })
        .collect();
    shelf.write("vault/one-line.txt", bits);
    for query in ["1[01]{500}2", "(?s)1.{400}2"] {
        assert_cancellable(&mut shelf.server, "vault_search", &json!({ "query": query }));
    }
}

#[test]
fn an_audit_can_be_cancelled_and_takes_linear_time() {
    let mut shelf = Shelf::new(&[]);
    let sections = |count: usize| -> String {
        let section = |number| format!("# Heading {number}\n[to](#heading-{}) source_lines: 1\n", number + 1);
        (0..count).map(section).collect()
    };
    shelf.write("vault/source.md", "one\n");
    shelf.write("vault/artifacts/links.md", sections(3000));
    let arguments = json!({ "artifact_path": "artifacts/links.md", "source_path": "source.md" });
    assert_eq!(shelf.call("artifact_audit", arguments.clone())["one_way_refs"], 3000);
    shelf.write("vault/artifacts/links.md", sections(300_000));
    assert_cancellable(&mut shelf.server, "artifact_audit", &arguments);
}

#[test]
fn patterns_and_globs_that_are_too_large_are_refused() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/a.md", "x\n");
    let nested = format!("{}a{}", "{".repeat(250), "}".repeat(250));
    for (arguments, start) in [
        (json!({ "query": "x", "glob": nested }), "glob: expected at most"),
        (json!({ "query": "[01]{30000}" }), "query: the pattern is too large"),
        (json!({ "query": "(?:a{100}){201}" }), "query: the pattern is too large"),
    ] {
        let error = shelf.fail("vault_search", arguments);
        assert_eq!(error["code"], "invalid_parameter");
        assert!(error["message"].as_str().unwrap().starts_with(start), "{error}");
    }
    let error = shelf.fail("vault_find", json!({ "query": "x", "scope": { "glob": nested } }));
    assert_eq!(error["code"], "invalid_parameter");
    let log = shelf.server.finish();
    assert!(!log.contains("panic"), "{log}");
}

#[test]
fn writes_beyond_the_quota_are_refused_and_what_is_there_can_be_changed() {
    let env = [("VAULT_MAX_BYTES", "100"), ("VAULT_MAX_FILES", "3"), ("VAULT_MAX_FILE_BYTES", "60")];
    let mut shelf = Shelf::new(&env);
    let create = |path: &str, size: usize| json!({ "path": path, "content": "x".repeat(size) });
    shelf.call("vault_create", create("a.md", 60));
    let error = shelf.fail("vault_create", create("b.md", 61));
    assert_eq!(error["code"], "conflict");
    assert_eq!(
        error["message"],
        "b.md was not written: it has 0 bytes and would have 61; a file may have at most 60 (library.vault_max_file_bytes). Write less, or raise that setting"
    );
    let error = shelf.fail("vault_create", create("b.md", 41));
    assert_eq!(
        error["message"],
        "b.md was not written: the vault has 60 bytes and would have 41 more; it may have at most 100 (library.vault_max_bytes). Remove files, or raise that setting"
    );
    assert!(!shelf.home.0.join("vault/b.md").exists());
    shelf.call("vault_create", create("b.md", 38));
    // What a replacement would produce counts.
    let replace =
        |with: &str| json!({ "path": "b.md", "find": "x", "replace": with, "max_replacements": 38 });
    assert_eq!(shelf.fail("vault_replace", replace("yy"))["code"], "conflict");
    assert_eq!(shelf.file("b.md"), "x".repeat(38));
    shelf.call("vault_replace", replace("y"));
    shelf.call("vault_create", create("c.md", 1));
    let error = shelf.fail("vault_create", create("d.md", 0));
    assert_eq!(
        error["message"],
        "d.md was not created: the vault has 3 files and may have at most 3 (library.vault_max_files). Remove files, or raise that setting"
    );
    let append = |content: &str| json!({ "path": "c.md", "content": content, "mode": "append" });
    shelf.call("vault_write", append("x"));
    assert_eq!(shelf.fail("vault_write", append("x"))["code"], "conflict");
    // A vault that is larger already accepts writes that do not grow it.
    shelf.write("vault/large.md", "z".repeat(500));
    let overwrite =
        |size: usize| json!({ "path": "large.md", "content": "w".repeat(size), "mode": "overwrite" });
    shelf.call("vault_write", overwrite(500));
    shelf.call("vault_write", overwrite(400));
    assert_eq!(shelf.fail("vault_write", overwrite(401))["code"], "conflict");
}

#[test]
fn nothing_is_appended_to_a_file_with_several_names() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("outside.md", "outside\n");
    shelf.write("vault/plain.md", "x\n");
    std::fs::hard_link(shelf.home.0.join("outside.md"), shelf.home.0.join("vault/linked.md")).unwrap();
    let write = |mode: &str| json!({ "path": "linked.md", "content": "more\n", "mode": mode });
    let error = shelf.fail("vault_write", write("append"));
    assert_eq!(error["code"], "out_of_scope", "{error}");
    let outside = |shelf: &Shelf| std::fs::read_to_string(shelf.home.0.join("outside.md")).unwrap();
    assert_eq!(outside(&shelf), "outside\n");
    // Overwriting replaces the name in the vault alone.
    shelf.call("vault_write", write("overwrite"));
    assert_eq!((outside(&shelf).as_str(), shelf.file("linked.md").as_str()), ("outside\n", "more\n"));
    let mode = std::fs::metadata(shelf.home.0.join("vault/.system/lock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A way to spoil a file, and its name.
type Spoil = (&'static str, fn(&PathBuf));

/// The files of the index cache.
fn cache_files(shelf: &Shelf) -> Vec<PathBuf> {
    let list =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    list(shelf.home.0.join(".cache/annai")).flat_map(list).collect()
}

#[test]
fn a_cache_that_somebody_spoiled_is_built_again() {
    let shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# Widgets\nThe widget has a gauge.\n");
    let find = || {
        let mut server = shelf.serve(&[]);
        let reply = server.call("manual_find", json!({ "query": "widget" }));
        assert_eq!(reply["result"]["structuredContent"]["summary"]["candidates"], 1, "{reply}");
        server.finish();
    };
    find();
    let spoil: [Spoil; 4] = [
        ("a FIFO", |path| {
            std::fs::remove_file(path).unwrap();
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("a link", |path| {
            std::fs::remove_file(path).unwrap();
            symlink("/dev/zero", path).unwrap();
        }),
        ("a sparse file of 200 GB", |path| {
            std::fs::File::create(path).unwrap().set_len(200 << 30).unwrap();
        }),
        ("a file that everybody can write to", |path| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
        }),
    ];
    for (name, spoil) in spoil {
        let files = cache_files(&shelf);
        assert!(files.len() >= 2, "{name}: {files:?}");
        files.iter().for_each(spoil);
        find();
        for file in cache_files(&shelf) {
            let data = std::fs::symlink_metadata(&file).unwrap();
            assert!(data.is_file() && data.len() < 1 << 20, "{name}: {file:?}");
        }
    }
}

#[test]
fn the_text_of_deleted_files_leaves_the_cache_with_the_next_find() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# Widgets\nThe widget has a gauge.\n");
    shelf.write("manuals/m/b.md", "# Secret\nThe xylophone code is plover.\n");
    shelf.write("manuals/n/c.md", "# Other\nThe quixotic word is zugzwang.\n");
    let holds = |shelf: &Shelf, word: &str| {
        let mut files = cache_files(shelf).into_iter().map(|path| std::fs::read(path).unwrap());
        files.any(|bytes| bytes.windows(word.len()).any(|window| window == word.as_bytes()))
    };
    shelf.call("manual_find", json!({ "query": "widget" }));
    assert!(holds(&shelf, "xylophone") && holds(&shelf, "zugzwang"));
    std::fs::remove_file(shelf.home.0.join("manuals/m/b.md")).unwrap();
    std::fs::remove_dir_all(shelf.home.0.join("manuals/n")).unwrap();
    shelf.call("manual_find", json!({ "query": "widget" }));
    assert!(!holds(&shelf, "xylophone") && !holds(&shelf, "zugzwang"));
}
