//! `excerpt_chars` of `manual_find`, `vault_find` and `manual_hits`: the best matching lines of what was found.

use serde_json::{Value, json};

use super::library_find::{TERMS, shelf};
use crate::Shelf;

const NOTES: &str = "# Notes\n\nThe venue is booked.\nThe caterer costs 300 euros.\n\nOther things.\n";

/// The excerpt of a section as lines, each of which must be a part of that line of the file.
fn checked_excerpt(section: &Value, file: &str, max_chars: usize) -> Vec<String> {
    let lines: Vec<&str> = file.lines().collect();
    let excerpt = section["excerpt"].as_array().unwrap_or_else(|| panic!("no excerpt: {section}"));
    let mut chars = 0;
    for shown in excerpt {
        let text = shown["text"].as_str().unwrap();
        let line = lines[usize::try_from(shown["line"].as_u64().unwrap()).unwrap() - 1];
        assert!(line.contains(text.trim_matches('…')), "{text} is not in {line}");
        assert!(!text.starts_with('#'), "a heading is repeated: {section}");
        chars += text.chars().count();
    }
    assert!((1..=max_chars).contains(&chars), "{section}");
    excerpt.iter().map(|shown| shown["text"].as_str().unwrap().to_owned()).collect()
}

/// The structured result of a call whose text has every line of the excerpts too.
fn in_both_channels(shelf: &mut Shelf, tool: &str, arguments: Value, list: &str) -> Value {
    let reply = shelf.server.call(tool, arguments);
    let output = reply["result"]["structuredContent"].clone();
    let text: Value = serde_json::from_str(reply["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text[list], output[list], "{tool}");
    assert!(!output[list].as_array().unwrap().is_empty(), "{reply}");
    output
}

/// The items of a page in a file.
fn items_of<'a>(page: &'a Value, path: &str) -> Vec<&'a Value> {
    page["items"].as_array().unwrap().iter().filter(|item| item["path"] == path).collect()
}

#[test]
fn found_sections_come_with_their_best_lines_in_both_channels() {
    let mut shelf = shelf();
    shelf.write("vault/notes.md", NOTES);
    let question = json!({ "query": "入院給付金 五千円", "manual_id": "ins", "excerpt_chars": 240 });
    let found = in_both_channels(&mut shelf, "manual_find", question, "top");
    let best = &found["top"][0];
    let lines = checked_excerpt(best, TERMS, 240);
    assert!(lines.iter().any(|line| line.contains("五千円")), "{best}");
    assert!(best["excerpt"].as_array().unwrap().iter().any(|line| line["line"] == best["line"]), "{best}");

    for kind in ["candidates", "unread", "integrated_top"] {
        let arguments = json!({ "trace_id": found["trace_id"], "kind": kind, "excerpt_chars": 20 });
        let hits = in_both_channels(&mut shelf, "manual_hits", arguments, "items");
        let in_terms = items_of(&hits, "terms.md");
        assert!(!in_terms.is_empty(), "{hits}");
        in_terms.iter().for_each(|item| drop(checked_excerpt(item, TERMS, 20)));
    }

    let question = json!({ "query": "caterer", "excerpt_chars": 1000 });
    let found = in_both_channels(&mut shelf, "vault_find", question, "top");
    let lines = checked_excerpt(&found["top"][0], NOTES, 1000);
    assert!(lines.contains(&"The caterer costs 300 euros.".to_owned()), "{found}");
}

#[test]
fn no_text_is_handed_out_without_excerpt_chars() {
    let mut shelf = shelf();
    shelf.write("vault/notes.md", NOTES);
    for (tool, query) in [("manual_find", "入院給付金"), ("vault_find", "caterer")] {
        let plain = shelf.call(tool, json!({ "query": query, "fresh": true }));
        let zero = shelf.call(tool, json!({ "query": query, "fresh": true, "excerpt_chars": 0 }));
        assert_eq!(plain["top"], zero["top"]);
        for found in [plain, zero] {
            let hits =
                shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "excerpt_chars": 0 }));
            let more = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"] }));
            assert!(found["top"].as_array().is_some_and(|top| !top.is_empty()));
            assert!(![found, hits, more].iter().any(|reply| reply.to_string().contains("\"excerpt\"")));
        }
        for wrong in [json!(1001), json!(-1), json!("240")] {
            let error = shelf.fail(tool, json!({ "query": query, "excerpt_chars": wrong }));
            assert_eq!(error["code"], "invalid_parameter");
            assert!(error["message"].as_str().unwrap().contains("excerpt_chars"), "{error}");
        }
    }
    let found = shelf.call("manual_find", json!({ "query": "入院給付金" }));
    let error = shelf.fail("manual_hits", json!({ "trace_id": found["trace_id"], "excerpt_chars": 1001 }));
    assert_eq!(error["code"], "invalid_parameter");
}

#[test]
fn an_excerpt_is_not_a_read_and_not_of_another_version() {
    let mut shelf = shelf();
    let found =
        shelf.call("manual_find", json!({ "query": "入院給付金", "manual_id": "ins", "excerpt_chars": 240 }));
    let unread = json!({ "trace_id": found["trace_id"], "kind": "unread", "excerpt_chars": 240 });
    let before = shelf.call("manual_hits", unread.clone());
    assert_eq!(before["total"], found["summary"]["candidates"], "{before}");
    assert_eq!(found["next_actions"][0]["type"], "manual_read");
    shelf.write("manuals/ins/terms.md", TERMS.replace("五千円", "六千円"));
    let after = shelf.call("manual_hits", unread);
    assert_eq!(after["total"], before["total"]);
    let in_terms = items_of(&after, "terms.md");
    assert!(!in_terms.is_empty() && in_terms.iter().all(|item| item.get("excerpt").is_none()), "{after}");
}

#[test]
fn replies_with_excerpts_stay_within_their_limit() {
    let mut shelf = Shelf::new(&[]);
    let section = |number: usize| format!("# Refund {number}\n\n{}\n", "The refund rule.\n".repeat(60));
    let text: String = (0..200).map(section).collect();
    shelf.write("manuals/m/a.md", &text);
    let found = shelf.call("manual_find", json!({ "query": "refund rule", "excerpt_chars": 1000 }));
    assert!(found.to_string().chars().count() < 25_000);
    let (mut offset, mut seen) = (json!(0), 0);
    while !offset.is_null() {
        let arguments =
            json!({ "trace_id": found["trace_id"], "offset": offset, "limit": 200, "excerpt_chars": 1000 });
        let page = shelf.call("manual_hits", arguments);
        assert!(page.to_string().chars().count() < 25_000);
        let items = page["items"].as_array().unwrap();
        items.iter().for_each(|item| drop(checked_excerpt(item, &text, 1000)));
        seen += items.len();
        offset = page["next_offset"].clone();
    }
    assert_eq!(seen, 200);
}
