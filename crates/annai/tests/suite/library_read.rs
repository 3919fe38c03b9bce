//! The manual tools: listing, tables of contents, reading and copying, and their limits.

use serde_json::{Value, json};

use crate::Shelf;

const GUIDE: &str = "Intro line.\n\n# Guide\n\nText A.\n\n## Setup\n\nStep one.\n\n### Deep\n\nDeeper.\n\n## Use\n\nUse it.\n\n# Appendix\n\nEnd.\n";

fn shelf() -> Shelf {
    let shelf = Shelf::new(&[]);
    shelf.write("manuals/alpha/guide.md", GUIDE);
    shelf.write("manuals/alpha/data/table.json", "{\n  \"a\": 1\n}\n");
    shelf.write("manuals/alpha/ignored.bin", "no");
    shelf.write("manuals/alpha/.hidden/x.md", "# no");
    shelf.write("manuals/日本語 manual/章.md", "前書き\n第一章\n===\n本文\n");
    shelf
}

fn place(path: &str, line: Option<u64>) -> Value {
    json!({ "target": "manual", "manual_id": "alpha", "path": path, "start_line": line })
}

#[test]
fn manuals_and_their_files_are_listed() {
    let mut shelf = shelf();
    assert_eq!(
        shelf.call("manual_list", json!({})),
        json!({ "items": [{ "manual_id": "alpha" }, { "manual_id": "日本語 manual" }], "total": 2, "next_cursor": null })
    );
    assert_eq!(
        shelf.call("manual_ls", json!({ "manual_id": "alpha" })),
        json!({ "items": [
            { "manual_id": "alpha", "path": "data/table.json", "file_type": "json" },
            { "manual_id": "alpha", "path": "guide.md", "file_type": "md" },
        ], "total": 2, "next_cursor": null })
    );
    assert_eq!(shelf.call("manual_ls", json!({}))["items"].as_array().unwrap().len(), 3);
    for (id, code) in [
        ("none", "not_found"),
        ("..", "invalid_path"),
        ("a/b", "invalid_path"),
        ("a\\b", "invalid_path"),
        ("", "invalid_path"),
    ] {
        assert_eq!(shelf.fail("manual_ls", json!({ "manual_id": id }))["code"], code, "{id}");
    }
}

#[test]
fn the_table_of_contents_lists_every_section() {
    let mut shelf = shelf();
    let items = shelf.call("manual_toc", json!({ "manual_id": "alpha" }))["items"].take();
    let node = |kind: &str, path: &str, title: &str, level: u8, parent: Option<&str>, lines: [usize; 2]| {
        json!({
            "kind": kind, "node_id": format!("{path}#L{}", lines[0]), "path": path, "title": title, "level": level,
            "parent_id": parent, "line_start": lines[0], "line_end": lines[1],
        })
    };
    assert_eq!(
        items,
        json!([
            node("json_file", "data/table.json", "table.json", 1, None, [1, 3]),
            node("heading", "guide.md", "Guide", 1, None, [1, 2]),
            node("heading", "guide.md", "Guide", 1, None, [3, 18]),
            node("heading", "guide.md", "Setup", 2, Some("guide.md#L3"), [7, 14]),
            node("heading", "guide.md", "Deep", 3, Some("guide.md#L7"), [11, 14]),
            node("heading", "guide.md", "Use", 2, Some("guide.md#L3"), [15, 18]),
            node("heading", "guide.md", "Appendix", 1, None, [19, 21]),
        ])
    );
    let items = shelf.call("manual_toc", json!({ "manual_id": "日本語 manual" }))["items"].take();
    // A setext heading takes the whole paragraph above its line.
    assert_eq!(items[0]["title"], "前書き 第一章");
}

#[test]
fn each_scope_returns_its_part_of_the_file() {
    let mut shelf = shelf();
    let mut read = |arguments: Value| shelf.call("manual_read", arguments);
    let section = read(json!({ "ref": place("guide.md", Some(7)), "scope": "section" }));
    assert_eq!(section["text"], "## Setup\n\nStep one.\n\n### Deep\n\nDeeper.\n");
    assert_eq!(section["applied"], json!({ "scope": "section", "max_sections": 20, "max_chars": 8000 }));
    assert_eq!(section["truncated"], false);
    // A line inside a section stands for that section.
    assert_eq!(
        read(json!({ "ref": place("guide.md", Some(13)), "scope": "section" }))["text"],
        "### Deep\n\nDeeper.\n"
    );
    let sections = read(
        json!({ "ref": place("guide.md", Some(11)), "scope": "sections", "limits": { "max_sections": 2 } }),
    );
    assert_eq!(sections["text"], "### Deep\n\nDeeper.\n\n## Use\n\nUse it.\n");
    let snippet =
        read(json!({ "ref": place("guide.md", Some(9)), "expand": { "before_chars": 5, "after_chars": 0 } }));
    // No line that fits is shown in part.
    assert_eq!(
        (&snippet["text"], &snippet["applied"]["scope"], &snippet["truncated"]),
        (&json!("Step one."), &json!("snippet"), &json!(true))
    );
    assert_eq!(read(json!({ "ref": place("data/table.json", None) }))["text"], "{\n  \"a\": 1\n}\n");
    let cut =
        read(json!({ "ref": place("guide.md", Some(3)), "scope": "section", "limits": { "max_chars": 9 } }));
    assert_eq!((&cut["text"], &cut["truncated"]), (&json!("# Guide\n\n"), &json!(true)));
    let capped = read(
        json!({ "ref": place("guide.md", Some(3)), "scope": "section", "limits": { "max_chars": 999999, "max_sections": 99 } }),
    );
    assert_eq!(capped["applied"], json!({ "scope": "section", "max_sections": 20, "max_chars": 20000 }));
}

#[test]
fn guards_fail_with_their_error_code() {
    let mut shelf = shelf();
    for (arguments, code) in [
        (json!({ "ref": place("guide.md", Some(3)), "scope": "file" }), "forbidden"),
        (
            json!({ "ref": place("guide.md", Some(3)), "scope": "file", "limits": { "allow_file": true } }),
            "forbidden",
        ),
        (json!({ "ref": place("data/table.json", None), "scope": "section" }), "invalid_scope"),
        (json!({ "ref": place("guide.md", Some(99)) }), "invalid_parameter"),
        (json!({ "ref": place("guide.md", Some(0)) }), "invalid_parameter"),
        (json!({ "ref": place("none.md", None) }), "not_found"),
        (json!({ "ref": place("ignored.txt", None) }), "not_found"),
        (json!({ "ref": place("../alpha/guide.md", None) }), "invalid_path"),
        (json!({ "ref": { "target": "manual", "path": "guide.md" } }), "invalid_parameter"),
        (json!({ "ref": { "target": "vault", "path": "guide.md" } }), "invalid_parameter"),
        (
            json!({ "ref": { "target": "manual", "manual_id": "alpha", "path": "guide.md", "start_line": 2.5 } }),
            "invalid_parameter",
        ),
        (
            json!({ "ref": { "target": "manual", "manual_id": "alpha", "path": "guide.md", "start_line": "3" } }),
            "invalid_parameter",
        ),
        (
            json!({ "ref": { "target": "manual", "manual_id": "alpha", "path": "guide.md", "rev": "0000" } }),
            "conflict",
        ),
        (json!({ "ref": place("guide.md", None), "limits": { "max_chars": 0 } }), "invalid_parameter"),
        (json!({ "ref": place("guide.md", None), "scop": "file" }), "invalid_parameter"),
    ] {
        let error = shelf.fail("manual_read", arguments.clone());
        assert_eq!(error["code"], code, "{arguments}: {error}");
    }
    let mut open = Shelf::new(&[("ALLOW_FILE_SCOPE", "true")]);
    open.write("manuals/alpha/guide.md", GUIDE);
    assert_eq!(
        open.fail("manual_read", json!({ "ref": place("guide.md", None), "scope": "file" }))["code"],
        "forbidden"
    );
    let whole = open.call(
        "manual_read",
        json!({ "ref": place("guide.md", None), "scope": "file", "limits": { "allow_file": true } }),
    );
    assert_eq!(whole["text"], GUIDE);
}

#[test]
fn a_folder_of_files_is_one_manual() {
    let shelf = Shelf::new(&[]);
    shelf.write("handbook/a.md", "# A\n");
    shelf.write("handbook/part/b.md", "# B\n");
    shelf.write("more/one/c.md", "# C\n");
    let mut server = shelf.serve(&["--manuals", "handbook", "--manuals", "more"]);
    let reply = server.call("manual_ls", json!({}));
    assert_eq!(
        reply["result"]["structuredContent"]["items"],
        json!([
            { "manual_id": "handbook", "path": "a.md", "file_type": "md" },
            { "manual_id": "handbook", "path": "part/b.md", "file_type": "md" },
            { "manual_id": "one", "path": "c.md", "file_type": "md" },
        ])
    );
}

#[test]
fn without_manuals_a_call_says_what_to_set() {
    let mut shelf = Shelf::new(&[]);
    let error = shelf.fail("manual_list", json!({}));
    assert_eq!(error["code"], "not_found");
    assert!(error["message"].as_str().unwrap().contains("set MANUALS_ROOT or --manuals"), "{error}");
}

#[test]
fn bridge_tools_copy_text_from_a_manual_to_the_vault() {
    let mut shelf = shelf();
    let from = place("guide.md", Some(7));
    let copied = shelf.call(
        "bridge_copy_section",
        json!({ "from_ref": from, "to_path": "artifacts/notes/setup.md", "mode": "overwrite" }),
    );
    assert_eq!(
        copied,
        json!({ "written_path": "artifacts/notes/setup.md", "written_bytes": 40, "written_sections": 2, "truncated": false })
    );
    assert_eq!(shelf.file("artifacts/notes/setup.md"), "## Setup\n\nStep one.\n\n### Deep\n\nDeeper.\n\n");
    shelf.call("bridge_copy_section", json!({ "from_ref": place("guide.md", Some(19)), "to_path": "artifacts/notes/setup.md", "mode": "append" }));
    assert!(shelf.file("artifacts/notes/setup.md").ends_with("Deeper.\n\n# Appendix\n\nEnd.\n"));
    let copied = shelf.call("bridge_copy_file", json!({ "manual_id": "alpha", "from_path": "data/table.json", "to_path": "t.json", "mode": "append" }));
    assert_eq!(copied, json!({ "written_path": "t.json", "written_bytes": 13, "truncated": false }));
    for (tool, arguments, code) in [
        (
            "bridge_copy_file",
            json!({ "manual_id": "alpha", "from_path": "guide.md", "to_path": "g.md", "mode": "overwrite" }),
            "forbidden",
        ),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("data/table.json", None), "to_path": "g.md", "mode": "overwrite" }),
            "invalid_scope",
        ),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("guide.md", None), "to_path": "artifacts/x.txt", "mode": "append" }),
            "forbidden",
        ),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("guide.md", None), "to_path": "artifacts/daily/2026-01-02.md", "mode": "overwrite" }),
            "forbidden",
        ),
        (
            "bridge_copy_section",
            json!({ "from_ref": place("guide.md", None), "to_path": "../x.md", "mode": "append" }),
            "invalid_path",
        ),
    ] {
        assert_eq!(shelf.fail(tool, arguments.clone())["code"], code, "{arguments}");
    }
    // A daily file that exists may be appended to.
    shelf.call("vault_create", json!({ "path": "artifacts/daily/2026-01-02.md", "content": "# Day\n" }));
    shelf.call("bridge_copy_section", json!({ "from_ref": place("guide.md", Some(19)), "to_path": "artifacts/daily/2026-01-02.md", "mode": "append" }));
    let log = shelf.server.finish();
    assert!(log.contains("\"tool\":\"bridge_copy_section\"") && !log.contains("Deeper"), "{log}");
}

#[test]
fn the_doctor_checks_the_folders() {
    let home = crate::Home::new();
    let doctor = |options: &[&str]| {
        let mut command = crate::annai(&home);
        let output =
            command.args(["doctor", "--toolset", "library"]).args(options).env("PORT", "0").output().unwrap();
        (output.status.code(), crate::stdout(&output))
    };
    let (code, text) = doctor(&[]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("✗ library: the manuals folder ./manuals does not exist")
            && text.contains("→ create it, or set MANUALS_ROOT"),
        "{text}"
    );
    home.write("manuals/alpha/a.md", "# A\n");
    let (code, text) = doctor(&[]);
    assert!(code == Some(0) && text.contains("✓ library: 1 manual in ./manuals"), "{text}");
    assert!(text.contains("✓ library: no vault is set, so nothing can be written; --vault DIR"), "{text}");
    let (code, text) = doctor(&["--vault", "notes"]);
    assert!(code == Some(0) && text.contains("✓ library: the vault notes does not exist yet"), "{text}");
}

#[test]
fn arguments_are_completed() {
    let mut shelf = shelf();
    shelf.write("vault/notes/plan.md", "x");
    shelf.write("vault/notes/日記.md", "x");
    shelf.write("vault/.system/x.md", "x");
    let mut complete = |name: &str, value: &str, given: Value| {
        let params = json!({
            "ref": { "type": "ref/prompt", "name": "any" }, "argument": { "name": name, "value": value },
            "context": { "arguments": given },
        });
        let reply = shelf.server.request("completion/complete", params);
        reply["result"]["completion"]["values"].clone()
    };
    assert_eq!(complete("manual_id", "", json!({})), json!(["alpha", "日本語 manual"]));
    assert_eq!(complete("manual_id", "AL", json!({})), json!(["alpha"]));
    assert_eq!(complete("path", "g", json!({ "manual_id": "alpha" })), json!(["guide.md"]));
    assert_eq!(complete("path", "", json!({})), json!(["notes/"]));
    assert_eq!(complete("path", "notes/", json!({})), json!(["notes/plan.md", "notes/日記.md"]));
    for (name, value) in
        [("path", "../"), ("path", "/etc/"), ("path", ".system/"), ("mode", ""), ("none", "")]
    {
        assert_eq!(complete(name, value, json!({})), json!([]), "{name} {value}");
    }
}

#[test]
fn truncated_results_say_what_was_cut() {
    let mut shelf = Shelf::new(&[]);
    let many: String = (1..=30).map(|number| format!("## S{number}\n\ntext\n\n")).collect();
    shelf.write("manuals/alpha/many.md", format!("# Top\n\n{many}"));
    let section = shelf.call("manual_read", json!({ "ref": place("many.md", Some(1)), "scope": "section" }));
    assert!(section["truncated"] == false && section["text"].as_str().unwrap().contains("## S30"));
    let sections = shelf.call(
        "manual_read",
        json!({ "ref": place("many.md", Some(1)), "scope": "sections", "limits": { "max_sections": 2 } }),
    );
    assert!(sections["truncated"] == true && sections["text"].as_str().unwrap().ends_with("## S1\n\ntext\n"));
    let snippet = shelf
        .call("manual_read", json!({ "ref": place("many.md", Some(43)), "limits": { "max_chars": 10 } }));
    assert!(
        snippet["truncated"] == true && snippet["text"].as_str().unwrap().contains("## S11"),
        "{snippet}"
    );
    let copied = shelf.call("bridge_copy_section", json!({ "from_ref": place("many.md", Some(1)), "to_path": "x.md", "mode": "overwrite", "limits": { "max_chars": 12 } }));
    assert_eq!((&copied["written_sections"], &copied["truncated"]), (&json!(2), &json!(true)));
    // Text appended to a file without a final line break starts on a new line.
    shelf.write("vault/y.md", "abc");
    shelf.call(
        "bridge_copy_section",
        json!({ "from_ref": place("many.md", Some(3)), "to_path": "y.md", "mode": "append" }),
    );
    assert!(shelf.file("y.md").starts_with("abc\n## S1\n"));
}

#[test]
fn hidden_files_and_ambiguous_names_are_refused() {
    let mut shelf = shelf();
    let hidden = json!({ "ref": place(".hidden/x.md", None) });
    assert_eq!(shelf.fail("manual_read", hidden)["code"], "not_found");
    shelf.write("manuals/\u{1e9b}\u{323}/a.md", "# 1\n");
    shelf.write("manuals/\u{17f}\u{323}\u{307}/a.md", "# 2\n");
    assert_eq!(shelf.call("manual_list", json!({}))["items"].as_array().unwrap().len(), 4);
    assert_eq!(shelf.fail("manual_ls", json!({ "manual_id": "\u{17f}\u{307}\u{323}" }))["code"], "conflict");
    assert_eq!(
        shelf.call("manual_ls", json!({ "manual_id": "\u{1e9b}\u{323}" }))["items"].as_array().unwrap().len(),
        1
    );
}
