use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::match_terms;
use crate::ranking::rank;
use crate::test_corpus::{candidate, far_away, manual, outcome_with, place, query};

fn signals_of(views: &[View], question: &str) -> SufficiencySignals {
    let query = query(question);
    let matched = match_terms(views, &query, &|_| true, far_away());
    let candidates = rank(&query, &matched, 100, &HashSet::new()).best;
    SufficiencySignals::of(&Outcome {
        views,
        query: &query,
        weights: &matched.term_weights,
        candidates: &candidates,
    })
}

fn signals(files: &[(&str, &str)], question: &str) -> SufficiencySignals {
    signals_of(&[manual("m", files)], question)
}

/// A few sections about other things.
const OTHERS: (&str, &str) = (
    "z.md",
    "# Lamps\nLamps burn.\n# Chairs\nChairs stand.\n# Doors\nDoors close.\n# Roofs\nRoofs are high.\n",
);

#[test]
fn a_question_that_stands_in_one_sentence_is_answered() {
    let files = [("a.md", "# Returns\nThe refund window of a gift card is 14 days.\n"), OTHERS];
    let found = signals(&files, "refund window of a gift card");
    assert_eq!((found.answer, found.section, found.absent, found.lacks_identifier), (1.0, 1.0, 0.0, false));
    assert_eq!((found.lead_over_third, found.lead_over_sixth), (1.0, 1.0));
    assert!(found.probability(None) >= MIN_READY, "{found:?}");
}

#[test]
fn the_headings_of_a_sentence_count_for_the_answer() {
    let files = [("a.md", "# Gift card\n## Refund window\nThe window is 14 days.\n"), OTHERS];
    let found = signals(&files, "refund window of a gift card");
    assert_eq!(found.answer, 1.0);
    // A sentence without a word of the question answers it only where it states the value that is asked for.
    let files = [("a.md", "# Gift card\n## Refund window\nIt is 14 days.\n"), OTHERS];
    assert_eq!(signals(&files, "refund window of a gift card").answer, 0.0);
    assert!(signals(&files, "how long is the refund window of a gift card").answer > 0.7);
}

#[test]
fn a_value_that_is_asked_for_must_be_stated() {
    let with =
        |text: &str| signals(&[("a.md", text), OTHERS], "how long is the refund window of a gift card");
    let stated = with("# Returns\nThe refund window of a gift card is 14 days.\n");
    let missing = with("# Returns\nThe refund window of a gift card is printed on it.\n");
    assert!(stated.answer > 0.7 && missing.answer == 0.0, "{stated:?} {missing:?}");
    assert!(stated.probability(None) > missing.probability(None));
    assert!(missing.probability(None) < MIN_READY, "{missing:?}");
}

#[test]
fn an_identifier_that_stands_nowhere_is_missing() {
    let files = [("a.md", "# Errors\nThe error E1042 means that the disk is full.\n"), OTHERS];
    let (known, unknown) = (signals(&files, "error E1042 disk"), signals(&files, "error E9999 disk"));
    assert_eq!((known.lacks_identifier, known.absent), (false, 0.0));
    assert!(unknown.lacks_identifier && unknown.absent > 0.0);
    assert!(
        known.probability(None) >= MIN_READY && unknown.probability(None) < MIN_READY,
        "{known:?} {unknown:?}"
    );
}

#[test]
fn words_that_are_scattered_over_sections_are_less_than_words_in_one() {
    let scattered = "# Refunds\nA refund is paid.\n# Windows\nA window opens.\n# Gifts\nA gift is wrapped.\n# Cards\nA card is blue.\n";
    let together = "# Returns\nThe refund window of a gift card is printed on it.\n";
    let question = "refund window of a gift card";
    let (apart, one) =
        (signals(&[("a.md", scattered), OTHERS], question), signals(&[("a.md", together), OTHERS], question));
    assert!(apart.answer < 0.5 && apart.section < 0.7, "{apart:?}");
    // Every word stands somewhere.
    assert_eq!(apart.absent, 0.0);
    assert!(
        apart.probability(None) < one.probability(None) && apart.probability(None) < MIN_READY,
        "{apart:?}"
    );
}

#[test]
fn a_lead_is_the_distance_of_the_scores() {
    let sections: String = (0..8).map(|number| format!("# Alpha {number}\nrefund\n")).collect();
    let views = [manual("m", &[("a.md", &sections)])];
    let query = query("refund");
    let with = |scores: &[f32]| {
        let candidates: Vec<Candidate> = (0..)
            .zip(scores)
            .map(|(number, score)| Candidate {
                score: *score,
                ..candidate(place(&views, "a.md", 1 + 2 * number))
            })
            .collect();
        let found = SufficiencySignals::of(&Outcome {
            views: &views,
            query: &query,
            weights: &[1.0],
            candidates: &candidates,
        });
        (found.lead_over_third, found.lead_over_sixth)
    };
    assert_eq!(with(&[4.0, 3.0, 3.0, 3.0, 3.0, 1.0, 0.5]), (0.25, 0.75));
    assert_eq!(with(&[4.0; 7]), (0.0, 0.0));
    // Without a sixth section, the lead over it is whole.
    assert_eq!(with(&[4.0, 2.0]), (1.0, 1.0));
    assert_eq!((with(&[4.0]), with(&[0.0, 0.0]), with(&[])), ((1.0, 1.0), (0.0, 0.0), (0.0, 0.0)));
}

#[test]
fn nothing_found_has_signals_too() {
    let views = [manual("m", &[OTHERS])];
    for (views, weights) in [(&views[..], &[1.0_f32][..]), (&[], &[]), (&views[..], &[])] {
        let query = query("refund");
        let found = SufficiencySignals::of(&Outcome { views, query: &query, weights, candidates: &[] });
        assert_eq!((found.answer, found.section), (0.0, 0.0));
        assert!(found.probability(None) < MIN_READY, "{found:?}");
    }
}

#[test]
fn only_the_best_five_sections_count() {
    let mut text: String = (0..5).map(|number| format!("# Alpha {number}\nplain\n")).collect();
    text.push_str("# Omega\nThe refund window is 14 days.\n");
    let views = [manual("m", &[("a.md", &text)])];
    let query = query("refund window");
    let all: Vec<Candidate> = (0..6).map(|number| candidate(place(&views, "a.md", 1 + 2 * number))).collect();
    let of = |candidates: &[Candidate]| {
        SufficiencySignals::of(&Outcome { views: &views, query: &query, weights: &[1.0, 1.0], candidates })
            .answer
    };
    assert_eq!((of(&all), of(&all[1..])), (0.0, 1.0));
}

fn share() -> impl Strategy<Value = f64> {
    0.0..=1.0_f64
}

prop_compose! {
    fn any_signals()(
        (answer, section, absent) in (share(), share(), share()),
        (lead_over_third, lead_over_sixth, lacks_identifier) in (share(), share(), any::<bool>()),
    ) -> SufficiencySignals {
        SufficiencySignals { answer, section, absent, lacks_identifier, lead_over_third, lead_over_sixth }
    }
}

proptest! {
    #[test]
    fn a_probability_grows_with_the_answer_and_falls_with_what_is_missing(
        signals in any_signals(), one in share(), other in share()
    ) {
        let probability = signals.probability(None);
        prop_assert!((0.0..=1.0).contains(&probability));
        let (low, high) = (one.min(other), one.max(other));
        let answer = |answer| SufficiencySignals { answer, ..signals.clone() }.probability(None);
        prop_assert!(answer(low) <= answer(high));
        let lead = |lead_over_sixth| SufficiencySignals { lead_over_sixth, ..signals.clone() }.probability(None);
        prop_assert!(lead(low) <= lead(high));
        let wording = |answer| signals.probability(Some(&WordingSignals { answer, section: one, agreement: one }));
        prop_assert!(wording(low) <= wording(high));
        let agreement = |agreement| signals.probability(Some(&WordingSignals { answer: one, section: one, agreement }));
        prop_assert!(agreement(low) <= agreement(high));
        let lacking = |lacks_identifier| SufficiencySignals { lacks_identifier, ..signals.clone() }.probability(None);
        prop_assert!(lacking(true) <= lacking(false) && lacking(true) < MIN_READY);
    }

    #[test]
    fn every_signal_of_a_find_is_a_share(
        text in "(refund |gift |window |14 days|[|#>\\n.-]|\\. |返品|[あ-ん]){0,40}",
        question in "(refund|gift|window|返品|how long|E1042)( (refund|gift|window|返品|how many|E9999)){0,4}",
    ) {
        let found = signals(&[("a.md", &format!("# gift\n{text}\n")), OTHERS], &question);
        let SufficiencySignals { answer, section, absent, lead_over_third, lead_over_sixth, .. } = found;
        let all = [answer, section, absent, lead_over_third, lead_over_sixth];
        prop_assert!(all.iter().all(|signal| (0.0..=1.000_001).contains(signal)), "{:?}", found);
    }
}

#[test]
fn wordings_that_agree_make_a_find_more_certain() {
    let files = [("a.md", "# Refunds\nMoney is paid back within 30 days.\n"), OTHERS];
    let views = [manual("m", &files)];
    let of = |phrasings: &[&str]| {
        let outcome = outcome_with(&views, "repayment of money", phrasings, None);
        WordingSignals::of(&views, &outcome).unwrap()
    };
    let (agreeing, other) = (of(&["money is paid back", "refunds"]), of(&["doors", "roofs are high"]));
    assert_eq!((agreeing.answer, agreeing.agreement), (1.0, 1.0));
    assert!(other.agreement <= 1.0 && other.answer <= 1.0);
    assert!(WordingSignals::of(&views, &outcome_with(&views, "money", &[], None)).is_none());
}
