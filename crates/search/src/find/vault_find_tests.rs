use std::time::Duration;

use annai_core::Principal;

use super::*;
use crate::find::request::SearchBudget;
use crate::query::wordings::OtherWords;
use crate::test_corpus::{TestLibrary, candidate, place, plan, query, vault};
use annai_files::FileFilter;

fn candidates(views: &[View], places: &[(&str, u32)]) -> Vec<Candidate> {
    places.iter().map(|(path, line)| candidate(place(views, path, *line))).collect()
}

fn gaps(views: &[View], places: &[(&str, u32)]) -> usize {
    gap_ranges(views, &candidates(views, places).iter().collect::<Vec<_>>())
}

#[test]
fn gaps_are_the_line_ranges_without_a_candidate() {
    let text = "one\n\ntwo\n\nthree\n\nfour\n";
    let views = [vault(&[("a.md", text), ("b.md", text)])];
    for (places, expected) in [
        (&[("a.md", 1), ("a.md", 3), ("a.md", 5), ("a.md", 7)][..], 0),
        (&[("a.md", 1)], 1),
        (&[("a.md", 3)], 2),
        (&[("a.md", 1), ("a.md", 7)], 1),
        (&[("a.md", 7), ("a.md", 1), ("b.md", 5)], 3),
        (&[], 0),
    ] {
        assert_eq!(gaps(&views, places), expected, "{places:?}");
    }
    // A heading begins a paragraph without a blank line before it.
    let views = [vault(&[("a.md", "intro\n# Title\ntext\n")])];
    assert_eq!(gaps(&views, &[("a.md", 2)]), 1);
}

#[test]
fn the_dominant_file_has_the_most_candidates() {
    let views = [vault(&[("a.md", "x\n"), ("b.md", "x\n\ny\n")])];
    let found = candidates(&views, &[("a.md", 1), ("b.md", 1), ("b.md", 3)]);
    assert_eq!(dominant_file(&views, &found.iter().collect::<Vec<_>>()).as_deref(), Some("b.md"));
    assert_eq!(dominant_file(&views, &[]), None);
}

#[test]
fn the_likeliest_file_has_the_most_keys_of_the_question_and_is_never_a_daily_one() {
    let views = [vault(&[
        ("a.md", "返金の窓口\n"),
        ("Artifacts/Daily/2026-01-01.md", "返品の期限\n"),
        ("Artifacts/plan.md", "a plan\n"),
        ("b.md", "返品の窓口\n"),
        ("c.md", "a much longer text about other things\n"),
    ])];
    let likeliest = |question: &str, scope: &SearchScope<'_>| {
        let plan = StagePlan { dictionary: None, ..plan(&views, scope) };
        likeliest_file(&views, scope, &run_stages(&plan, query(question)))
    };
    let all = SearchScope::Everything;
    assert_eq!(likeliest("返品の期限", &all).as_deref(), Some("b.md"));
    assert_eq!(likeliest("zzyzxq", &all).as_deref(), Some("a.md"), "neither an artifact nor the longest");
    let without = SearchScope::of(
        &views,
        |_, file| if file.path == "b.md" { FileGrant::None } else { FileGrant::All },
        |_, _| false,
    );
    assert_eq!(likeliest("返品の期限", &without).as_deref(), Some("a.md"));
}

fn found(files: &[(&str, &str)], question: &str) -> VaultFindReport {
    let library = TestLibrary::new(files);
    let request = VaultFindRequest {
        query: question.into(),
        other_words: OtherWords::default(),
        files: FileFilter::new(None, None, "glob").unwrap(),
        goal: None,
        is_fresh: false,
        budget: SearchBudget { max_candidates: None, time: Duration::from_secs(60) },
        owner: Principal::Owner,
    };
    find_in_vault(&library.context(), &request, &Cancellation::default()).unwrap()
}

#[test]
fn a_paragraph_has_the_headings_above_it() {
    let text = "# Top\n\nIntro.\n\n## Middle\n\nWords.\n\n### Deep\n\nA zebra sleeps.\n\nA zebra eats.\n\n## Next\nA zebra.\n";
    let VaultFindReport { record, .. } = found(&[("a.md", text)], "zebra");
    let paths: Vec<_> = record.matches.iter().map(|found| record.heading_path(found).join(" > ")).collect();
    assert_eq!(paths, ["Top > Middle > Deep", "Top > Middle > Deep", "Top > Next"]);
}

#[test]
fn paragraphs_with_a_part_of_a_term_do_not_count_for_the_bias_and_the_gaps() {
    let (whole, part) = ("通院給付金を支払う\n\n".repeat(5), "入院給付金を支払う\n\n".repeat(20));
    let report = found(&[("a.md", &whole), ("b.md", &part)], "通院給付金");
    let VaultFindReport { summary, record, .. } = &report;
    assert_eq!((summary.candidates, summary.coverage.related, summary.file_bias_ratio), (5, 20, 1.0));
    assert_eq!(summary.gap_ranges_count, Some(0), "the other file has no candidate");
    let params = record.follow_up.params.as_ref().unwrap();
    assert_eq!((record.follow_up.kind, &params["scope"]["glob"]), ("vault_find", &"!a.md".into()));
}

#[test]
fn every_file_is_a_gap_when_nothing_is_found() {
    let summary = found(&[("a.md", "one\n"), ("b.md", "two\n")], "zebra").summary;
    assert_eq!((summary.candidates, summary.gap_ranges_count), (0, Some(2)));
}

#[test]
fn every_matching_paragraph_counts_for_the_gaps() {
    let report = found(&[("a.md", &"a refund\n\n".repeat(450))], "refund");
    let summary = &report.summary;
    assert_eq!((summary.candidates, summary.gap_ranges_count, summary.coverage.unread), (450, Some(0), 450));
    assert_eq!(report.next_actions[0].kind, "vault_read");
}
