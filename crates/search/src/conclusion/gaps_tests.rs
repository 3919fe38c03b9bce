use super::*;
use crate::matching::place::NodePlace;
use crate::test_corpus::{self, manual, place, query_for};

fn candidate(terms: u64) -> Candidate {
    Candidate { terms, ..test_corpus::candidate(NodePlace { view: 0, segment: 0, node: 0 }) }
}

/// The gaps of these candidates, which are all that was found.
fn gaps_of(views: &[View], query: &Query, candidates: &[Candidate]) -> Gaps {
    let covered = candidates.iter().fold(0, |bits, candidate| bits | candidate.terms);
    gaps(views, query, candidates, covered)
}

/// The hints for a question whose only candidate is a section with this text.
fn hints(question: &str, intent: Intent, text: &str) -> Vec<String> {
    let views = [manual("m", &[("a.md", text)])];
    let found = Candidate { place: place(&views, "a.md", 1), ..candidate(u64::MAX) };
    gaps_of(&views, &query_for(question, intent), &[found]).hints
}

#[test]
fn a_term_that_no_candidate_contains_is_a_gap() {
    let query = query_for("refund window", Intent::Unknown);
    let found = gaps_of(&[], &query, &[candidate(0b01)]);
    assert_eq!((found.terms, found.lacks_intent_evidence), (0b10, false));
    assert_eq!(found.hints, ["no section mentions \"window\""]);
    // What several candidates contain together is no gap.
    assert_eq!(gaps_of(&[], &query, &[candidate(0b01), candidate(0b10)]).terms, 0);
    assert_eq!(gaps_of(&[], &query, &[]).terms, 0b11);
}

#[test]
fn terms_beyond_the_limit_are_one_gap() {
    let question: Vec<_> = (0..50).map(|number| format!("w{number}x")).collect();
    let found = gaps_of(&[], &query_for(&question.join(" "), Intent::Unknown), &[candidate(u64::MAX)]);
    let expected = "2 terms were not looked for, from \"w48x\" on: a question has room for 48";
    assert_eq!((found.terms, found.hints), (0, vec![expected.to_owned()]));
}

#[test]
fn an_intent_without_evidence_is_a_gap_unless_it_is_ignored() {
    let query = query_for("refund", Intent::Exceptions);
    let found = gaps_of(&[], &query, &[candidate(0b1)]);
    assert_eq!(
        (found.lacks_intent_evidence, found.hints.as_slice()),
        (true, &["no section speaks of an exception".to_owned()][..])
    );
    let ignored = found.ignoring_intent();
    assert!(!ignored.lacks_intent_evidence && ignored.hints.is_empty());
    // Where nothing was found at all, that is gap enough.
    assert!(!gaps_of(&[], &query, &[]).lacks_intent_evidence);
}

#[test]
fn the_gap_of_a_term_stays_when_the_intent_is_ignored() {
    let found = gaps_of(&[], &query_for("refund window", Intent::Exceptions), &[candidate(0b01)]);
    assert_eq!(found.ignoring_intent().hints, ["no section mentions \"window\""]);
}

#[test]
fn each_intent_has_its_own_evidence() {
    let none: [&str; 0] = [];
    for (intent, with, without, hint) in [
        (
            Intent::Definition,
            "# A\na token is a string\n",
            "# A\ntokens expire\n",
            "no section reads like a definition",
        ),
        (
            Intent::Procedure,
            "# A\n1. open it\n",
            "# A\ntokens expire\n",
            "no section reads like steps to follow",
        ),
        (
            Intent::Eligibility,
            "# A\nyou must be 18\n",
            "# A\ntokens expire\n",
            "no section states conditions",
        ),
    ] {
        assert_eq!(hints("token", intent, with), none, "{intent:?}");
        assert_eq!(hints("token", intent, without), [hint], "{intent:?}");
    }
    assert_eq!(hints("token", Intent::Unknown, "# A\ntokens expire\n"), none);
    assert_eq!(hints("token", Intent::Compare, "# A\ntokens\n"), ["there is only one section to compare"]);
    let query = query_for("token", Intent::Compare);
    assert_eq!(gaps_of(&[], &query, &[candidate(1), candidate(1)]).hints, none);
}

#[test]
fn an_exception_signal_anywhere_is_evidence_of_exceptions() {
    let query = query_for("refund", Intent::Exceptions);
    let exception = Candidate { signals: Signals::EXCEPTIONS, ..candidate(0) };
    let mut candidates = vec![candidate(1); INTENT_CANDIDATES + 5];
    candidates.push(exception);
    assert!(!gaps_of(&[], &query, &candidates).lacks_intent_evidence);
}

#[test]
fn what_evidence_beyond_the_best_candidates_contains_is_no_gap() {
    let query = query_for("refund window", Intent::Unknown);
    assert_eq!(gaps(&[], &query, &[candidate(0b01)], 0b11).terms, 0);
    assert_eq!(gaps(&[], &query, &[candidate(0b11)], 0b01).terms, 0b10);
}
