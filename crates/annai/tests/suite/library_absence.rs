//! What a find says about what stands nowhere: the counts of its terms, the nearest headings, and other words to ask with.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Shelf;

/// A shelf with a manual and a vault about the same matters.
fn shelf() -> Shelf {
    let shelf = Shelf::new(&[]);
    let rules = "# Expense claims\n\nExpenses are refundable.\n\n## Deadlines\n\nClaims close after 30 days.\n\n\
                 ## Hotels\n\nA hotel costs up to 120 euro.\n";
    let leave = "# 休暇規程\n\n## 第3条 年次有給休暇\n\n年次有給休暇は毎年与える。\n\n## 第4条 慶弔休暇\n\n結婚のときの休暇。\n";
    for folder in ["manuals/m", "vault"] {
        shelf.write(&format!("{folder}/rules.md"), rules);
        shelf.write(&format!("{folder}/kyuka.md"), leave);
    }
    shelf
}

const TOOLS: [&str; 2] = ["manual_find", "vault_find"];

fn terms(found: &Value) -> Vec<(String, u64, u64)> {
    let number = |term: &Value, key: &str| term[key].as_u64().unwrap();
    let terms = found["summary"]["terms"].as_array().unwrap().iter();
    terms
        .map(|term| {
            (term["term"].as_str().unwrap().to_owned(), number(term, "sections"), number(term, "files"))
        })
        .collect()
}

fn vocabulary(found: &Value) -> Vec<String> {
    let words = found["summary"]["absence"]["vocabulary"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Checks what holds for every find: absence exactly when it is not ready, within its limits, and every word finds
/// something.
fn check(shelf: &mut Shelf, tool: &str, arguments: &Value) -> Value {
    let found = shelf.call(tool, arguments.clone());
    let summary = &found["summary"];
    let is_ready = summary["integration_status"] == "ready";
    assert_eq!(summary.get("absence").is_none(), is_ready, "{tool} {arguments}: {summary}");
    if is_ready {
        return found;
    }
    let headings = summary["absence"]["nearest_headings"].as_array().unwrap();
    let words = vocabulary(&found);
    assert!(headings.len() <= 3 && words.len() <= 8, "{summary}");
    for (number, heading) in headings.iter().enumerate() {
        assert!(!headings[..number].contains(heading), "{summary}");
        assert_eq!(heading.get("manual_id").is_some(), tool == "manual_find", "{heading}");
        let (path, line) = (&heading["path"], &heading["line"]);
        let read = match tool {
            "manual_find" => shelf.call(
                "manual_read",
                json!({ "manual_id": heading["manual_id"], "path": path, "start_line": line }),
            ),
            _ => shelf.call(
                "vault_read",
                json!({ "path": path, "range": { "start_line": line, "end_line": line } }),
            ),
        };
        assert!(!read["text"].as_str().unwrap().is_empty(), "{heading}");
    }
    for word in words {
        let mut again = arguments.clone();
        again["query"] = json!(word);
        let again = shelf.call(tool, again);
        assert!(again["summary"]["candidates"].as_u64().unwrap() > 0, "{tool} {arguments}: {word}");
    }
    found
}

#[test]
fn a_term_that_stands_nowhere_has_no_sections() {
    let mut shelf = shelf();
    for tool in TOOLS {
        let found = check(&mut shelf, tool, &json!({ "query": "Hotels penguin" }));
        assert_eq!(terms(&found), [("Hotels".into(), 1, 1), ("penguin".into(), 0, 0)], "{tool}");
        assert_eq!(found["summary"]["sections_with_all_terms"], 0);
    }
}

#[test]
fn two_terms_that_never_stand_together_are_told_apart_from_two_that_do() {
    let mut shelf = shelf();
    for tool in TOOLS {
        let apart = check(&mut shelf, tool, &json!({ "query": "hotel claims" }));
        assert!(terms(&apart).iter().all(|(_, sections, _)| *sections > 0), "{tool}: {apart}");
        assert_eq!(apart["summary"]["sections_with_all_terms"], 0, "{tool}");
        let together = check(&mut shelf, tool, &json!({ "query": "claims close" }));
        assert_eq!(together["summary"]["sections_with_all_terms"], 1, "{tool}: {together}");
    }
}

#[test]
fn other_words_and_the_nearest_headings_are_suggested() {
    let mut shelf = shelf();
    for tool in TOOLS {
        for (question, word, heading) in [
            ("expence limits", "expense", "Expense claims"),
            ("refnud", "refundable", "Expense claims"),
            ("年休暇の残り", "年次有給休暇", "第3条 年次有給休暇"),
            ("慶弔見舞金", "慶弔休暇", "第4条 慶弔休暇"),
        ] {
            let found = check(&mut shelf, tool, &json!({ "query": question }));
            assert_eq!(
                vocabulary(&found).first().map(String::as_str),
                Some(word),
                "{tool} {question}: {found}"
            );
            let path = &found["summary"]["absence"]["nearest_headings"][0]["heading_path"];
            assert_eq!(path.as_array().unwrap().last().unwrap(), heading, "{tool} {question}");
        }
    }
}

#[test]
fn what_other_words_could_close_is_asked_for_with_them_once() {
    let mut shelf = shelf();
    for (tool, scope) in
        [("manual_find", json!({ "manual_id": "m" })), ("vault_find", json!({ "scope": { "glob": "*.md" } }))]
    {
        let mut arguments = scope.clone();
        arguments["query"] = json!("refnud");
        let found = shelf.call(tool, arguments);
        let action = &found["next_actions"][0];
        let mut expected = scope;
        expected["query"] = json!("refundable");
        assert_eq!((&action["type"], &action["params"]), (&json!(tool), &expected));
        let mut action = shelf.call(tool, action["params"].clone())["next_actions"][0].clone();
        let mut calls = 0;
        while action["type"] != "stop" {
            calls += 1;
            let kind = action["type"].as_str().unwrap().to_owned();
            assert!(calls < 5 && kind.ends_with("_read"), "{action}");
            action = shelf.call(&kind, action["params"].clone())["next_actions"][0].clone();
        }
        assert!(calls > 0, "{tool}");
    }
}

#[test]
fn unanswered_questions_about_the_sample_manuals_lead_somewhere() {
    let manuals = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/workspace/manuals"));
    let mut shelf = Shelf::new(&[("MANUALS_ROOT", manuals.to_str().unwrap())]);
    for question in [
        "通院給付金と育児休業",
        "年給休暇の日数",
        "expence claim deadline",
        "webhok signature",
        "ルータの設置手順",
        "how do I authentificate requests",
        "\"per diem allowance rules\"",
    ] {
        let found = check(&mut shelf, "manual_find", &json!({ "query": question }));
        let absence = &found["summary"]["absence"];
        assert_ne!(absence["nearest_headings"], json!([]), "{question}");
        assert_ne!(absence["vocabulary"], json!([]), "{question}");
    }
    // Nothing is near to nonsense, but the words of the manuals say what they are about.
    let found = check(&mut shelf, "manual_find", &json!({ "query": "zxqvblorp" }));
    assert_eq!(found["summary"]["absence"]["nearest_headings"], json!([]));
    assert_ne!(vocabulary(&found).len(), 0);
    // What lies outside the manual that was asked for is counted apart.
    let found =
        check(&mut shelf, "manual_find", &json!({ "query": "パスワード", "manual_id": "travel-policy" }));
    let term = &found["summary"]["terms"][0];
    assert!(term["sections"] == 0 && term["outside_sections"].as_u64().unwrap() > 5, "{term}");
}

#[test]
fn words_of_questions_and_texts_are_not_logged() {
    let mut shelf = shelf();
    for tool in TOOLS {
        let found = check(&mut shelf, tool, &json!({ "query": "expence penguin" }));
        assert!(vocabulary(&found).contains(&"expense".to_owned()), "{found}");
    }
    let log = shelf.server.finish();
    assert!(log.contains("sections_with_all_terms"), "{log}");
    for word in ["expence", "penguin", "expense", "Expense"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}

#[test]
fn odd_questions_and_texts_stay_within_the_limits() {
    let many: String = (0..60).map(|number| format!("w{} ", "x".repeat(number + 3))).collect();
    let lines: String = (0..3000).map(|number| format!("line {number} of a log\n")).collect();
    let synonyms: String = (0..300).map(|number| format!("  - [alike, word{number}]\n")).collect();
    for (path, text) in [
        ("a.md", String::new()),
        ("a.md", "#\n##\n---\n\n".repeat(50)),
        ("a.txt", lines),
        ("a.json", json!({ "items": vec![json!({ "name": "hotel", "n": 1 }); 500] }).to_string()),
        ("a.json", "{ broken \"hotel\"".to_owned()),
        ("a.html", "<h1>Hotels</h1><p>hotel</p>".to_owned()),
        ("a.md", format!("# {}\nhotel\n", "hotel ".repeat(2000))),
        ("a.md", "# alike\nword7 hotel\n".repeat(200)),
    ] {
        let mut shelf = Shelf::new(&[]);
        shelf.write(&format!("manuals/m/{path}"), &text);
        shelf.write(&format!("vault/{path}"), &text);
        shelf.write("manuals/m/synonyms.yaml", format!("synonyms:\n{synonyms}"));
        for tool in TOOLS {
            for question in
                [many.as_str(), "hotle prices", "alike penguin", "-hotel", "の", "12345", &"x".repeat(9000)]
            {
                let found = check(&mut shelf, tool, &json!({ "query": question }));
                let chars = found.to_string().chars().count();
                assert!(chars < 20_000 && terms(&found).len() <= 48, "{path} {question:.20}: {chars}");
            }
        }
    }
}
