use annai_library::OtherWords;

use super::*;

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(quoted("a/b.md"), "a/b.md");
    assert_eq!(quoted("it's"), r"'it'\''s'");
    assert_eq!(quoted(""), "''");
    assert_eq!(quoted("返金 期限"), "'返金 期限'");
}

/// The commands that are printed for these suggestions after a find of `q`.
fn steps(actions: &[Value], other_words: &OtherWords, manual: Option<&str>) -> String {
    let shell_options = " --manuals m";
    let options = FindOptions { question: "q", other_words, manual, limit: 5, json: false, shell_options };
    next_steps(&json!({ "next_actions": actions }), &options)
}

#[test]
fn a_suggested_command_does_not_need_the_trace() {
    let step = |kind: &str, params: Value| {
        steps(&[json!({ "type": kind, "params": params })], &OtherWords::default(), None)
    };
    assert_eq!(
        step("manual_read", json!({ "trace_id": "t", "scope": "section" })),
        "Next: annai call manual_read '{\"scope\":\"section\"}' --manuals m\n"
    );
    assert_eq!(
        step("manual_find", json!({ "query": "q", "only_unscanned_from_trace_id": "t" })),
        "Next: annai call manual_find '{\"query\":\"q\",\"budget\":{\"time_ms\":600000}}' --manuals m\n"
    );
    assert_eq!(
        step("manual_find", json!({ "query": "a b", "manual_id": "x" })),
        "Next: annai find 'a b' --manual x --manuals m\n"
    );
    assert_eq!(
        step("manual_find", json!({ "query": "a", "phrasings": ["b c", "d"], "hypothetical": "E." })),
        "Next: annai find a --also 'b c' --also d --like E. --manuals m\n"
    );
    assert_eq!(
        step("stop", Value::Null),
        "Next: try other words, or list the manuals: annai call manual_list --manuals m\n"
    );
}

#[test]
fn other_wordings_are_suggested_after_the_next_step() {
    let read = json!({ "type": "manual_read", "params": { "scope": "section" } });
    let hint = json!({ "type": "manual_find", "params": null, "note": "Ask in other words." });
    let none = OtherWords::default();
    let read_step = "Next: annai call manual_read '{\"scope\":\"section\"}' --manuals m\n";
    let words = "--also 'the question in other words' --like 'a sentence that would answer it'";
    let find_step = format!("Or in other words too: annai find q {words} --manual x --manuals m\n");
    // The order of the suggestions does not matter.
    for actions in [[read.clone(), hint.clone()], [hint.clone(), read.clone()]] {
        assert_eq!(steps(&actions, &none, Some("x")), format!("{read_step}{find_step}"));
    }
    let stop_step = "Next: try other words, or list the manuals: annai call manual_list --manuals m\n";
    let find_step = format!("Or in other words too: annai find q {words} --manuals m\n");
    assert_eq!(steps(std::slice::from_ref(&hint), &none, None), format!("{stop_step}{find_step}"));
    // Who has given other words needs no such hint.
    let phrased = OtherWords { phrasings: vec!["r".to_owned()], hypothetical: None };
    let with_passage = OtherWords { phrasings: Vec::new(), hypothetical: Some("s".to_owned()) };
    for other_words in [phrased, with_passage] {
        assert_eq!(steps(&[read.clone(), hint.clone()], &other_words, None), read_step);
    }
}
