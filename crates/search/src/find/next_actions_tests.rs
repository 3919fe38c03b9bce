use std::sync::Arc;

use super::*;
use crate::conclusion::coverage::FileCoverage;
use crate::conclusion::report::{EscalationReason, SignalCoverage};
use crate::conclusion::term_presence::TermPresence;
use crate::query::terms::{Goal, Intent};
use crate::query::wordings::OtherWords;
use crate::reference::Target;
use crate::test_corpus::{empty_trace, query, request};
use crate::trace::TraceRecord;
use annai_files::fs::RelPath;

fn summary(status: IntegrationStatus) -> FindSummary {
    FindSummary {
        scanned_files: 1,
        scanned_nodes: 1,
        candidates: usize::from(status != IntegrationStatus::Blocked),
        warnings: 0,
        max_stage_applied: 3,
        scope_expanded: false,
        unscanned_sections_count: 0,
        integrated_candidates: 1,
        integrated_nodes: 1,
        signal_coverage: SignalCoverage::of(Target::Manual, &[]),
        file_bias_ratio: 1.0,
        conflict_count: 0,
        variant_count: 0,
        conflicts_limited: None,
        gap_count: 0,
        gap_ranges_count: None,
        sufficiency_score: 0.75,
        integration_status: status,
        cutoff_reason: None,
        escalation_reasons: Vec::new(),
        outside_candidates: None,
        coverage: FileCoverage::default().summary(&empty_trace(), 0, None, Vec::new()),
        presence: TermPresence::default(),
    }
}

fn part(path: &str, reason: SkipReason) -> UnscannedPart {
    UnscannedPart::file(Some("m".into()), path.into(), reason)
}

/// What to do after everything was read, as JSON.
fn after(
    request: &FindRequest,
    home: Option<&str>,
    summary: &FindSummary,
    unscanned: &[UnscannedPart],
    gap_terms: u64,
) -> Value {
    let query = query(&request.query);
    let trace_id = "t1";
    let outcome = ManualFindOutcome { request, home, gap_terms, query: &query, summary, unscanned, trace_id };
    let action = follow_up_of_manual_find(&outcome);
    // A call with the same arguments again would never end.
    let same = action.params.as_ref().is_some_and(|params| {
        action.kind == "manual_find" && params.len() == 1 && params["query"] == json!(request.query)
    });
    assert!(!same, "{action:?}");
    serde_json::to_value(action).unwrap()
}

fn find(params: &Value) -> Value {
    json!({ "type": "manual_find", "confidence": 0.7, "params": params })
}

fn stop(confidence: f64) -> Value {
    json!({ "type": "stop", "confidence": confidence, "params": null })
}

#[test]
fn what_was_late_or_cut_is_searched_after_reading() {
    let expected = find(&json!({ "query": "refund", "only_unscanned_from_trace_id": "t1" }));
    let base = summary(IntegrationStatus::NeedsFollowup);
    let gaps = FindSummary { gap_count: 1, ..base.clone() };
    let biased = FindSummary { escalation_reasons: vec![EscalationReason::FileBias], ..base.clone() };
    let nothing = FindSummary { candidates: 0, ..base.clone() };
    for reason in [SkipReason::TimeBudget, SkipReason::CandidateCap] {
        for summary in [&base, &gaps, &biased, &nothing, &summary(IntegrationStatus::Ready)] {
            assert_eq!(after(&request("refund"), None, summary, &[part("a.md", reason)], 1), expected);
        }
    }
}

#[test]
fn finding_the_rest_again_needs_progress() {
    let gaps = FindSummary { gap_count: 1, ..summary(IntegrationStatus::NeedsFollowup) };
    let two = [part("a.md", SkipReason::TimeBudget), part("b.md", SkipReason::TimeBudget)];
    let of = |earlier: &[UnscannedPart]| FindRequest {
        left_out_of: Some(Arc::new(TraceRecord { unscanned: earlier.to_vec(), ..empty_trace() })),
        ..request("refund")
    };
    let expected = find(&json!({ "query": "refund", "only_unscanned_from_trace_id": "t1" }));
    assert_eq!(after(&of(&two), None, &gaps, &two[..1], 1), expected);
    // As much is left as before, so another find would not help.
    assert_eq!(after(&of(&two[..1]), None, &gaps, &two[..1], 1), stop(0.75));
}

#[test]
fn a_capped_find_is_widened_if_the_server_allows_it() {
    let blocked = FindSummary { gap_count: 1, ..summary(IntegrationStatus::Blocked) };
    let capped = [part("a.md", SkipReason::StageCap)];
    let request = FindRequest { intent: Some(Intent::Exceptions), ..request("refund") };
    let params = json!({ "query": "refund", "max_stage": 4, "manual_id": "m", "intent": "exceptions" });
    assert_eq!(after(&request, Some("m"), &blocked, &capped, 1), find(&params));
    let limited = FindRequest { hard_max_stage: 3, ..request };
    assert_eq!(after(&limited, Some("m"), &blocked, &capped, 1)["type"], "stop");
}

#[test]
fn what_one_manual_lacks_is_looked_for_in_all() {
    let gaps = FindSummary { gap_count: 1, ..summary(IntegrationStatus::NeedsFollowup) };
    let request = FindRequest { manual_id: Some("m".into()), ..request("refund window") };
    assert_eq!(after(&request, Some("m"), &gaps, &[], 0b10), find(&json!({ "query": "window" })));
    // Not if the find already went through all manuals, or named none.
    let widened = FindSummary { scope_expanded: true, ..gaps.clone() };
    assert_eq!(after(&request, Some("m"), &widened, &[], 0b10), stop(0.75));
    let everywhere = FindRequest { manual_id: None, ..request };
    assert_eq!(after(&everywhere, None, &gaps, &[], 0b10), stop(0.75));
}

#[test]
fn a_gap_comes_before_what_was_not_looked_at() {
    let gaps = FindSummary { gap_count: 1, ..summary(IntegrationStatus::NeedsFollowup) };
    let request = FindRequest { manual_id: Some("m".into()), ..request("refund window") };
    let late = [part("a.md", SkipReason::TimeBudget)];
    assert_eq!(after(&request, Some("m"), &gaps, &late, 0b10), find(&json!({ "query": "window" })));
    assert_eq!(after(&request, Some("m"), &gaps, &late, 0)["params"]["only_unscanned_from_trace_id"], "t1");
}

#[test]
fn the_goal_of_the_caller_goes_along() {
    let request = FindRequest { goal: Some(Goal::Everything), ..request("refund") };
    let late = [part("a.md", SkipReason::TimeBudget)];
    let action = after(&request, None, &summary(IntegrationStatus::NeedsFollowup), &late, 0);
    assert_eq!(action["params"]["goal"], "everything");
}

#[test]
fn enough_is_a_stop_and_so_is_what_cannot_be_improved() {
    for (status, confidence) in [
        (IntegrationStatus::Ready, 0.75),
        (IntegrationStatus::Blocked, 0.5),
        (IntegrationStatus::NeedsFollowup, 0.75),
    ] {
        assert_eq!(after(&request("refund"), None, &summary(status), &[], 1), stop(confidence));
    }
}

fn after_vault(files: &FileFilter, likeliest: Option<&str>, dominant: Option<&str>) -> Value {
    let outcome = VaultFindOutcome {
        query: "refund",
        other_words: &OtherWords::default(),
        files,
        goal: None,
        is_cut: false,
        likeliest_file: likeliest.map(str::to_owned),
        dominant_file: dominant.map(str::to_owned),
        sufficiency: 0.8,
    };
    serde_json::to_value(follow_up_of_vault_find(&outcome)).unwrap()
}

#[test]
fn a_find_of_the_vault_reads_the_likeliest_file_or_looks_outside_the_dominant_one() {
    let all = FileFilter::new(None, None, "glob").unwrap();
    let scan = json!({ "path": "a.md", "cursor": { "start_line": 1 } });
    assert_eq!(
        after_vault(&all, Some("a.md"), None),
        json!({ "type": "vault_scan", "confidence": 0.6, "params": scan })
    );
    let folder = FileFilter::new(Some(RelPath::parse("notes").unwrap()), None, "glob").unwrap();
    let find =
        json!({ "query": "refund", "scope": { "glob": "!notes/[[]1[]].md", "relative_dir": "notes" } });
    assert_eq!(
        after_vault(&folder, None, Some("notes/[1].md")),
        json!({ "type": "vault_find", "confidence": 0.6, "params": find })
    );
    // The rest of the vault has nothing, and that is the end.
    let excluding = FileFilter::new(None, Some("!a.md"), "glob").unwrap();
    assert_eq!(after_vault(&excluding, Some("b.md"), None)["type"], "stop");
    // Matches that a maximum cut are searched for without it.
    let cut = VaultFindOutcome {
        query: "refund",
        other_words: &OtherWords::default(),
        files: &FileFilter::new(None, Some("*.md"), "glob").unwrap(),
        goal: Some(Goal::Everything),
        is_cut: true,
        likeliest_file: None,
        dominant_file: Some("a.md".into()),
        sufficiency: 0.8,
    };
    let again = json!({ "query": "refund", "scope": { "glob": "*.md" }, "goal": "everything" });
    assert_eq!(serde_json::to_value(follow_up_of_vault_find(&cut)).unwrap()["params"], again);
    // A find that already has a glob cannot leave out a file too.
    let globbed = FileFilter::new(None, Some("*.md"), "glob").unwrap();
    let stop = json!({ "type": "stop", "confidence": 0.8, "params": null });
    assert_eq!(
        (after_vault(&globbed, None, Some("a.md")), after_vault(&all, None, None)),
        (stop.clone(), stop)
    );
}

#[test]
fn an_escaped_path_leaves_out_that_file_only() {
    for (path, other) in
        [("a[1].md", "a1.md"), ("x/a*.md", "x/ab.md"), ("{a,b}.md", "a.md"), ("a?.md", "ab.md")]
    {
        let files = FileFilter::new(None, Some(&format!("!{}", escaped_glob(path))), "glob").unwrap();
        assert_eq!((files.has(path), files.has(other)), (false, true), "{path}");
    }
}
