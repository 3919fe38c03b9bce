use proptest::prelude::*;

use super::super::test_corpus::{leave_rules, manual, outcome, query, vault};
use super::*;

/// The words that mean the same as missing terms.
fn replacements(views: &[View], outcome: &StageOutcome) -> Vec<(usize, String)> {
    let missing = TermCounts::of(views, "", outcome).missing();
    absence(&AbsentTerms::new(views, &SearchScope::Everything, outcome, missing)).1
}

#[test]
fn only_a_find_that_is_not_ready_has_an_absence() {
    let views = leave_rules();
    let outcome = outcome(&views, "expence claims");
    let presence =
        |is_ready| term_presence(&views, &SearchScope::Everything, &outcome, "expence claims", is_ready);
    let (ready, other) = presence(true);
    assert_eq!((ready.terms.len(), ready.absence, other), (2, None, None));
    let (open, other) = presence(false);
    assert_eq!((open.terms.len(), other.as_deref()), (2, Some("expense claims")));
    assert_eq!(open.absence.map(|absence| absence.vocabulary[0].clone()).as_deref(), Some("expense"));
    // What is logged has neither the words of the question nor those of the text.
    let logged = TermPresence { sections_with_all_terms: 7, ..presence(false).0 }.in_numbers();
    assert_eq!(logged, TermPresence { sections_with_all_terms: 7, ..TermPresence::default() });
}

#[test]
fn a_question_is_rephrased_with_words_that_mean_the_same() {
    let views = leave_rules();
    let rephrase = |question: &str| {
        let outcome = outcome(&views, question);
        rephrased(question, &outcome.query, &replacements(&views, &outcome))
    };
    assert_eq!(rephrase("How is my Expence refunded?").as_deref(), Some("How is my expense refunded?"));
    assert_eq!(rephrase("penguins"), None);
    assert_eq!(rephrase("慶弔見舞金の額"), None, "a related word does not mean the same");
    // A replacement must not make other terms.
    let query = query("expence");
    assert_eq!(rephrased("expence", &query, &[(0, "two words".into())]), None);
    assert_eq!(rephrased("-expence", &query, &[(0, "expense".into())]), None);
    assert_eq!(rephrased("expence", &query, &[]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_suggested_word_finds_something_and_a_rephrased_question_lacks_less(
        titles in prop::collection::vec("[a-c]{3,7}( [a-c]{3,7})?|[有給休暇金額申請]{2,5}(の[有給休暇]{2,3})?", 1..6),
        bodies in prop::collection::vec("([a-c]{3,8} |[有給休暇金額申請]{1,6}|カード|[、。0-9]){0,12}", 1..6),
        question in "([a-c]{3,8} |[有給休暇金額申請]{2,6}(の| )|カート ){1,4}",
    ) {
        let text: String =
            titles.iter().zip(&bodies).map(|(title, body)| format!("# {title}\n{body}\n\n")).collect();
        for views in [[manual("m", &[("a.md", &text)])], [vault(&[("a.md", &text)])]] {
            let found = outcome(&views, &question);
            let (presence, other) = term_presence(&views, &SearchScope::Everything, &found, &question, false);
            let absence = presence.absence.unwrap();
            prop_assert!(absence.vocabulary.len() <= 8 && absence.nearest_headings.len() <= 3);
            for word in &absence.vocabulary {
                prop_assert!(outcome(&views, word).evidence().next().is_some(), "{word} in {text}");
            }
            if let Some(other) = other {
                let missing = |question: &str| TermCounts::of(&views, "", &outcome(&views, question)).missing().count_ones();
                prop_assert!(missing(&other) < missing(&question), "{question}: {other}");
            }
        }
    }
}
