//! What a find says about what stands nowhere: the counts of its terms, and the nearest headings.

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
    let terms = found["summary"]["terms"].as_array().into_iter().flatten();
    terms
        .map(|term| {
            (term["term"].as_str().unwrap().to_owned(), number(term, "sections"), number(term, "files"))
        })
        .collect()
}

/// Checks what holds for every find: terms and absence exactly when it is not ready, and headings that can be read.
fn check(shelf: &mut Shelf, tool: &str, arguments: &Value) -> Value {
    let found = shelf.call(tool, arguments.clone());
    let summary = &found["summary"];
    let is_ready = summary["integration_status"] == "ready";
    assert_eq!(summary.get("absence").is_none(), is_ready, "{tool} {arguments}: {summary}");
    assert_eq!(summary.get("sections_with_all_terms").is_none(), is_ready, "{tool} {arguments}: {summary}");
    if is_ready {
        assert!(summary.get("terms").is_none(), "{tool} {arguments}: {summary}");
        return found;
    }
    assert_eq!(summary["absence"].as_object().unwrap().len(), 1, "{summary}");
    let headings = summary["absence"]["nearest_headings"].as_array().unwrap();
    assert!(headings.len() <= 3, "{summary}");
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
        // A find of everything is not ready before everything was read.
        let apart = check(&mut shelf, tool, &json!({ "query": "hotel claims", "goal": "everything" }));
        assert!(
            terms(&apart).len() == 2 && terms(&apart).iter().all(|(_, sections, _)| *sections > 0),
            "{tool}: {apart}"
        );
        assert_eq!(apart["summary"]["sections_with_all_terms"], 0, "{tool}");
        let together = check(&mut shelf, tool, &json!({ "query": "claims close", "goal": "everything" }));
        assert_eq!(together["summary"]["sections_with_all_terms"], 1, "{tool}: {together}");
    }
}

#[test]
fn the_nearest_headings_have_words_of_the_question() {
    let mut shelf = shelf();
    for tool in TOOLS {
        for (question, heading) in [
            ("expense limits", "Expense claims"),
            ("hotel penguin", "Hotels"),
            ("有給日数", "第3条 年次有給休暇"),
            ("慶弔見舞金", "第4条 慶弔休暇"),
        ] {
            let found = check(&mut shelf, tool, &json!({ "query": question }));
            let path = &found["summary"]["absence"]["nearest_headings"][0]["heading_path"];
            assert_eq!(path.as_array().unwrap().last().unwrap(), heading, "{tool} {question}");
        }
    }
}

#[test]
fn no_word_is_replaced_by_one_that_looks_like_it_and_following_the_actions_ends() {
    let mut shelf = shelf();
    for (tool, scope) in [
        ("manual_find", json!({ "manual_id": "m" })),
        ("manual_find", json!({})),
        ("vault_find", json!({ "scope": { "glob": "*.md" } })),
        ("vault_find", json!({})),
    ] {
        for question in ["refnud", "expence claims", "hotle prices", "年休暇の残り"] {
            let mut arguments = scope.clone();
            arguments["query"] = json!(question);
            let mut found = check(&mut shelf, tool, &arguments);
            let mut calls = 1;
            // Without a model, the first action is taken that has arguments.
            while let Some(action) = found["next_actions"]
                .as_array()
                .and_then(|actions| actions.iter().find(|action| !action["params"].is_null()).cloned())
            {
                calls += 1;
                assert!(calls <= 8, "{tool} {question}: {action}");
                let query = action["params"]["query"].as_str().unwrap_or_default();
                let is_asked = |word: &str| question.split(' ').any(|asked| asked.contains(word));
                assert!(query.split(' ').all(is_asked), "{tool} {question}: {action}");
                found = shelf.call(action["type"].as_str().unwrap(), action["params"].clone());
            }
        }
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
        "ペンギンの設置手順",
        "how do I authentificate requests",
        "\"per diem allowance rules\"",
    ] {
        let found = check(&mut shelf, "manual_find", &json!({ "query": question }));
        let headings = found["summary"]["absence"]["nearest_headings"].as_array();
        assert!(headings.is_some_and(|headings| !headings.is_empty()), "{question}: {found}");
    }
    // Nothing is near to nonsense.
    let found = check(&mut shelf, "manual_find", &json!({ "query": "zxqvblorp" }));
    assert_eq!(found["summary"]["absence"]["nearest_headings"], json!([]));
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
        let found = check(&mut shelf, tool, &json!({ "query": "expense penguin" }));
        assert_ne!(found["summary"]["absence"]["nearest_headings"], json!([]), "{found}");
    }
    let log = shelf.server.finish();
    assert!(log.contains("sections_with_all_terms"), "{log}");
    for word in ["penguin", "expense", "Expense"] {
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
