use proptest::prelude::*;

use super::*;
use crate::stages::run_stages;
use crate::stages::scope::FileGrant;
use crate::test_corpus::{leave_rules, manual, outcome, outcome_at_home, plan, query, vault};

/// What a find of a question that is not ready says.
fn absence_of(views: &[View], outcome: &StageOutcome) -> Absence {
    super::absence(views, &SearchScope::Everything, outcome)
}

fn absence(views: &[View], question: &str) -> Absence {
    absence_of(views, &outcome(views, question))
}

fn last_titles(absence: &Absence) -> Vec<&str> {
    let headings = absence.nearest_headings.iter();
    headings.filter_map(|heading| heading.heading_path.last()).map(String::as_str).collect()
}

#[test]
fn a_heading_is_near_by_its_words_and_named_once() {
    let views = leave_rules();
    let heading = NearestHeading {
        heading_path: vec!["Rules".into(), "Expense claims".into()],
        manual_id: Some("m".into()),
        path: "rules.md".into(),
        line: 2,
    };
    assert_eq!(absence(&views, "expense penguin").nearest_headings, [heading]);
    assert_eq!(last_titles(&absence(&views, "慶弔見舞金")), ["第4条 慶弔休暇"]);
    let same = "# Fees\na\n".repeat(5);
    let views = [manual("m", &[("a.md", &same), ("b.md", "# Feeds\nb\n")])];
    assert_eq!(last_titles(&absence(&views, "fees penguin")), ["Fees"]);
}

#[test]
fn a_word_that_merely_looks_like_one_of_the_question_is_not_near() {
    let views = leave_rules();
    for question in ["expence", "refnud", "zxqvblorp", "claimant"] {
        assert_eq!(absence(&views, question), Absence::default(), "{question}");
    }
}

#[test]
fn rarer_words_the_headings_above_and_shorter_headings_count() {
    let text = "# Hotels\na\n## Limits\nb\n## Limits of the refund of hotels abroad\nc\n# Flights\nd\n## Limits\ne\n# Cars\nf\n## Limits\ng\n";
    let views = [manual("m", &[("a.md", text)])];
    let near = near_headings(&views, &SearchScope::Everything, &outcome(&views, "limits hotels penguin"));
    let headings = distinct_headings(&views, &near);
    let paths: Vec<_> = headings.iter().map(|heading| heading.heading_path.join(" > ")).collect();
    assert_eq!(
        paths,
        ["Hotels > Limits", "Hotels > Limits of the refund of hotels abroad", "Hotels"],
        "both words, then the rarer one"
    );
}

#[test]
fn a_heading_that_has_a_pair_of_characters_by_chance_is_not_near() {
    let text = "# 自動更新\n設定する\n# 駐輪場\n自転車を置く\n# 給与の前借り\n申し出る\n";
    let views = [manual("m", &[("a.md", text)])];
    // 車 also stands for 自動車, of which 自動更新 has one pair of characters.
    let found = absence(&views, "車の空き状況");
    assert!(!last_titles(&found).contains(&"自動更新"), "{found:?}");
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
    let text: String = (0..9).map(|number| format!("# H{number}\nzebra\n")).collect();
    let views = [manual("m", &[("a.md", &text)])];
    assert_eq!(absence(&views, "zebra penguin").nearest_headings.len(), MAX_NEAREST);
}

#[test]
fn the_heading_of_a_paragraph_is_near_with_its_own_line() {
    let notes = "the expense claims\n\n# Meeting\n\nbudget\n\nthe next meeting\n";
    let views = [vault(&[("notes.md", notes)])];
    let heading = NearestHeading {
        heading_path: vec!["Meeting".into()],
        manual_id: None,
        path: "notes.md".into(),
        line: 3,
    };
    assert_eq!(absence(&views, "meeting agenda").nearest_headings, [heading]);
}

#[test]
fn empty_texts_have_no_headings_to_name() {
    for files in [&[][..], &[("a.md", "")][..], &[("a.md", "#\n\n---\n")][..]] {
        assert_eq!(absence(&[manual("m", files)], "refund"), Absence::default(), "{files:?}");
    }
    assert_eq!(absence(&[], "refund"), Absence::default());
}

#[test]
fn the_headings_of_the_manual_that_was_asked_for_come_first() {
    let other = || manual("n", &[("b.md", "# Lion food\nmeat\n")]);
    let views = [manual("m", &[("a.md", "# Lions\nlion\n")]), other()];
    assert_eq!(last_titles(&absence_of(&views, &outcome_at_home(&views, "m", "lion food"))), ["Lions"]);
    let views = [manual("m", &[]), other()];
    assert_eq!(last_titles(&absence_of(&views, &outcome_at_home(&views, "m", "lion food"))), ["Lion food"]);
}

#[test]
fn headings_of_files_that_are_out_of_scope_or_replaced_are_not_named() {
    let files = || manual("m", &[("a.md", "# Lions\nlion\n"), ("b.md", "# Lion food\nmeat\n")]);
    let mut view = files();
    view.stale.insert((0, 0));
    let views = [view];
    assert_eq!(last_titles(&absence(&views, "lion penguin")), ["Lion food"]);
    let views = [files()];
    let grant = |path: &str| if path == "a.md" { FileGrant::All } else { FileGrant::None };
    let scope = SearchScope::of(&views, |_, file| grant(&file.path), |_, _| false);
    let outcome = run_stages(&plan(&views, &scope), query("lion penguin"));
    assert_eq!(last_titles(&super::absence(&views, &scope, &outcome)), ["Lions"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_named_heading_is_there_once(
        titles in prop::collection::vec("[a-c]{3,7}( [a-c]{3,7})?|[有給休暇金額申請]{2,5}(の[有給休暇]{2,3})?", 1..6),
        bodies in prop::collection::vec("([a-c]{3,8} |[有給休暇金額申請]{1,6}|カード|[、。0-9]){0,12}", 1..6),
        question in "([a-c]{3,8} |[有給休暇金額申請]{2,6}(の| )|カート ){1,4}",
    ) {
        let text: String =
            titles.iter().zip(&bodies).map(|(title, body)| format!("# {title}\n{body}\n\n")).collect();
        for views in [[manual("m", &[("a.md", &text)])], [vault(&[("a.md", &text)])]] {
            let found = absence(&views, &question).nearest_headings;
            prop_assert!(found.len() <= MAX_NEAREST);
            for (number, heading) in found.iter().enumerate() {
                let line = text.lines().nth(heading.line as usize - 1).unwrap();
                prop_assert_eq!(line.strip_prefix("# "), heading.heading_path.last().map(String::as_str));
                prop_assert!(!found[..number].contains(heading));
            }
        }
    }
}
