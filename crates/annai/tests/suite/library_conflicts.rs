//! Contradictions between sections, as a caller sees them: how many there are, and both sentences as they are written.

use serde_json::{Value, json};

use crate::Shelf;

/// Finds, and lists what a find has of a kind.
fn find(shelf: &mut Shelf, query: &str, kind: &str) -> (Value, Value) {
    let found = shelf.call("manual_find", json!({ "query": query }));
    let hits = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": kind }));
    assert_eq!((&hits["kind"], &hits["next_offset"]), (&json!(kind), &Value::Null));
    (found, hits)
}

/// The places and sentences of both sides of an entry, as `path:line sentence`, sorted by path.
fn sides(item: &Value) -> Vec<String> {
    let sides = item["conflict_refs"].as_array().unwrap().iter();
    let show = |side: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        format!("{}:{} {}", text(&side["ref"]["path"]), side["line"], text(&side["sentence"]))
    };
    let mut sides: Vec<String> = sides.map(show).collect();
    sides.sort();
    sides
}

#[test]
fn a_contradiction_is_counted_and_quoted_with_places_that_can_be_read() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/shop/returns.md",
        "# Returns\n\nThanks for buying. The **Refund Window** of a Gift Card\nis 14 days.\n\n# Lamps\n\nLamps burn.\n",
    );
    shelf.write("manuals/shop/faq.md", "# Questions\n\nThe refund window of a gift card is ３０ Days.\n");
    let (found, hits) = find(&mut shelf, "refund window of a gift card", "conflicts");
    let summary = &found["summary"];
    assert_eq!((&summary["conflict_count"], &summary["variant_count"]), (&json!(1), &json!(0)), "{found}");
    assert_eq!(summary["integration_status"], "needs_followup", "{found}");
    assert!(
        summary["sufficiency_score"].as_f64().unwrap() >= 0.9,
        "only the conflict is in the way: {found}"
    );
    assert!(summary.get("conflicts_limited").is_none());
    assert_eq!(hits["total"], 1);
    let item = &hits["items"][0];
    // Upper case and full-width digits are kept; markup is not.
    assert_eq!(
        sides(item),
        [
            "faq.md:3 The refund window of a gift card is ３０ Days.",
            "returns.md:3 The Refund Window of a Gift Card is 14 days.",
        ]
    );
    let reason = item["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("refund: ") && reason.contains("14 days") && reason.contains("30 days"),
        "{reason}"
    );
    for side in item["conflict_refs"].as_array().unwrap() {
        let read = shelf.call("manual_read", json!({ "ref": side["ref"] }));
        let text = read["text"].as_str().unwrap();
        assert!(text.contains("days") || text.contains("Days"), "{read}");
        assert_eq!(side["ref"]["manual_id"], "shop");
    }
    // The first side is the section of the entry, and the other one is named beside it.
    assert_eq!(item["conflict_refs"][0]["ref"]["path"], item["path"]);
    let other = item["conflict_refs"][1]["ref"]["path"].as_str().unwrap();
    let beside = item["conflict_with"].as_array().unwrap();
    assert!(beside.len() == 1 && beside[0].as_str().unwrap().contains(other), "{item}");
    // The same pair stands beside each section of the other lists.
    let (_, top) = find(&mut shelf, "refund window of a gift card", "integrated_top");
    let with: Vec<usize> = top["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["conflict_with"].as_array().unwrap().len())
        .collect();
    assert_eq!(with, [1, 1], "{top}");
}

#[test]
fn rows_and_items_are_quoted_as_they_are_written_with_what_names_them() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/shop/a.md",
        "# Alpha\n\n| Rule | Value |\n|---|---|\n| Other | 5 MB |\n| Refund Window of a Gift Card | 14 Days |\n",
    );
    shelf.write(
        "manuals/shop/b.md",
        "# Omega\n\nThe Refund Window of a Gift Card:\n\n- Value: 60 Days\n- Paid in Cash\n",
    );
    let (found, hits) = find(&mut shelf, "refund window of a gift card", "conflicts");
    assert_eq!(found["summary"]["conflict_count"], 1, "{found}");
    assert_eq!(
        sides(&hits["items"][0]),
        [
            "a.md:6 Refund Window of a Gift Card, Value: 14 Days",
            "b.md:5 The Refund Window of a Gift Card, Value: 60 Days",
        ]
    );
}

#[test]
fn japanese_sentences_are_quoted_as_they_are_written() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/店/規程.md", "# 規程\n\n返品は可能です！返品の期限は商品の到着から\n１４日です。\n");
    shelf.write("manuals/店/質問.md", "# 質問\n\n返品の期限は商品の到着から三十日です。\n");
    let (found, hits) = find(&mut shelf, "返品の期限", "conflicts");
    assert_eq!(found["summary"]["conflict_count"], 1, "{found}");
    assert_eq!(
        sides(&hits["items"][0]),
        [
            "規程.md:3 返品の期限は商品の到着から１４日です。",
            "質問.md:3 返品の期限は商品の到着から三十日です。"
        ]
    );
}

#[test]
fn sections_that_differ_by_design_are_variants_and_do_not_keep_a_find_from_being_ready() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/shop/Terms-2023.md", "# Terms\n\nThe Refund Window of a Gift Card is 14 days.\n");
    shelf.write("manuals/shop/Terms-2024.md", "# Terms\n\nThe Refund Window of a Gift Card is 30 days.\n");
    let (found, hits) = find(&mut shelf, "refund window of a gift card", "variants");
    let summary = &found["summary"];
    assert_eq!((&summary["conflict_count"], &summary["variant_count"]), (&json!(0), &json!(1)), "{found}");
    assert_eq!(summary["integration_status"], "ready", "{found}");
    assert_eq!(
        sides(&hits["items"][0]),
        [
            "Terms-2023.md:3 The Refund Window of a Gift Card is 14 days.",
            "Terms-2024.md:3 The Refund Window of a Gift Card is 30 days.",
        ]
    );
    let (_, conflicts) = find(&mut shelf, "refund window of a gift card", "conflicts");
    assert_eq!((&conflicts["total"], &conflicts["items"]), (&json!(0), &json!([])));
}

#[test]
fn a_changed_file_is_quoted_as_it_was_when_it_was_searched() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/shop/a.md", "# Alpha\n\nThe Refund Window of a Gift Card is 14 days.\n");
    shelf.write("manuals/shop/b.md", "# Omega\n\nThe Refund Window of a Gift Card is 30 days.\n");
    let found = shelf.call("manual_find", json!({ "query": "refund window of a gift card" }));
    shelf.write("manuals/shop/a.md", "# Alpha\n\nNothing.\n");
    let hits = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "conflicts" }));
    // The index has the normalized text only.
    assert_eq!(
        sides(&hits["items"][0]),
        [
            "a.md:3 the refund window of a gift card is 14 days.",
            "b.md:3 The Refund Window of a Gift Card is 30 days."
        ]
    );
}

#[test]
fn both_channels_have_the_whole_answer() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/shop/a.md", "# Alpha\n\nThe Refund Window of a Gift Card is 14 days.\n");
    shelf.write("manuals/shop/b.md", "# Omega\n\nThe Refund Window of a Gift Card is 30 days.\n");
    let found = shelf.call("manual_find", json!({ "query": "refund window of a gift card" }));
    let arguments = json!({ "trace_id": found["trace_id"], "kind": "conflicts" });
    let reply = shelf.server.call("manual_hits", arguments);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    for side in reply["result"]["structuredContent"]["items"][0]["conflict_refs"].as_array().unwrap() {
        let sentence = side["sentence"].as_str().unwrap();
        assert!(text.contains(sentence) && sentence.starts_with("The Refund Window"), "{sentence}: {text}");
        assert!(text.contains(side["ref"]["path"].as_str().unwrap()), "{text}");
    }
}

#[test]
fn more_contradictions_than_are_listed_are_said_to_be_more() {
    let mut shelf = Shelf::new(&[]);
    for (number, name) in ["ash", "elm", "fir", "oak", "yew", "bay", "box", "fig"].iter().enumerate() {
        let days = 10 + 7 * number;
        let text = format!("# Alpha\n\nThe refund window of a gift card is {days} days.\n");
        shelf.write(&format!("manuals/shop/{name}.md"), text);
    }
    let (found, hits) = find(&mut shelf, "refund window of a gift card", "conflicts");
    let summary = &found["summary"];
    assert_eq!(
        (&summary["conflict_count"], &summary["conflicts_limited"]),
        (&json!(20), &json!(true)),
        "{found}"
    );
    assert_eq!(hits["total"], 20);
}
