use super::*;
use crate::test_corpus::{manual, outcome};

/// Why a find of this question in this manual would be widened.
fn reasons(files: &[(&str, &str)], question: &str) -> Vec<EscalationReason> {
    let views = [manual("m", files)];
    triggers(&views, &outcome(&views, question), Thresholds { candidate_low: 3, file_bias: 0.8 })
}

#[test]
fn few_candidates_bias_and_missing_exceptions_widen_a_find() {
    let text = |count: usize| "# A\nrefund\n".repeat(count);
    let (one, three, five) = (text(1), text(3), text(5));
    assert_eq!(reasons(&[("a.md", &one)], "zzyzxq"), [EscalationReason::ZeroCandidates]);
    assert_eq!(reasons(&[("a.md", &one)], "refund"), [EscalationReason::LowCandidates]);
    assert_eq!(reasons(&[("a.md", &three)], "refund"), []);
    // A bias is judged from five candidates on, and four of five are one.
    let rest = "# C\nother\n".repeat(9);
    let (four, rest) = (text(4), ("z.md", rest.as_str()));
    assert_eq!(reasons(&[("a.md", &five), rest], "refund"), [EscalationReason::FileBias]);
    assert_eq!(reasons(&[("a.md", &four), ("b.md", &one), rest], "refund"), [EscalationReason::FileBias]);
    assert_eq!(reasons(&[("a.md", &four), rest], "refund"), []);
    assert_eq!(reasons(&[("a.md", &three), ("b.md", &three)], "refund"), []);
    assert_eq!(reasons(&[("a.md", &three)], "refund exceptions"), [EscalationReason::ExceptionsMissing]);
    let excepted = format!("{three}# B\nrefund not covered\n");
    assert_eq!(reasons(&[("a.md", &excepted)], "refund exceptions"), []);
}

#[test]
fn a_file_with_half_of_the_searched_sections_is_no_bias() {
    let (refund, other) = ("# A\nrefund\n".repeat(6), |count: usize| "# C\nother\n".repeat(count));
    assert_eq!(reasons(&[("a.md", &refund)], "refund"), []);
    assert_eq!(reasons(&[("a.md", &refund), ("b.md", &other(6))], "refund"), []);
    assert_eq!(reasons(&[("a.md", &refund), ("b.md", &other(7))], "refund"), [EscalationReason::FileBias]);
}

#[test]
fn sections_with_a_part_of_a_term_are_not_candidates_and_do_not_stop_the_widening() {
    let parts = "# 一\n入院給付金を支払う\n".repeat(8);
    assert_eq!(reasons(&[("a.md", &parts)], "通院給付金"), [EscalationReason::ZeroCandidates]);
}
