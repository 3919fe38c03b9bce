use std::collections::BTreeMap;

use annai_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::matching::candidate::{MatchKind, Signals};
use crate::stages::scope::FileGrant;
use crate::test_corpus::{
    self, as_segments, far_away, manual, outcome, outcome_at_home, plan, query, shown, traced,
};
use crate::trace::TraceRecord;
use annai_core::cancellation::{Cancellation, checkpoint};
use annai_files::fs::{Unsearchable, UnsearchableReason};

fn candidate(node: u32, score: f32, signals: Signals) -> Candidate {
    Candidate { score, signals, ..test_corpus::candidate(NodePlace { view: 0, segment: 0, node }) }
}

fn run_capped(views: &[View], question: &str, max_candidates: usize) -> StageOutcome {
    let scope = SearchScope::Everything;
    let plan = StagePlan { max_candidates: Some(max_candidates), ..plan(views, &scope) };
    run_stages(&plan, query(question))
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
    let shown = |part: &UnscannedPart| {
        let lines: Vec<_> = part.starts.iter().map(|start| start.line).collect();
        format!("{} {lines:?} {}", part.path, part.reason.name())
    };
    outcome.unscanned.iter().map(shown).collect()
}

const MANUAL: &[(&str, &str)] = &[
    ("a.md", "# 給付\n## 給付金の支払\n給付金は第2条により支払う\n## 免除\nただし旅行は対象外とする\n"),
    ("b.md", "# 第2条 期日\n毎月末とする\n"),
    ("c.md", "# 窓口\n平日のみ\n"),
];

#[test]
fn markup_neither_separates_nor_hides_words() {
    for (text, question) in [
        ("# A\n**有給**休暇を与える。\n", "有給休暇"),
        ("# A\n[支払](x.md)方法を定める。\n", "支払方法"),
        ("# A\n<b>支払</b>方法を定める。\n", "支払方法"),
        ("# A\nCall `--read-only` first.\n", "--read-only"),
        ("# A\nUse `<KeepAlive>` here.\n", "KeepAlive"),
        ("# A\nThe **read**only mode.\n", "readonly"),
        ("# A\nA {{< tooltip text=\"quota\" id=\"x\" >}} applies.\n", "quota"),
    ] {
        let views = [manual("m", &[("a.md", text), ("b.md", "# B\nother words\n")])];
        let outcome = outcome(&views, question);
        let kinds: Vec<_> =
            outcome.evidence().map(|candidate| (shown(&views, candidate.place), candidate.kind)).collect();
        assert_eq!(kinds, [("a.md:1".to_owned(), MatchKind::Exact)], "{text}");
    }
}

#[test]
fn each_stage_adds_its_sections() {
    let views = [manual("m", MANUAL)];
    let outcome = outcome(&views, "給付金");
    let expected = ["a.md:2 heading+normalized", "a.md:4 exceptions", "b.md:1 reference"];
    assert_eq!(found(&views, &outcome), expected);
    // Only the first one contains the term.
    assert_eq!((outcome.evidence().count(), outcome.related), (1, 2));
    assert_eq!((outcome.stage, outcome.failed, outcome.hits), (3, 0, 3));
    assert!(outcome.unscanned.is_empty());
}

#[test]
fn without_a_dictionary_only_the_matching_runs() {
    let views = [manual("m", MANUAL)];
    let scope = SearchScope::Everything;
    let outcome = run_stages(&StagePlan { dictionary: None, ..plan(&views, &scope) }, query("給付金"));
    assert_eq!((found(&views, &outcome), outcome.stage), (vec!["a.md:2 heading+normalized".into()], 1));
}

#[test]
fn a_nonsense_question_has_no_candidates() {
    let views = [manual("m", MANUAL)];
    let outcome = outcome(&views, "zzyzxq");
    assert_eq!((outcome.candidates.len(), outcome.hits, outcome.unscanned.len()), (0, 0, 0));
}

#[test]
fn an_excluded_term_also_keeps_out_what_other_sections_lead_to() {
    let views = [manual("m", MANUAL)];
    assert_eq!(found(&views, &outcome(&views, "給付金 -旅行 -毎月")), ["a.md:2 heading+normalized"]);
}

#[test]
fn what_the_candidate_limit_cuts_is_unscanned() {
    let text = "# A\nrefund\n# B\nrefund\n";
    let views = [manual("m", &[("a.md", text), ("b.md", text)])];
    let outcome = run_capped(&views, "refund", 1);
    assert_eq!(found(&views, &outcome), ["a.md:1 normalized"]);
    assert_eq!(left_out(&outcome), ["a.md [3] candidate_cap", "b.md [1, 3] candidate_cap"]);
}

#[test]
fn evidence_is_not_cut_without_an_explicit_limit() {
    let sections: String = (0..450).map(|number| format!("# S{number}\nrefund\n")).collect();
    let views = [manual("m", &[("a.md", &sections)])];
    let outcome = outcome(&views, "refund");
    assert_eq!((outcome.evidence().count(), outcome.unscanned.len()), (450, 0));
    let places: HashSet<_> = outcome.evidence().map(|found| found.place).collect();
    assert_eq!(places.len(), 450, "each once");
    assert_eq!(run_capped(&views, "refund", 20).evidence().count(), 20);
}

#[test]
fn a_term_in_three_sections_has_three_candidates_and_parts_of_it_are_related() {
    let mut text: String = (0..40)
        .map(|number| format!("# 入院{number}\n入院給付金を支払う\n# 通院{number}\n通院の日数\n"))
        .collect();
    for line in ["通院給付金を支払う", "手術の後の通院給付金", "通院・給付金の請求"]
    {
        text.push_str(&format!("# 給付\n{line}\n"));
    }
    let views = [manual("m", &[("a.md", &text)])];
    let outcome = outcome(&views, "通院給付金");
    let mut kinds: Vec<_> = outcome.evidence().map(|found| found.kind).collect();
    kinds.sort();
    assert_eq!(kinds, [MatchKind::Exact, MatchKind::Exact, MatchKind::Separated]);
    assert_eq!(outcome.related, 40, "the sections about 入院給付金");
    let best = outcome.candidates.iter().take(3).map(|found| found.kind.is_evidence());
    assert_eq!(best.collect::<Vec<_>>(), [true; 3]);
}

#[test]
fn general_words_alone_are_a_part() {
    let views = [manual("m", &[("a.md", "# 一\n返品の場合\n# 二\n雨天の場合\n# 三\n返品\n")])];
    let kinds = |question: &str| {
        let outcome = outcome(&views, question);
        let kinds = outcome.candidates.iter();
        let mut kinds: Vec<_> =
            kinds.map(|found| format!("{} {:?}", shown(&views, found.place), found.kind)).collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds("場合の返品"), ["a.md:1 Exact", "a.md:3 Part", "a.md:5 Exact"]);
    // Where a question has no other words, they decide.
    assert_eq!(kinds("場合"), ["a.md:1 Exact", "a.md:3 Exact"]);
}

#[test]
fn the_related_sections_that_are_kept_are_limited_and_all_are_counted() {
    let text: String = (0..300).map(|number| format!("# S{number}\n入院給付金\n")).collect();
    let views = [manual("m", &[("a.md", &format!("{text}# 一\n通院給付金\n"))])];
    let outcome = outcome(&views, "通院給付金");
    assert_eq!((outcome.evidence().count(), outcome.related), (1, 300));
    assert!(outcome.candidates.len() <= MAX_RANKED + 1);
}

#[test]
fn what_lies_outside_ranks_below_everything_inside() {
    let strong: String = (0..250).map(|number| format!("# Refund {number}\nrefund window\n")).collect();
    let weak = "# A\nsome words about other things and a refund\n# B\nsee section 9\n";
    let views = [manual("a", &[("a.md", &strong)]), manual("h", &[("h.md", weak)])];
    let found = outcome_at_home(&views, "h", "refund window");
    let inside: Vec<_> = found.inside().iter().map(|found| shown(&views, found.place)).collect();
    assert_eq!(inside, ["h.md:1"]);
    assert_eq!((found.evidence().count(), found.inside_terms()), (251, 0b01));
    assert!(found.candidates.iter().skip(1).all(|found| found.is_outside && found.place.view == 0));
    // With a limit, what lies outside is cut first.
    let scope = SearchScope::Everything;
    let capped = StagePlan { home: Some("h"), max_candidates: Some(1), ..plan(&views, &scope) };
    let capped = run_stages(&capped, query("refund window"));
    assert_eq!(capped.candidates.iter().map(|found| found.place.view).collect::<Vec<_>>(), [1]);
}

#[test]
fn what_inside_sections_lead_to_is_inside_and_ranks_above_outside_hits() {
    let home = [("h.md", "# A\nrefund as in 第2条\n# 第2条\nother\n")];
    let views = [manual("a", &[("a.md", "# Refund\nrefund\n")]), manual("h", &home)];
    let found = outcome_at_home(&views, "h", "refund");
    let order: Vec<_> = found.candidates.iter().map(|it| (shown(&views, it.place), it.is_outside)).collect();
    assert_eq!(order, [("h.md:1".into(), false), ("h.md:3".into(), false), ("a.md:1".into(), true)]);
}

#[test]
fn what_the_deadline_cuts_is_unscanned() {
    let parts = ["a.md", "b.md"].map(|path| manual("m", &[(path, "# A\nrefund\n# B\nother\n")]));
    let views = [as_segments(parts.into())];
    let scope = SearchScope::Everything;
    let plan = StagePlan { deadline: Instant::now(), ..plan(&views, &scope) };
    let outcome = run_stages(&plan, query("refund"));
    assert_eq!((found(&views, &outcome), outcome.stage), (vec!["a.md:1 normalized".into()], 1));
    // The sections of the second segment, and the file whose neighbors were not searched.
    assert_eq!(left_out(&outcome), ["b.md [1, 3] time_budget", "a.md [] time_budget"]);
}

#[test]
fn files_that_are_not_indexed_are_unscanned_if_they_are_in_scope() {
    let mut views = [manual("m", MANUAL)];
    views[0].pending = vec!["late.md".into(), "other.md".into()];
    // What cannot be searched at all is named elsewhere.
    views[0].unsearchable =
        vec![Unsearchable { path: "huge.md".into(), reason: UnsearchableReason::TooLarge }];
    assert_eq!(left_out(&outcome(&views, "給付金")), ["late.md [] time_budget", "other.md [] time_budget"]);
    let scope = SearchScope::of(&views, |_, _| FileGrant::All, |_, path| path == "late.md");
    let outcome = run_stages(&plan(&views, &scope), query("給付金"));
    assert_eq!(left_out(&outcome), ["late.md [] time_budget"]);
}

#[test]
fn following_what_was_cut_finds_every_match_once() {
    let views = [manual("m", MANUAL), manual("n", &[("d.md", "# 給付金\n給付金とは\n# 他\n給付金 第1条\n")])];
    let whole = found(&views, &outcome(&views, "給付金"));
    assert_eq!(whole.len(), 5);
    for max_candidates in 1..=5 {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut record: Option<TraceRecord> = None;
        let pass = |earlier: Option<&TraceRecord>| {
            let scope =
                earlier.map_or(SearchScope::Everything, |earlier| SearchScope::left_out_of(earlier, &views));
            let plan = StagePlan { max_candidates: Some(max_candidates), ..plan(&views, &scope) };
            run_stages(&plan, query("給付金"))
        };
        for _ in 0..5 {
            let outcome = pass(record.as_ref());
            let matching = outcome.candidates.iter().filter(|candidate| candidate.terms != 0);
            assert!(matching.count() <= max_candidates);
            for candidate in &outcome.candidates {
                *seen.entry(shown(&views, candidate.place)).or_default() += 1;
            }
            let next = traced(&views, &outcome);
            if next.unscanned.is_empty() {
                break;
            }
            record = Some(next);
        }
        // Sections that only others lead to are related: they go with each section that leads to them.
        let all: Vec<_> = whole.iter().filter_map(|found| found.split(' ').next()).collect();
        assert_eq!(seen.keys().collect::<Vec<_>>(), all, "{max_candidates} a find");
        let is_match = |found: &&String| found.contains("normalized") || found.contains("loose");
        let places = whole.iter().filter(is_match).filter_map(|found| found.split(' ').next());
        let places: Vec<_> = places.collect();
        let once = seen.iter().map(|(place, count)| (place.as_str(), *count));
        let once: Vec<_> = once.filter(|(place, _)| places.contains(place)).collect();
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

#[test]
fn a_cancellation_in_a_stage_ends_the_work_and_is_no_failed_stage() {
    let cancellation = Cancellation::default();
    let mut later = LaterStages { last_stage: 1, failed: 0, is_out_of_time: false, added: Vec::new() };
    let ended = cancellation.run(|| {
        later.run(2, far_away(), || {
            cancellation.cancel();
            checkpoint();
            Vec::new()
        });
        Ok(())
    });
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!((later.last_stage, later.failed), (2, 0));
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

#[test]
fn a_term_of_a_match_that_was_cut_is_not_missing() {
    let views = [manual("m", &[("a.md", "# A\nzebra zebra\n# B\nlion\n")])];
    let found = run_capped(&views, "zebra lion", 1);
    assert_eq!((found.candidates.len(), found.inside_terms()), (1, 0b11));
}
