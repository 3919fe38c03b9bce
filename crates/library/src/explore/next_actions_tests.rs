use std::sync::Arc;
use std::time::Duration;

use annai_core::Principal;

use super::super::report::SignalCoverage;
use super::super::request::SearchBudget;
use super::super::terms::Intent;
use super::super::test_corpus::query;
use super::super::trace::TraceItem;
use super::super::unscanned::UnscannedPart;
use super::*;
use crate::fs::RelPath;
use crate::reference::Target;

fn request(query: &str) -> FindRequest {
    FindRequest {
        query: query.into(),
        manual_id: None,
        intent: None,
        max_stage: 3,
        hard_max_stage: 4,
        left_out_of: None,
        budget: SearchBudget { max_candidates: 200, time: Duration::from_secs(60) },
        owner: Principal::Owner,
    }
}

fn summary(status: IntegrationStatus) -> FindSummary {
    let signal_coverage = SignalCoverage { heading: 0, normalized: 0, loose: 0, exceptions: 0, reference: 0 };
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
        signal_coverage,
        file_bias_ratio: 1.0,
        conflict_count: 0,
        gap_count: 0,
        sufficiency_score: 0.75,
        integration_status: status,
        cutoff_reason: None,
        escalation_reasons: Vec::new(),
    }
}

fn record(unscanned: Vec<UnscannedPart>) -> TraceRecord {
    TraceRecord {
        target: Target::Manual,
        candidates: Vec::new(),
        top: Vec::new(),
        unscanned,
        conflicts: Vec::new(),
        gaps: Vec::new(),
    }
}

fn part(path: &str, reason: SkipReason) -> UnscannedPart {
    UnscannedPart::file(Some("m".into()), path.into(), reason)
}

fn conflict(path: &str) -> (TraceItem, String) {
    let place = Ref {
        target: Target::Manual,
        manual_id: Some("m".into()),
        path: path.into(),
        start_line: Some(3),
        char: None,
        json_path: None,
        heading_path: None,
        encoding: None,
        title: Some("A".into()),
        signals: Some(vec!["heading".into()]),
        rev: Some("abc".into()),
    };
    (TraceItem { place, score: 1.0, conflict_with: vec!["m/b.md#L1".into()] }, "refund: 1 / 2".into())
}

/// The only action after a find, as JSON.
fn after(
    request: &FindRequest,
    home: Option<&str>,
    summary: &FindSummary,
    record: &TraceRecord,
    gap_terms: u64,
) -> Value {
    let query = query(&request.query);
    let trace_id = "t1";
    let outcome = ManualFindOutcome { request, home, gap_terms, query: &query, summary, record, trace_id };
    let actions = after_manual_find(&outcome);
    let [action] = actions.as_slice() else { panic!("one action") };
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

#[test]
fn a_conflict_is_read_before_anything_else() {
    let gaps = FindSummary { gap_count: 2, ..summary(IntegrationStatus::NeedsFollowup) };
    let record = TraceRecord {
        conflicts: vec![conflict("a.md"), conflict("b.md")],
        ..record(vec![part("c.md", SkipReason::TimeBudget)])
    };
    let action = after(&request("refund"), None, &gaps, &record, 1);
    // Only what manual_read needs; the first of the conflicts.
    let place =
        json!({ "target": "manual", "manual_id": "m", "path": "a.md", "start_line": 3, "rev": "abc" });
    let expected = json!({
        "type": "manual_read", "confidence": 0.9, "params": { "ref": place, "scope": "section" }
    });
    assert_eq!(action, expected);
    assert!(serde_json::from_value::<Ref>(action["params"]["ref"].clone()).is_ok());
}

#[test]
fn a_conflict_in_json_is_read_as_a_snippet_since_it_has_no_sections() {
    let record = TraceRecord { conflicts: vec![conflict("a.json")], ..record(Vec::new()) };
    let action = after(&request("refund"), None, &summary(IntegrationStatus::NeedsFollowup), &record, 0);
    assert_eq!(action["params"]["scope"], "snippet");
}

#[test]
fn gaps_and_bias_are_followed_by_a_find_of_what_was_late() {
    let late = record(vec![part("a.md", SkipReason::TimeBudget)]);
    let expected = find(&json!({ "query": "refund", "only_unscanned_from_trace_id": "t1" }));
    let base = summary(IntegrationStatus::NeedsFollowup);
    // Without gap or bias the best sections come first.
    assert_eq!(after(&request("refund"), None, &base, &late, 0)["type"], "manual_hits");
    let gaps = FindSummary { gap_count: 1, ..base.clone() };
    let biased = FindSummary { escalation_reasons: vec![EscalationReason::FileBias], ..base };
    let nothing = FindSummary { candidates: 0, ..base };
    for summary in [gaps, biased, nothing] {
        assert_eq!(after(&request("refund"), None, &summary, &late, 1), expected);
    }
}

#[test]
fn finding_the_rest_again_needs_progress() {
    let gaps = FindSummary { gap_count: 1, ..summary(IntegrationStatus::NeedsFollowup) };
    let two = record(vec![part("a.md", SkipReason::TimeBudget), part("b.md", SkipReason::TimeBudget)]);
    let one = record(vec![part("a.md", SkipReason::TimeBudget)]);
    let of = |earlier: &TraceRecord| FindRequest {
        left_out_of: Some(Arc::new(earlier.clone())),
        ..request("refund")
    };
    let expected = find(&json!({ "query": "refund", "only_unscanned_from_trace_id": "t1" }));
    assert_eq!(after(&of(&two), None, &gaps, &one, 1), expected);
    // As much is left as before, so another find would not help.
    assert_eq!(after(&of(&one), None, &gaps, &one, 1)["type"], "manual_hits");
}

#[test]
fn a_capped_find_is_widened_if_the_server_allows_it() {
    let blocked = FindSummary { gap_count: 1, ..summary(IntegrationStatus::Blocked) };
    let capped = record(vec![part("a.md", SkipReason::StageCap)]);
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
    assert_eq!(
        after(&request, Some("m"), &gaps, &record(Vec::new()), 0b10),
        find(&json!({ "query": "window" }))
    );
    // Not if the find already went through all manuals, or named none.
    let widened = FindSummary { scope_expanded: true, ..gaps.clone() };
    assert_eq!(after(&request, Some("m"), &widened, &record(Vec::new()), 0b10)["type"], "manual_hits");
    let everywhere = FindRequest { manual_id: None, ..request };
    assert_eq!(after(&everywhere, None, &gaps, &record(Vec::new()), 0b10)["type"], "manual_hits");
}

#[test]
fn enough_is_a_stop_and_nothing_too() {
    let stop = |confidence: f64| json!({ "type": "stop", "confidence": confidence, "params": null });
    let none = record(Vec::new());
    assert_eq!(after(&request("refund"), None, &summary(IntegrationStatus::Ready), &none, 0), stop(0.75));
    assert_eq!(after(&request("refund"), None, &summary(IntegrationStatus::Blocked), &none, 1), stop(0.5));
}

#[test]
fn what_is_neither_enough_nor_improvable_is_listed() {
    let action =
        after(&request("refund"), None, &summary(IntegrationStatus::NeedsFollowup), &record(Vec::new()), 0);
    let params = json!({ "trace_id": "t1", "kind": "integrated_top" });
    assert_eq!(action, json!({ "type": "manual_hits", "confidence": 0.6, "params": params }));
}

fn after_vault(files: &FileFilter, likeliest: Option<&str>, dominant: Option<&str>) -> Value {
    let outcome = VaultFindOutcome {
        query: "refund",
        files,
        likeliest_file: likeliest.map(str::to_owned),
        dominant_file: dominant.map(str::to_owned),
        sufficiency: 0.8,
    };
    serde_json::to_value(after_vault_find(&outcome)).unwrap()
}

#[test]
fn a_find_of_the_vault_reads_the_likeliest_file_or_looks_outside_the_dominant_one() {
    let all = FileFilter::new(None, None).unwrap();
    let scan = json!({ "path": "a.md", "cursor": { "start_line": 1 } });
    assert_eq!(
        after_vault(&all, Some("a.md"), None),
        json!([{ "type": "vault_scan", "confidence": 0.6, "params": scan }])
    );
    let folder = FileFilter::new(Some(RelPath::parse("notes").unwrap()), None).unwrap();
    let find =
        json!({ "query": "refund", "scope": { "glob": "!notes/[[]1[]].md", "relative_dir": "notes" } });
    assert_eq!(
        after_vault(&folder, None, Some("notes/[1].md")),
        json!([{ "type": "vault_find", "confidence": 0.6, "params": find }])
    );
    // A find that already has a glob cannot leave out a file too.
    let globbed = FileFilter::new(None, Some("*.md")).unwrap();
    let stop = json!([{ "type": "stop", "confidence": 0.8, "params": null }]);
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
        let files = FileFilter::new(None, Some(&format!("!{}", escaped_glob(path)))).unwrap();
        assert_eq!((files.has(path), files.has(other)), (false, true), "{path}");
    }
}
