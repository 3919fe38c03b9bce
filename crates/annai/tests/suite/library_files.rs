//! Files as they are found on real disks: other encodings, other types, HTML, line endings, and what cannot be searched.

use serde_json::{Value, json};

use crate::{Home, Shelf, annai, stdout};

/// A rule about leave, in the encodings that Japanese files have.
const RULE: &str = "# 休職規程\n\n休職中の給付金は支給しない。ただし、会社が認めた場合を除く。\n";
const SHIFT_JIS: &[u8] = b"# \x8bx\x90E\x8bK\x92\xf6\n\n\x8bx\x90E\x92\x86\x82\xcc\x8b\x8b\x95t\x8b\xe0\x82\xcd\x8ex\x8b\x8b\x82\xb5\x82\xc8\x82\xa2\x81B\x82\xbd\x82\xbe\x82\xb5\x81A\x89\xef\x8e\xd0\x82\xaa\x94F\x82\xdf\x82\xbd\x8f\xea\x8d\x87\x82\xf0\x8f\x9c\x82\xad\x81B\n";
const EUC_JP: &[u8] = b"# \xb5\xd9\xbf\xa6\xb5\xac\xc4\xf8\n\n\xb5\xd9\xbf\xa6\xc3\xe6\xa4\xce\xb5\xeb\xc9\xd5\xb6\xe2\xa4\xcf\xbb\xd9\xb5\xeb\xa4\xb7\xa4\xca\xa4\xa4\xa1\xa3\xa4\xbf\xa4\xc0\xa4\xb7\xa1\xa2\xb2\xf1\xbc\xd2\xa4\xac\xc7\xa7\xa4\xe1\xa4\xbf\xbe\xec\xb9\xe7\xa4\xf2\xbd\xfc\xa4\xaf\xa1\xa3\n";
const ISO_2022_JP: &[u8] = b"# \x1b$B5Y?&5,Dx\x1b(B\n\n\x1b$B5Y?&Cf$N5kIU6b$O;Y5k$7$J$$!#$?$@$7!\x222q<R$,G'$a$?>l9g$r=|$/!#\x1b(B\n";

/// The same rule in every encoding, with the name that refs show.
fn encodings() -> Vec<(Option<&'static str>, Vec<u8>)> {
    let utf16 = |unit: fn(u16) -> [u8; 2]| {
        std::iter::once(0xfeff).chain(RULE.encode_utf16()).flat_map(unit).collect()
    };
    vec![
        (Some("Shift_JIS"), SHIFT_JIS.to_vec()),
        (Some("EUC-JP"), EUC_JP.to_vec()),
        (Some("ISO-2022-JP"), ISO_2022_JP.to_vec()),
        (Some("UTF-16LE"), utf16(u16::to_le_bytes)),
        (Some("UTF-16BE"), utf16(u16::to_be_bytes)),
        (None, RULE.as_bytes().to_vec()),
        (None, [b"\xef\xbb\xbf", RULE.as_bytes()].concat()),
    ]
}

/// Bytes that no file of text has.
fn not_text() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("half.md", SHIFT_JIS[..SHIFT_JIS.len() - 2].to_vec()),
        ("utf16.md", RULE.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("binary.md", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xfe".to_vec()),
        ("latin.md", b"# Caf\xe9\n\nNous avons re\xe7u.\n".to_vec()),
    ]
}

#[test]
fn a_manual_in_another_encoding_is_found_and_read() {
    let mut shelf = Shelf::new(&[]);
    // The encoding of the same file changes between the finds.
    for (encoding, bytes) in encodings() {
        shelf.write("manuals/m/rule.md", bytes);
        let found = shelf.call("manual_find", json!({ "query": "休職中の給付金" }));
        let place = &found["top"][0]["ref"];
        assert_eq!((&place["title"], &place["encoding"]), (&json!("休職規程"), &json!(encoding)), "{found}");
        let read = shelf.call("manual_read", json!({ "ref": place, "scope": "section" }));
        assert_eq!(read["text"], RULE.trim_end());
        let toc = shelf.call("manual_toc", json!({ "manual_id": "m" }));
        assert_eq!(toc["items"][0]["title"], "休職規程");
    }
}

#[test]
fn a_vault_file_in_another_encoding_is_read_and_searched_but_not_changed() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/other.md", "nothing\n");
    for (encoding, bytes) in encodings() {
        shelf.write("vault/rule.md", &bytes);
        assert_eq!(
            shelf.call("vault_read", json!({ "path": "rule.md", "full": true }))["text"],
            RULE.trim_end()
        );
        assert_eq!(shelf.call("vault_scan", json!({ "path": "rule.md" }))["text"], RULE.trim_end());
        for (query, line) in [("^# 休職規程", 1), ("給付金は支給", 3)] {
            let found = shelf.call("vault_search", json!({ "query": query }));
            assert_eq!(found["results"][0]["start_line"], line, "{encoding:?}: {found}");
        }
        let found = shelf.call("vault_find", json!({ "query": "給付金" }));
        assert_eq!(found["summary"]["candidates"], 1, "{found}");
        for (tool, arguments) in [
            ("vault_write", json!({ "path": "rule.md", "content": "x", "mode": "overwrite" })),
            ("vault_write", json!({ "path": "rule.md", "content": "x", "mode": "append" })),
            ("vault_replace", json!({ "path": "rule.md", "find": "休職", "replace": "x" })),
        ] {
            let Some(encoding) = encoding else { continue };
            let error = shelf.fail(tool, arguments);
            let message = error["message"].as_str().unwrap();
            assert_eq!(error["code"], "forbidden");
            assert!(message.contains(encoding) && message.contains("vault_create"), "{message}");
            assert_eq!(std::fs::read(shelf.home.0.join("vault/rule.md")).unwrap(), bytes);
        }
    }
}

#[test]
fn files_that_are_not_text_are_named_and_never_garbled() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/good.md", RULE);
    for (path, bytes) in not_text() {
        shelf.write(&format!("manuals/m/{path}"), &bytes);
        shelf.write(&format!("vault/{path}"), &bytes);
        let place = json!({ "target": "manual", "manual_id": "m", "path": path });
        assert_eq!(shelf.fail("manual_read", json!({ "ref": place }))["code"], "forbidden", "{path}");
        assert_eq!(
            shelf.fail("vault_read", json!({ "path": path, "full": true }))["code"],
            "forbidden",
            "{path}"
        );
        let append = json!({ "path": path, "content": "x", "mode": "append" });
        assert_eq!(shelf.fail("vault_write", append)["code"], "forbidden", "{path}");
    }
    let found = shelf.call("manual_find", json!({ "query": "給付金" }));
    assert_eq!(
        (&found["summary"]["scanned_files"], &found["summary"]["candidates"]),
        (&json!(1), &json!(1)),
        "{found}"
    );
    assert_eq!(shelf.call("vault_search", json!({ "query": "給付金" }))["results"], json!([]));
    // A file that becomes text is searched from then on.
    shelf.write("manuals/m/half.md", SHIFT_JIS);
    let found = shelf.call("manual_find", json!({ "query": "給付金" }));
    assert_eq!(found["summary"]["candidates"], 2, "{found}");
}

#[test]
fn the_doctor_names_what_cannot_be_searched() {
    let home = Home::new();
    home.write("manuals/m/good.md", RULE);
    home.write("manuals/m/.hidden.md", "# no");
    home.write("manuals/m/.DS_Store", "no");
    home.write("manuals/m/~$plan.docx", "no");
    home.write("manuals/m/synonyms.yaml", "synonyms: []");
    home.write("manuals/m/plan.pdf", "%PDF");
    home.write("manuals/pictures/a.png", "x");
    std::os::unix::fs::symlink(home.0.join("manuals/m/good.md"), home.0.join("manuals/m/link.md")).unwrap();
    for (path, bytes) in not_text() {
        std::fs::write(home.0.join("manuals/m").join(path), bytes).unwrap();
    }
    let output = annai(&home).args(["doctor", "--toolset", "library"]).env("PORT", "0").output().unwrap();
    let text = stdout(&output);
    let expected = "6 files of the manual m cannot be searched: binary.md (encoding), half.md (encoding), latin.md (encoding), link.md (link), utf16.md (encoding), plan.pdf (type)";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("! library: nothing in the manual pictures can be searched: a.png (type)"),
        "{text}"
    );
    assert!(text.contains("No problems found.") && output.status.success(), "{text}");
}

#[test]
fn a_manual_of_nothing_searchable_is_a_manual() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/scans/a.pdf", "%PDF");
    shelf.write("manuals/other/a.md", RULE);
    let manuals = shelf.call("manual_list", json!({}));
    assert_eq!(manuals["items"], json!([{ "manual_id": "other" }, { "manual_id": "scans" }]));
    assert_eq!(shelf.call("manual_ls", json!({ "manual_id": "scans" }))["items"], json!([]));
    let found = shelf.call("manual_find", json!({ "query": "給付金", "manual_id": "scans", "max_stage": 3 }));
    let summary = &found["summary"];
    assert_eq!((&summary["candidates"], &summary["integration_status"]), (&json!(0), &json!("blocked")));
    let unsearchable = json!([{ "manual_id": "scans", "path": "a.pdf", "reason": "type" }]);
    assert_eq!((&summary["unsearchable"], &summary["files_total"]), (&unsearchable, &json!(2)), "{found}");
    // The other manual may answer, but the reply says so, and is never ready because of it.
    let found = shelf.call("manual_find", json!({ "query": "給付金", "manual_id": "scans" }));
    let summary = &found["summary"];
    assert_eq!((&found["top"][0]["outside"], &summary["outside_candidates"]), (&json!(true), &json!(1)));
    assert_eq!(summary["integration_status"], "needs_followup", "{found}");
    assert!(summary["notices"][0].as_str().unwrap().contains("Nothing in the manual scans"), "{found}");
    let listed = json!({ "trace_id": found["trace_id"], "kind": "unsearchable" });
    let listed = shelf.call("manual_hits", listed);
    assert_eq!((&listed["total"], &listed["items"][0]["reason"]), (&json!(1), &json!("type")), "{listed}");
}

#[test]
fn every_searchable_type_is_listed_found_and_read() {
    let mut shelf = Shelf::new(&[]);
    let files = [
        ("a.markdown", "# One\n\nwidget\n", "md"),
        ("b.MDX", "# Two\n\nwidget\n", "md"),
        ("c.txt", "# not a heading\n\nwidget\n", "txt"),
        ("d.html", "<title>D</title>\n<h1>Four</h1>\n<p>wid<b>get</b></p>\n", "html"),
        ("e.htm", "<p>widget</p>\n", "html"),
        ("f.json", "{\"a\": \"widget\"}\n", "json"),
    ];
    for (path, text, _) in files {
        shelf.write(&format!("manuals/m/{path}"), text);
    }
    let items = shelf.call("manual_ls", json!({ "manual_id": "m" }))["items"].take();
    let shown: Vec<_> =
        items.as_array().unwrap().iter().map(|item| (&item["path"], &item["file_type"])).collect();
    assert_eq!(shown.len(), files.len());
    for ((path, _, file_type), shown) in files.iter().zip(shown) {
        assert_eq!(shown, (&json!(path), &json!(file_type)));
    }
    let found = shelf.call("manual_find", json!({ "query": "widget", "manual_id": "m" }));
    assert_eq!(found["summary"]["candidates"], files.len(), "{found}");
    let place = json!({ "target": "manual", "manual_id": "m", "path": "d.html", "start_line": 2 });
    let read = shelf.call("manual_read", json!({ "ref": place, "scope": "section" }));
    assert_eq!(read["text"], "# Four\nwidget");
    let toc = shelf.call("manual_toc", json!({ "manual_id": "m" }))["items"].take();
    let four = toc.as_array().unwrap().iter().find(|item| item["path"] == "d.html").unwrap().clone();
    assert_eq!(
        (&four["title"], &four["line_start"], &four["line_end"]),
        (&json!("Four"), &json!(2), &json!(3))
    );
}

#[test]
fn an_html_bomb_is_searched_like_a_page() {
    let mut shelf = Shelf::new(&[]);
    let depth = 300_000;
    let attributes: String = (0..50_000).map(|number| format!(" a{number}='>'")).collect();
    let bomb = format!(
        "<h1>Start</h1>\n{}\n<script>{}</script>\n<!-- {} -->\n<p{attributes}>widget gadget\n{}<h2>End</h2>\n<p>unclosed <!-- {}",
        "<div>".repeat(depth),
        "if (a < b) { '<h1>no</h1>' }\n".repeat(100_000),
        "<h1>no</h1>\n".repeat(100_000),
        "</div>".repeat(depth),
        "x ".repeat(500_000),
    );
    shelf.write("manuals/m/bomb.html", &bomb);
    let line = bomb.lines().position(|line| line.ends_with("widget gadget")).unwrap() + 1;
    let found = shelf.call("manual_find", json!({ "query": "widget gadget", "manual_id": "m" }));
    assert_eq!(found["summary"]["candidates"], 1, "{found}");
    let place = json!({ "target": "manual", "manual_id": "m", "path": "bomb.html", "start_line": line });
    let read = shelf.call("manual_read", json!({ "ref": place, "scope": "snippet" }));
    assert!(read["text"].as_str().unwrap().contains("widget gadget"), "{read}");
    let toc = shelf.call("manual_toc", json!({ "manual_id": "m" }))["items"].take();
    let titles: Vec<_> = toc.as_array().unwrap().iter().map(|item| &item["title"]).collect();
    assert_eq!(titles, ["Start", "End"]);
}

#[test]
fn a_file_keeps_its_line_endings_and_its_byte_order_mark() {
    let mut shelf = Shelf::new(&[]);
    let sha256 = |reply: &Value| reply["sha256"].as_str().unwrap().to_owned();
    shelf.write("vault/a.md", "\u{feff}one\r\ntwo\r\nthree\r\n");
    let read = shelf.call("vault_read", json!({ "path": "a.md", "full": true }));
    assert_eq!(read["text"], "one\r\ntwo\r\nthree");
    let replace =
        json!({ "path": "a.md", "find": "one\ntwo", "replace": "1\n2\n2.5", "if_sha256": sha256(&read) });
    let replaced = shelf.call("vault_replace", replace);
    assert_eq!(replaced["replacements"], 1);
    assert_eq!(shelf.file("a.md"), "\u{feff}1\r\n2\r\n2.5\r\nthree\r\n");
    let append = json!({ "path": "a.md", "content": "four\nfive\n", "mode": "append", "if_sha256": sha256(&replaced) });
    let appended = shelf.call("vault_write", append);
    assert_eq!(appended["written_bytes"], 12);
    assert_eq!(shelf.file("a.md"), "\u{feff}1\r\n2\r\n2.5\r\nthree\r\nfour\r\nfive\r\n");
    assert_eq!(sha256(&shelf.call("vault_read", json!({ "path": "a.md", "full": true }))), sha256(&appended));
    let error = shelf.fail("vault_create", json!({ "path": "b.md", "content": "a\u{0}b" }));
    assert_eq!(error["code"], "invalid_parameter");
}

#[test]
fn what_systems_leave_behind_is_neither_listed_nor_searched() {
    let mut shelf = Shelf::new(&[]);
    for name in [".DS_Store", "Thumbs.db", "desktop.ini", "~$note.md", "._note.md"] {
        shelf.write(&format!("vault/{name}"), "widget\n");
        shelf.write(&format!("manuals/m/{name}"), "widget\n");
    }
    shelf.write("vault/note.md", "widget\n");
    shelf.write("manuals/m/note.md", "widget\n");
    let listed = shelf.call("vault_ls", json!({}))["entries"].take();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(
        shelf.call("vault_search", json!({ "query": "widget" }))["results"].as_array().unwrap().len(),
        1
    );
    assert_eq!(shelf.call("vault_find", json!({ "query": "widget" }))["summary"]["scanned_files"], 1);
    assert_eq!(shelf.call("manual_ls", json!({ "manual_id": "m" }))["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_tilde_in_a_path_is_the_home_folder_and_the_folder_of_the_statistics_is_created() {
    let mut shelf = Shelf::new(&[
        ("MANUALS_ROOT", "~/books"),
        ("VAULT_ROOT", "~/notes"),
        ("ADAPTIVE_STATS_PATH", "~/new/folder/stats.jsonl"),
    ]);
    shelf.write("books/m/a.md", RULE);
    shelf.write("notes/a.md", "widget\n");
    assert_eq!(shelf.call("manual_find", json!({ "query": "給付金" }))["summary"]["candidates"], 1);
    assert_eq!(shelf.call("vault_search", json!({ "query": "widget" }))["results"][0]["path"], "a.md");
    shelf.server.process.wait_until_idle();
    let stats = std::fs::read_to_string(shelf.home.0.join("new/folder/stats.jsonl")).unwrap();
    assert_eq!(stats.lines().count(), 1);
    // A folder that cannot be created is logged.
    let mut shelf = Shelf::new(&[("ADAPTIVE_STATS_PATH", "file/stats.jsonl")]);
    shelf.write("file", "a file, not a folder");
    shelf.write("manuals/m/a.md", RULE);
    assert_eq!(shelf.call("manual_find", json!({ "query": "給付金" }))["summary"]["candidates"], 1);
    shelf.server.process.wait_for_log("ADAPTIVE_STATS_PATH");
}

#[test]
fn a_manual_of_20_000_files_is_searched_and_its_lists_are_paged() {
    let mut shelf = Shelf::new(&[]);
    let folder = shelf.home.0.join("manuals/m");
    for number in 0..20_000 {
        let folder = folder.join((number / 200).to_string());
        if number % 200 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        let word = if number % 1000 == 0 { "wombat" } else { "filler" };
        std::fs::write(folder.join(format!("{number}.md")), format!("# N{number}\n{word}\n")).unwrap();
    }
    let found = shelf.call("manual_find", json!({ "query": "wombat", "goal": "everything" }));
    let summary = &found["summary"];
    assert_eq!((&summary["candidates"], &summary["files_total"]), (&json!(20), &json!(20_000)), "{summary}");
    let size = |reply: &Value| reply.to_string().chars().count();
    assert!(size(&found) < 25_000);
    for tool in ["manual_ls", "manual_toc"] {
        let page = shelf.call(tool, json!({ "manual_id": "m" }));
        assert_eq!(page["total"], 20_000, "{tool}");
        assert!(size(&page) < 25_000 && page["next_cursor"].is_string(), "{tool}");
    }
}
