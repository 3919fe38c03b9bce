use super::super::scope::SearchScope;
use super::super::stages::StageOutcome;
use super::super::term_counts::TermCounts;
use super::super::test_corpus::{leave_rules, manual, outcome, outcome_at_home, vault};
use super::*;
use crate::index::View;

/// What a find of a question that is not ready says.
fn absence_of(views: &[View], outcome: &StageOutcome) -> Absence {
    let missing = TermCounts::of(views, "", outcome).missing();
    super::absence(&AbsentTerms::new(views, &SearchScope::Everything, outcome, missing)).0
}

fn absence(views: &[View], question: &str) -> Absence {
    absence_of(views, &outcome(views, question))
}

fn last_titles(absence: &Absence) -> Vec<&str> {
    absence
        .nearest_headings
        .iter()
        .filter_map(|heading| heading.heading_path.last())
        .map(String::as_str)
        .collect()
}

#[test]
fn words_that_are_close_to_a_missing_term_come_first() {
    let views = leave_rules();
    for (question, word) in [
        ("年休暇の残り", "年次有給休暇"),
        ("expence", "expense"),
        ("refnud", "refundable"),
        ("claimant", "claims"),
    ] {
        let found = absence(&views, question);
        assert_eq!(found.vocabulary.first().map(String::as_str), Some(word), "{question}: {found:?}");
    }
}

#[test]
fn a_heading_is_near_by_its_words_and_shown_once() {
    let views = leave_rules();
    assert_eq!(last_titles(&absence(&views, "expence report")), ["Expense claims"]);
    let heading = NearestHeading {
        heading_path: vec!["Rules".into(), "Installer".into()],
        manual_id: Some("m".into()),
        path: "rules.md".into(),
        line: 4,
    };
    assert_eq!(absence(&views, "installing penguin").nearest_headings, [heading]);
    let same = "# Fees\na\n".repeat(5);
    let views = [manual("m", &[("a.md", &same), ("b.md", "# Feeds\nb\n")])];
    assert_eq!(last_titles(&absence(&views, "fees penguin")), ["Fees"], "a heading is not repeated");
}

#[test]
fn a_heading_that_has_a_pair_of_characters_by_chance_is_not_near() {
    let text = "# 自動更新\n設定する\n# 駐輪場\n自転車を置く\n# 給与の前借り\n申し出る\n";
    let views = [manual("m", &[("a.md", text)])];
    // 車 also stands for 自動車, of which 自動更新 has one pair of characters.
    let found = absence(&views, "車の空き状況");
    assert!(!last_titles(&found).contains(&"自動更新"), "{found:?}");
    // What a section with little of the question is called says nothing about what to ask instead.
    let text = "# 鳶尾頼継\n借りた\n# 給与の前借り\n申し出る\n# 要点\n借りる\n";
    let views = [manual("m", &[("a.md", text)])];
    let found = absence(&views, "傘を借りられますか");
    assert!(!found.vocabulary.iter().any(|word| word == "鳶尾頼継"), "{found:?}");
}

#[test]
fn headings_that_the_reply_shows_yield_to_others() {
    let text: String = (0..9).map(|number| format!("# Window {number}\nfee\n")).collect();
    let views = [manual("m", &[("a.md", &text)])];
    let outcome = outcome(&views, "window penguin");
    let found = absence_of(&views, &outcome);
    let shown: Vec<_> = outcome
        .inside()
        .iter()
        .take(MAX_SHOWN)
        .map(|one| views[0].segments[0].nodes[one.place.node as usize].title.clone())
        .collect();
    assert_eq!(found.nearest_headings.len(), MAX_NEAREST);
    assert!(last_titles(&found).iter().all(|title| !shown.iter().any(|shown| shown == title)), "{found:?}");
}

#[test]
fn where_no_heading_is_near_those_of_sections_with_the_words_are_named() {
    let views = leave_rules();
    assert_eq!(last_titles(&absence(&views, "refnud")), ["Expense claims"]);
    let text: String = (0..9).map(|number| format!("# H{number}\nzebra\n")).collect();
    let views = [manual("m", &[("a.md", &text)])];
    assert_eq!(absence(&views, "zebra penguin").nearest_headings.len(), MAX_NEAREST);
}

#[test]
fn compounds_of_terms_that_occur_are_suggested() {
    let views = [manual("m", &[("a.md", "# 給付\n給付金は次のとおり。通院給付金と入院給付金とする。\n")])];
    let found = absence(&views, "給付金 手続");
    assert!(
        ["通院給付金", "入院給付金"].iter().all(|word| found.vocabulary.iter().any(|other| other == word)),
        "{found:?}"
    );
}

#[test]
fn a_text_to_which_nothing_is_near_still_says_what_it_is_about() {
    let views = leave_rules();
    let found = absence(&views, "zxqvblorp");
    assert_eq!(found.nearest_headings, []);
    assert!(found.vocabulary.iter().any(|word| word == "休暇規程"), "{found:?}");
}

#[test]
fn vocabulary_has_no_stop_words_numbers_or_markup() {
    let text = "# The 30 windows of 2024 {#window-id} <b>second</b>\nwindow\n## 第3条 場合の方法\nwindow\n## everything\nwindow\n";
    let views = [manual("m", &[("a.md", text)])];
    let found = absence(&views, "window penguin");
    for word in
        ["the", "of", "30", "2024", "id", "b", "第3条", "場合", "方法", "everything", "window", "windows"]
    {
        assert!(!found.vocabulary.iter().any(|other| other == word), "{word}: {found:?}");
    }
}

#[test]
fn files_without_headings_have_words_too() {
    let views = [manual("m", &[("a.json", "{\"refund\": {\"period\": \"thirty days\"}, \"fees\": [1, 2]}")])];
    assert_eq!(absence(&views, "refnud").vocabulary, ["refund"]);
    let views = [vault(&[("notes.md", "the expense claims\n\n# Meeting\nbudget\n")])];
    assert_eq!(absence(&views, "expence").vocabulary.first().map(String::as_str), Some("expense"));
    assert_eq!(last_titles(&absence(&views, "meeeting agenda")), ["Meeting"]);
}

#[test]
fn empty_texts_have_nothing_to_suggest() {
    for files in [&[][..], &[("a.md", "")][..], &[("a.md", "#\n\n---\n")][..]] {
        let views = [manual("m", files)];
        assert_eq!(absence(&views, "refund").vocabulary, Vec::<String>::new(), "{files:?}");
    }
    assert_eq!(absence(&[], "refund"), Absence::default());
}

#[test]
fn only_the_manual_that_was_asked_for_counts_unless_it_is_empty() {
    let other = || manual("n", &[("b.md", "# Expense claims\nexpense\n")]);
    let views = [manual("m", &[("a.md", "# Lions\nlion\n")]), other()];
    let found = absence_of(&views, &outcome_at_home(&views, "m", "expence"));
    assert!(!found.vocabulary.iter().any(|word| word == "expense"), "{found:?}");
    let views = [manual("m", &[]), other()];
    let found = absence_of(&views, &outcome_at_home(&views, "m", "expence"));
    assert_eq!(found.vocabulary.first().map(String::as_str), Some("expense"));
}

#[test]
fn a_part_of_a_word_is_not_a_word() {
    // The title is cut in the middle of a word.
    let views = [manual("m", &[("a.md", &format!("# {}\nlion\n", "hotel ".repeat(100)))])];
    let found = absence(&views, "lion penguin");
    assert_eq!(found.vocabulary, ["hotel"], "{found:?}");
}

#[test]
fn what_an_abbreviation_stands_for_is_found_in_texts() {
    let views =
        [manual("m", &[("a.md", "# 総則\n会社は労働組合と協議する。\n# その他\n働く人は組合員である。\n")])];
    let found = absence(&views, "労組");
    assert_eq!(found.vocabulary, ["労働組合"]);
    assert_eq!(last_titles(&found), ["総則"]);
}
