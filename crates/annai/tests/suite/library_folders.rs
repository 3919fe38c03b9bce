//! Which folders are manuals, what a find says of the places that it does not search, and what it says when it finds nothing.

use serde_json::{Value, json};

use crate::{Home, Shelf, annai, stderr, stdout};

#[test]
fn a_manual_is_named_on_the_command_line() {
    let home = Home::new();
    home.write("docs/handbook/a.md", "# Refunds\n\nWithin 14 days.\n");
    let run =
        |arguments: &[&str]| annai(&home).args(["--toolset", "library"]).args(arguments).output().unwrap();
    let found = run(&["find", "refunds", "--manual-dir", "rules=docs/handbook"]);
    assert!(found.status.success(), "{}", stderr(&found));
    assert!(stdout(&found).starts_with("  1  docs/handbook/a.md:"), "{}", stdout(&found));
    let listed =
        run(&["call", "manual_list", "--manual-dir", "rules=docs/handbook", "--manual-dir", "b=docs"]);
    let listed: Value = serde_json::from_str(&stdout(&listed)).unwrap();
    assert_eq!(listed["items"], json!([{ "manual_id": "b" }, { "manual_id": "rules" }]));
    for (named, problem) in [
        (&["a"][..], "library.manual_dirs: expected ID=DIR"),
        (&["a/b=docs"], "library.manual_dirs: expected an id without separators"),
        (&["a=docs", "a=docs"], "library.manual_dirs: expected an id for each manual, got \"a\" twice"),
    ] {
        let options: Vec<_> = named.iter().flat_map(|named| ["--manual-dir", named]).collect();
        let refused = run(&[&["call", "manual_list"], options.as_slice()].concat());
        assert!(!refused.status.success() && stderr(&refused).contains(problem), "{}", stderr(&refused));
    }
    let missing = run(&["doctor", "--manual-dir", "rules=docs/handbook", "--manual-dir", "gone=missing"]);
    let told = format!("{}{}", stdout(&missing), stderr(&missing));
    assert!(told.contains("missing of the manual \"gone\" does not exist"), "{told}");
}

#[test]
fn what_lies_beside_the_manuals_is_named_in_both_channels() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# Refunds\n\nWithin 14 days.\n");
    shelf.write("manuals/m/plan.pdf", "x");
    shelf.write("manuals/m/logo.png", "x");
    shelf.write("manuals/README.md", "# Refunds of all manuals\n");
    shelf.write("elsewhere/b.md", "# Refunds\n");
    std::os::unix::fs::symlink(shelf.home.0.join("elsewhere"), shelf.home.0.join("manuals/linked")).unwrap();
    let reply = shelf.server.call("manual_find", json!({ "query": "refunds" }));
    let found = reply["result"]["structuredContent"].clone();
    let summary = &found["summary"];
    let named = json!([
        { "manual_id": "m", "path": "plan.pdf", "reason": "type" },
        { "path": "README.md", "reason": "stray" },
        { "path": "linked", "reason": "link" },
    ]);
    assert_eq!((&summary["unsearchable"], &summary["unsearchable_files"]), (&named, &json!(4)), "{found}");
    assert_eq!(summary["files_total"], 5);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    for name in ["plan.pdf", "README.md", "stray", "linked", "\"unsearchable_files\":4"] {
        assert!(text.contains(name), "{text}");
    }
    let kind = json!({ "trace_id": found["trace_id"], "kind": "unsearchable" });
    let all = shelf.call("manual_hits", kind);
    let paths: Vec<_> = all["items"].as_array().unwrap().iter().map(|item| &item["path"]).collect();
    assert_eq!(paths, [&json!("plan.pdf"), &json!("README.md"), &json!("linked"), &json!("logo.png")]);
    assert_eq!(all["items"][1]["ref"], Value::Null);
    let shown = annai(&shelf.home).args(["find", "refunds"]).output().unwrap();
    for line in ["m/plan.pdf (type)", "README.md (stray)", "linked (link)"] {
        assert!(stdout(&shown).contains(&format!("  cannot be searched: {line}\n")), "{}", stdout(&shown));
    }
    let refused = shelf.server.call("manual_find", json!({ "query": "refunds", "manual_id": "linked" }));
    assert!(refused.to_string().contains("--manual-dir ID=DIR"), "{refused}");
}

#[test]
fn related_sections_alone_are_nothing_found() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# 保証の対象\n\n保証の対象は本体です。\n\n# 他\n\n連絡先。\n");
    let found = shelf.call("manual_find", json!({ "query": "象" }));
    let summary = &found["summary"];
    assert_eq!(
        (&summary["candidates"], &summary["related"], &found["top"]),
        (&json!(0), &json!(1), &json!([]))
    );
    assert_eq!(summary["integration_status"], "blocked");
    assert_eq!(summary["absence"]["nearest_headings"][0]["heading_path"], json!(["保証の対象"]));
    let actions: Vec<_> =
        found["next_actions"].as_array().unwrap().iter().map(|action| &action["type"]).collect();
    assert!(!actions.contains(&&json!("manual_read")), "{found}");
    let related = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "related" }));
    assert_eq!((&related["total"], &related["items"][0]["match"]), (&json!(1), &json!("part")));
    let shown = annai(&shelf.home).args(["find", "象"]).output().unwrap();
    assert_eq!(shown.status.code(), Some(1), "{}", stdout(&shown));
    assert!(stdout(&shown).starts_with("Nothing found for \"象\".\n"), "{}", stdout(&shown));
    assert!(stdout(&shown).contains("  nearest heading: m/a.md:1 保証の対象\n"), "{}", stdout(&shown));
}

#[test]
fn a_space_inside_a_word_drops_no_part_of_it() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# A\n\n電池は対象外です。\n\n# B\n\n抽象外観の話。\n");
    // A find that is ready does not list its terms, and one of everything is not ready before everything was read.
    let found = shelf.call("manual_find", json!({ "query": "対 象外", "goal": "everything" }));
    let terms: Vec<_> =
        found["summary"]["terms"].as_array().unwrap().iter().map(|term| &term["term"]).collect();
    assert_eq!(terms, [&json!("対"), &json!("象外")], "{found}");
    assert_eq!((&found["summary"]["gap_count"], &found["top"][0]["ref"]["title"]), (&json!(0), &json!("A")));
}

#[test]
fn a_table_of_the_sample_manual_is_read_to_its_last_digit() {
    let home = Home::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/workspace/manuals");
    let place = json!({ "manual_id": "api-guide", "path": "rate-limits.md", "start_line": 9 }).to_string();
    let read = annai(&home).args(["--manuals", samples, "call", "manual_read", &place]).output().unwrap();
    let read: Value = serde_json::from_str(&stdout(&read)).unwrap();
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("| Read | 600 | 100 |\n") && read["truncated"] == false, "{read}");
}
