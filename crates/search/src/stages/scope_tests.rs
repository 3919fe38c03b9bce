use super::*;
use crate::matching::candidate::MatchKind;
use crate::test_corpus::{all_places, manual, shown, trace_of};
use crate::trace::unscanned::{SkipReason, UnscannedPart};

const FILES: &[(&str, &str)] =
    &[("a.md", "# A\nx\n# B\ny\n# C\nz\n"), ("b.md", "# A\nx\n# B\ny\n"), ("c.md", "# A\nx\n")];

fn record(unscanned: Vec<UnscannedPart>, found: &[(&str, u32)]) -> TraceRecord {
    let mut record = trace_of(&vec![(1.0, MatchKind::Exact); found.len()]);
    for ((file, found), (path, line)) in record.files.iter_mut().zip(&mut record.matches).zip(found) {
        file.path = (*path).to_owned();
        found.span.start = Position::line_start(*line);
    }
    TraceRecord { unscanned, ..record }
}

/// The sections of a file of the manual `m` that start on these lines; all of it where there are none.
fn part(views: &[View], path: &str, lines: &[u32]) -> UnscannedPart {
    let files = views.iter().flat_map(|view| &view.segments).flat_map(|segment| &segment.files);
    let sha256 = files.into_iter().find(|file| file.path == path).map(|file| file.sha256);
    let whole = UnscannedPart::file(Some("m".into()), path.into(), SkipReason::CandidateCap);
    UnscannedPart { sha256, starts: lines.iter().copied().map(Position::line_start).collect(), ..whole }
}

/// The nodes that a scope allows.
fn allowed(scope: &SearchScope<'_>, views: &[View]) -> Vec<String> {
    let places = all_places(views).into_iter().filter(|place| scope.allows(views, *place));
    places.map(|place| shown(views, place)).collect()
}

#[test]
fn everything_is_allowed_without_a_limit() {
    let views = [manual("m", FILES)];
    let scope = SearchScope::Everything;
    assert_eq!(allowed(&scope, &views), ["a.md:1", "a.md:3", "a.md:5", "b.md:1", "b.md:3", "c.md:1"]);
    assert!(scope.reaches("m", "new.md"));
    assert_eq!(scope.grant(7, 7, 7), &FileGrant::All);
}

#[test]
fn files_are_granted_whole_by_line_or_not_at_all() {
    let views = [manual("m", FILES)];
    let grant = |_: &View, file: &FileEntry| match file.path.as_str() {
        "a.md" => FileGrant::Starts([Position::line_start(3)].into()),
        "b.md" => FileGrant::All,
        _ => FileGrant::None,
    };
    let scope = SearchScope::of(&views, grant, |name, path| (name, path) == ("m", "new.md"));
    assert_eq!(allowed(&scope, &views), ["a.md:3", "b.md:1", "b.md:3"]);
    assert!(scope.reaches("m", "new.md") && !scope.reaches("n", "new.md"));
    // What is not there is not granted.
    assert_eq!(scope.grant(0, 0, 9), &FileGrant::None);
    assert!(!scope.allows(&views, NodePlace { view: 1, segment: 0, node: 0 }));
}

#[test]
fn what_an_earlier_find_left_out_is_allowed_and_nothing_else() {
    let views = [manual("m", FILES), manual("n", &[("a.md", "# A\nx\n")])];
    let earlier =
        record(vec![part(&views, "a.md", &[1]), part(&views, "a.md", &[5]), part(&views, "c.md", &[])], &[]);
    let scope = SearchScope::left_out_of(&earlier, &views);
    // The file of the same name in the other manual was not left out.
    assert_eq!(allowed(&scope, &views), ["a.md:1", "a.md:5", "c.md:1"]);
    assert!(scope.reaches("m", "c.md") && !scope.reaches("m", "b.md") && !scope.reaches("n", "c.md"));
}

#[test]
fn a_file_that_changed_since_is_allowed_as_a_whole() {
    let before = [manual("m", FILES)];
    let earlier = record(vec![part(&before, "a.md", &[5]), part(&before, "b.md", &[3])], &[]);
    let now = [manual("m", &[("a.md", "# A\nx\n# B\nchanged\n"), FILES[1]])];
    assert_eq!(allowed(&SearchScope::left_out_of(&earlier, &now), &now), ["a.md:1", "a.md:3", "b.md:3"]);
}
