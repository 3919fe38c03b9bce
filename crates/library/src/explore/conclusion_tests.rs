use std::time::Duration;

use super::super::dictionary::Dictionary;
use super::super::stages::{StagePlan, run_stages};
use super::super::terms::Intent;
use super::super::test_corpus::{DICTIONARY, as_segments, far_away, manual, place, query, query_for, vault};
use super::*;

fn concluded(
    views: &[View],
    question: &str,
    target: Target,
    max_candidates: usize,
    deadline: Instant,
) -> Conclusion {
    let scope = SearchScope::Everything;
    let dictionary: Option<&Dictionary> = (target == Target::Manual).then_some(&DICTIONARY);
    let plan = StagePlan { views, scope: &scope, max_candidates, deadline, dictionary };
    let outcome = run_stages(&plan, query(question));
    let evidence = Evidence { views, scope: &scope, outcome: &outcome, target };
    let traces = TraceStore::new(10, Duration::from_secs(60));
    let now = Instant::now();
    let conclusion = conclude(&evidence, &traces, &Principal::Owner, now).unwrap();
    let kept = traces.get(&Principal::Owner, &conclusion.trace_id, "trace_id", now).unwrap();
    assert_eq!(kept, conclusion.record, "the trace is kept under its id");
    conclusion
}

fn of_manual(files: &[(&str, &str)], question: &str) -> Conclusion {
    concluded(&[manual("m", files)], question, Target::Manual, 100, far_away())
}

#[test]
fn the_status_follows_from_candidates_gaps_conflicts_and_sufficiency() {
    let status = |files: &[(&str, &str)], question: &str| {
        let Conclusion { status, gap_count, conflict_count, .. } = of_manual(files, question);
        (status, gap_count, conflict_count)
    };
    let one = ("a.md", "# A\nthe refund window of a gift card is 14 days\n");
    let other = ("b.md", "# B\nthe refund window of a gift card is 30 days\n");
    assert_eq!(status(&[one], "zzyzxq"), (IntegrationStatus::Blocked, 1, 0));
    assert_eq!(status(&[one], "refund window"), (IntegrationStatus::Ready, 0, 0));
    assert_eq!(status(&[one], "refund zzyzxq"), (IntegrationStatus::NeedsFollowup, 1, 0));
    assert_eq!(status(&[one, other], "refund window"), (IntegrationStatus::NeedsFollowup, 0, 1));
}

#[test]
fn every_node_is_either_searched_or_unscanned() {
    let text = "# A\nrefund\n# B\nother\n";
    let views = [as_segments(["a.md", "b.md", "c.md"].map(|path| manual("m", &[(path, text)])).into())];
    let whole = concluded(&views, "other", Target::Manual, 100, far_away());
    assert_eq!((whole.scanned_files, whole.scanned_nodes, whole.cutoff), (3, 6, None));
    // Of the second and the third segment nothing was searched.
    let late = concluded(&views, "zzyzxq other", Target::Manual, 100, Instant::now());
    assert_eq!((late.scanned_files, late.scanned_nodes), (1, 2));
    let unscanned = late.record.unscanned.iter().filter(|part| !part.lines.is_empty());
    assert_eq!(unscanned.map(|part| part.count()).sum::<usize>() + late.scanned_nodes, 6);
    assert_eq!(late.cutoff, Some(SkipReason::TimeBudget));
}

#[test]
fn what_was_cut_is_the_reason_and_the_count() {
    let views = [manual("m", &[("a.md", "# A\nrefund\n# B\nrefund\n# C\nrefund\n")])];
    let cut = concluded(&views, "refund", Target::Manual, 1, far_away());
    assert_eq!((cut.cutoff, cut.record.unscanned_count()), (Some(SkipReason::CandidateCap), 2));
    assert_eq!(cut.record.candidates.len(), 1);
}

#[test]
fn a_restricted_scope_counts_what_it_grants_without_stale_files() {
    let mut views = [manual(
        "m",
        &[("a.md", "# A\nx\n# B\ny\n"), ("b.md", "# A\nx\n"), ("c.md", "# A\nx\n"), ("d.md", "# A\n")],
    )];
    views[0].stale.insert((0, 3));
    let scope = SearchScope::of(
        &views,
        |_, file| match file.path.as_str() {
            "a.md" => FileGrant::Lines([3].into()),
            "b.md" => FileGrant::None,
            _ => FileGrant::All,
        },
        |_, _| true,
    );
    assert_eq!(scanned(&views, &scope, &MatchOutcome::default()), (2, 2));
}

#[test]
fn notes_need_no_wording_for_an_intent() {
    assert_eq!(query("how to refund").intent, Intent::Procedure);
    let files = [("a.md", "refund\n")];
    let notes = concluded(&[vault(&files)], "how to refund", Target::Vault, 100, far_away());
    assert_eq!((notes.gap_count, notes.status), (0, IntegrationStatus::Ready));
    assert_eq!(of_manual(&files, "how to refund").record.gaps, ["no section reads like steps to follow"]);
    assert_eq!(query_for("refund", Intent::Procedure).intent, Intent::Procedure);
}

#[test]
fn the_bias_is_the_share_of_the_fullest_file() {
    let views = [manual("m", &[("a.md", "# A\nx\n# B\ny\n# C\nz\n"), ("b.md", "# A\nx\n")])];
    let candidate = |path, line| Candidate {
        place: place(&views, path, line),
        score: 1.0,
        signals: Default::default(),
        terms: 1,
    };
    let all = [candidate("a.md", 1), candidate("a.md", 3), candidate("b.md", 1), candidate("a.md", 5)];
    assert_eq!(
        (file_bias(&views, &all), file_bias(&views, &all[..1]), file_bias(&views, &[])),
        (0.75, 1.0, 0.0)
    );
}
