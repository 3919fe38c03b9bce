use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::stages::{StagePlan, run_stages};
use crate::test_corpus::{as_segments, empty_trace, manual, outcome, plan, query, traced};
use crate::trace::read_ledger::ReadLedger;
use annai_files::FileVersion;
use annai_files::fs::{Unsearchable, UnsearchableReason};
use annai_text::Position;

/// What was covered where every segment was searched.
fn covered(views: &[View], scope: &SearchScope<'_>) -> FileCoverage {
    FileCoverage::of(views, scope, &MatchOutcome::default())
}

fn rev(views: &[View]) -> String {
    covered(views, &SearchScope::Everything).corpus_rev
}

#[test]
fn every_node_is_either_searched_or_unscanned() {
    let text = "# A\nrefund\n# B\nother\n";
    let views = [as_segments(["a.md", "b.md", "c.md"].map(|path| manual("m", &[(path, text)])).into())];
    let scope = SearchScope::Everything;
    let whole = FileCoverage::of(&views, &scope, &outcome(&views, "other").matched);
    assert_eq!((whole.scanned, whole.scanned_nodes, whole.unscanned), (3, 6, 0));
    // Of the second and the third segment nothing was searched.
    let plan = StagePlan { deadline: Instant::now(), ..plan(&views, &scope) };
    let late = run_stages(&plan, query("zzyzxq other"));
    let covered = FileCoverage::of(&views, &scope, &late.matched);
    assert_eq!((covered.scanned, covered.scanned_nodes, covered.unscanned), (1, 2, 2));
    let unscanned = late.unscanned.iter().filter(|part| !part.starts.is_empty());
    assert_eq!(unscanned.map(|part| part.count()).sum::<usize>() + covered.scanned_nodes, 6);
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
            "a.md" => FileGrant::Starts([Position::line_start(3)].into()),
            "b.md" => FileGrant::None,
            _ => FileGrant::All,
        },
        |_, _| true,
    );
    let covered = covered(&views, &scope);
    assert_eq!((covered.scanned, covered.scanned_nodes), (2, 2));
}

#[test]
fn a_long_section_is_one_section_however_many_passages_it_has() {
    let views = [manual("m", &[("a.md", &format!("# A\n{}# B\nx\n", "some words\n\n".repeat(900)))])];
    assert!(views[0].segments[0].nodes.len() > 3);
    assert_eq!(covered(&views, &SearchScope::Everything).scanned_nodes, 2);
}

#[test]
fn the_first_files_that_cannot_be_searched_are_named() {
    let mut views = [manual("m", &[("a.md", "x\n")])];
    let file = |number| Unsearchable { path: format!("{number}.pdf"), reason: UnsearchableReason::Type };
    let picture = Unsearchable { path: "0.PNG".into(), reason: UnsearchableReason::Type };
    views[0].unsearchable = std::iter::once(picture).chain((1..12).map(file)).collect();
    let mut covered = covered(&views, &SearchScope::Everything);
    let stray = Unsearchable { path: "README.md".into(), reason: UnsearchableReason::Stray };
    covered.complete(vec![stray], None);
    let listed: Vec<_> = covered.unsearchable.iter().map(|found| found.file.path.as_str()).collect();
    // Documents come before pictures, which are only counted.
    assert_eq!((listed[0], listed[11], listed[12]), ("1.pdf", "README.md", "0.PNG"));
    let summary = covered.summary(&empty_trace(), 7, None, vec!["a notice".into()]);
    assert_eq!((summary.files_total, summary.unsearchable_files, summary.related), (14, 13, 7));
    let named: Vec<_> = summary.unsearchable.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((named.len(), named[2]), (MAX_NAMED_FILES, "3.pdf"));
    assert_eq!(summary.unsearchable[0].manual_id.as_deref(), Some("m"));
    assert!(!summary.read_ledger && summary.notices == ["a notice"]);
}

#[test]
fn the_version_depends_on_the_texts_and_paths_alone() {
    let (a, b) = (("a.md", "# A\nx\n"), ("b/c.md", "# B\ny\n"));
    let whole = rev(&[manual("m", &[a, b])]);
    assert_eq!(whole.len(), CORPUS_REV_DIGITS);
    assert_eq!(rev(&[manual("m", &[b, a])]), whole, "another order");
    assert_eq!(rev(&[as_segments(vec![manual("m", &[b]), manual("m", &[a])])]), whole, "other segments");
    let n = || manual("n", &[a]);
    assert_eq!(
        rev(&[manual("m", &[a, b]), n()]),
        rev(&[n(), manual("m", &[a, b])]),
        "another order of manuals"
    );
    for (changed, views) in [
        ("a byte", vec![manual("m", &[("a.md", "# A\nz\n"), b])]),
        ("a path", vec![manual("m", &[("a2.md", "# A\nx\n"), b])]),
        ("a folder", vec![manual("m", &[a, ("bc.md", "# B\ny\n")])]),
        ("a file less", vec![manual("m", &[a])]),
        ("a file more", vec![manual("m", &[a, b, ("d.md", "")])]),
        ("the texts swapped", vec![manual("m", &[("a.md", b.1), ("b/c.md", a.1)])]),
        ("another manual", vec![manual("n", &[a, b])]),
    ] {
        assert_ne!(rev(&views), whole, "{changed}");
    }
}

#[test]
fn only_what_was_searched_counts_for_the_version() {
    let (a, b) = (("a.md", "# A\nx\n"), ("b.md", "# B\ny\n"));
    let views = [manual("m", &[a, b])];
    let only_a = |_: &View, file: &crate::index::FileEntry| match file.path.as_str() {
        "a.md" => FileGrant::All,
        _ => FileGrant::None,
    };
    let scope = SearchScope::of(&views, only_a, |_, _| false);
    assert_eq!(covered(&views, &scope).corpus_rev, rev(&[manual("m", &[a])]));
}

/// What may be the case with a file.
#[derive(Debug, Clone, Copy)]
enum State {
    Indexed,
    Changed,
    New,
    Unsearchable,
}

fn any_state() -> impl Strategy<Value = State> {
    prop::sample::select(vec![State::Indexed, State::Changed, State::New, State::Unsearchable])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_file_is_scanned_unscanned_or_unsearchable(
        // The files, each with whether it is in scope; and which of two segments was searched in time.
        files in prop::collection::vec((any_state(), any::<bool>(), any::<bool>()), 1..9),
        skipped in prop::collection::vec(any::<bool>(), 2),
    ) {
        let path = |number: usize| format!("{number}.md");
        let mut parts = [Vec::new(), Vec::new()];
        for (number, (state, is_second, _)) in files.iter().enumerate() {
            if matches!(state, State::Indexed | State::Changed) {
                parts[usize::from(*is_second)].push((path(number), format!("# {number}\nrefund\n")));
            }
        }
        let part = |files: &Vec<(String, String)>| {
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            manual("m", &files)
        };
        let mut view = part(&parts[0]);
        let segments = view.segments.len();
        view.segments.extend(part(&parts[1]).segments);
        for (number, (state, ..)) in files.iter().enumerate() {
            let found = (0..).zip(&view.segments).find_map(|(segment, all)| {
                let mut files = (0..).zip(&all.files);
                files.find(|(_, file)| file.path == path(number)).map(|(file, _)| (segment, file))
            });
            match state {
                State::Indexed => {}
                State::Changed => {
                    view.stale.extend(found);
                    view.pending.push(path(number));
                }
                State::New => view.pending.push(path(number)),
                State::Unsearchable => view
                    .unsearchable
                    .push(Unsearchable { path: path(number), reason: UnsearchableReason::Encoding }),
            }
        }
        let wanted: BTreeSet<String> =
            files.iter().enumerate().filter(|(_, file)| file.2).map(|(number, _)| path(number)).collect();
        let views = [view];
        let grant = |_: &View, file: &crate::index::FileEntry| {
            if wanted.contains(&file.path) { FileGrant::All } else { FileGrant::None }
        };
        let scope = SearchScope::of(&views, grant, |_, path| wanted.contains(path));
        let skipped_segments = (0_u32..).zip(&views[0].segments).map(|(segment, _)| (0, segment));
        let is_skipped =
            |(_, segment): &(u32, u32)| skipped[usize::from(*segment as usize >= segments)];
        let matched = MatchOutcome {
            skipped_segments: skipped_segments.filter(is_skipped).collect(),
            ..MatchOutcome::default()
        };
        let covered = FileCoverage::of(&views, &scope, &matched);
        let summary = covered.summary(&empty_trace(), 0, None, Vec::new());
        prop_assert_eq!(summary.files_total, wanted.len());
        prop_assert_eq!(
            summary.files_total,
            covered.scanned + summary.unscanned_files + summary.unsearchable_files
        );
        let in_scope = files.iter().filter(|(_, _, is_wanted)| *is_wanted);
        let is_scanned = |state: State, is_second: bool| {
            matches!(state, State::Indexed) && !skipped[usize::from(is_second)]
        };
        let scanned = in_scope.filter(|(state, is_second, _)| is_scanned(*state, *is_second)).count();
        prop_assert_eq!(covered.scanned, scanned);
    }

    #[test]
    fn every_candidate_was_handed_out_or_is_unread(
        // The sections of each of three files: whether they contain the term, and their length in lines.
        files in prop::collection::vec(prop::collection::vec((any::<bool>(), 0_usize..4), 1..6), 3),
        reads in prop::collection::vec((0_usize..3, 1_u32..14, 0_u32..8, any::<bool>()), 0..8),
    ) {
        let text = |sections: &Vec<(bool, usize)>| -> String {
            let section = |(has_term, lines): &(bool, usize)| {
                format!("# A\n{}\n{}", if *has_term { "refund" } else { "other" }, "more\n".repeat(*lines))
            };
            sections.iter().map(section).collect()
        };
        let texts: Vec<_> = files.iter().map(text).collect();
        let paths = ["a.md", "b.md", "c.md"];
        let corpus: Vec<_> = paths.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let views = [manual("m", &corpus)];
        let record = traced(&views, &outcome(&views, "refund"));

        let (ledger, now) = (ReadLedger::new(Duration::from_secs(60)), Instant::now());
        let mut lines_read = BTreeSet::new();
        for (file, first, more, is_current) in reads {
            let hashed = if is_current { texts[file].as_str() } else { "an earlier version" };
            let version = FileVersion::new(Some("m"), paths[file], &Sha256::of(hashed.as_bytes()));
            let part = Position::line_start(first)..Position::line_start(first + more + 1);
            ledger.record("t", version, part, now);
            lines_read.extend((first..=first + more).filter(|_| is_current).map(|line| (file, line)));
        }

        let (mut candidates, mut read) = (0, 0);
        for (file, sections) in files.iter().enumerate() {
            let mut start = 1;
            for (has_term, lines) in sections {
                let end = start + 2 + u32::try_from(*lines).unwrap();
                candidates += usize::from(*has_term);
                let is_read = (start..end).all(|line| lines_read.contains(&(file, line)));
                read += usize::from(*has_term && is_read);
                start = end;
            }
        }
        let handed_out = ledger.of("t", now);
        let summary = FileCoverage::default().summary(&record, 0, Some(&handed_out), Vec::new());
        prop_assert_eq!(record.evidence().count(), candidates);
        prop_assert_eq!((summary.handed_out, summary.unread), (read, candidates - read));
        prop_assert!(summary.read_ledger);
        let unknown = FileCoverage::default().summary(&record, 0, None, Vec::new());
        prop_assert_eq!((unknown.handed_out, unknown.unread), (0, candidates));
    }
}
