use proptest::prelude::*;

use super::*;
use crate::index::View;
use crate::matching::candidate::MatchKind;
use crate::test_corpus::{manual, outcome, outcome_with, shown};

fn best(views: &[View], question: &str, phrasings: &[&str], hypothetical: Option<&str>) -> Vec<String> {
    let found = outcome_with(views, question, phrasings, hypothetical);
    found.candidates.iter().map(|candidate| shown(views, candidate.place)).collect()
}

fn store() -> [View; 1] {
    let filler = "# Opening hours\nThe shop opens at nine.\n# Parking\nThe parking fee is two euros.\n";
    [manual(
        "m",
        &[
            (
                "returns.md",
                "# Refunds\nMoney is paid back within 30 days.\n# Exchange\nGoods are exchanged.\n",
            ),
            ("shop.md", filler),
            ("money.md", "# Cash\nMoney can be withdrawn.\n"),
        ],
    )]
}

#[test]
fn a_section_in_other_words_is_found_by_a_phrasing() {
    let views = store();
    assert!(best(&views, "quarrelsome customers", &[], None).is_empty());
    assert_eq!(best(&views, "quarrelsome customers", &["refunds"], None), ["returns.md:1"]);
    assert_eq!(
        best(&views, "quarrelsome customers", &[], Some("It is paid back within 30 days."))[0],
        "returns.md:1"
    );
}

#[test]
fn wordings_that_agree_win() {
    let views = store();
    assert_eq!(best(&views, "money", &[], None), ["money.md:1", "returns.md:1"]);
    let agreed =
        best(&views, "money", &["refunds", "paid back"], Some("Refunds are paid back within 30 days."));
    assert_eq!(agreed[0], "returns.md:1");
}

#[test]
fn nonsense_does_not_drown_a_good_question() {
    let views = store();
    let nonsense = ["qwrtz plmokn", "blorp the frobnicated zyx", "parking of blorps and qwrtz"];
    assert_eq!(best(&views, "refunds", &nonsense, Some("Zyx blorp qwrtz plmokn euros."))[0], "returns.md:1");
}

#[test]
fn a_wording_that_repeats_the_question_changes_nothing() {
    let views = store();
    let repeated = outcome_with(&views, "money back", &["money back", "Money  back"], Some("money back"));
    assert_eq!(repeated.candidates, outcome(&views, "money back").candidates);
}

#[test]
fn what_the_question_excludes_stays_excluded() {
    let views = store();
    assert!(
        best(&views, "money -days", &["refunds", "paid back"], None)
            .iter()
            .all(|place| place == "money.md:1")
    );
}

#[test]
fn sections_of_other_wordings_are_evidence_and_no_terms_of_the_question() {
    let views = store();
    let found = outcome_with(&views, "exchange", &["refunds"], None);
    let added =
        found.candidates.iter().find(|candidate| shown(&views, candidate.place) == "returns.md:1").unwrap();
    assert_eq!((added.kind, added.terms), (MatchKind::Exact, 0));
    assert_eq!(found.inside_terms(), 1);
}

#[test]
fn terms_that_are_in_every_section_fuse_to_a_number() {
    let views = [manual("m", &[("a.md", "# S0\na b d\n# S1\na d\n")])];
    let found = outcome_with(&views, "a a d", &["a d"], None);
    let scores: Vec<f32> = found.candidates.iter().map(|known| known.score).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
}

proptest! {
    #[test]
    fn every_section_is_counted_once_whatever_is_asked(
        question in "[a-e]{1}( [a-e]){0,2}",
        phrasings in prop::collection::vec("[a-g]( [a-g]){0,3}", 0..4),
        sections in prop::collection::vec("[a-g]( [a-g]){0,6}", 1..30),
    ) {
        let text: String = sections.iter().enumerate().map(|(index, words)| format!("# S{index}\n{words}\n")).collect();
        let views = [manual("m", &[("a.md", &text)])];
        let phrasings: Vec<&str> = phrasings.iter().map(String::as_str).collect();
        let bare = outcome(&views, &question);
        let found = outcome_with(&views, &question, &phrasings, None);
        let mut places: Vec<_> = found.candidates.iter().chain(&found.more_evidence).map(|known| known.place).collect();
        places.sort_unstable();
        let count = places.len();
        places.dedup();
        prop_assert_eq!(places.len(), count);
        // Everything that the question finds alone is there, and the scores fall.
        let is_there = |known: &Candidate| places.binary_search(&known.place).is_ok();
        prop_assert!(bare.candidates.iter().chain(&bare.more_evidence).all(is_there));
        prop_assert!(found.candidates.is_sorted_by(|one, other| one.score >= other.score));
        let related = found.candidates.iter().filter(|known| !known.kind.is_evidence()).count();
        prop_assert!(found.related >= related);
    }
}
