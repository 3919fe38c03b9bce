//! The vault tools: listing, reading, scanning, searching and writing.

use serde_json::{Value, json};

use crate::Shelf;

#[test]
fn folders_are_listed_one_level_at_a_time() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/b.md", "12345");
    shelf.write("vault/a/c.txt", "");
    shelf.write("vault/.system/secret.md", "");
    assert_eq!(
        shelf.call("vault_ls", json!({})),
        json!({ "entries": [
            { "path": "a", "type": "dir", "size_bytes": null },
            { "path": "b.md", "type": "file", "size_bytes": 5 },
        ], "total": 2, "next_cursor": null })
    );
    assert_eq!(shelf.call("vault_ls", json!({ "relative_dir": "a" }))["entries"][0]["path"], "a/c.txt");
    assert_eq!(
        shelf.call("vault_ls", json!({ "relative_dir": "." }))["entries"].as_array().unwrap().len(),
        2
    );
    for (folder, code) in [
        ("none", "not_found"),
        ("b.md", "not_found"),
        ("b.md/c", "not_found"),
        (".system", "forbidden"),
        ("..", "invalid_path"),
        ("", "invalid_path"),
    ] {
        assert_eq!(shelf.fail("vault_ls", json!({ "relative_dir": folder }))["code"], code, "{folder}");
    }
}

#[test]
fn vault_read_returns_the_exact_lines() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/n.md", "one\r\ntwo\nthree\rfour\n");
    let read =
        shelf.call("vault_read", json!({ "path": "n.md", "range": { "start_line": 2, "end_line": 3 } }));
    let hash = read["sha256"].clone();
    assert_eq!(
        read,
        json!({
            "text": "two\nthree", "truncated": false, "returned_chars": 9,
            "applied_range": { "start_line": 2, "end_line": 3 }, "next_offset": { "start_line": 4, "char": 0 },
            "truncated_reason": "range_end", "sha256": hash, "next_actions": [],
        })
    );
    let full = shelf.call("vault_read", json!({ "path": "n.md", "full": true }));
    assert_eq!(
        (&full["text"], &full["truncated_reason"], &full["next_offset"]),
        (&json!("one\r\ntwo\nthree\rfour"), &json!("none"), &json!({ "start_line": null, "char": null }))
    );
    let cut =
        shelf.call("vault_read", json!({ "path": "n.md", "full": true, "limits": { "max_chars": 10 } }));
    assert_eq!(
        (&cut["text"], &cut["truncated"], &cut["truncated_reason"], &cut["next_offset"]),
        (&json!("one\r\ntwo"), &json!(true), &json!("max_chars"), &json!({ "start_line": 3, "char": 0 }))
    );
    for (arguments, code) in [
        (json!({ "path": "n.md" }), "invalid_parameter"),
        (json!({ "path": "n.md", "range": { "start_line": 5 } }), "invalid_parameter"),
        (json!({ "path": "n.md", "range": { "start_line": 3, "end_line": 2 } }), "invalid_parameter"),
        (json!({ "path": "n.md", "range": { "start_line": 0 } }), "invalid_parameter"),
        (json!({ "path": "n.md", "range": { "start_line": "2" } }), "invalid_parameter"),
        (json!({ "path": "none.md", "full": true }), "not_found"),
        (json!({ "path": "/etc/passwd", "full": true }), "invalid_path"),
        (json!({ "path": ".system/lock", "full": true }), "forbidden"),
    ] {
        assert_eq!(shelf.fail("vault_read", arguments.clone())["code"], code, "{arguments}");
    }
    shelf.write("vault/empty.md", "");
    let empty = shelf.call("vault_read", json!({ "path": "empty.md", "range": { "start_line": 1 } }));
    assert_eq!(
        (&empty["text"], &empty["applied_range"]),
        (&json!(""), &json!({ "start_line": 1, "end_line": 0 }))
    );
    let mut small = Shelf::new(&[("HARD_MAX_CHARS", "5")]);
    small.write("vault/n.md", "one\ntwo\n");
    assert_eq!(
        small.call("vault_read", json!({ "path": "n.md", "full": true }))["truncated_reason"],
        "hard_limit"
    );
}

#[test]
fn a_scan_visits_every_line_once_and_ends_in_coverage() {
    let mut shelf = Shelf::new(&[]);
    let long = "x".repeat(30);
    let lines: Vec<String> =
        (1..=57).map(|number| if number == 20 { long.clone() } else { format!("line {number}") }).collect();
    shelf.write("vault/f.md", lines.join("\n"));
    for (chunk, max_chars) in [(1, 100), (7, 100), (80, 20), (200, 10_000), (3, 6)] {
        let (mut arguments, mut seen, mut cuts) = (
            json!({ "path": "f.md", "chunk_lines": chunk, "limits": { "max_chars": max_chars } }),
            String::new(),
            0,
        );
        loop {
            let page = shelf.call("vault_scan", arguments.clone());
            seen.push_str(page["text"].as_str().unwrap());
            cuts += u64::from(page["truncated"] == true);
            let action = &page["next_actions"][0];
            if page["eof"] == true {
                assert_eq!(page["next_cursor"], json!({ "start_line": null, "char": null }));
                assert_eq!(action["type"], "vault_coverage");
                assert_eq!(
                    action["params"],
                    json!({ "path": "f.md", "cited_ranges": [{ "start_line": 1, "end_line": 57 }] })
                );
                break;
            }
            // The next action can be called unchanged.
            assert_eq!(
                (&action["type"], &action["params"]["cursor"]),
                (&json!("vault_scan"), &page["next_cursor"])
            );
            arguments["cursor"] = page["next_cursor"].clone();
            // The break at the end of a chunk is left out; a line that goes on has none.
            seen.push_str(if page["next_cursor"]["char"] == 0 { "\n" } else { "" });
        }
        assert_eq!(seen, lines.join("\n"));
        assert!(max_chars > 30 || cuts > 0);
    }
    for arguments in [
        json!({ "path": "f.md", "chunk_lines": 0 }),
        json!({ "path": "f.md", "chunk_lines": 201 }),
        json!({ "path": "f.md", "cursor": { "start_line": 58 } }),
        json!({ "path": "f.md", "cursor": { "start_line": 20, "char": 31 } }),
        json!({ "path": "f.md", "cursor": { "start_line": 20, "char": -1 } }),
    ] {
        assert_eq!(shelf.fail("vault_scan", arguments.clone())["code"], "invalid_parameter", "{arguments}");
    }
    shelf.write("vault/empty.md", "");
    let page = shelf.call("vault_scan", json!({ "path": "empty.md" }));
    assert_eq!(
        (&page["eof"], &page["next_actions"][0]["params"]["cited_ranges"]),
        (&json!(true), &json!([]))
    );
}

#[test]
fn create_write_and_replace_follow_their_rules() {
    let mut shelf = Shelf::new(&[]);
    // The vault folder is created with the first file.
    let made = shelf.call("vault_create", json!({ "path": "deep/er/n.md", "content": "one two two\n" }));
    assert_eq!((&made["written_path"], &made["written_bytes"]), (&json!("deep/er/n.md"), &json!(12)));
    assert_eq!(
        shelf.fail("vault_create", json!({ "path": "deep/er/n.md", "content": "" }))["code"],
        "conflict"
    );
    let replaced =
        shelf.call("vault_replace", json!({ "path": "deep/er/n.md", "find": "two", "replace": "2" }));
    assert_eq!(
        (&replaced["replacements"], shelf.file("deep/er/n.md")),
        (&json!(1), "one 2 two\n".to_owned())
    );
    let none = shelf.call("vault_replace", json!({ "path": "deep/er/n.md", "find": "zzz", "replace": "" }));
    assert_eq!((&none["replacements"], &none["sha256"]), (&json!(0), &replaced["sha256"]));
    shelf.call("vault_write", json!({ "path": "deep/er/n.md", "content": "end", "mode": "append" }));
    assert_eq!(shelf.file("deep/er/n.md"), "one 2 two\nend");
    let stale = json!({ "path": "deep/er/n.md", "content": "x", "mode": "overwrite", "if_sha256": replaced["sha256"] });
    assert_eq!(shelf.fail("vault_write", stale)["code"], "conflict");
    assert_eq!(shelf.file("deep/er/n.md"), "one 2 two\nend");
    let seen = shelf.call("vault_read", json!({ "path": "deep/er/n.md", "full": true }))["sha256"].clone();
    let written = shelf.call(
        "vault_write",
        json!({ "path": "deep/er/n.md", "content": "new", "mode": "overwrite", "if_sha256": seen }),
    );
    assert_eq!(shelf.file("deep/er/n.md"), "new");
    assert_eq!(
        shelf.call("vault_read", json!({ "path": "deep/er/n.md", "full": true }))["sha256"],
        written["sha256"]
    );
    for (tool, arguments, code) in [
        ("vault_write", json!({ "path": "none.md", "content": "", "mode": "append" }), "conflict"),
        ("vault_write", json!({ "path": "none/x.md", "content": "", "mode": "append" }), "conflict"),
        ("vault_write", json!({ "path": "deep", "content": "", "mode": "append" }), "invalid_path"),
        (
            "vault_write",
            json!({ "path": "deep/er/n.md", "content": "", "mode": "insert" }),
            "invalid_parameter",
        ),
        (
            "vault_write",
            json!({ "path": "deep/er/n.md", "content": "", "mode": "append", "if_sha256": "abc" }),
            "invalid_parameter",
        ),
        ("vault_replace", json!({ "path": "deep/er/n.md", "find": "", "replace": "" }), "invalid_parameter"),
        ("vault_create", json!({ "path": "deep/er/n.md/x.md", "content": "" }), "invalid_path"),
        ("vault_create", json!({ "path": "artifacts/x.txt", "content": "" }), "forbidden"),
        ("vault_create", json!({ "path": "artifacts/daily/2026-02-30.md", "content": "" }), "forbidden"),
        ("vault_create", json!({ "path": ".system/x.md", "content": "" }), "forbidden"),
        ("vault_create", json!({ "path": "CON.md", "content": "" }), "invalid_path"),
    ] {
        assert_eq!(shelf.fail(tool, arguments.clone())["code"], code, "{tool} {arguments}");
    }
    shelf.call("vault_create", json!({ "path": "artifacts/daily/2026-02-28.md", "content": "# Day\n" }));
    shelf.call(
        "vault_write",
        json!({ "path": "artifacts/daily/2026-02-28.md", "content": "more\n", "mode": "append" }),
    );
    for (tool, arguments) in [
        (
            "vault_write",
            json!({ "path": "artifacts/daily/2026-02-28.md", "content": "", "mode": "overwrite" }),
        ),
        (
            "vault_write",
            json!({ "path": "Artifacts/DAILY/2026-02-28.md", "content": "", "mode": "overwrite" }),
        ),
        (
            "vault_replace",
            json!({ "path": "artifacts/daily/2026-02-28.md", "find": "more", "replace": "less" }),
        ),
    ] {
        assert_eq!(shelf.fail(tool, arguments.clone())["code"], "forbidden", "{arguments}");
    }
    assert_eq!(shelf.file("artifacts/daily/2026-02-28.md"), "# Day\nmore\n");
}

fn hits(found: &Value) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let hit = |hit: &Value| (text(&hit["path"]), hit["start_line"].as_u64().unwrap(), text(&hit["snippet"]));
    found["results"].as_array().unwrap().iter().map(hit).collect()
}

#[test]
fn a_search_returns_lines_in_order() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/b.md", "Alpha\r\nbeta alpha\rgamma\n");
    shelf.write("vault/a/n.txt", "診断 給付・金\nuser_id (x)\n");
    shelf.write("vault/a/bin.dat", b"alpha\xff\xfe alpha");
    shelf.write("vault/.system/x.md", "alpha");
    let mut search = |arguments: Value| hits(&shelf.call("vault_search", arguments));
    let hit = |path: &str, line: u64, text: &str| (path.to_owned(), line, text.to_owned());
    assert_eq!(
        search(json!({ "query": "^ALPHA$|gamma" })),
        [hit("b.md", 1, "Alpha"), hit("b.md", 3, "gamma")]
    );
    assert_eq!(search(json!({ "query": "alpha", "mode": "plain" })), [hit("b.md", 2, "beta alpha")]);
    assert_eq!(
        search(json!({ "query": "診断給付金", "mode": "loose" })),
        [hit("a/n.txt", 1, "診断 給付・金")]
    );
    assert_eq!(search(json!({ "query": "User-ID", "mode": "loose" })), [hit("a/n.txt", 2, "user_id (x)")]);
    // A query that is not a valid regular expression is searched for literally.
    assert_eq!(search(json!({ "query": "(x" })), [hit("a/n.txt", 2, "user_id (x)")]);
    assert_eq!(search(json!({ "query": "(x)", "mode": "plain" })), [hit("a/n.txt", 2, "user_id (x)")]);
    assert_eq!(search(json!({ "query": "a", "glob": "*.txt" })).len(), 0);
    assert_eq!(search(json!({ "query": "a", "glob": "!a/**" })).len(), 3);
    assert_eq!(search(json!({ "query": "a", "relative_dir": "a", "mode": "plain" })).len(), 0);
    assert_eq!(
        search(json!({ "query": ".", "limit": 2 })),
        [hit("a/n.txt", 1, "診断 給付・金"), hit("a/n.txt", 2, "user_id (x)")]
    );
    let page = shelf.call("vault_search", json!({ "query": "alpha", "limit": 1 }));
    let cursor = page["next_cursor"].clone();
    assert_eq!(
        page,
        json!({
            "results": [{ "path": "b.md", "start_line": 1, "snippet": "Alpha" }], "total": 2, "more": true,
            "next_cursor": cursor, "mode_applied": "regex", "pattern_error": null,
            "skipped": [{ "path": "a/bin.dat", "reason": "is not text in a supported encoding" }], "warnings": 1,
        })
    );
    let page = shelf.call("vault_search", json!({ "query": "alpha", "limit": 1, "cursor": cursor }));
    assert_eq!(hits(&page), [hit("b.md", 2, "beta alpha")]);
    assert_eq!(
        (&page["total"], &page["more"], &page["next_cursor"]),
        (&json!(2), &json!(false), &json!(null))
    );
    let other = json!({ "query": "alphas", "cursor": cursor });
    assert_eq!(shelf.fail("vault_search", other)["code"], "invalid_parameter");
    let invalid = shelf.call("vault_search", json!({ "query": "(x" }));
    assert_eq!(invalid["mode_applied"], "plain");
    assert!(invalid["pattern_error"].as_str().unwrap().contains("unclosed group"), "{invalid}");
    for (arguments, code) in [
        (json!({ "query": "" }), "invalid_parameter"),
        (json!({ "query": "x", "limit": 0 }), "invalid_parameter"),
        (json!({ "query": " ・", "mode": "loose" }), "invalid_parameter"),
        (json!({ "query": "(a{1000}){1000}" }), "invalid_parameter"),
        (json!({ "query": "x", "glob": "a[" }), "invalid_parameter"),
        (json!({ "query": "x", "relative_dir": "none" }), "not_found"),
        (json!({ "query": "x", "mode": "fuzzy" }), "invalid_parameter"),
    ] {
        assert_eq!(shelf.fail("vault_search", arguments.clone())["code"], code, "{arguments}");
    }
}

#[test]
fn a_limited_search_returns_the_same_hits_every_time() {
    let mut shelf = Shelf::new(&[]);
    for number in 0..300 {
        shelf.write(
            &format!("vault/d{:02}/f{number:03}.md", number % 17),
            format!("x\nneedle {number}\nneedle\n"),
        );
    }
    let first = shelf.call("vault_search", json!({ "query": "needle", "mode": "plain", "limit": 70 }));
    let found = hits(&first);
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(found, sorted);
    assert_eq!((found.len(), found[0].0.as_str()), (70, "d00/f000.md"));
    for _ in 0..10 {
        assert_eq!(
            shelf.call("vault_search", json!({ "query": "needle", "mode": "plain", "limit": 70 })),
            first
        );
    }
    // A page ends where its characters would exceed what the server allows.
    let (mut cursor, mut all, mut pages) = (json!(null), Vec::new(), 0);
    loop {
        let page = shelf.call("vault_search", json!({ "query": "needle", "limit": 1000, "cursor": cursor }));
        assert!(page.to_string().chars().count() < 25_000 && page["total"] == 600);
        all.extend(hits(&page));
        cursor = page["next_cursor"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
    }
    all.dedup();
    assert_eq!((all.len(), all.is_sorted(), pages > 1), (600, true, true));
}

#[test]
fn the_reported_line_of_a_hit_contains_the_match() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/x.md", "root needle\n");
    shelf.write("vault/~/x.md", "tilde needle\n");
    shelf.write("vault/c\nd/x.md", "odd needle\n");
    shelf.write("vault/a\\b/x.md", "back needle\n");
    shelf.write("vault/crlf.txt", "a\r\nb\r\nc\r\n");
    shelf.write("vault/empty.txt", "");
    let mut search = |arguments: Value| hits(&shelf.call("vault_search", arguments));
    let hit = |path: &str, line: u64, text: &str| (path.to_owned(), line, text.to_owned());
    // Names that cannot be expressed as a path are not listed, and are not confused with another file.
    assert_eq!(search(json!({ "query": "needle" })), [hit("x.md", 1, "root needle")]);
    assert_eq!(
        search(json!({ "query": "\\n", "glob": "*.txt" })),
        [hit("crlf.txt", 1, "a"), hit("crlf.txt", 2, "b"), hit("crlf.txt", 3, "c")]
    );
    assert_eq!(search(json!({ "query": "\\nc", "glob": "*.txt" })), [hit("crlf.txt", 2, "b")]);
    assert_eq!(search(json!({ "query": "z*", "glob": "empty.txt" })), []);
    assert_eq!(shelf.call("vault_ls", json!({}))["entries"].as_array().unwrap().len(), 3);
    // A line that is longer than the read buffer.
    let long = format!("{}needle{}\n", "あ".repeat(14_000_000), "い".repeat(100));
    shelf.write("vault/long.log", long);
    let found =
        hits(&shelf.call("vault_search", json!({ "query": "needle", "mode": "plain", "glob": "*.log" })));
    assert!(found.len() == 1 && found[0].1 == 1 && found[0].2.contains("needle"), "{found:?}");
}

#[test]
fn cancelling_stops_a_long_search() {
    let mut shelf = Shelf::new(&[("DEBUG", "1")]);
    shelf.write("vault/a.txt", "a\n".repeat(3_000_000));
    let arguments = json!({ "query": "(?s)a.*zzz|a", "limit": 1000 });
    let id =
        shelf.server.start_request("tools/call", json!({ "name": "vault_search", "arguments": arguments }));
    shelf.server.process.wait_for_log(&format!("recv method=tools/call id={id}"));
    shelf.server.notify("notifications/cancelled", json!({ "requestId": id }));
    shelf.server.end_input();
    // The process ends only when the search has stopped. What is not cancelled would take minutes.
    shelf.server.process.wait(std::time::Duration::from_secs(60));
}

#[test]
fn annai_call_prints_readable_text_on_a_terminal_and_json_into_a_pipe() {
    let home = crate::Home::new();
    home.write("vault/n.md", "one\ntwo\n");
    for (arguments, expected) in [
        (&["call", "vault_read", "path=n.md", "full=true"][..], "one\ntwo\n"),
        (&["call", "vault_search", "query=two"], "n.md:2: two\n"),
        (&["call", "vault_search", "query=zzz"], "nothing found\n"),
        (&["call", "vault_ls"], "n.md  8 bytes\n"),
        (&["call", "vault_create", "path=m.md", "content=x"], "wrote 1 bytes to m.md\n"),
    ] {
        assert_eq!(crate::on_terminal(&home, arguments), (expected.to_owned(), Some(0)), "{arguments:?}");
    }
    // A program gets what --json prints.
    let piped = crate::annai(&home).args(["call", "vault_ls"]).output().unwrap();
    let json = crate::annai(&home).args(["call", "vault_ls", "--json"]).output().unwrap();
    assert_eq!(crate::stdout(&piped), crate::stdout(&json));
    assert!(crate::stdout(&json).starts_with("{\n  \"entries\": ["), "{}", crate::stdout(&json));
}
