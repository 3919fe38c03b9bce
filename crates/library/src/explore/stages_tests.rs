use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::candidate::Signals;
use super::super::test_corpus::{DICTIONARY, as_segments, far_away, manual, query, shown};
use super::super::trace::TraceRecord;
use super::super::trace_builder::trace_record;
use super::*;
use crate::reference::Target;

fn candidate(node: u32, score: f32, signals: Signals) -> Candidate {
    Candidate { place: NodePlace { view: 0, segment: 0, node }, score, signals, terms: 1 }
}

fn plan<'a>(views: &'a [View], scope: &'a SearchScope<'a>, max_candidates: usize) -> StagePlan<'a> {
    StagePlan { views, scope, max_candidates, deadline: far_away(), dictionary: Some(&DICTIONARY) }
}

fn run(views: &[View], question: &str, max_candidates: usize) -> StageOutcome {
    run_stages(&plan(views, &SearchScope::Everything, max_candidates), query(question))
}

/// The candidates in document order, each with its signals.
fn found(views: &[View], outcome: &StageOutcome) -> Vec<String> {
    let candidate = |candidate: &Candidate| {
        format!("{} {}", shown(views, candidate.place), candidate.signals.names().join("+"))
    };
    let mut found: Vec<_> = outcome.candidates.iter().map(candidate).collect();
    found.sort();
    found
}

/// What was left out, as `path lines reason`.
fn left_out(outcome: &StageOutcome) -> Vec<String> {
    let shown = |part: &UnscannedPart| format!("{} {:?} {}", part.path, part.lines, part.reason.name());
    outcome.unscanned.iter().map(shown).collect()
}

const MANUAL: &[(&str, &str)] = &[
    ("a.md", "# 給付\n## 給付金の支払\n給付金は第2条により支払う\n## 免除\nただし旅行は対象外とする\n"),
    ("b.md", "# 第2条 期日\n毎月末とする\n"),
    ("c.md", "# 窓口\n平日のみ\n"),
];

#[test]
fn each_stage_adds_its_sections() {
    let views = [manual("m", MANUAL)];
    let outcome = run(&views, "給付金", 10);
    let expected = ["a.md:2 heading+normalized", "a.md:4 exceptions", "b.md:1 reference"];
    assert_eq!(found(&views, &outcome), expected);
    assert_eq!((outcome.stage, outcome.failed, outcome.hits), (3, 0, 3));
    assert!(outcome.unscanned.is_empty());
}

#[test]
fn without_a_dictionary_only_the_matching_runs() {
    let views = [manual("m", MANUAL)];
    let scope = SearchScope::Everything;
    let outcome = run_stages(&StagePlan { dictionary: None, ..plan(&views, &scope, 10) }, query("給付金"));
    assert_eq!((found(&views, &outcome), outcome.stage), (vec!["a.md:2 heading+normalized".into()], 1));
}

#[test]
fn a_nonsense_question_has_no_candidates() {
    let views = [manual("m", MANUAL)];
    let outcome = run(&views, "zzyzxq", 10);
    assert_eq!((outcome.candidates.len(), outcome.hits, outcome.unscanned.len()), (0, 0, 0));
}

#[test]
fn an_excluded_term_also_keeps_out_what_other_sections_lead_to() {
    let views = [manual("m", MANUAL)];
    assert_eq!(found(&views, &run(&views, "給付金 -旅行 -毎月", 10)), ["a.md:2 heading+normalized"]);
}

#[test]
fn a_bare_heading_gives_way_to_the_section_below_it() {
    let text = "# Refund\n## Refund of gifts\nRefund in the store.\n# Other\n## Refund\n";
    let views = [manual("m", &[("a.md", text)])];
    // The last heading has no text either, but no section below it says more.
    let expected = ["a.md:2 heading+normalized", "a.md:5 heading+normalized"];
    assert_eq!(found(&views, &run(&views, "refund", 10)), expected);
    // A heading with a term of its own stays.
    let text = "# Refund window\n## Refund of gifts\nRefund in the store.\n";
    let views = [manual("m", &[("a.md", text)])];
    let expected = ["a.md:1 heading+normalized", "a.md:2 heading+normalized"];
    assert_eq!(found(&views, &run(&views, "refund window", 10)), expected);
}

#[test]
fn what_the_candidate_limit_cuts_is_unscanned() {
    let text = "# A\nrefund\n# B\nrefund\n";
    let views = [manual("m", &[("a.md", text), ("b.md", text)])];
    let outcome = run(&views, "refund", 1);
    assert_eq!(found(&views, &outcome), ["a.md:1 normalized"]);
    assert_eq!(left_out(&outcome), ["a.md [3] candidate_cap", "b.md [1, 3] candidate_cap"]);
}

#[test]
fn what_the_deadline_cuts_is_unscanned() {
    let parts = ["a.md", "b.md"].map(|path| manual("m", &[(path, "# A\nrefund\n# B\nother\n")]));
    let views = [as_segments(parts.into())];
    let scope = SearchScope::Everything;
    let plan = StagePlan { deadline: Instant::now(), ..plan(&views, &scope, 10) };
    let outcome = run_stages(&plan, query("refund"));
    assert_eq!((found(&views, &outcome), outcome.stage), (vec!["a.md:1 normalized".into()], 1));
    // The sections of the second segment, and the file whose neighbors were not searched.
    assert_eq!(left_out(&outcome), ["b.md [1, 3] time_budget", "a.md [] time_budget"]);
}

#[test]
fn files_that_are_not_indexed_are_unscanned_if_they_are_in_scope() {
    let mut views = [manual("m", MANUAL)];
    views[0].pending = vec!["late.md".into(), "other.md".into()];
    views[0].too_large = vec!["huge.md".into()];
    assert_eq!(
        left_out(&run(&views, "給付金", 10)),
        ["late.md [] time_budget", "other.md [] time_budget", "huge.md [] hard_limit"]
    );
    let scope =
        SearchScope::of(&views, |_, _| super::super::scope::FileGrant::All, |_, path| path == "late.md");
    let outcome = run_stages(&plan(&views, &scope, 10), query("給付金"));
    assert_eq!(left_out(&outcome), ["late.md [] time_budget"]);
}

#[test]
fn following_what_was_cut_finds_every_candidate_once() {
    let views = [manual("m", MANUAL), manual("n", &[("d.md", "# 給付金\n給付金とは\n# 他\n給付金 第1条\n")])];
    let whole = found(&views, &run(&views, "給付金", 100));
    assert_eq!(whole.len(), 5);
    for max_candidates in 1..=5 {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut record: Option<TraceRecord> = None;
        let pass = |earlier: Option<&TraceRecord>| {
            let scope =
                earlier.map_or(SearchScope::Everything, |earlier| SearchScope::left_out_of(earlier, &views));
            run_stages(&plan(&views, &scope, max_candidates), query("給付金"))
        };
        for _ in 0..5 {
            let outcome = pass(record.as_ref());
            assert!(outcome.candidates.len() <= max_candidates);
            for candidate in &outcome.candidates {
                *seen.entry(shown(&views, candidate.place)).or_default() += 1;
            }
            let next = trace_record(&views, &outcome, &[], Vec::new(), Target::Manual);
            if next.unscanned.is_empty() {
                break;
            }
            record = Some(next);
        }
        let places: Vec<_> = whole.iter().filter_map(|found| found.split(' ').next()).collect();
        let once: Vec<_> = seen.iter().map(|(place, count)| (place.as_str(), *count)).collect();
        assert_eq!(
            once,
            places.iter().map(|place| (*place, 1)).collect::<Vec<_>>(),
            "{max_candidates} a find"
        );
    }
}

#[test]
fn a_section_that_several_stages_found_is_listed_once() {
    let mut candidates = vec![candidate(1, 2.0, Signals::LOOSE), candidate(2, 1.0, Signals::LOOSE)];
    let added = vec![candidate(2, 3.0, Signals::EXCEPTIONS), candidate(3, 2.5, Signals::REFERENCE)];
    integrate(&mut candidates, added);
    let expected = [
        candidate(2, 3.0, Signals::LOOSE.with(Signals::EXCEPTIONS)),
        candidate(3, 2.5, Signals::REFERENCE),
        candidate(1, 2.0, Signals::LOOSE),
    ];
    assert_eq!(candidates, expected);
}

#[test]
fn a_stage_that_panics_is_counted_and_a_late_one_does_not_run() {
    let mut later = LaterStages { last_stage: 1, failed: 0, is_out_of_time: false, added: Vec::new() };
    let now = Instant::now();
    later.run(2, far_away(), || panic!("a stage that fails"));
    later.run(3, now, || vec![candidate(1, 1.0, Signals::LOOSE)]);
    assert_eq!((later.last_stage, later.failed, later.is_out_of_time, later.added.len()), (2, 1, true, 0));
}

proptest! {
    #[test]
    fn integration_neither_loses_nor_duplicates_a_section(
        known in prop::collection::btree_map(0_u32..12, 0_u8..9, 0..8),
        added in prop::collection::vec((0_u32..12, 0_u8..9), 0..12),
    ) {
        let mut best: BTreeMap<u32, u8> = known.clone();
        for (node, score) in &added {
            let known = best.entry(*node).or_default();
            *known = (*known).max(*score);
        }
        let known_nodes: Vec<_> = known.keys().copied().collect();
        let mut candidates: Vec<_> =
            known.iter().map(|(node, score)| candidate(*node, f32::from(*score), Signals::LOOSE)).collect();
        let new = added.iter().map(|(node, score)| candidate(*node, f32::from(*score), Signals::REFERENCE));
        integrate(&mut candidates, new.collect());
        let scores: BTreeMap<u32, u8> =
            candidates.iter().map(|found| (found.place.node, found.score as u8)).collect();
        prop_assert_eq!(candidates.len(), best.len());
        prop_assert_eq!(scores, best);
        prop_assert!(candidates.is_sorted_by_key(|found| (u8::MAX - found.score as u8, found.place)));
        for found in &candidates {
            let node = found.place.node;
            let is_added = added.iter().any(|(other, _)| *other == node);
            prop_assert_eq!(found.signals.has(Signals::LOOSE), known_nodes.contains(&node));
            prop_assert_eq!(found.signals.has(Signals::REFERENCE), is_added);
        }
    }
}
