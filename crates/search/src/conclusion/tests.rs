use super::*;
use crate::query::dictionary::Dictionary;
use crate::query::terms::Intent;
use crate::stages::scope::SearchScope;
use crate::stages::{StagePlan, run_stages};
use crate::test_corpus::{
    DICTIONARY, candidate, manual, outcome_at_home, place, plan, query, query_for, vault,
};

fn concluded(views: &[View], question: &str, target: Target) -> Conclusion {
    let scope = SearchScope::Everything;
    let dictionary: Option<&Dictionary> = (target == Target::Manual).then_some(&DICTIONARY);
    let outcome = run_stages(&StagePlan { dictionary, ..plan(views, &scope) }, query(question));
    conclude(&Evidence { views, outcome: &outcome, target })
}

fn of_manual(files: &[(&str, &str)], question: &str) -> Conclusion {
    concluded(&[manual("m", files)], question, Target::Manual)
}

/// The status, and the number of gaps and conflicts.
fn shown(conclusion: &Conclusion) -> (IntegrationStatus, usize, usize) {
    (conclusion.status, conclusion.gaps.hints.len(), conclusion.contradictions.conflicts.len())
}

const ONE: (&str, &str) = ("a.md", "# A\nthe refund window of a gift card is 14 days\n");
const OTHER: (&str, &str) = ("b.md", "# B\nthe refund window of a gift card is 30 days\n");

#[test]
fn the_status_follows_from_candidates_gaps_conflicts_and_sufficiency() {
    let status = |files: &[(&str, &str)], question: &str| shown(&of_manual(files, question));
    assert_eq!(status(&[ONE], "zzyzxq"), (IntegrationStatus::Blocked, 1, 0));
    assert_eq!(status(&[ONE], "refund window"), (IntegrationStatus::Ready, 0, 0));
    assert_eq!(status(&[ONE], "refund zzyzxq"), (IntegrationStatus::NeedsFollowup, 1, 0));
    assert_eq!(status(&[ONE, OTHER], "refund window"), (IntegrationStatus::NeedsFollowup, 0, 1));
}

#[test]
fn a_find_is_ready_from_the_minimum_of_sufficiency_on_without_a_conflict_among_the_best_five() {
    let text = |number: usize| match number {
        0 => "# Refund window of a gift card\nthe refund window of a gift card is printed on it\n".to_owned(),
        _ => format!("# {number}\nthe refund window of some card\n"),
    };
    let mut files: Vec<(String, String)> =
        (0..5).map(|number| (format!("a{number}.md"), text(number))).collect();
    let shoes =
        |days: usize| format!("# S\na refund of these leather shoes takes {days} days by post, as a rule\n");
    files.push(("y.md".to_owned(), shoes(14)));
    files.push(("z.md".to_owned(), shoes(30)));
    let concluded = |files: &[(String, String)]| {
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let conclusion = of_manual(&files, "refund window of a gift card");
        assert_eq!(
            conclusion.status == IntegrationStatus::Ready,
            conclusion.sufficiency >= MIN_READY && files.len() > 6,
            "{}",
            conclusion.sufficiency
        );
        (shown(&conclusion).0, shown(&conclusion).2)
    };
    // Behind the best five, a conflict is only reported.
    assert_eq!(concluded(&files), (IntegrationStatus::Ready, 1));
    // With one of its sections among them, it is in the way.
    files.remove(1);
    assert_eq!(concluded(&files), (IntegrationStatus::NeedsFollowup, 1));
}

#[test]
fn what_lies_outside_counts_not_for_the_sufficiency_and_only_keeps_a_find_from_being_blocked() {
    let conclusion = |home: &[(&str, &str)], outside: &[(&str, &str)]| {
        let views = [manual("h", home), manual("o", outside)];
        let outcome = outcome_at_home(&views, "h", "refund window");
        conclude(&Evidence { views: &views, outcome: &outcome, target: Target::Manual })
    };
    let half = ("h.md", "# H\nthe refund\n");
    let lacking = conclusion(&[half], &[ONE]);
    assert_eq!(shown(&lacking), (IntegrationStatus::NeedsFollowup, 1, 0));
    assert_eq!(lacking.gaps.hints, ["no section mentions \"window\""]);
    // A contradiction between the manual and another one is none of the manual.
    assert_eq!(shown(&conclusion(&[ONE], &[OTHER])), (IntegrationStatus::Ready, 0, 0));
    let nothing = conclusion(&[("h.md", "# H\nother\n")], &[ONE]);
    assert_eq!((shown(&nothing).0, nothing.sufficiency), (IntegrationStatus::NeedsFollowup, 0.0));
    let neither = conclusion(&[("h.md", "# H\nother\n")], &[("o.md", "# O\nother\n")]);
    assert_eq!((shown(&neither).0, neither.sufficiency), (IntegrationStatus::Blocked, 0.0));
    // The same text inside is sufficient.
    assert_eq!(conclusion(&[half, ONE], &[]).status, IntegrationStatus::Ready);
}

#[test]
fn notes_need_no_wording_for_an_intent() {
    assert_eq!(query("how to refund").intent, Intent::Procedure);
    let files = [("a.md", "refund\n")];
    let notes = concluded(&[vault(&files)], "how to refund", Target::Vault);
    assert_eq!(shown(&notes), (IntegrationStatus::Ready, 0, 0));
    assert_eq!(of_manual(&files, "how to refund").gaps.hints, ["no section reads like steps to follow"]);
    assert_eq!(query_for("refund", Intent::Procedure).intent, Intent::Procedure);
}

#[test]
fn the_bias_is_the_share_of_the_fullest_file() {
    let views = [manual("m", &[("a.md", "# A\nx\n# B\ny\n# C\nz\n"), ("b.md", "# A\nx\n")])];
    let all = [("a.md", 1), ("a.md", 3), ("b.md", 1), ("a.md", 5)]
        .map(|(path, line)| candidate(place(&views, path, line)));
    let all: Vec<_> = all.iter().collect();
    assert_eq!(
        (file_bias(&views, &all), file_bias(&views, &all[..1]), file_bias(&views, &[])),
        (0.75, 1.0, 0.0)
    );
    let shares = (dominant_file_share(&views, &all), dominant_file_share(&views, &all[2..3]));
    assert_eq!((shares, dominant_file_share(&views, &[])), ((0.75, 0.25), 0.0));
}

#[test]
fn the_passages_of_a_long_section_count_as_one_section_of_its_file() {
    let long = format!("# A\n{}# B\nx\n", "words of any kind\n\n".repeat(500));
    let views = [manual("m", &[("a.md", &long), ("b.md", "# A\nx\n# B\ny\n")])];
    let found = candidate(place(&views, "a.md", 1));
    assert_eq!(dominant_file_share(&views, &[&found]), 0.5);
}
