use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::index::View;
use crate::matching::candidate::MatchKind;
use crate::matching::match_terms;
use crate::matching::place::NodePlace;
use crate::test_corpus::{far_away, manual, query, shown};

/// The candidates for a question, best first, each with its signals, and the places of the evidence beyond them.
fn ranked(views: &[View], question: &str, max_candidates: usize) -> (Vec<String>, Vec<String>) {
    let query = query(question);
    let matched = match_terms(views, &query, &|_| true, far_away());
    let ranked = rank(&query, &matched, max_candidates, &HashSet::new());
    let candidate = |candidate: &Candidate| {
        format!("{} {}", shown(views, candidate.place), candidate.signals.names().join("+"))
    };
    let left = ranked.more_evidence.iter().map(|more| shown(views, more.place));
    (ranked.best.iter().map(candidate).collect(), left.collect())
}

/// A node of a view that contains the first term.
const fn hit(view: u32, node: u32) -> NodeHit {
    let place = NodePlace { view, segment: 0, node };
    NodeHit { place, score: 1.0, exact: 1, separated: 0, synonym: 0, partial: 0, heading: 0 }
}

fn order(files: &[(&str, &str)], question: &str) -> Vec<String> {
    let views = [manual("m", files)];
    ranked(&views, question, 10).0
}

#[test]
fn a_node_with_all_terms_ranks_above_one_that_repeats_a_single_term() {
    let files = [
        ("a.md", "# A\ngadget gadget gadget gadget gadget gadget\n"),
        ("b.md", "# B\nthe gadget has a wrench of steel\n"),
    ];
    assert_eq!(order(&files, "gadget wrench"), ["b.md:1 normalized", "a.md:1 normalized"]);
}

#[test]
fn an_exact_match_ranks_above_a_part() {
    let files = [("a.md", "# 一\n診断給付金\n"), ("c.md", "# 三\nがん診断給付金\n")];
    assert_eq!(order(&files, "がん診断給付金"), ["c.md:1 normalized", "a.md:1 loose"]);
}

#[test]
fn equal_scores_are_in_document_order_and_what_is_cut_is_named() {
    let text = "# A\nrefund\n";
    let views = [manual("m", &[("a.md", text), ("b.md", text), ("c.md", text), ("d.md", text)])];
    let all = ["a.md:1 normalized", "b.md:1 normalized", "c.md:1 normalized", "d.md:1 normalized"];
    assert_eq!(ranked(&views, "refund", 10), (all.map(String::from).into(), vec![]));
    let (best, left) = ranked(&views, "refund", 2);
    assert_eq!(
        (best, left),
        (all[..2].iter().map(|it| (*it).to_owned()).collect(), vec!["c.md:1".into(), "d.md:1".into()])
    );
}

#[test]
fn the_kind_is_that_of_the_best_term_that_decides() {
    use MatchKind::{Exact, Exception, Part, Reference, Separated, Synonym};
    let none = NodeHit { exact: 0, ..hit(0, 0) };
    for (hit, deciding, expected) in [
        (NodeHit { exact: 0b01, synonym: 0b10, ..none }, 0b11, Exact),
        (NodeHit { exact: 0b01, synonym: 0b10, ..none }, 0b10, Synonym),
        (NodeHit { separated: 0b10, synonym: 0b01, ..none }, 0b11, Separated),
        (NodeHit { exact: 0b01, ..none }, 0b10, Part),
        (NodeHit { partial: 0b10, ..none }, 0b11, Part),
    ] {
        assert_eq!(hit.kind(deciding), expected, "{hit:?}");
    }
    let kinds = [Exact, Separated, Synonym, Part, Reference, Exception];
    assert_eq!(kinds.map(MatchKind::is_evidence), [true, true, true, false, false, false]);
    assert!(kinds.is_sorted());
}

#[test]
fn evidence_beyond_the_best_is_kept_and_related_sections_are_counted() {
    // Every third node contains only a part of the term.
    let hits = (0..).zip(0..30).map(|(node, _)| match node % 3 {
        0 => NodeHit { score: 0.5, exact: 0, partial: 1, ..hit(0, node) },
        _ => hit(0, node),
    });
    let matched = MatchOutcome { hits: hits.collect(), term_weights: vec![1.0], ..MatchOutcome::default() };
    let ranked = rank(&query("refund"), &matched, 5, &HashSet::new());
    assert!(ranked.best.iter().all(|found| found.kind == MatchKind::Exact));
    assert_eq!((ranked.best.len(), ranked.more_evidence.len(), ranked.more_related), (5, 15, 10));
}

#[test]
fn what_lies_outside_ranks_below_everything_inside_even_beyond_the_best() {
    let strong = (0..).zip(0..300).map(|(node, _)| NodeHit { score: 9.0, ..hit(0, node) });
    let hits: Vec<_> = strong.chain([hit(1, 0), NodeHit { exact: 0, partial: 1, ..hit(1, 1) }]).collect();
    let matched = MatchOutcome { hits, term_weights: vec![1.0], ..MatchOutcome::default() };
    let ranked = rank(&query("refund"), &matched, 3, &HashSet::from([0]));
    let best: Vec<_> = ranked.best.iter().map(|found| (found.place.view, found.is_outside)).collect();
    assert_eq!(best, [(1, false), (1, false), (0, true)]);
    assert!(ranked.more_evidence.len() == 299 && ranked.more_evidence.iter().all(|more| more.is_outside));
}

#[test]
fn weights_of_set_bits_add_up() {
    assert_eq!(covered_weight(&[1.0, 2.0, 4.0], 0b101), 5.0);
    assert_eq!(covered_weight(&[], 0b1), 0.0);
}

proptest! {
    #[test]
    fn ranking_loses_no_hit_and_keeps_the_best(scores in prop::collection::vec(0_u8..20, 0..260), max in 0_usize..130) {
        let hit = |(node, score): (u32, &u8)| NodeHit { score: f32::from(*score), ..hit(0, node) };
        let matched = MatchOutcome {
            hits: (0..).zip(&scores).map(hit).collect(),
            term_weights: vec![1.0],
            ..MatchOutcome::default()
        };
        let ranked = rank(&query("refund"), &matched, max, &HashSet::new());
        let candidates = ranked.best;
        let left: Vec<_> = ranked.more_evidence.iter().map(|more| more.place).collect();
        prop_assert_eq!(ranked.more_related, 0);
        prop_assert!(left.is_sorted());
        prop_assert_eq!(candidates.len(), max.min(scores.len()));
        let places: HashSet<_> = candidates.iter().map(|found| found.place).chain(left.iter().copied()).collect();
        prop_assert_eq!((places.len(), candidates.len() + left.len()), (scores.len(), scores.len()));
        let score = |node: u32| scores[node as usize];
        let order: Vec<_> = candidates.iter().map(|found| (u8::MAX - score(found.place.node), found.place)).collect();
        prop_assert!(order.is_sorted());
        let worst = candidates.last().map_or(u8::MAX, |found| score(found.place.node));
        prop_assert!(left.iter().all(|place| score(place.node) <= worst));
    }
}
