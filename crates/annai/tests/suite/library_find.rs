//! `manual_find` and `vault_find`: results and their order, unscanned sections, and next actions.

use std::time::Duration;

use serde_json::{Value, json};

use crate::Shelf;

pub(super) const TERMS: &str = "# 医療保険約款\n\n## 第一条 給付金の支払\n\n入院給付金は、入院一日につき五千円を支払います。対象外の場合は第三条を参照。\n\n\
    ## 第二条 請求\n\n給付金の請求は三十日以内に行います。[様式](forms.md#請求書)を使います。\n\n\
    ## 第三条 支払わない場合\n\n故意による事故は対象外とします。\n\n## 第四条 雑則\n\nこの約款は見直すことがあります。\n";
const FORMS: &str =
    "# 様式集\n\n## 請求書\n\n氏名と住所を記入します。\n\n## 変更届\n\n変更の日を記入します。\n";

pub(super) fn shelf() -> Shelf {
    let shelf = Shelf::new(&[]);
    shelf.write("manuals/ins/terms.md", TERMS);
    shelf.write("manuals/ins/forms.md", FORMS);
    shelf.write("manuals/other/travel.md", "# Travel\n\n## Refunds\n\nRefunds take 14 days. See Section 2.1.\n\n## 2.1 Proof\n\nKeep the ticket.\n");
    shelf
}

pub(super) fn titles(found: &Value) -> Vec<&str> {
    found["top"].as_array().unwrap().iter().map(|best| best["ref"]["title"].as_str().unwrap()).collect()
}

#[test]
fn the_best_section_is_the_first_result() {
    let mut shelf = shelf();
    for (query, best) in [
        ("入院給付金はいくら", "第一条 給付金の支払"),
        ("給付金を請求する期限は何日ですか", "第二条 請求"),
        ("支払われないのはどんなとき", "第三条 支払わない場合"),
        ("第3条", "第三条 支払わない場合"),
        ("how long does a refund take", "Refunds"),
        ("給 付・金 の 請求", "第二条 請求"),
        ("30日以内", "第二条 請求"),
    ] {
        let found = shelf.call("manual_find", json!({ "query": query }));
        assert_eq!(titles(&found).first(), Some(&best), "{query}: {found}");
    }
}

#[test]
fn the_result_of_manual_find_has_every_field() {
    let mut shelf = shelf();
    let found = shelf.call("manual_find", json!({ "query": "入院給付金の対象外", "manual_id": "ins" }));
    let summary = found["summary"].as_object().unwrap();
    for key in [
        "scanned_files",
        "scanned_nodes",
        "candidates",
        "warnings",
        "max_stage_applied",
        "scope_expanded",
        "unscanned_sections_count",
        "integrated_candidates",
        "integrated_nodes",
        "signal_coverage",
        "file_bias_ratio",
        "conflict_count",
        "gap_count",
        "sufficiency_score",
        "integration_status",
    ] {
        assert!(summary.contains_key(key), "{key}");
    }
    let place = &found["top"][0]["ref"];
    assert_eq!(
        (&place["target"], &place["manual_id"], &place["path"]),
        (&json!("manual"), &json!("ins"), &json!("terms.md"))
    );
    // The ref can be passed to manual_read unchanged, and conflicts once the file has changed.
    let read = shelf.call("manual_read", json!({ "ref": place, "scope": "section" }));
    assert!(read["text"].as_str().unwrap().contains("五千円"), "{read}");
    shelf.write("manuals/ins/terms.md", TERMS.replace("五千円", "六千円"));
    assert_eq!(shelf.fail("manual_read", json!({ "ref": place }))["code"], "conflict");
    let again = shelf.call("manual_find", json!({ "query": "六千円" }));
    assert_eq!(again["summary"]["signal_coverage"]["normalized"], 1, "{again}");
    assert_eq!(shelf.call("manual_find", json!({ "query": "五千円" }))["summary"]["candidates"], 0);
}

#[test]
fn references_and_exceptions_are_added_only_to_matching_sections() {
    let mut shelf = shelf();
    let found = shelf.call("manual_find", json!({ "query": "入院給付金 請求", "manual_id": "ins" }));
    let mut hits = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"] }));
    let related = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "related" }));
    hits["items"].as_array_mut().unwrap().extend(related["items"].as_array().unwrap().iter().cloned());
    let signals = |title: &str| -> Vec<String> {
        let item = hits["items"].as_array().unwrap().iter().find(|item| item["ref"]["title"] == title);
        let signals = item.map(|item| item["signals"].clone()).unwrap_or_default();
        serde_json::from_value(signals).unwrap_or_default()
    };
    assert!(signals("第三条 支払わない場合").contains(&"reference".to_owned()), "{hits}");
    assert!(signals("第三条 支払わない場合").contains(&"exceptions".to_owned()), "{hits}");
    assert!(signals("請求書").contains(&"reference".to_owned()), "{hits}");
    assert!(signals("第四条 雑則").is_empty() && signals("変更届").is_empty(), "{hits}");
    // References and exceptions alone are no match.
    for nonsense in ["zxqvblorp", "ぬぺぽぎゃ", "フガホゲ"] {
        let found = shelf.call("manual_find", json!({ "query": nonsense }));
        assert_eq!(found["summary"]["candidates"], 0, "{found}");
        assert_eq!(found["summary"]["integration_status"], "blocked");
        assert_eq!(found["top"], json!([]));
        assert!(found["summary"]["gap_count"].as_u64().unwrap() > 0);
    }
    let english = shelf.call("manual_find", json!({ "query": "refunds", "manual_id": "other" }));
    assert_eq!(titles(&english), ["Refunds", "2.1 Proof"]);
}

#[test]
fn contradicting_sections_are_conflicts_and_repeated_ones_are_not() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/shop/terms.md",
        "# Terms\n\n## Returns\n\nThe return window for shoes is 14 days after delivery.\n",
    );
    shelf.write(
        "manuals/shop/questions.md",
        "# Questions\n\n## Returns\n\nThe return window for shoes is 30 days after delivery.\n",
    );
    shelf.write(
        "manuals/shop/copy.md",
        "# Copy\n\n## Returns again\n\nThe return window for shoes is 30 days after delivery.\n",
    );
    let found = shelf.call("manual_find", json!({ "query": "return window for shoes" }));
    assert_eq!(found["summary"]["conflict_count"], 2, "{found}");
    assert_eq!(found["summary"]["integration_status"], "needs_followup");
    assert_eq!(found["next_actions"][0]["type"], "manual_read");
    assert_eq!(found["next_actions"][0]["params"]["scope"], "section");
    let conflicts = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "kind": "conflicts" }));
    assert_eq!(conflicts["total"], 2);
    let reason = conflicts["items"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("14") && reason.contains("30"), "{reason}");
    assert_eq!(conflicts["items"][0]["conflict_with"].as_array().unwrap().len(), 1);
}

#[test]
fn other_manuals_are_searched_when_one_is_not_enough() {
    let mut shelf = shelf();
    let wide = shelf.call("manual_find", json!({ "query": "refunds", "manual_id": "ins" }));
    assert_eq!(titles(&wide).first(), Some(&"Refunds"));
    assert_eq!(
        (&wide["summary"]["max_stage_applied"], &wide["summary"]["scope_expanded"]),
        (&json!(4), &json!(true))
    );
    assert_eq!(wide["summary"]["escalation_reasons"], json!(["zero_candidates", "manual_scope_expanded"]));
    let capped = shelf.call("manual_find", json!({ "query": "refunds", "manual_id": "ins", "max_stage": 3 }));
    let summary = &capped["summary"];
    assert_eq!((&summary["candidates"], &summary["cutoff_reason"]), (&json!(0), &json!("stage_cap")));
    assert_eq!(summary["escalation_reasons"], json!(["zero_candidates", "stage_cap"]));
    let left = shelf.call("manual_hits", json!({ "trace_id": capped["trace_id"], "kind": "unscanned" }));
    assert_eq!(
        (&left["total"], &left["items"][0]["path"], &left["items"][0]["reason"]),
        (&json!(1), &json!("travel.md"), &json!("stage_cap"))
    );
    assert_eq!(left["items"][0]["start_line"], Value::Null);
    // Following the suggested action finds the section.
    assert_eq!(capped["next_actions"][0]["type"], "manual_find");
    let followed = shelf.call("manual_find", capped["next_actions"][0]["params"].clone());
    assert_eq!(titles(&followed).first(), Some(&"Refunds"));
    // The unscanned sections can be searched separately.
    let rest = json!({ "query": "refunds", "only_unscanned_from_trace_id": capped["trace_id"] });
    let rest = shelf.call("manual_find", rest);
    assert_eq!((titles(&rest).first(), &rest["summary"]["scanned_files"]), (Some(&"Refunds"), &json!(1)));
    assert!(
        rest["summary"]["escalation_reasons"]
            .as_array()
            .unwrap()
            .contains(&json!("prioritized_unscanned_sections"))
    );
}

#[test]
fn follow_up_finds_return_the_sections_that_a_limit_cut_off() {
    let mut shelf = Shelf::new(&[]);
    let text: String =
        (0..30).map(|number| format!("## Part {number}\n\nThe widget number {number}.\n\n")).collect();
    shelf.write("manuals/big/parts.md", text);
    let mut seen = Vec::new();
    let mut arguments = json!({ "query": "widget", "budget": { "max_candidates": 7 } });
    loop {
        let found = shelf.call("manual_find", arguments.clone());
        let hits = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"], "limit": 200 }));
        seen.extend(
            hits["items"].as_array().unwrap().iter().map(|item| item["start_line"].as_u64().unwrap()),
        );
        let left = found["summary"]["unscanned_sections_count"].as_u64().unwrap();
        assert_eq!(left as usize, 30 - seen.len());
        if left == 0 {
            assert!(found["summary"].get("cutoff_reason").is_none());
            break;
        }
        assert_eq!(found["summary"]["cutoff_reason"], "candidate_cap");
        arguments["only_unscanned_from_trace_id"] = found["trace_id"].clone();
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..30).map(|number| number * 4 + 1).collect::<Vec<_>>());
}

#[test]
fn following_the_next_actions_always_ends() {
    let mut shelf = shelf();
    shelf.write("manuals/ins/data.json", "{\"給付金\": \"一日五千円\", \"請求\": 1}\n");
    shelf.write("vault/a.md", "alpha\n\nbeta\n\nalpha again\n");
    shelf.write("vault/b.md", "gamma\n");
    let queries = [
        "給付金",
        "入院給付金の請求 refunds",
        "zxqv",
        "-給付金 請求",
        "refund 14 days",
        "対象外",
        "\"第三条\" zzz",
        "alpha",
        "a",
    ];
    for query in queries {
        for mut call in [
            ("manual_find".to_owned(), json!({ "query": query })),
            ("manual_find".to_owned(), json!({ "query": query, "manual_id": "ins", "max_stage": 3 })),
            (
                "manual_find".to_owned(),
                json!({ "query": query, "manual_id": "other", "budget": { "max_candidates": 1 } }),
            ),
            ("vault_find".to_owned(), json!({ "query": query })),
        ] {
            let mut made = Vec::new();
            for step in 0.. {
                assert!(step < 12 && !made.contains(&call), "{query}: {call:?} after {made:?}");
                made.push(call.clone());
                let reply = shelf.call(&call.0, call.1.clone());
                // What needs words of the caller cannot be followed blindly.
                let is_complete = |action: &&Value| action["type"] == "stop" || action["params"].is_object();
                let actions = reply["next_actions"].as_array().into_iter().flatten();
                let Some(next) = actions.clone().find(is_complete) else { break };
                assert!(next.get("reason").is_none() && next["confidence"].is_number(), "{next}");
                let (kind, params) = (next["type"].as_str().unwrap().to_owned(), next["params"].clone());
                if kind == "stop" || kind == "vault_coverage" {
                    break;
                }
                call = (kind, params);
            }
        }
    }
}

#[test]
fn evicted_and_expired_traces_are_not_found() {
    let mut shelf = Shelf::new(&[("TRACE_MAX_KEEP", "2"), ("TRACE_TTL_SEC", "3")]);
    shelf.write("manuals/m/a.md", "# A\n\nwidget\n");
    let traces: Vec<_> =
        (0..3).map(|_| shelf.call("manual_find", json!({ "query": "widget" }))["trace_id"].clone()).collect();
    assert_eq!(traces[0].as_str().unwrap().len(), 16);
    assert_eq!(shelf.fail("manual_hits", json!({ "trace_id": traces[0] }))["code"], "not_found");
    assert_eq!(shelf.call("manual_hits", json!({ "trace_id": traces[2], "offset": 9 }))["items"], json!([]));
    // Elapsed time is what is tested: the server reads the real clock. The TTL leaves a busy machine time for the calls above.
    std::thread::sleep(Duration::from_millis(3100));
    assert_eq!(shelf.fail("manual_hits", json!({ "trace_id": traces[2] }))["code"], "not_found");
    let asked = json!({ "query": "widget", "only_unscanned_from_trace_id": traces[2] });
    assert_eq!(shelf.fail("manual_find", asked)["code"], "not_found");
}

#[test]
fn exceptions_are_listed_line_by_line() {
    let mut shelf = shelf();
    let all = shelf.call("manual_excepts", json!({ "manual_id": "ins" }));
    let lines: Vec<_> =
        all["items"].as_array().unwrap().iter().map(|item| item["start_line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [5, 11, 13]);
    assert_eq!(all["items"][2]["snippet"], "故意による事故は対象外とします。");
    let one = shelf.call("manual_excepts", json!({ "manual_id": "ins", "node_id": "terms.md#L11" }));
    assert_eq!(one["items"].as_array().unwrap().len(), 2);
    for (node, code) in
        [("terms.md", "invalid_parameter"), ("terms.md#L2", "not_found"), ("../x#L1", "invalid_path")]
    {
        assert_eq!(
            shelf.fail("manual_excepts", json!({ "manual_id": "ins", "node_id": node }))["code"],
            code,
            "{node}"
        );
    }
}

#[test]
fn a_manual_can_define_synonyms() {
    let mut shelf = shelf();
    shelf.write(
        "manuals/synonyms.yaml",
        "synonyms:\n  - [ホスピタル手当, 入院給付金]\nexceptions: [あいにく]\n",
    );
    let found = shelf.call("manual_find", json!({ "query": "ホスピタル手当" }));
    assert_eq!(titles(&found).first(), Some(&"第一条 給付金の支払"), "{found}");
    shelf.write("manuals/ins/more.md", "# 追記\n\nあいにく休みです。\n");
    let lines = shelf.call("manual_excepts", json!({ "manual_id": "ins" }));
    assert_eq!(lines["items"].as_array().unwrap().len(), 4);
    shelf.write("manuals/synonyms.yaml", "synonyms: 3\n");
    let found = shelf.call("manual_find", json!({ "query": "入院給付金" }));
    assert_eq!((&found["summary"]["warnings"], titles(&found).is_empty()), (&json!(1), false));
}

#[test]
fn vault_find_returns_paragraphs() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "vault/notes/a.md",
        "# Meeting\n\nBudget was cut.\n\nNobody liked it.\n\nThe budget comes back in May.\n",
    );
    shelf.write("vault/b.txt", "budget\n");
    shelf.write("vault/.system/secret.md", "budget\n");
    let found = shelf.call("vault_find", json!({ "query": "budget" }));
    assert_eq!(
        (&found["summary"]["candidates"], &found["summary"]["scanned_files"]),
        (&json!(3), &json!(2)),
        "{found}"
    );
    assert_eq!(found["top"][0]["ref"]["target"], "vault");
    let hits = shelf.call("manual_hits", json!({ "trace_id": found["trace_id"] }));
    let places: Vec<_> = hits["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["path"].as_str().unwrap(), item["start_line"].as_u64().unwrap()))
        .collect();
    assert_eq!(places, [("b.txt", 1), ("notes/a.md", 3), ("notes/a.md", 7)]);
    assert_eq!(hits["items"][0]["ref"]["target"], "vault");
    let inside = shelf.call("vault_find", json!({ "query": "budget", "scope": { "relative_dir": "notes" } }));
    assert_eq!(inside["summary"]["candidates"], 2);
    // The best paragraphs are read first; then the other files are searched.
    let mut action = inside["next_actions"][0].clone();
    for _ in 0..2 {
        assert_eq!(action["type"], "vault_read", "{action}");
        action = shelf.call("vault_read", action["params"].clone())["next_actions"][0].clone();
    }
    assert_eq!(
        action["params"],
        json!({ "query": "budget", "scope": { "glob": "!notes/a.md", "relative_dir": "notes" } })
    );
    let beside = shelf.call("vault_find", action["params"].clone());
    assert_eq!(
        (&beside["summary"]["candidates"], &beside["next_actions"][0]["type"]),
        (&json!(0), &json!("stop"))
    );
    let none = shelf.call("vault_find", json!({ "query": "zxqv" }));
    assert_eq!(none["next_actions"][0]["type"], "vault_scan");
    shelf.call("vault_scan", none["next_actions"][0]["params"].clone());
    // A new file is found at once.
    shelf.call("vault_create", json!({ "path": "c.md", "content": "zxqv\n" }));
    assert_eq!(shelf.call("vault_find", json!({ "query": "zxqv" }))["summary"]["candidates"], 1);
    assert_eq!(
        shelf.fail("vault_find", json!({ "query": "x", "scope": { "relative_dir": "none" } }))["code"],
        "not_found"
    );
    assert_eq!(
        shelf.fail("vault_find", json!({ "query": "x", "scope": { "relative_dir": ".system" } }))["code"],
        "forbidden"
    );
}

#[test]
fn excluded_words_also_apply_to_linked_sections() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "manuals/n/n.md",
        "# N\n\n## Returns\n\nGadget [g](#wrap-part).\n\n## Cards\n\nGift cards: except sundays.\n\n## Wrap part\n\nGift boxes.\n",
    );
    let found = shelf.call("manual_find", json!({ "query": "gadget -gift" }));
    assert_eq!(titles(&found), ["Returns"]);
    let found = shelf.call("manual_find", json!({ "query": "gadget" }));
    assert_eq!((&found["summary"]["candidates"], &found["summary"]["related"]), (&json!(1), &json!(2)));
    // Quoted words match only as a phrase.
    let found = shelf.call("manual_find", json!({ "query": "\"boxes gift\"" }));
    assert_eq!(found["summary"]["candidates"], 0, "{found}");
    let found = shelf.call("manual_find", json!({ "query": "\"gift boxes\"" }));
    assert_eq!(titles(&found).first(), Some(&"Wrap part"));
}
