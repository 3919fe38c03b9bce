//! Writes under failure: full disks, killed processes, concurrent processes and cancelled calls.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Shelf, annai};

/// The server with a limit on the size of the files that it writes, which fails like a full disk.
#[test]
fn a_full_disk_loses_nothing() {
    let shelf = Shelf::new(&[]);
    shelf.write("vault/old.md", "old\n");
    let program = annai(&shelf.home);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --stdio --toolset library"])
        .arg(program.get_program());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &shelf.home.0).current_dir(&shelf.home.0);
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    let much = "x".repeat(200_000);
    for (tool, arguments) in [
        ("vault_create", json!({ "path": "new.md", "content": much })),
        ("vault_write", json!({ "path": "old.md", "content": much, "mode": "overwrite" })),
        ("vault_write", json!({ "path": "old.md", "content": much, "mode": "append" })),
    ] {
        let reply = server.call(tool, arguments);
        let error = &reply["result"]["_meta"]["annai/error"];
        assert_eq!(error["code"], "conflict", "{reply}");
        assert!(error["message"].as_str().unwrap().contains("was not written"), "{error}");
    }
    assert_eq!(shelf.file("old.md"), "old\n");
    let names: Vec<_> = std::fs::read_dir(shelf.home.0.join("vault"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "no leftovers: {names:?}");
    // Small files can still be written.
    assert!(
        server.call("vault_write", json!({ "path": "old.md", "content": "more", "mode": "append" }))["result"]
            ["isError"]
            != true
    );
}

/// A file system that is read-only even for root.
#[test]
fn a_read_only_disk_is_reported() {
    let mut shelf = Shelf::new(&[("VAULT_ROOT", "/sys")]);
    let error = shelf.fail("vault_create", json!({ "path": "new.md", "content": "x" }));
    assert_eq!(error["code"], "forbidden", "{error}");
    assert!(!shelf.call("vault_ls", json!({}))["entries"].as_array().unwrap().is_empty());
}

/// Kills the server in the middle of writes. The file must always be one complete version.
#[test]
fn a_killed_writer_leaves_a_complete_version() {
    let shelf = Shelf::new(&[]);
    let size = 1_000_000;
    let version = |letter: &str| letter.repeat(size);
    shelf.write("vault/f.md", version("a"));
    shelf.write("vault/log.md", "start\n");
    let call = |id: u64, arguments: Value| {
        let params = json!({ "name": "vault_write", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string() + "\n"
    };
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
    let start = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let messages = |letter: &str| {
        let overwrite = json!({ "path": "f.md", "content": version(letter), "mode": "overwrite" });
        let append =
            json!({ "path": "log.md", "content": format!("{}\n", "z".repeat(100_000)), "mode": "append" });
        format!("{start}\n{}{}", call(1, overwrite), call(2, append))
    };
    let spawn = |letter: &str| {
        let mut command = annai(&shelf.home);
        command.args(["--stdio", "--toolset", "library"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (mut input, messages) = (child.stdin.take().unwrap(), messages(letter));
        // The input stays open until the writer is joined.
        let writer = std::thread::spawn(move || {
            let _ = std::io::Write::write_all(&mut input, messages.as_bytes());
            input
        });
        (child, writer)
    };
    // How long the writes take when nothing interrupts them; the kills below are spread over that time. This needs real
    // elapsed time, because the moment of the kill is what is varied.
    let started = Instant::now();
    let (mut child, writer) = spawn("a");
    drop(writer.join().unwrap());
    child.wait().unwrap();
    let mut whole = started.elapsed();
    let (mut seen, mut grown) = (Vec::new(), 0);
    for round in 0..100_u32 {
        let letter = if round % 2 == 0 { "b" } else { "c" };
        let (mut child, writer) = spawn(letter);
        let share = round * 37 % 100;
        std::thread::sleep(whole * share / 80);
        child.kill().unwrap();
        child.wait().unwrap();
        drop(writer.join().unwrap());
        let text = shelf.file("f.md");
        assert_eq!(text.len(), size, "round {round}");
        let first = text.as_bytes()[0];
        assert!(text.bytes().all(|byte| byte == first), "round {round}: a mix");
        seen.push(first);
        if share >= 80 && letter.as_bytes() != [first] {
            // The machine has become busier, and the writes take longer than before.
            whole *= 2;
        }
        // A killed append leaves the old content and at most a part of the new.
        let log = shelf.file("log.md");
        assert!(log.starts_with("start\n") && log.len() >= grown, "round {round}");
        assert!(log["start\n".len()..].bytes().all(|byte| byte == b'z' || byte == b'\n'));
        grown = log.len();
    }
    seen.dedup();
    assert!(seen.len() > 2, "some writes were finished, some were not: {seen:?}");
    // The next write deletes temporary files.
    let mut server = shelf.serve(&[]);
    server.call("vault_create", json!({ "path": "after.md", "content": "x" }));
    let names: Vec<_> = std::fs::read_dir(shelf.home.0.join("vault"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.starts_with(".annai-tmp-")), "{names:?}");
}

#[test]
fn no_append_is_lost_between_processes() {
    let shelf = Shelf::new(&[]);
    shelf.write("vault/log.md", "");
    let mut servers = [shelf.serve(&[]), shelf.serve(&[])];
    let mut waiting = [Vec::new(), Vec::new()];
    for number in 0..250 {
        for (server, waiting) in servers.iter_mut().zip(&mut waiting) {
            let content = format!("{}-{number}\n", waiting.len());
            let arguments = json!({ "path": "log.md", "content": content, "mode": "append" });
            waiting.push(
                server.start_request("tools/call", json!({ "name": "vault_write", "arguments": arguments })),
            );
        }
    }
    for (server, waiting) in servers.iter().zip(&waiting) {
        for _ in waiting {
            let reply = server.receive().message;
            assert!(reply["result"]["isError"] != true, "{reply}");
        }
    }
    assert_eq!(shelf.file("log.md").lines().count(), 500);
}

#[test]
fn only_one_of_two_changes_to_the_same_version_succeeds() {
    let shelf = Shelf::new(&[]);
    shelf.write("vault/f.md", "0");
    let mut servers = [shelf.serve(&[]), shelf.serve(&[])];
    for round in 0..20 {
        let read = servers[0].call("vault_read", json!({ "path": "f.md", "full": true }));
        let hash = &read["result"]["structuredContent"]["sha256"];
        let ids: Vec<_> = servers
            .iter_mut()
            .enumerate()
            .map(|(index, server)| {
                let arguments = json!({ "path": "f.md", "content": format!("{round} by {index}"), "mode": "overwrite", "if_sha256": hash });
                server.start_request("tools/call", json!({ "name": "vault_write", "arguments": arguments }))
            })
            .collect();
        let failed = servers
            .iter()
            .zip(ids)
            .filter(|(server, id)| server.reply_to(&(*id).into())["result"]["isError"] == true)
            .count();
        assert_eq!(failed, 1, "round {round}");
    }
}

#[test]
fn a_read_never_mixes_two_versions_of_a_file() {
    let mut shelf = Shelf::new(&[]);
    let path = shelf.home.0.join("vault/f.md");
    shelf.write("vault/f.md", "a".repeat(400_000));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (stop, path) = (stop.clone(), path);
        move || {
            for letter in ["b", "c"].iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                // In place, as a careless editor does. The pause lets some reads see a stable file.
                std::fs::write(&path, letter.repeat(400_000)).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    });
    for _ in 0..60 {
        let reply = shelf.server.call("vault_read", json!({ "path": "f.md", "full": true }));
        if reply["result"]["isError"] == true {
            let code = &reply["result"]["_meta"]["annai/error"]["code"];
            assert_eq!(code, "conflict", "{reply}");
        } else {
            let text = reply["result"]["structuredContent"]["text"].as_str().unwrap();
            assert!(text.bytes().all(|byte| Some(&byte) == text.as_bytes().first()));
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let last = shelf.call("vault_read", json!({ "path": "f.md", "full": true }));
    assert!(last["text"].as_str().is_some_and(|text| text.starts_with(['b', 'c'])), "{last}");
}

#[test]
fn a_replacement_that_would_fill_the_memory_is_refused() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/a.txt", "a".repeat(20_000));
    let arguments = json!({ "path": "a.txt", "find": "a", "replace": "x".repeat(100_000), "max_replacements": 1_000_000 });
    let error = shelf.fail("vault_replace", arguments);
    assert!(error["message"].as_str().unwrap().contains("2000000000 bytes"), "{error}");
    assert_eq!(shelf.file("a.txt").len(), 20_000);
}

/// A process that holds the vault's lock until it is killed.
fn hold_lock(shelf: &Shelf) -> std::process::Child {
    shelf.write("vault/.system/lock", "");
    let mut command = Command::new("flock");
    // `-o`: only flock itself holds the lock, so killing it releases the lock.
    command.arg("-o");
    command.arg(shelf.home.0.join("vault/.system/lock")).args(["-c", "echo held; exec sleep 120"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    child
}

#[test]
fn a_cancelled_write_is_not_carried_out_and_does_not_block_others() {
    let mut shelf = Shelf::new(&[("DEBUG", "1")]);
    shelf.write("vault/a.md", "old\n");
    let mut holder = hold_lock(&shelf);
    for round in 0..50 {
        let arguments = json!({ "path": "a.md", "content": "new\n", "mode": "append" });
        let id = shelf
            .server
            .start_request("tools/call", json!({ "name": "vault_write", "arguments": arguments }));
        shelf.server.process.wait_for_log(&format!("recv method=tools/call id={id}"));
        shelf
            .server
            .notify("notifications/cancelled", json!({ "requestId": id, "reason": round.to_string() }));
    }
    assert_eq!(shelf.call("vault_read", json!({ "path": "a.md", "full": true }))["text"], "old");
    assert!(holder.try_wait().unwrap().is_none(), "the read did not wait for the lock, which is still held");
    holder.kill().unwrap();
    holder.wait().unwrap();
    shelf.call("vault_write", json!({ "path": "a.md", "content": "last\n", "mode": "append" }));
    assert_eq!(shelf.file("a.md"), "old\nlast\n");
}

#[test]
fn a_lock_file_that_is_a_link_or_a_pipe_is_refused() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/.system/x", "");
    shelf.write("precious", "keep");
    let lock = shelf.home.0.join("vault/.system/lock");
    std::fs::hard_link(shelf.home.0.join("precious"), &lock).unwrap();
    assert_eq!(shelf.fail("vault_create", json!({ "path": "a.md", "content": "" }))["code"], "forbidden");
    std::fs::remove_file(&lock).unwrap();
    assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert_eq!(shelf.fail("vault_create", json!({ "path": "a.md", "content": "" }))["code"], "forbidden");
    std::fs::remove_file(&lock).unwrap();
    symlink(shelf.home.0.join("precious"), &lock).unwrap();
    assert_eq!(shelf.fail("vault_create", json!({ "path": "a.md", "content": "" }))["code"], "out_of_scope");
    assert_eq!(std::fs::read_to_string(shelf.home.0.join("precious")).unwrap(), "keep");
}

#[test]
fn a_vault_that_was_deleted_is_created_again() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/a.md", "1");
    shelf.call("vault_ls", json!({}));
    std::fs::remove_dir_all(shelf.home.0.join("vault")).unwrap();
    assert_eq!(shelf.fail("vault_ls", json!({}))["code"], "not_found");
    shelf.call("vault_create", json!({ "path": "b.md", "content": "2" }));
    assert_eq!(shelf.call("vault_ls", json!({}))["entries"][0]["path"], "b.md");
}

#[test]
fn the_next_write_removes_a_character_that_a_killed_append_has_cut() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/a.md", b"old\n\xe3\x81");
    shelf.write("vault/.system/lock", "add a.md");
    shelf.call("vault_create", json!({ "path": "b.md", "content": "x" }));
    assert_eq!(shelf.file("a.md"), "old\n");
    // Without the note in the lock file, the file may belong to another program and is left alone.
    shelf.write("vault/c.md", b"old\n\xe3\x81");
    shelf.call("vault_create", json!({ "path": "d.md", "content": "x" }));
    assert_eq!(std::fs::read(shelf.home.0.join("vault/c.md")).unwrap().len(), 6);
}

#[test]
fn new_files_respect_the_umask_and_existing_files_keep_their_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let shelf = Shelf::new(&[]);
    shelf.write("vault/shared.md", "x");
    let mode = |path: &str| {
        std::fs::metadata(shelf.home.0.join("vault").join(path)).unwrap().permissions().mode() & 0o777
    };
    std::fs::set_permissions(shelf.home.0.join("vault/shared.md"), std::fs::Permissions::from_mode(0o666))
        .unwrap();
    let program = annai(&shelf.home);
    let mut command = Command::new("sh");
    command.args(["-c", "umask 077; exec \"$0\" --stdio --toolset library"]).arg(program.get_program());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", &shelf.home.0).current_dir(&shelf.home.0);
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    server.call("vault_create", json!({ "path": "new.md", "content": "x" }));
    server.call("vault_write", json!({ "path": "shared.md", "content": "y", "mode": "overwrite" }));
    assert_eq!((mode("new.md"), mode("shared.md")), (0o600, 0o666));
}
