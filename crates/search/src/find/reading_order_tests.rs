use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::matching::candidate::MatchKind;
use crate::reference::Ref;
use crate::test_corpus::{manual, outcome, trace_of, traced, vault};
use crate::trace::TraceConflict;
use crate::trace::read_ledger::ReadLedger;
use annai_files::FileVersion;
use annai_text::Position;

const EXACT: MatchKind = MatchKind::Exact;

/// A trace of exact matches with these scores.
fn exact(scores: &[f32]) -> TraceRecord {
    trace_of(&scores.iter().map(|score| (*score, EXACT)).collect::<Vec<_>>())
}

fn conflict(one: u32, other: u32) -> TraceConflict {
    TraceConflict { one, other, about: String::new(), sentences: Default::default() }
}

/// The match that an action leads to; none where it does not read.
fn target(record: &TraceRecord, action: &NextAction) -> Option<usize> {
    let params = action.params.as_ref().filter(|_| action.kind == "manual_read")?;
    assert_eq!(params["trace_id"], "t");
    let place: Ref = serde_json::from_value(params["ref"].clone()).unwrap();
    record.matches.iter().position(|found| record.files[found.file as usize].path == place.path)
}

/// What a caller with a ledger reads who follows the next actions, and the action after that.
fn followed(record: &TraceRecord) -> (Vec<usize>, NextAction) {
    let (ledger, now) = (ReadLedger::new(Duration::from_secs(60)), Instant::now());
    let mut reads = Vec::new();
    loop {
        let handed_out = ledger.of("t", now);
        let state = ReadingState { record, trace_id: "t", handed_out: Some(&handed_out), last_read: None };
        let action = state.next_action();
        let Some(read) = target(record, &action) else { return (reads, action) };
        assert!(!reads.contains(&read), "{read} is read twice");
        reads.push(read);
        let found = &record.matches[read];
        let file = &record.files[found.file as usize];
        let version = FileVersion::new(file.manual_id.as_deref(), &file.path, &file.sha256);
        ledger.record("t", version, found.span.clone(), now);
    }
}

/// What a caller without a ledger reads who follows the next actions, and the action after that.
fn followed_without_ledger(record: &TraceRecord) -> (Vec<usize>, NextAction) {
    let mut reads: Vec<usize> = Vec::new();
    loop {
        let last_read = reads.last().copied();
        let action = ReadingState { record, trace_id: "t", handed_out: None, last_read }.next_action();
        let Some(read) = target(record, &action) else { return (reads, action) };
        assert!(!reads.contains(&read), "{read} is read twice");
        reads.push(read);
    }
}

#[test]
fn the_best_is_read_first_then_those_that_are_nearly_as_good() {
    for (scores, expected) in [
        (&[][..], &[][..]),
        (&[1.0], &[0]),
        (&[2.0, 10.0, 3.9], &[1]),
        (&[4.0, 10.0, 3.9], &[1, 0]),
        // Five at most: as many as a reply shows.
        (&[10.0, 9.0, 8.0, 7.0, 6.5, 6.1], &[0, 1, 2, 3, 4]),
    ] {
        let (reads, last) = followed(&exact(scores));
        assert_eq!((reads.as_slice(), last.kind), (expected, "stop"), "{scores:?}");
    }
    // The best is read first even if it contains only a part of a term.
    assert_eq!(followed(&trace_of(&[(9.0, MatchKind::Part), (1.0, EXACT)])).0, [0]);
}

#[test]
fn the_other_side_of_a_conflict_among_the_best_is_read_next() {
    let scores = [10.0, 1.0, 3.9, 3.5, 3.0, 2.0, 9.0];
    let with = |conflicts| TraceRecord { conflicts, ..exact(&scores) };
    assert_eq!(followed(&with(vec![conflict(0, 1)])).0, [0, 1, 6]);
    assert_eq!(followed(&with(vec![conflict(2, 5)])).0, [0, 2, 5, 6]);
    // A conflict between sections that nobody is shown does not matter yet.
    assert_eq!(followed(&with(vec![conflict(5, 1)])).0, [0, 6]);
}

#[test]
fn everything_leads_through_all_evidence_inside_before_outside() {
    let mut record = trace_of(&[
        (1.0, EXACT),
        (9.0, EXACT),
        (5.0, MatchKind::Part),
        (3.0, MatchKind::Synonym),
        (8.0, EXACT),
        (0.5, MatchKind::Separated),
        (0.4, MatchKind::Exception),
        (0.3, EXACT),
    ]);
    record.matches[4].is_outside = true;
    // Inside before outside, and the last one is evidence beyond the ranked ones.
    record.ranked = vec![1, 2, 3, 0, 5, 6, 4];
    record.conflicts = vec![conflict(1, 5)];
    record.goal = Goal::Everything;
    record.follow_up = NextAction::call("manual_find", 0.7, json!({ "query": "more" }));
    let (reads, last) = followed(&record);
    assert_eq!((reads, last.kind), (vec![1, 5, 3, 0, 7, 4], "manual_find"));
    record.goal = Goal::Answer;
    assert_eq!(followed(&record).0, [1, 5, 2]);
}

#[test]
fn without_a_ledger_the_last_read_counts_and_it_ends() {
    let mut record = exact(&[10.0, 9.0, 1.0]);
    assert_eq!(followed_without_ledger(&record).0, [0, 1]);
    record.goal = Goal::Everything;
    let (reads, last) = followed_without_ledger(&record);
    assert_eq!((reads, last.kind), (vec![0, 1, 2], "stop"));
    // A read that was not suggested does not begin the list again.
    record.goal = Goal::Answer;
    let state = ReadingState { record: &record, trace_id: "t", handed_out: None, last_read: Some(2) };
    assert_eq!(state.next_action().kind, "stop");
}

/// The arguments of the first read after a find of this question.
fn first_read(record: &TraceRecord) -> Value {
    let action = ReadingState { record, trace_id: "t", handed_out: None, last_read: None }.next_action();
    assert_eq!(action.confidence, Some(READ_CONFIDENCE));
    json!({ action.kind: action.params })
}

/// The same in a file of the manual `m`, without what identifies the place.
fn first_manual_read(path: &str, text: &str) -> Value {
    let views = [manual("m", &[(path, text)])];
    let mut read = first_read(&traced(&views, &outcome(&views, "refund")));
    let params = read["manual_read"].as_object_mut().unwrap();
    let place: Ref = serde_json::from_value(params.remove("ref").unwrap()).unwrap();
    assert_eq!((place.path.as_str(), place.rev.map(|rev| rev.len())), (path, Some(12)));
    assert_eq!(params.remove("trace_id"), Some("t".into()));
    read["manual_read"].clone()
}

#[test]
fn a_read_names_no_more_than_it_needs() {
    let record = exact(&[1.0]);
    let rev = &record.files[0].sha256.to_string()[..12];
    let place = json!({ "target": "manual", "manual_id": "m", "path": "0.md", "start_line": 1, "rev": rev });
    let params = json!({ "ref": place, "trace_id": "t", "scope": "section" });
    assert_eq!(first_read(&record), json!({ "manual_read": params }));
}

#[test]
fn a_section_is_read_whole_and_of_a_long_one_only_the_passage() {
    assert_eq!(first_manual_read("a.md", "# A\nrefund\n"), json!({ "scope": "section" }));
    let long = format!("# A\nrefund\n{}", "some words\n".repeat(900));
    let lines = first_manual_read("a.md", &long);
    assert_eq!(lines["lines"]["start"], 1);
    assert!(lines["lines"]["end"].as_u64().is_some_and(|end| (3..300).contains(&end)), "{lines}");
    let line = format!("# A\n{}refund {}\n", "word ".repeat(1000), "more ".repeat(1000));
    let inside = first_manual_read("a.md", &line);
    assert_eq!(
        (&inside["lines"], &inside["cursor"]["start_line"]),
        (&json!({ "start": 2, "end": 2 }), &json!(2))
    );
    assert!(inside["cursor"]["char"].as_u64().is_some_and(|char| (3000..=5000).contains(&char)), "{inside}");
    assert!(inside["limits"]["max_chars"].as_u64().is_some_and(|chars| chars <= 2000), "{inside}");
}

#[test]
fn json_is_read_by_its_own_text_since_it_has_no_sections() {
    for text in ["{\n \"a\": \"refund\"\n}\n", "{\n \"a\": \"refund\"\n,\n"] {
        let lines = first_manual_read("a.json", text);
        assert_eq!(lines, json!({ "lines": { "start": 1, "end": 3 } }), "{text}");
    }
}

#[test]
fn a_paragraph_of_the_vault_is_read_by_its_lines() {
    let views = [vault(&[("n.md", "one\n\na refund\nof two lines\n\nthree\n")])];
    let record = TraceRecord { target: Target::Vault, ..traced(&views, &outcome(&views, "refund")) };
    let range = json!({ "start_line": 3, "end_line": 4 });
    let params = json!({ "path": "n.md", "range": range, "trace_id": "t" });
    assert_eq!(first_read(&record), json!({ "vault_read": params }));
}

#[test]
fn a_section_that_was_read_with_the_one_above_it_is_not_read_again() {
    let views = [manual("m", &[("a.md", "# Refund\nrefund refund\n## Part\nrefund\n")])];
    let record = TraceRecord { goal: Goal::Everything, ..traced(&views, &outcome(&views, "refund")) };
    assert_eq!(record.matches.len(), 2);
    let (ledger, now) = (ReadLedger::new(Duration::from_secs(60)), Instant::now());
    let file = FileVersion::new(Some("m"), "a.md", &record.files[0].sha256);
    let handed_out = ledger.record("t", file, Position::line_start(1)..Position::line_start(5), now);
    let state =
        ReadingState { record: &record, trace_id: "t", handed_out: Some(&handed_out), last_read: None };
    assert_eq!(state.next_action().kind, "stop");
}

fn any_kind() -> impl Strategy<Value = MatchKind> {
    use MatchKind::{Exact, Exception, Part, Reference, Separated, Synonym};
    prop::sample::select(vec![Exact, Separated, Synonym, Part, Reference, Exception])
}

proptest! {
    #[test]
    fn following_the_actions_reads_the_best_first_and_ends(
        matches in prop::collection::vec((0_u8..20, any_kind(), any::<bool>()), 0..30),
        pairs in prop::collection::vec((0_usize..30, 0_usize..30), 0..4),
        ranked in 0_usize..30,
        is_everything in any::<bool>(),
    ) {
        let scored: Vec<_> = matches.iter().map(|(score, kind, _)| (f32::from(*score), *kind)).collect();
        let mut record = trace_of(&scored);
        for (found, (_, _, is_outside)) in record.matches.iter_mut().zip(&matches) {
            found.is_outside = *is_outside;
        }
        record.ranked.sort_by_key(|index| matches[*index as usize].2);
        record.ranked.truncate(ranked.max(1));
        // Only sections inside are compared.
        let is_inside = |side: usize| matches.get(side).is_some_and(|(_, _, is_outside)| !is_outside);
        let pairs = pairs.iter().filter(|(one, other)| is_inside(*one) && is_inside(*other));
        record.conflicts =
            pairs.map(|(one, other)| conflict(u32::try_from(*one).unwrap(), u32::try_from(*other).unwrap())).collect();
        record.goal = if is_everything { Goal::Everything } else { Goal::Answer };

        let (reads, last) = followed(&record);
        prop_assert_eq!(last.kind, "stop");
        prop_assert_eq!(reads.first().copied(), record.ranked.first().map(|best| *best as usize));
        prop_assert_eq!(&followed_without_ledger(&record).0, &reads);
        if is_everything {
            let evidence = (0..matches.len()).filter(|index| matches[*index].1.is_evidence());
            prop_assert!(evidence.into_iter().all(|index| reads.contains(&index)));
        } else {
            prop_assert!(reads.len() <= MAX_READS);
        }
        prop_assert!(reads.is_sorted_by_key(|index| matches[*index].2), "inside before outside");
    }
}
