use super::*;
use crate::test_corpus::{candidate, manual, place, vault};

const FILES: &[(&str, &str)] = &[("a.md", "# A\nx\n# B\ny\n"), ("b.md", "# A\nz\n")];

fn sha256(views: &[View], file: usize) -> Option<Sha256> {
    Some(views[0].segments[0].files[file].sha256)
}

#[test]
fn sections_are_grouped_by_file_with_their_lines_in_order() {
    let views = [manual("m", FILES)];
    let at = |path, line| place(&views, path, line);
    let parts = parts_of(&views, &[at("b.md", 1), at("a.md", 3), at("a.md", 1)], SkipReason::CandidateCap);
    let part = |path: &str, file, lines: &[u32]| UnscannedPart {
        sha256: sha256(&views, file),
        starts: lines.iter().copied().map(Position::line_start).collect(),
        ..UnscannedPart::file(Some("m".into()), path.into(), SkipReason::CandidateCap)
    };
    assert_eq!(parts, [part("a.md", 0, &[1, 3]), part("b.md", 1, &[1])]);
    assert_eq!(parts.iter().map(UnscannedPart::count).sum::<usize>(), 3);
}

#[test]
fn files_of_candidates_are_listed_once_and_the_vault_has_no_manual() {
    let views = [vault(&[("a.md", "x\n\ny\n")])];
    let candidate = |node| candidate(NodePlace { view: 0, segment: 0, node });
    let expected = UnscannedPart {
        sha256: sha256(&views, 0),
        ..UnscannedPart::file(None, "a.md".into(), SkipReason::TimeBudget)
    };
    assert_eq!(files_of(&views, &[candidate(0), candidate(1)], SkipReason::TimeBudget), [expected]);
}

#[test]
fn the_names_are_those_of_the_published_schema() {
    for reason in [SkipReason::TimeBudget, SkipReason::CandidateCap, SkipReason::StageCap] {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
    }
}

#[test]
fn the_reason_that_can_be_changed_comes_first() {
    let part = |reason| UnscannedPart::file(None, "a".into(), reason);
    let parts = [part(SkipReason::CandidateCap), part(SkipReason::TimeBudget)];
    assert_eq!(SkipReason::most_important(&parts), Some(SkipReason::TimeBudget));
    assert_eq!(SkipReason::most_important(&[]), None);
}

#[test]
fn a_whole_file_counts_once() {
    let whole = UnscannedPart::file(None, "a".into(), SkipReason::TimeBudget);
    let sections = UnscannedPart { starts: [1, 5, 9].map(Position::line_start).to_vec(), ..whole.clone() };
    assert_eq!((whole.count(), sections.count()), (1, 3));
}
