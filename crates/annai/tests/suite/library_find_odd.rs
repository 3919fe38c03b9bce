//! `manual_find` under difficult conditions: invalid arguments, unreadable files, small budgets and damaged caches.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::library_find::{TERMS, shelf, titles};
use crate::Shelf;

#[test]
fn a_time_budget_ends_the_find_and_the_rest_is_reported_as_unscanned() {
    let mut shelf = Shelf::new(&[]);
    for number in 0..300 {
        let text = format!(
            "# File {number}\n\n{}\n\n## Rare\n\nneedle{number}\n",
            "words and more words ".repeat(600)
        );
        shelf.write(&format!("manuals/big/f{number:03}.md"), text);
    }
    // Elapsed time is what is tested. The limit is far above the budget of 1 ms, to allow for a slow machine.
    let started = Instant::now();
    let first = shelf.call("manual_find", json!({ "query": "needle7", "budget": { "time_ms": 1 } }));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let summary = &first["summary"];
    let scanned = summary["scanned_files"].as_u64().unwrap();
    if scanned < 300 {
        assert_eq!(summary["cutoff_reason"], "time_budget", "{first}");
        assert!(summary["unscanned_sections_count"].as_u64().unwrap() >= 300 - scanned);
    }
    // Without the budget, the same question finds the section.
    let all = shelf.call("manual_find", json!({ "query": "needle7" }));
    assert_eq!((&all["summary"]["candidates"], &all["summary"]["scanned_files"]), (&json!(1), &json!(300)));
}

#[test]
fn errors_about_arguments_say_what_is_expected() {
    let mut shelf = shelf();
    for (arguments, code, part) in [
        (json!({}), "invalid_parameter", "query"),
        (json!({ "query": "" }), "invalid_parameter", "query"),
        (json!({ "query": " ・-/。" }), "invalid_parameter", "only separators"),
        (json!({ "query": "x".repeat(100_000) }), "invalid_parameter", "10000"),
        (json!({ "query": "a", "manual_id": "none" }), "not_found", "there are: ins, other"),
        (json!({ "query": "a", "manual_id": "../x" }), "invalid_path", "manual_id"),
        (json!({ "query": "a", "intent": "curiosity" }), "invalid_parameter", "definition"),
        (json!({ "query": "a", "max_stage": 5 }), "invalid_parameter", "max_stage"),
        (json!({ "query": "a", "max_stage": "3" }), "invalid_parameter", "max_stage"),
        (json!({ "query": "a", "budget": { "time_ms": 0 } }), "invalid_parameter", "budget.time_ms"),
        (json!({ "query": "a", "budget": { "max": 1 } }), "invalid_parameter", "budget.max"),
        (json!({ "query": "a", "only_unscanned_from_trace_id": "x" }), "not_found", "trace"),
    ] {
        let error = shelf.fail("manual_find", arguments.clone());
        assert_eq!(error["code"], code, "{arguments}: {error}");
        assert!(error["message"].as_str().unwrap().contains(part), "{arguments}: {error}");
    }
    for query in ["(", "[a-z]+", "\\", "*", "a|b", "給", "\"", "--flag", "-5", "😀x", "x\u{0}y"] {
        let reply = shelf.server.call("manual_find", json!({ "query": query }));
        assert!(reply.get("result").is_some(), "{query}: {reply}");
    }
    assert_eq!(
        shelf.fail("manual_hits", json!({ "trace_id": "x", "limit": 0 }))["code"],
        "invalid_parameter"
    );
}

#[test]
fn unreadable_files_are_counted_as_warnings() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/空 の/readme.bin", "no part of it");
    shelf.write("manuals/odd/latin.md", b"# caf\xe9\n".as_slice());
    shelf.write("manuals/odd/broken.json", "{\"widget\": ");
    shelf.write("manuals/odd/good.md", "# Good\r\n\r\nwidget\r\n");
    shelf.write("manuals/odd/escaped.json", "{\"x\": \"\\u4fdd\\u967a\"}\n");
    let found = shelf.call("manual_find", json!({ "query": "widget" }));
    assert_eq!(
        (&found["summary"]["candidates"], &found["summary"]["warnings"]),
        (&json!(2), &json!(2)),
        "{found}"
    );
    let json_hit = shelf.call("manual_find", json!({ "query": "保険" }));
    assert_eq!(json_hit["top"][0]["ref"]["path"], "escaped.json");
    let empty = shelf.call("manual_find", json!({ "query": "widget", "manual_id": "空 の", "max_stage": 3 }));
    assert_eq!((&empty["summary"]["candidates"], &empty["summary"]["scanned_files"]), (&json!(0), &json!(0)));
    // New, changed and deleted files take effect at once.
    shelf.write("manuals/odd/new.md", "# New\n\ngadget\n");
    assert_eq!(shelf.call("manual_find", json!({ "query": "gadget" }))["summary"]["candidates"], 1);
    shelf.write("manuals/odd/new.md", "# New\n\nwodget\n");
    assert_eq!(shelf.call("manual_find", json!({ "query": "gadget" }))["summary"]["candidates"], 0);
    assert_eq!(shelf.call("manual_find", json!({ "query": "wodget" }))["summary"]["candidates"], 1);
    std::fs::remove_file(shelf.home.0.join("manuals/odd/new.md")).unwrap();
    assert_eq!(shelf.call("manual_find", json!({ "query": "wodget" }))["summary"]["candidates"], 0);
}

#[test]
fn the_index_is_cached_on_disk_and_rebuilt_when_damaged() {
    let mut shelf = shelf();
    let find = |server: &mut annai_testkit::mcp::StdioServer| {
        let reply = server.call("manual_find", json!({ "query": "入院給付金" }));
        reply["result"]["structuredContent"]["top"].clone()
    };
    let first = find(&mut shelf.server);
    assert_eq!(first[0]["ref"]["title"], "第一条 給付金の支払");
    let cache = shelf.home.0.join(".cache/annai");
    let files = || -> Vec<_> {
        let folders = std::fs::read_dir(&cache).unwrap().flatten();
        folders
            .flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten())
            .map(|file| file.path())
            .collect()
    };
    assert_eq!(
        files().len(),
        6,
        "a manifest, a segment and the name of the folder for each of two manuals: {:?}",
        files()
    );
    assert_eq!(find(&mut shelf.serve(&[])), first);
    for file in files() {
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        std::fs::write(&file, bytes).unwrap();
    }
    assert_eq!(find(&mut shelf.serve(&[])), first);
    for file in files() {
        std::fs::write(&file, "short").unwrap();
    }
    assert_eq!(find(&mut shelf.serve(&[])), first);
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(&cache, "not a folder").unwrap();
    assert_eq!(find(&mut shelf.serve(&[])), first);
}

#[test]
fn two_processes_share_the_cache() {
    let shelf = shelf();
    let mut servers: Vec<_> = (0..3).map(|_| shelf.serve(&[])).collect();
    for round in 0..5 {
        shelf.write("manuals/ins/terms.md", TERMS.replace("五千円", &format!("{round}万円")));
        for server in &mut servers {
            let reply = server.call("manual_find", json!({ "query": format!("{round}万円") }));
            let summary = &reply["result"]["structuredContent"]["summary"];
            assert_eq!(summary["signal_coverage"]["normalized"], 1, "{round}: {reply}");
        }
    }
}

#[test]
fn follow_up_finds_return_the_linked_sections_that_a_limit_cut_off() {
    let mut shelf = Shelf::new(&[]);
    let mut main = "# Main\n\n".to_owned();
    let mut other = "# Other\n\n".to_owned();
    for number in 0..8 {
        main.push_str(&format!("## Part {number}\n\n### Rule {number}\n\nThe zorblax applies, see [more](other.md#target-{number}).\n\n"));
        main.push_str(&format!("### Odd {number}\n\nExcept on Sundays.\n\n"));
        other.push_str(&format!("## Target {number}\n\nNothing to see.\n\n"));
    }
    shelf.write("manuals/m/main.md", main);
    shelf.write("manuals/m/other.md", other);
    let places = |hits: &Value| -> Vec<String> {
        let items = hits["items"].as_array().unwrap().iter();
        items.map(|item| format!("{}:{}", item["path"].as_str().unwrap(), item["start_line"])).collect()
    };
    let whole = shelf.call("manual_find", json!({ "query": "zorblax" }));
    assert_eq!(
        (&whole["summary"]["candidates"], &whole["summary"]["related"]),
        (&json!(8), &json!(16)),
        "{whole}"
    );
    // Evidence and related sections.
    let all_places = |shelf: &mut Shelf, found: &Value| -> Vec<String> {
        let kinds = ["candidates", "related"];
        let pages = kinds
            .map(|kind| shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": kind })));
        pages.iter().flat_map(places).collect()
    };
    let mut all = all_places(&mut shelf, &whole);
    all.sort();
    for most in [1, 3, 7, 20] {
        let mut seen: Vec<String> = Vec::new();
        let mut arguments = json!({ "query": "zorblax", "budget": { "max_candidates": most } });
        for round in 0.. {
            assert!(round < 40, "it does not end with {most}");
            let found = shelf.call("manual_find", arguments.clone());
            seen.extend(all_places(&mut shelf, &found));
            if found["summary"]["unscanned_sections_count"] == 0 {
                break;
            }
            arguments["only_unscanned_from_trace_id"] = found["trace_id"].clone();
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen, all, "with {most} at a time");
    }
}

#[test]
fn an_empty_dictionary_is_valid_and_other_manuals_bring_their_synonyms() {
    let mut shelf = shelf();
    shelf.write("manuals/synonyms.yaml", "# only a comment\n");
    std::os::unix::fs::symlink("nowhere", shelf.home.0.join("manuals/link")).unwrap();
    let found = shelf.call("manual_find", json!({ "query": "refunds" }));
    assert_eq!(found["summary"]["warnings"], 0, "{found}");
    // Synonyms of another manual apply once the find is extended to it.
    shelf.write("manuals/other/synonyms.yaml", "synonyms: [[grobnik, refunds]]\n");
    let found = shelf.call("manual_find", json!({ "query": "grobnik", "manual_id": "ins" }));
    assert_eq!(titles(&found).first(), Some(&"Refunds"), "{found}");
}

#[test]
fn a_long_question_reports_the_terms_that_were_not_searched() {
    let mut shelf = shelf();
    let words: String = (0..60).map(|number| format!("nonsense{number}x ")).collect();
    let found = shelf.call("manual_find", json!({ "query": format!("{words} refunds") }));
    let gaps =
        shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "gaps", "limit": 200 }));
    let hints: Vec<_> =
        gaps["items"].as_array().unwrap().iter().map(|item| item["gap_hint"].as_str().unwrap()).collect();
    assert!(hints.iter().any(|hint| hint.contains("13 terms were not looked for")), "{hints:?}");
    let error = shelf.fail("manual_find", json!({ "query": "\u{fdfa}".repeat(5000) }));
    assert_eq!(error["code"], "invalid_parameter");
    // A guard against quadratic matching, which would take far longer than the limit below. Processor time is compared,
    // because elapsed time depends on what else the machine does.
    let before = shelf.server.process.cpu_time();
    shelf
        .write("manuals/ins/long.md", format!("# Long\n\n{}x\u{4e9c}\u{5516}\n", "\u{4e9c}".repeat(300_000)));
    shelf.call("manual_find", json!({ "query": format!("\"{}\u{5516}\"", "\u{4e9c}".repeat(2000)) }));
    let used = shelf.server.process.cpu_time() - before;
    assert!(used < Duration::from_secs(5), "{used:?}");
}

#[test]
fn every_match_is_returned_when_the_limits_allow_it() {
    let mut shelf = Shelf::new(&[]);
    let text: String = (0..900).map(|number| format!("## Part {number}\n\nwidget\n\n")).collect();
    shelf.write("manuals/big/parts.md", text);
    let found = shelf.call("manual_find", json!({ "query": "widget", "budget": { "max_candidates": 2000 } }));
    assert_eq!(
        (&found["summary"]["candidates"], &found["summary"]["unscanned_sections_count"]),
        (&json!(900), &json!(0))
    );
    // A trace of vault_find cannot be used for manual_find.
    shelf.write("vault/a.md", "widget\n");
    let vault = shelf.call("vault_find", json!({ "query": "widget" }));
    let asked = json!({ "query": "widget", "only_unscanned_from_trace_id": vault["trace_id"] });
    assert_eq!(shelf.fail("manual_find", asked)["code"], "invalid_parameter");
}

#[test]
fn a_damaged_index_segment_is_rebuilt_and_stored() {
    let mut shelf = shelf();
    shelf.call("manual_find", json!({ "query": "refunds" }));
    let cache = shelf.home.0.join(".cache/annai");
    let segments = || -> Vec<_> {
        let folders = std::fs::read_dir(&cache).unwrap().flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).unwrap().flatten());
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "segment"))
            .collect()
    };
    let before: Vec<_> = segments().iter().map(|path| std::fs::read(path).unwrap()).collect();
    for path in segments() {
        std::fs::write(path, "damaged").unwrap();
    }
    let mut server = shelf.serve(&[]);
    server.call("manual_find", json!({ "query": "refunds" }));
    let after: Vec<_> = segments().iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert_eq!(after, before);
}

#[test]
fn indexing_reports_progress() {
    let mut shelf = Shelf::new(&[]);
    for number in 0..600 {
        let text = format!("# File {number}\n\n{}\n", "words and more words 保険金の支払い ".repeat(1500));
        shelf.write(&format!("manuals/big/f{number:03}.md"), text);
    }
    let params = json!({ "name": "manual_find", "arguments": { "query": "words", "budget": { "time_ms": 600_000 } }, "_meta": { "progressToken": "p" } });
    let id = shelf.server.start_request("tools/call", params);
    let mut told = Vec::new();
    let reply = loop {
        let message = shelf.server.receive().message;
        if message["method"] == "notifications/progress" {
            told.push((
                message["params"]["progress"].as_f64().unwrap(),
                message["params"]["total"].as_f64().unwrap(),
            ));
        } else if message["id"] == id {
            break message;
        }
    };
    assert_eq!(reply["result"]["structuredContent"]["summary"]["scanned_files"], 600);
    assert!(
        !told.is_empty() && told.iter().all(|(done, total)| done <= total && *total == 600.0),
        "{told:?}"
    );
    assert!(told.is_sorted_by(|one, other| one.0 <= other.0));
}
