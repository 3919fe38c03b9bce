//! Reading to the end with cursors, and lists page by page.

use serde_json::{Value, json};

use crate::Shelf;

const GUIDE: &str = "# Guide\r\n\r\nText A.\r\n\r\n## Setup\n\nStep one.\n\n# Appendix\n\nEnd.";

fn shelf() -> Shelf {
    let shelf = Shelf::new(&[]);
    shelf.write("manuals/alpha/guide.md", GUIDE);
    shelf.write("manuals/alpha/data.json", "{\"rows\": [{\"id\": 1}, {\"id\": 2}], \"n\": \"x\"}");
    shelf
}

/// Calls a tool with the cursors that it returns until the end, and returns all results.
fn read_on(shelf: &mut Shelf, tool: &str, mut arguments: Value) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let page = shelf.call(tool, arguments.clone());
        arguments["cursor"] = page["next_cursor"].clone();
        pages.push(page);
        if arguments["cursor"].is_null() {
            return pages;
        }
    }
}

fn text_of(pages: &[Value]) -> String {
    pages.iter().map(|page| page["text"].as_str().unwrap()).collect()
}

#[test]
fn a_manual_is_read_to_its_end() {
    let mut shelf = shelf();
    let place = json!({ "manual_id": "alpha", "path": "guide.md", "start_line": 5 });
    let part = shelf.call("manual_read", place.clone());
    let rev = part["rev"].clone();
    assert_eq!(
        part,
        json!({
            "text": "## Setup\n\nStep one.\n", "truncated": false,
            "applied": { "scope": "section", "max_sections": 20, "max_chars": 8000 },
            "manual_id": "alpha", "path": "guide.md", "start_line": 5, "end_line": 7,
            "heading_path": ["Guide", "Setup"], "next_cursor": null, "rev": rev, "next_actions": [],
        })
    );
    for max_chars in [1, 3, 10, 100] {
        let limits = json!({ "max_chars": max_chars });
        let file =
            json!({ "manual_id": "alpha", "path": "guide.md", "lines": { "start": 1 }, "limits": limits });
        assert_eq!(text_of(&read_on(&mut shelf, "manual_read", file)), GUIDE);
        let section =
            json!({ "manual_id": "alpha", "path": "guide.md", "scope": "section", "limits": limits });
        assert_eq!(
            text_of(&read_on(&mut shelf, "manual_read", section)),
            &GUIDE[..GUIDE.find("\n# App").unwrap()]
        );
    }
    let value =
        json!({ "target": "manual", "manual_id": "alpha", "path": "data.json", "json_path": "/rows/1" });
    assert_eq!(shelf.call("manual_read", json!({ "ref": value }))["text"], "{\"id\": 2}");
    let reply = shelf.server.call("manual_read", place);
    assert_eq!(reply["result"]["content"][0]["text"], "## Setup\n\nStep one.\n");
    let rest = reply["result"]["content"][1]["text"].as_str().unwrap();
    assert!(rest.contains("\"heading_path\":[\"Guide\",\"Setup\"]"), "{rest}");
}

#[test]
fn places_cursors_and_lines_that_do_not_fit_are_refused() {
    let mut shelf = shelf();
    let place = json!({ "target": "manual", "manual_id": "alpha", "path": "guide.md", "start_line": 5 });
    let with = |extra: Value| {
        let mut arguments = json!({ "manual_id": "alpha", "path": "guide.md" });
        arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        arguments
    };
    let pointer = |path: &str, pointer: &str| json!({ "ref": { "target": "manual", "manual_id": "alpha", "path": path, "json_path": pointer } });
    for (arguments, code, message) in [
        (json!({}), "invalid_parameter", "got neither"),
        (json!({ "ref": place, "path": "guide.md" }), "invalid_parameter", "got both"),
        (json!({ "path": "guide.md" }), "invalid_parameter", "manual_id is required unless ref is given"),
        (json!({ "manual_id": "alpha", "start_line": 1 }), "invalid_parameter", "path is required"),
        (with(json!({ "lines": { "start": 12 } })), "invalid_parameter", "from 1 to 11"),
        (
            with(json!({ "lines": { "start": 4, "end": 3 } })),
            "invalid_parameter",
            "from 4 (lines.start) to 11",
        ),
        (with(json!({ "lines": { "start": 0, "end": 3 } })), "invalid_parameter", "lines.start"),
        (with(json!({ "lines": { "start": 1 }, "scope": "file" })), "invalid_parameter", "got both"),
        (
            with(json!({ "lines": { "start": 18_446_744_073_709_551_615_u64 } })),
            "invalid_parameter",
            "from 1 to 11",
        ),
        (with(json!({ "cursor": { "start_line": 99 } })), "invalid_parameter", "cursor: expected a place"),
        (
            with(json!({ "cursor": { "start_line": 1, "char": 999 } })),
            "invalid_parameter",
            "cursor: expected a place",
        ),
        (with(json!({ "cursor": { "char": 1 } })), "invalid_parameter", "start_line"),
        (with(json!({ "cursor": { "start_line": 1, "x": 1 } })), "invalid_parameter", "unknown key"),
        (with(json!({ "scope": "file", "cursor": { "start_line": 2 } })), "forbidden", "ALLOW_FILE_SCOPE"),
        (with(json!({ "scope": "lines" })), "invalid_parameter", "scope"),
        (pointer("data.json", "/rows/9/id"), "not_found", "the part that exists is /rows"),
        (pointer("data.json", "rows"), "invalid_parameter", "JSON Pointer"),
    ] {
        let error = shelf.fail("manual_read", arguments.clone());
        assert_eq!(error["code"], code, "{arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{arguments}: {error}");
    }
    // A cursor of an earlier version of the file, with the version that it belongs to.
    let first =
        shelf.call("manual_read", json!({ "ref": place, "scope": "section", "limits": { "max_chars": 12 } }));
    let mut stale = place;
    stale["rev"] = first["rev"].clone();
    let arguments = json!({ "ref": stale, "scope": "section", "cursor": first["next_cursor"] });
    assert_eq!(shelf.call("manual_read", arguments.clone())["text"], "Step one.\n");
    shelf.write("manuals/alpha/guide.md", "# Other\n");
    assert_eq!(shelf.fail("manual_read", arguments)["code"], "conflict");
    shelf.write("manuals/alpha/bad.json", "{\"a\": 1,}");
    assert_eq!(shelf.fail("manual_read", pointer("bad.json", "/a"))["code"], "invalid_parameter");
    shelf.write("manuals/alpha/deep.json", "[".repeat(1_000_000));
    assert_eq!(shelf.fail("manual_read", pointer("deep.json", "/0"))["code"], "invalid_parameter");
    shelf.write("manuals/alpha/twice.json", "{\"a\": 1, \"a\": 2}");
    assert_eq!(shelf.call("manual_read", pointer("twice.json", "/a"))["text"], "1");
}

#[test]
fn a_long_line_of_the_vault_is_scanned_to_its_end() {
    let mut shelf = Shelf::new(&[]);
    let long = "あいうえおか\u{3099}".repeat(2000);
    shelf.write("vault/long.md", &long);
    let (mut arguments, mut seen) = (json!({ "path": "long.md" }), String::new());
    loop {
        let page = shelf.call("vault_scan", arguments);
        seen.push_str(page["text"].as_str().unwrap());
        assert_eq!(page["eof"], seen.len() == long.len());
        let action = &page["next_actions"][0];
        arguments = action["params"].clone();
        if action["type"] != "vault_scan" {
            break;
        }
    }
    assert_eq!(seen, long);
    assert_eq!(arguments, json!({ "path": "long.md", "cited_ranges": [{ "start_line": 1, "end_line": 1 }] }));
    // A line whose end was not returned does not count as scanned.
    shelf.write("vault/two.md", format!("{long}\nend\n"));
    shelf.call("vault_scan", json!({ "path": "two.md" }));
    let end = shelf.call("vault_scan", json!({ "path": "two.md", "cursor": { "start_line": 2 } }));
    assert_eq!(end["next_actions"][0]["params"]["cited_ranges"], json!([{ "start_line": 2, "end_line": 2 }]));
    // vault_read continues inside a line as well.
    let (mut arguments, mut seen) = (json!({ "path": "two.md", "range": { "end_line": 1 } }), String::new());
    loop {
        let page = shelf.call("vault_read", arguments.clone());
        seen.push_str(page["text"].as_str().unwrap());
        if page["truncated"] == false {
            break;
        }
        arguments["cursor"] = page["next_offset"].clone();
    }
    assert_eq!(seen, long);
    for cursor in
        [json!({ "start_line": 1, "char": 14_001 }), json!({ "start_line": 2 }), json!({ "char": 1 })]
    {
        let arguments = json!({ "path": "two.md", "range": { "end_line": 1 }, "cursor": cursor });
        assert_eq!(shelf.fail("vault_read", arguments)["code"], "invalid_parameter", "{cursor}");
    }
}

#[test]
fn lists_are_returned_page_by_page() {
    let mut shelf = Shelf::new(&[("HARD_MAX_CHARS", "2000")]);
    for number in 0..40 {
        let text =
            format!("# Part {number}\n\nHowever, this is excluded.\n\n## Détails\n\nExcept {number}.\n");
        shelf.write(&format!("manuals/alpha/d{}/part-{number:02}.md", number % 3), &text);
        shelf.write(&format!("manuals/m{number:02}-{}/a.md", "x".repeat(60)), "# A\n");
        shelf.write(&format!("vault/notes/file-{number:02}-{}.md", "y".repeat(40)), "x");
    }
    for (tool, arguments, key, total) in [
        ("manual_list", json!({}), "items", 41),
        ("manual_ls", json!({}), "items", 80),
        ("manual_ls", json!({ "manual_id": "alpha", "limit": 7 }), "items", 40),
        ("manual_toc", json!({ "manual_id": "alpha" }), "items", 80),
        ("manual_toc", json!({ "manual_id": "alpha", "path": "d1", "limit": 3 }), "items", 26),
        ("manual_toc", json!({ "manual_id": "alpha", "depth": 1 }), "items", 40),
        ("manual_toc", json!({ "manual_id": "alpha", "path": "d0/part-00.md" }), "items", 2),
        ("manual_excepts", json!({ "manual_id": "alpha" }), "items", 80),
        ("vault_ls", json!({ "relative_dir": "notes" }), "entries", 40),
        ("vault_search", json!({ "query": "x", "limit": 9 }), "results", 40),
    ] {
        let mut seen: Vec<String> = Vec::new();
        for page in read_on(&mut shelf, tool, arguments.clone()) {
            assert_eq!(page["total"], total, "{tool} {arguments}");
            assert!(page.to_string().chars().count() <= 7000, "{tool}");
            seen.extend(page[key].as_array().unwrap().iter().map(Value::to_string));
        }
        assert_eq!(seen.len(), total, "{tool} {arguments}");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), total, "{tool} {arguments}");
        let mut forged = arguments.clone();
        for cursor in ["", "x", "00000000:alpha", "00000000:a.md#L1"] {
            forged["cursor"] = json!(cursor);
            assert_eq!(shelf.fail(tool, forged.clone())["code"], "invalid_parameter", "{tool} {cursor}");
        }
    }
    let toc = |arguments: Value| ("manual_toc", arguments);
    for ((tool, arguments), code) in [
        (toc(json!({ "manual_id": "alpha", "path": "none" })), "not_found"),
        (toc(json!({ "manual_id": "alpha", "path": "../x" })), "invalid_path"),
        (toc(json!({ "manual_id": "alpha", "depth": 0 })), "invalid_parameter"),
        (toc(json!({ "manual_id": "alpha", "depth": 7 })), "invalid_parameter"),
        (toc(json!({ "manual_id": "alpha", "limit": 0 })), "invalid_parameter"),
        (("manual_ls", json!({ "limit": 10_001 })), "invalid_parameter"),
    ] {
        assert_eq!(shelf.fail(tool, arguments.clone())["code"], code, "{arguments}");
    }
    // The cursor of another list.
    let page = shelf.call("manual_toc", json!({ "manual_id": "alpha", "limit": 1 }));
    let other = json!({ "manual_id": "alpha", "depth": 1, "cursor": page["next_cursor"] });
    assert_eq!(shelf.fail("manual_toc", other)["code"], "invalid_parameter");
}
