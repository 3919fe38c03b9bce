//! `phrasings` and `hypothetical` of `manual_find` and `vault_find`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Shelf;

/// Rules that a question in everyday words does not share a word with.
fn shelf() -> Shelf {
    let shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/rules/pay.md",
        "# 賃金規程\n## 支払日\n賃金は毎月25日に本人の口座へ支払う。\n## 賞与\n賞与は業績により支給する。\n## 諸手当\n手当の種類は別表による。\n",
    );
    shelf.write(
        "manuals/rules/office.md",
        "# 施設\n## 駐車場\n駐車場の利用料は月に五千円とする。\n## 会議室\n会議室は予約して使う。\n",
    );
    shelf.write(
        "manuals/store/returns.md",
        "# Returns\n## Refunds\nMoney is paid back within 30 days of the purchase, in -5 degrees or not.\n## Exchange\nGoods are exchanged for others.\n",
    );
    shelf.write("vault/notes.md", "# Notes\n\nThe caterer was paid on Monday.\n\nThe venue is booked.\n");
    shelf
}

fn paths(found: &Value) -> Vec<String> {
    let top = found["top"].as_array().unwrap().iter();
    top.map(|section| {
        section["heading_path"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned()
    })
    .collect()
}

fn first_path(found: &Value) -> String {
    paths(found).first().cloned().unwrap_or_default()
}

#[test]
fn a_question_in_other_words_is_answered_with_phrasings_and_a_passage() {
    let mut shelf = shelf();
    let bare = shelf.call("manual_find", json!({ "query": "お給金はいつもらえるの" }));
    assert_ne!(first_path(&bare), "支払日", "{bare}");
    for other_words in [
        json!({ "phrasings": ["賃金の支払日", "給与の支給日"] }),
        json!({ "hypothetical": "賃金は毎月25日に従業員の口座へ支払う。" }),
        json!({ "phrasings": ["賃金の支払日"], "hypothetical": "賃金は毎月末日に支払う。" }),
    ] {
        let mut arguments = other_words.clone();
        arguments["query"] = "お給金はいつもらえるの".into();
        let found = shelf.call("manual_find", arguments);
        assert_eq!(first_path(&found), "支払日", "{other_words}: {found}");
        // What was asked stays what it was: its words stand nowhere.
        assert!(found["summary"]["gap_count"].as_u64() >= bare["summary"]["gap_count"].as_u64(), "{found}");
    }
    let found = shelf.call("vault_find", json!({ "query": "food supplier", "phrasings": ["caterer"] }));
    assert_eq!(found["top"][0]["ref"]["start_line"], 3, "{found}");
}

#[test]
fn a_find_that_is_not_ready_asks_for_other_words_once() {
    let mut shelf = shelf();
    for (tool, query) in
        [("manual_find", "お給金はいつもらえるの"), ("vault_find", "who supplied the food, venue")]
    {
        let bare = shelf.call(tool, json!({ "query": query }));
        assert_ne!(bare["summary"]["integration_status"], "ready");
        let actions = bare["next_actions"].as_array().unwrap();
        let asking: Vec<_> = actions.iter().filter(|action| action["note"].is_string()).collect();
        let [asking] = asking.as_slice() else { panic!("{bare}") };
        assert_eq!((&asking["type"], &asking["params"]), (&json!(tool), &Value::Null));
        let note = asking["note"].as_str().unwrap();
        assert!(note.contains("`phrasings`") && note.contains("`hypothetical`"), "{note}");
        let worded = shelf.call(tool, json!({ "query": query, "phrasings": ["zzz"] }));
        let actions = worded["next_actions"].as_array().unwrap();
        assert!(actions.iter().all(|action| action.get("note").is_none()), "{worded}");
    }
    let ready =
        shelf.call("manual_find", json!({ "query": "駐車場の利用料は月にいくらか", "manual_id": "rules" }));
    if ready["summary"]["integration_status"] == "ready" {
        assert!(ready["next_actions"].as_array().unwrap().iter().all(|action| action.get("note").is_none()));
    }
}

#[test]
fn eight_long_phrasings_are_bounded_and_more_are_refused() {
    let mut shelf = shelf();
    let long = |seed: usize| -> String {
        let words = (0..).map(|number| format!("語{} word{} ", number * 7 + seed, number * 3 + seed));
        let text: String = words.take(1200).collect();
        text.chars().take(10_000).collect()
    };
    let phrasings: Vec<String> = (0..8).map(long).collect();
    assert_eq!(phrasings[0].chars().count(), 10_000);
    // Processor time is compared, because elapsed time depends on what else the machine does.
    let before = shelf.server.process.cpu_time();
    let query =
        json!({ "query": "駐車場の利用料", "phrasings": phrasings, "hypothetical": "あ".repeat(2000) });
    let found = shelf.call("manual_find", query);
    let used = shelf.server.process.cpu_time() - before;
    assert!(used < Duration::from_secs(10), "{used:?}");
    assert_eq!(first_path(&found), "駐車場", "{found}");
    assert!(found.to_string().chars().count() < 25_000);

    for (arguments, field) in [
        (json!({ "query": "x", "phrasings": vec!["y"; 9] }), "phrasings"),
        (json!({ "query": "x", "phrasings": ["y", "z".repeat(10_001)] }), "phrasings[1]"),
        (json!({ "query": "x", "phrasings": [""] }), "phrasings[0]"),
        (json!({ "query": "x", "phrasings": ["?!"] }), "phrasings[0]"),
        (json!({ "query": "x", "phrasings": "y" }), "phrasings"),
        (json!({ "query": "x", "hypothetical": "z".repeat(2001) }), "hypothetical"),
        (json!({ "query": "x", "hypothetical": "---" }), "hypothetical"),
    ] {
        for tool in ["manual_find", "vault_find"] {
            let reply = shelf.server.call(tool, arguments.clone());
            let text = reply["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("invalid_parameter") && text.contains(field), "{arguments}: {reply}");
        }
    }
}

#[test]
fn a_passage_excludes_and_requires_nothing_whatever_it_contains() {
    let mut shelf = shelf();
    for passage in [
        "It is -5 degrees; -paid -back \"exactly this phrase\" and 'quotes'.",
        "**Refunds** are [paid](x.md) `back` <b>within</b> 30 days {#id} <!-- comment",
        "返金は三十日以内に行われ、「現金」で支払う。 -返金",
        "Die Erstattung erfolgt innerhalb von 30 Tagen. 환불은 30일 이내에.",
        "\u{202e}\u{0} \u{fffd} 30 days",
    ] {
        let arguments = json!({ "query": "money paid back", "hypothetical": passage, "phrasings": ["-refunds \"days\""] });
        let found = shelf.call("manual_find", arguments);
        assert_eq!(first_path(&found), "Refunds", "{passage}: {found}");
    }
}

#[test]
fn phrasings_that_repeat_the_question_change_nothing() {
    let mut shelf = shelf();
    let bare = shelf.call("manual_find", json!({ "query": "賃金の支払", "fresh": true }));
    let repeated = json!({ "query": "賃金の支払", "phrasings": ["賃金の支払", "「賃金」の 支払"], "hypothetical": "賃金の支払", "fresh": true });
    let mut repeated = shelf.call("manual_find", repeated);
    assert!(repeated["summary"].get("wordings").is_none());
    assert_eq!(repeated["top"], bare["top"]);
    repeated["summary"].as_object_mut().unwrap().shift_remove("wordings");
    assert_eq!(repeated["summary"], bare["summary"]);
}

#[test]
fn nonsense_does_not_drown_a_good_question_and_good_words_rescue_nonsense() {
    let mut shelf = shelf();
    let nonsense = ["qwrtz plmokn vbnm", "グムョ ペリャ", "blorp of the zyx", "会議室 グムョ qwrtz"];
    let arguments = json!({ "query": "賃金の支払日", "phrasings": nonsense, "hypothetical": "Zyx blorp グムョ 会議室 qwrtz." });
    let found = shelf.call("manual_find", arguments);
    assert_eq!(first_path(&found), "支払日", "{found}");

    let elsewhere = ["駐車場の利用料", "駐車場 五千円", "駐車場は月にいくら"];
    let arguments = json!({ "query": "賃金の支払日", "phrasings": elsewhere, "hypothetical": "駐車場の利用料は月に五千円とする。" });
    let found = shelf.call("manual_find", arguments);
    assert!(paths(&found).iter().take(3).any(|title| title == "支払日"), "{found}");

    let arguments = json!({ "query": "qwrtz グムョ", "phrasings": ["賃金の支払日 plmokn"], "hypothetical": "賃金は毎月25日に支払う。" });
    let found = shelf.call("manual_find", arguments);
    assert_eq!(first_path(&found), "支払日", "{found}");
    // The summary says which words stand in the manuals.
    let summary = &found["summary"];
    assert!(summary["terms"].as_array().unwrap().iter().all(|term| term["sections"] == 0), "{summary}");
    let wordings = summary["wordings"].as_array().unwrap();
    assert_eq!(wordings[0]["argument"], "phrasings[0]");
    assert!(wordings[0]["found"].as_array().unwrap().contains(&json!("賃金")), "{summary}");
    assert_eq!(wordings[0]["missing"], json!(["plmokn"]));
    assert_eq!(wordings[1]["argument"], "hypothetical");
    assert_ne!(summary["gap_count"], 0);
}

#[test]
fn the_sums_hold_with_other_words_too() {
    let mut shelf = shelf();
    let arguments = json!({ "query": "賃金", "goal": "everything", "phrasings": ["駐車場", "会議室"], "hypothetical": "賞与は支給する。" });
    let mut unread = u64::MAX;
    for _ in 0..12 {
        let found = shelf.call("manual_find", arguments.clone());
        let summary = &found["summary"];
        let number = |name: &str| summary[name].as_u64().unwrap();
        assert_eq!(number("candidates"), number("handed_out") + number("unread"), "{summary}");
        let hits = shelf
            .call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "candidates", "limit": 50 }));
        assert_eq!(hits["total"], summary["candidates"]);
        assert!(number("unread") < unread || number("unread") == 0, "{summary}");
        unread = number("unread");
        let action = &found["next_actions"][0];
        if action["type"] != "manual_read" {
            break;
        }
        shelf.call("manual_read", action["params"].clone());
    }
    assert_eq!(unread, 0);
}
