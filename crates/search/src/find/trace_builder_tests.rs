use std::sync::Arc;

use super::*;
use crate::reference::{Ref, Target};
use crate::test_corpus::{empty_trace, manual, outcome, place, traced, vault};
use crate::trace::TraceRecord;

/// The trace of what a question finds.
fn trace(views: &[View], question: &str) -> TraceRecord {
    traced(views, &outcome(views, question))
}

/// Matches as `path:line` of their refs.
fn places<'a>(record: &TraceRecord, matches: impl Iterator<Item = &'a TraceMatch>) -> Vec<String> {
    let refs = matches.map(|found| record.ref_of(found).unwrap());
    refs.map(|place| format!("{}:{}", place.path, place.start_line.unwrap())).collect()
}

#[test]
fn matches_are_in_document_order_and_the_best_in_rank_order() {
    let files =
        [("b.md", "# Refund\nrefund refund\n"), ("a.md", "# A\nof a refund\n# B\nor refund, and more\n")];
    let record = trace(&[manual("m", &files)], "refund");
    assert_eq!(places(&record, record.matches.iter()), ["a.md:1", "a.md:3", "b.md:1"]);
    assert_eq!(places(&record, record.best()), ["b.md:1", "a.md:1", "a.md:3"]);
    assert!(record.best().is_sorted_by(|one, other| one.score >= other.score));
    assert_eq!(record.unscanned_count(), 0);
    assert_eq!(record.evidence().count(), 3);
}

#[test]
fn every_match_is_kept_and_the_best_line_of_the_best_twenty_is_known() {
    let text = "# A\nsome words\nrefund\n".repeat(450);
    let record = trace(&[manual("m", &[("a.md", &text)])], "refund");
    assert_eq!((record.matches.len(), record.files.len()), (450, 1));
    assert_eq!(record.best().filter(|found| found.best_line > 0).count(), MAX_TOP);
    assert!(record.best().take(MAX_TOP).all(|found| found.best_line == found.span.start.line + 2));
    assert!(record.matches.is_sorted_by_key(|found| found.span.start));
}

#[test]
fn a_ref_says_what_manual_read_needs() {
    let views = [manual("m", &[("a.md", "intro\n# Refunds\n## Refund Window\n14 days\n")])];
    let record = trace(&views, "window");
    let sha256 = views[0].segments[0].files[0].sha256.to_string();
    let expected = Ref {
        title: Some("Refund Window".into()),
        heading_path: Some(vec!["Refunds".into(), "Refund Window".into()]),
        signals: Some(vec!["heading".into(), "normalized".into()]),
        rev: Some(sha256[..12].to_owned()),
        ..Ref::new(Target::Manual, Some("m".into()), "a.md".into(), Some(3))
    };
    let refs: Vec<_> = record.matches.iter().filter_map(|found| record.ref_of(found)).collect();
    assert_eq!(refs, [expected]);
    assert_eq!(record.node_id(&record.matches[0]), "m/a.md#L3");
}

#[test]
fn json_and_paragraphs_are_pointed_at_by_the_line_of_the_match() {
    let views = [manual("m", &[("a.json", "{\n \"a\": 1,\n \"b\": \"refund\"\n}\n")])];
    let record = trace(&views, "refund");
    assert_eq!(places(&record, record.matches.iter()), ["a.json:3"]);
    assert!(record.files[0].is_json);
    let views = [vault(&[("n.md", "first\n\nsecond line\nwith a re-fund\n")])];
    let record = TraceRecord { target: Target::Vault, ..trace(&views, "refund") };
    assert_eq!(places(&record, record.matches.iter()), ["n.md:4"]);
    let found = &record.matches[0];
    assert_eq!(record.ref_of(found).unwrap().manual_id, None);
    assert_eq!((record.node_id(found), record.files[0].is_json), ("n.md#L3".to_owned(), false));
}

#[test]
fn both_sides_of_a_conflict_name_each_other() {
    let views =
        [manual("m", &[("a.md", "# A\nrefund\n"), ("b.md", "# B\nrefund\n"), ("c.md", "# C\nrefund\n")])];
    let at = |path| place(&views, path, 1);
    let conflict = |one, other, about: &str| Conflict {
        one: at(one),
        other: at(other),
        about: about.into(),
        sentences: Default::default(),
    };
    let conflicts = vec![conflict("a.md", "b.md", "x: 1 / 2"), conflict("a.md", "c.md", "x: 1 / 3")];
    let contradictions = Contradictions { conflicts, ..Contradictions::default() };
    let TraceMatches { files, headings, matches, ranked, conflicts, .. } =
        trace_matches(&views, &outcome(&views, "refund"), &contradictions);
    let record = TraceRecord { files, headings, matches, ranked, conflicts, ..empty_trace() };
    let against: Vec<_> =
        record.matches.iter().map(|found| record.conflicting_ids(found).join(" ")).collect();
    assert_eq!(against, ["m/b.md#L1 m/c.md#L1", "m/a.md#L1", "m/a.md#L1"]);
    let listed: Vec<_> =
        record.conflicts.iter().map(|pair| (pair.one, pair.other, pair.about.as_str())).collect();
    assert_eq!(listed, [(0, 1, "x: 1 / 2"), (0, 2, "x: 1 / 3")]);
}

#[test]
fn a_passage_has_the_heading_of_its_section_and_a_span_of_its_own() {
    let long = format!("# Top\n## Long\n{}a refund at last\n## Next\nx\n", "some words\n\n".repeat(900));
    let views = [manual("m", &[("a.md", &long)])];
    let record = trace(&views, "refund");
    let [found] = record.matches.as_slice() else { panic!("one match") };
    assert_eq!(record.heading_path(found), ["Top", "Long"]);
    let line = u32::try_from(long.lines().position(|line| line == "a refund at last").unwrap() + 1).unwrap();
    assert!(found.span.start.line > 3 && found.span.end == Position::line_start(line + 1));
    assert_eq!((found.best_line, found.fits_one_read), (line, false));
    assert_eq!(
        record.ref_of(found).unwrap().start_line,
        Some(line.into()),
        "where a snippet shows the match"
    );
}

#[test]
fn a_passage_inside_a_long_line_is_named_by_its_character() {
    let text = format!("# A\n{}refund {}\n", "word ".repeat(1000), "more ".repeat(1000));
    let record = trace(&[manual("m", &[("a.md", &text)])], "refund");
    let [found] = record.matches.as_slice() else { panic!("one match") };
    let place = record.ref_of(found).unwrap();
    assert_eq!((place.start_line, place.char), (Some(2), Some(found.span.start.char.into())));
    let part = found.span.start.char as usize..found.span.end.char as usize;
    assert_eq!(found.span.end.line, 2);
    assert!(text.lines().nth(1).unwrap()[part].contains("refund"));
}

#[test]
fn a_section_that_fits_is_read_with_its_subsections() {
    let fits = |text: &str| trace(&[manual("m", &[("a.md", text)])], "refund").matches[0].fits_one_read;
    let below = |count: usize| format!("# Refund\nx\n{}", "## B\nother words\n".repeat(count));
    assert!(fits(&below(10)));
    assert!(!fits(&below(1000)));
}

#[test]
fn the_memory_estimate_grows_with_the_matches() {
    let record = trace(&[manual("m", &[("a.md", "# Heading\nrefund\n")])], "refund");
    let bytes = |count: usize| {
        let matches = vec![record.matches[0].clone(); count];
        TraceRecord { matches, ..record.clone() }.estimated_bytes()
    };
    let (few, many) = (bytes(10), bytes(400));
    assert!(many - few >= 390 * size_of::<TraceMatch>(), "{few} {many}");
    let headings = vec![record.headings[0].clone(); 100];
    let with_headings = TraceRecord { headings, ..record.clone() };
    assert!(with_headings.estimated_bytes() >= record.estimated_bytes() + 99 * "Heading".len());
    // What else can be large counts too.
    let empty = empty_trace();
    let base = empty.estimated_bytes();
    let mut pointers = trace(&[manual("m", &[("a.json", "\"refund\"")])], "refund");
    let before = pointers.estimated_bytes();
    pointers.matches[0].json_path = Some("/a".repeat(500).into());
    assert!(pointers.estimated_bytes() >= before + 1000);
    let long = TraceRecord { question: "x".repeat(1000), gaps: vec!["y".repeat(1000)], ..empty };
    assert!(long.estimated_bytes() >= base + 2000);
    assert!(Arc::new(long).estimated_bytes() < base + 3000);
}

#[test]
fn what_one_read_returns_is_measured_with_markup_and_with_the_next_page() {
    let fits = |text: &str| -> Vec<bool> {
        let record = trace(&[manual("m", &[("a.md", text)])], "refund");
        record.matches.iter().map(|found| found.fits_one_read).collect()
    };
    let link = format!("[refund](https://example.com/{})\n", "x".repeat(470));
    assert_eq!(fits(&format!("# A\n{}", link.repeat(7))), [true]);
    let sections =
        format!("# A\nrefund\n## B\n{}## C\n{}## D\n{}", link.repeat(6), link.repeat(6), link.repeat(6));
    assert_eq!(fits(&sections), [false, true, true, true]);
    let page = |number: usize| format!("# page{number}\nrefund\n{}\n", "語".repeat(1400));
    assert_eq!(fits(&[page(1), page(2), page(3)].concat()), [false, false, true]);
    let page = |number: usize| format!("# page{number}\nrefund\n{}\n", "語".repeat(1200));
    assert_eq!(fits(&[page(1), page(2), page(3)].concat()), [true, true, true]);
}
