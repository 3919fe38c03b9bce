use super::super::test_corpus::{DICTIONARY, far_away, manual, query};
use super::*;

/// Why a find of this question in this manual would be widened.
fn reasons(files: &[(&str, &str)], question: &str) -> Vec<EscalationReason> {
    let views = [manual("m", files)];
    let scope = SearchScope::Everything;
    let (deadline, dictionary) = (far_away(), Some(&*DICTIONARY));
    let plan = StagePlan { views: &views, scope: &scope, max_candidates: 100, deadline, dictionary };
    let outcome = run_stages(&plan, query(question));
    triggers(&views, &outcome, Thresholds { candidate_low: 3, file_bias: 0.8 })
}

#[test]
fn few_candidates_bias_and_missing_exceptions_widen_a_find() {
    let text = |count: usize| "# A\nrefund\n".repeat(count);
    let (one, three, five) = (text(1), text(3), text(5));
    assert_eq!(reasons(&[("a.md", &one)], "zzyzxq"), [EscalationReason::ZeroCandidates]);
    assert_eq!(reasons(&[("a.md", &one)], "refund"), [EscalationReason::LowCandidates]);
    assert_eq!(reasons(&[("a.md", &three)], "refund"), []);
    // A bias is judged from five candidates on, and four of five are one.
    assert_eq!(reasons(&[("a.md", &five)], "refund"), [EscalationReason::FileBias]);
    assert_eq!(reasons(&[("a.md", &text(4)), ("b.md", &one)], "refund"), [EscalationReason::FileBias]);
    assert_eq!(reasons(&[("a.md", &three), ("b.md", &three)], "refund"), []);
    assert_eq!(reasons(&[("a.md", &three)], "refund exceptions"), [EscalationReason::ExceptionsMissing]);
    let excepted = format!("{three}# B\nrefund not covered\n");
    assert_eq!(reasons(&[("a.md", &excepted)], "refund exceptions"), []);
}
