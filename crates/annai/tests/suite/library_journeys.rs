//! Journeys through the library: a caller who follows the next actions blindly reads what it came for, and arrives.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Shelf;

/// The minimum share of the questions whose answer is among the best five sections and is read.
const MIN_READ_SHARE: f64 = 0.95;
/// The maximum number of calls with goal `answer`, including the find.
const MAX_CALLS: usize = 8;
/// The maximum number of calls with goal `everything` beyond the evidence set.
const MAX_EXTRA_CALLS: usize = 3;
/// A question has at most this many calls in these tests; more means that the journey does not end.
const MAX_STEPS: usize = 1000;

/// A shelf whose manuals are the sample ones.
fn samples() -> Shelf {
    let manuals = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/workspace/manuals"));
    Shelf::new(&[("MANUALS_ROOT", manuals.to_str().unwrap())])
}

fn questions() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals/questions.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A find, what was read after it, and the number of calls.
struct Journey {
    find: Value,
    reads: Vec<Value>,
    calls: usize,
}

/// The first suggested call that is complete, or `stop`: what needs words of the caller cannot be followed blindly.
fn next_call(reply: &Value) -> Value {
    let actions = reply["next_actions"].as_array().into_iter().flatten();
    let is_complete = |action: &&Value| action["type"] == "stop" || action["params"].is_object();
    actions.clone().find(is_complete).cloned().unwrap_or_default()
}

/// Follows the next actions of a find until `stop`. No call may be made twice.
fn follow(shelf: &mut Shelf, tool: &str, arguments: Value) -> Journey {
    let find = shelf.call(tool, arguments);
    let mut journey = Journey { reads: Vec::new(), calls: 1, find };
    let mut action = next_call(&journey.find);
    let mut made = Vec::new();
    while action["type"] != "stop" {
        assert!(journey.calls < MAX_STEPS && !made.contains(&action), "{action} after {}", journey.calls);
        made.push(action.clone());
        let reply = shelf.call(action["type"].as_str().unwrap(), action["params"].clone());
        action = next_call(&reply);
        journey.calls += 1;
        journey.reads.push(reply);
    }
    let candidates = journey.find["summary"]["candidates"].as_u64().unwrap();
    assert!(!journey.reads.is_empty() || candidates == 0, "stop before anything was read: {}", journey.find);
    journey
}

/// Whether a read contains the section that a question expects.
fn contains(read: &Value, expected: &Value) -> bool {
    read["manual_id"] == expected["manual_id"]
        && read["path"] == expected["path"]
        && expected["title"].as_str().is_none_or(|title| read["text"].as_str().unwrap_or("").contains(title))
}

fn is_at(hit: &Value, expected: &Value) -> bool {
    let place = &hit["ref"];
    ["manual_id", "path", "title"].iter().all(|key| expected[key].is_null() || place[key] == expected[key])
        && (expected["line"].is_null() || place["start_line"] == expected["line"])
}

#[test]
fn following_the_next_actions_reads_the_answer() {
    let mut shelf = samples();
    let (mut answerable, mut read) = (0, 0);
    for question in questions() {
        let arguments = json!({ "query": question["query"], "goal": "answer" });
        let journey = follow(&mut shelf, "manual_find", arguments);
        assert!(journey.calls <= MAX_CALLS, "{question}: {} calls", journey.calls);
        let top = journey.find["top"].as_array().unwrap();
        let expected = question["expected"].as_array().unwrap();
        let is_found = expected.iter().any(|place| top.iter().any(|hit| is_at(hit, place)));
        answerable += usize::from(is_found);
        let is_read = expected.iter().any(|place| journey.reads.iter().any(|read| contains(read, place)));
        read += usize::from(is_found && is_read);
    }
    assert!(answerable > 150, "{answerable}");
    assert!(read as f64 >= MIN_READ_SHARE * answerable as f64, "{read} of {answerable}");
}

#[test]
fn with_goal_everything_the_whole_evidence_is_read() {
    let mut shelf = samples();
    for question in questions().iter().step_by(12) {
        let arguments = json!({ "query": question["query"], "goal": "everything" });
        let journey = follow(&mut shelf, "manual_find", arguments);
        let summary = &journey.find["summary"];
        let candidates = usize::try_from(summary["candidates"].as_u64().unwrap()).unwrap();
        assert!(journey.calls <= candidates + MAX_EXTRA_CALLS, "{} of {candidates}", journey.calls);
        assert!(candidates == 0 || summary["integration_status"] != "ready", "{summary}");
        let unread = json!({ "trace_id": journey.find["trace_id"], "kind": "unread" });
        assert_eq!(shelf.call("manual_hits", unread)["total"], 0);
    }
}

#[test]
fn the_goal_is_taken_from_the_words_of_the_question() {
    let mut shelf = samples();
    for (question, goal) in [
        ("休暇を網羅的に", "everything"),
        ("everything about refunds", "everything"),
        ("休暇", "answer"),
        ("refunds", "answer"),
    ] {
        let found = shelf.call("manual_find", json!({ "query": question }));
        assert_eq!(found["summary"]["goal"], goal, "{question}");
        let words = json!({ "trace_id": found["trace_id"], "kind": "gaps" });
        assert_eq!(shelf.call("manual_hits", words)["total"], 0, "a goal is not a term: {question}");
    }
}

#[test]
fn the_same_question_goes_on_with_what_is_unread_and_fresh_starts_again() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", "# A\nzorblax one\n# B\nzorblax zorblax two\n");
    let ask = |shelf: &mut Shelf, fresh: bool| {
        shelf.call("manual_find", json!({ "query": "zorblax", "goal": "everything", "fresh": fresh }))
    };
    let first = ask(&mut shelf, false);
    let counts = |found: &Value| (found["summary"]["handed_out"].clone(), found["summary"]["unread"].clone());
    assert_eq!(counts(&first), (json!(0), json!(2)));
    let best = first["next_actions"][0]["params"].clone();
    shelf.call("manual_read", best.clone());
    let second = ask(&mut shelf, false);
    assert_eq!(counts(&second), (json!(1), json!(1)));
    assert_ne!(second["next_actions"][0]["params"]["ref"], best["ref"]);
    let again = ask(&mut shelf, true);
    assert_eq!(counts(&again), (json!(0), json!(2)));
    assert_eq!(again["next_actions"][0]["params"]["ref"], best["ref"]);
    // A read without a trace id counts for the newest find that searched the file.
    let flat = json!({ "manual_id": "m", "path": "a.md", "lines": { "start": 1, "end": 4 } });
    assert_eq!(shelf.call("manual_read", flat)["next_actions"][0]["type"], "stop");
    let unread = json!({ "trace_id": again["trace_id"], "kind": "unread" });
    assert_eq!(shelf.call("manual_hits", unread)["total"], 0);
    let other = json!({ "trace_id": first["trace_id"], "kind": "unread" });
    assert_eq!(shelf.call("manual_hits", other)["total"], 1, "the older find has its own ledger");
}

#[test]
fn a_read_that_a_limit_cut_is_continued() {
    let mut shelf = Shelf::new(&[]);
    let text: String = (0..60).map(|number| format!("zorblax {number} {}\n", "word ".repeat(10))).collect();
    shelf.write("manuals/m/a.md", format!("# A\n{text}"));
    let found = shelf.call("manual_find", json!({ "query": "zorblax" }));
    let mut action = found["next_actions"][0].clone();
    action["params"]["limits"] = json!({ "max_chars": 700 });
    let mut read = String::new();
    for step in 0.. {
        assert!(step < 40, "{action}");
        let reply = shelf.call("manual_read", action["params"].clone());
        read.push_str(reply["text"].as_str().unwrap());
        action = reply["next_actions"][0].clone();
        if action["type"] == "stop" {
            break;
        }
        assert!(action["params"]["cursor"].is_object(), "{action}");
        action["params"]["limits"] = json!({ "max_chars": 700 });
    }
    assert_eq!(read.trim_end(), format!("# A\n{text}").trim_end());
}

#[test]
fn coverage_leads_through_the_uncovered_lines_only() {
    let mut shelf = Shelf::new(&[]);
    let text: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    shelf.write("vault/source.md", &text);
    shelf.write("manuals/m/source.md", &text);
    let range = |start: u64, end: u64| json!({ "start_line": start, "end_line": end });
    let cited = json!([range(11, 50), range(61, 90)]);
    let manual = json!({ "target": "manual", "manual_id": "m", "path": "source.md" });
    for (start, tool) in [
        (json!({ "path": "source.md", "cited_ranges": cited }), "vault_scan"),
        (json!({ "source": manual, "cited_ranges": cited }), "manual_read"),
    ] {
        let found = shelf.call("vault_coverage", start);
        let mut action = found["next_actions"][0].clone();
        let mut texts = Vec::new();
        while action["type"] == tool {
            let reply = shelf.call(tool, action["params"].clone());
            texts.push(reply["text"].as_str().unwrap().to_owned());
            action = reply["next_actions"][0].clone();
        }
        let lines: Vec<_> = texts.iter().flat_map(|text| text.lines()).collect();
        let expected: Vec<_> = (1..=10).chain(51..=60).chain(91..=100).map(|n| format!("line {n}")).collect();
        assert_eq!(lines, expected, "{tool}");
        assert_eq!(action["type"], "vault_coverage", "{action}");
        let done = shelf.call("vault_coverage", action["params"].clone());
        assert_eq!((&done["coverage_ratio"], &done["read_coverage_ratio"]), (&json!(1.0), &json!(0.3)));
    }
}

#[test]
fn a_match_anywhere_in_a_file_is_read_and_the_journey_ends() {
    let filler = "filler ".repeat(1500);
    let members: Vec<_> = (0..40).map(|_| format!("\"k\": \"{}\"", "filler ".repeat(80))).collect();
    let html: String = (0..300).map(|n| format!("<h2>T{n}</h2><p>{}</p>", "filler ".repeat(9))).collect();
    for (path, text) in [
        ("long.md", format!("# A\n\n{filler}wombat {filler}\n\n## B\n\nend\n")),
        ("late.txt", format!("intro\nsecond\nwombat {filler}\nshort\n")),
        ("lines.md", format!("# A\r\n{}wombat\r\n{}", "some words\r\n".repeat(900), "more\r\n".repeat(900))),
        ("one.txt", format!("{filler}{filler}wombat")),
        ("string.json", format!("{{\"a\": \"{filler}wombat {filler}\"}}")),
        ("items.json", format!("[{}{{\"wombat\": 1}}]", "{\"name\": \"filler\"},".repeat(600))),
        ("twice.json", format!("{{{}, \"k\": \"wombat\"}}", members.join(", "))),
        ("broken.json", format!("{{\"a\": 1, {} wombat", "\"x\": 2, ".repeat(3000))),
        ("page.html", format!("{html}<h2>Last</h2><p>{filler}wombat</p><h2>More</h2><p>x</p>")),
        ("emoji.md", format!("# 👩‍👩‍👧‍👦\n{}wombat e\u{301}\n", "👍🏽 e\u{301} ".repeat(3000))),
    ] {
        for (folder, tool) in [("manuals/m", "manual_find"), ("vault", "vault_find")] {
            let mut shelf = Shelf::new(&[]);
            shelf.write(&format!("{folder}/{path}"), &text);
            for goal in ["answer", "everything"] {
                let find = json!({ "query": "wombat", "goal": goal, "fresh": true });
                let found = shelf.call(tool, find.clone());
                assert_eq!(found["summary"]["candidates"], 1, "{path}: {}", found["summary"]);
                let mut action = found["next_actions"][0].clone();
                let (mut read, mut made) = (String::new(), Vec::new());
                while action["type"].as_str().is_some_and(|tool| tool.ends_with("_read")) {
                    assert!(!made.contains(&action), "{path} {tool}: {action} again");
                    made.push(action.clone());
                    let reply = shelf.call(action["type"].as_str().unwrap(), action["params"].clone());
                    read.push_str(reply["text"].as_str().unwrap());
                    action = reply["next_actions"][0].clone();
                }
                assert!(read.contains("wombat"), "{path} {tool}: {made:?}");
                assert!(made.len() <= 3, "{path} {tool}: {made:?}");
                let unread = json!({ "trace_id": found["trace_id"], "kind": "unread" });
                assert_eq!(shelf.call("manual_hits", unread)["total"], 0, "{path} {tool}");
                // The ref of a hit in a manual is readable as it is.
                let place = &found["top"][0]["ref"];
                if tool == "manual_find" && place.get("char").is_some() {
                    let read =
                        shelf.call("manual_read", json!({ "ref": place, "expand": { "after_chars": 4000 } }));
                    assert!(read["text"].as_str().unwrap().contains("wombat"), "{path}: {place}");
                }
            }
        }
    }
}

#[test]
fn a_line_of_a_section_is_not_the_section() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/m/a.md", format!("# A\n{}# B\nzorblax\n", "zorblax line\n".repeat(90)));
    let found = shelf.call("manual_find", json!({ "query": "zorblax", "goal": "everything" }));
    let unread = json!({ "trace_id": found["trace_id"], "kind": "unread" });
    for lines in [json!({ "start": 70, "end": 70 }), json!({ "start": 1, "end": 1 })] {
        let line = json!({ "manual_id": "m", "path": "a.md", "lines": lines, "trace_id": found["trace_id"] });
        shelf.call("manual_read", line);
        assert_eq!(shelf.call("manual_hits", unread.clone())["total"], 2);
    }
}

#[test]
fn a_cut_find_of_the_vault_goes_on_without_the_maximum() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("vault/n.md", (0..30).map(|n| format!("zebra {n}\n\n")).collect::<String>());
    let find = json!({ "query": "zebra", "goal": "everything", "budget": { "max_candidates": 2 } });
    let found = shelf.call("vault_find", find);
    assert_ne!(found["summary"]["integration_status"], "ready");
    let mut action = found["next_actions"][0].clone();
    let mut read = String::new();
    for _ in 0..40 {
        let reply = shelf.call(action["type"].as_str().unwrap(), action["params"].clone());
        read.push_str(reply["text"].as_str().unwrap_or_default());
        action = reply["next_actions"][0].clone();
        if action["type"] == "stop" || (action["type"] == "vault_find" && read.contains("zebra 29")) {
            break;
        }
    }
    let missing: Vec<_> = (0..30).filter(|n| !read.contains(&format!("zebra {n}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_was_not_handed_out_stays_unread() {
    let mut shelf = Shelf::new(&[]);
    let rules: String = (0..50).map(|number| format!("zebra rule {number}\n")).collect();
    shelf.write("manuals/m/a.md", format!("# T\n{rules}"));
    shelf.write("manuals/m/b.md", "# U\nzebra\n");
    let find = json!({ "query": "zebra", "goal": "everything" });
    let found = shelf.call("manual_find", find.clone());
    let place = found["next_actions"][0]["params"]["ref"].clone();
    assert_eq!(place["path"], "a.md");
    let trace_id = found["trace_id"].clone();
    for _ in 0..3 {
        for part in [json!({ "scope": "snippet" }), json!({ "lines": { "start": 1, "end": 20 } })] {
            let mut arguments = json!({ "ref": place, "trace_id": trace_id });
            arguments.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            shelf.call("manual_read", arguments);
        }
    }
    let unread = shelf.call("manual_hits", json!({ "trace_id": trace_id, "kind": "unread" }));
    assert_eq!(unread["total"], 2);
    let again = shelf.call("manual_find", find);
    assert_eq!((&again["summary"]["handed_out"], &again["summary"]["unread"]), (&json!(0), &json!(2)));
    assert_eq!(again["next_actions"][0]["params"]["ref"], place);
}

#[test]
fn pages_that_end_in_empty_rows_are_read_once() {
    for page in [
        "<h4>zebra</h4>\n<pre>\nfoo\n</pre>",
        "<h2>zebra</h2>\n<pre><code>a\nb\n</code></pre>\n</body></html>",
        "<h2>zebra</h2>\n<p>a</p>\n<p></p>",
        "<p>zebra</p>\n<h2></h2>\n",
        "<h1>A</h1><p>x</p><h2>zebra</h2><p>a</p>\n\n\n<h2>B</h2>",
    ] {
        let mut shelf = Shelf::new(&[]);
        shelf.write("manuals/m/a.html", page);
        let journey = follow(&mut shelf, "manual_find", json!({ "query": "zebra", "goal": "everything" }));
        assert_eq!(journey.calls, 2, "{page}");
    }
}

#[test]
fn a_line_that_was_cut_is_continued_without_the_cited_lines_behind_it() {
    let mut shelf = Shelf::new(&[]);
    let lines: String = (2..=30).map(|number| format!("line {number}\n")).collect();
    shelf.write("vault/a.md", format!("{}\n{lines}", "x".repeat(9000)));
    let cited = json!([{ "start_line": 2, "end_line": 20 }]);
    let found = shelf.call("vault_coverage", json!({ "path": "a.md", "cited_ranges": cited }));
    let mut action = found["next_actions"][0].clone();
    let mut read = String::new();
    while action["type"] == "vault_scan" {
        let reply = shelf.call("vault_scan", action["params"].clone());
        read.push_str(reply["text"].as_str().unwrap());
        action = reply["next_actions"][0].clone();
    }
    assert_eq!(action["type"], "vault_coverage");
    assert!(read.contains("line 21") && read.contains("line 30") && !read.contains("line 2\n"), "{read}");
    assert_eq!(read.matches('x').count(), 9000);
}

#[test]
fn an_audit_does_not_lead_through_lines_that_were_just_read() {
    for source in ["1\n2\n3\n4\n5\n", "1\n2\n"] {
        let mut shelf = Shelf::new(&[]);
        shelf.write("vault/s.txt", source);
        shelf.write("vault/art.md", "# Art\nno mark\n");
        let cited = json!([{ "start_line": 2, "end_line": 2 }]);
        let mut call = (
            "vault_coverage".to_owned(),
            json!({ "path": "s.txt", "cited_ranges": cited, "artifact_path": "art.md" }),
        );
        let mut made = Vec::new();
        loop {
            assert!(!made.contains(&call), "{call:?} again after {made:?}");
            made.push(call.clone());
            let next = shelf.call(&call.0, call.1.clone())["next_actions"][0].clone();
            match next["type"].as_str() {
                None | Some("stop") => break,
                Some(tool) => call = (tool.to_owned(), next["params"].clone()),
            }
        }
        let last = made.last().unwrap();
        assert_eq!((last.0.as_str(), &last.1["path"]), ("vault_read", &json!("art.md")), "{made:?}");
    }
}
