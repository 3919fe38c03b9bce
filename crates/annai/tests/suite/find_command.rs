//! `annai find` with other wordings of the question.

use std::process::Output;

use serde_json::Value;

use crate::{Home, annai, stderr, stdout};

fn home() -> Home {
    let home = Home::new();
    home.write(
        "manuals/shop/returns.md",
        "# Returns\n\n## Return period\n\nItems may be sent back within 14 days.\n\n## Presents\n\nGift wrapping costs 3 euros.\n",
    );
    home
}

fn find(home: &Home, arguments: &[&str]) -> Output {
    annai(home).arg("find").args(arguments).output().unwrap()
}

#[test]
fn sections_that_only_other_wordings_match_are_found_and_highlighted() {
    let home = home();
    let done = find(&home, &["zorblax"]);
    assert_eq!(done.status.code(), Some(1), "{}", stdout(&done));
    for other_words in [
        ["--also", "gift wrapping"],
        ["--like", "Gift wrapping is free of charge."],
        ["--like", "-5 % on gift wrapping"],
    ] {
        let done = find(&home, &[&["zorblax"], other_words.as_slice()].concat());
        assert!(done.status.success(), "{}", stderr(&done));
        let text = stdout(&done);
        assert!(text.starts_with("  1  manuals/shop/returns.md:9  "), "{text}");
        let [reasons, line] = [1, 2].map(|index| text.lines().nth(index).unwrap());
        assert!(reasons.contains("gift") && reasons.contains("wrapping"), "{text}");
        assert_eq!(line.trim(), "Gift wrapping costs 3 euros.");
    }
}

#[test]
fn words_of_the_question_come_before_those_of_other_wordings() {
    let home = home();
    let text = stdout(&find(&home, &["euros", "--also", "gift wrapping", "--also", "presents"]));
    let reasons = text.lines().nth(1).unwrap();
    assert!(reasons.ends_with(": euros"), "{text}");
}

#[test]
fn other_wordings_may_be_repeated_up_to_eight_times() {
    let home = home();
    let words: Vec<_> = (0..9).map(|number| format!("--also=gift{number} wrapping")).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let done = find(&home, &[&["zorblax", "--json"], &words[..8]].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    let report: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(report["hits"][0]["ref"]["title"], "Presents", "{report}");
    let done = find(&home, &[&["zorblax"], words.as_slice()].concat());
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(stderr(&done), "error: --also may be given 8 times, not 9 times\n");
}
