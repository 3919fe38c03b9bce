use super::*;
use crate::test_corpus::{leave_rules, outcome, outcome_with};

#[test]
fn a_find_that_is_ready_counts_no_terms_and_names_no_headings() {
    let views = leave_rules();
    let presence = |outcome: &StageOutcome, is_ready| {
        term_presence(&views, &SearchScope::Everything, outcome, "penguin claims", is_ready)
    };
    let found = outcome(&views, "penguin claims");
    assert_eq!(presence(&found, true), TermPresence::default());
    let open = presence(&found, false);
    let terms: Vec<_> = open.terms.iter().map(|count| (count.term.as_str(), count.sections)).collect();
    assert_eq!(terms, [("penguin", 0), ("claims", 1)]);
    let titles: Vec<_> = open
        .absence
        .iter()
        .flat_map(|absence| &absence.nearest_headings)
        .map(|heading| &heading.heading_path)
        .collect();
    assert_eq!(
        (open.sections_with_all_terms, titles),
        (Some(0), vec![&vec!["Rules".to_owned(), "Expense claims".to_owned()]])
    );
    // What stands in the manuals of another wording is known anyway.
    let found = outcome_with(&views, "penguin claims", &["expense refund"], None);
    assert_eq!(presence(&found, true).wordings.len(), 1);
}

#[test]
fn what_is_logged_has_neither_words_of_the_question_nor_of_the_text() {
    let views = leave_rules();
    let found = outcome_with(&views, "penguin claims", &["expense refund"], None);
    let presence = term_presence(&views, &SearchScope::Everything, &found, "penguin claims", false);
    assert!(!presence.terms.is_empty() && !presence.wordings.is_empty() && presence.absence.is_some());
    let expected = TermPresence { sections_with_all_terms: Some(0), ..TermPresence::default() };
    assert_eq!(presence.in_numbers(), expected);
}
