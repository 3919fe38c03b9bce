#![expect(clippy::disallowed_methods, reason = "a file that was searched is changed")]

use super::*;
use crate::find::manual_find::find;
use crate::test_corpus::{TestLibrary, request};
use annai_core::cancellation::Cancellation;

const TEXT: &str = "# Rules\n\nIntro line.\n\n## Refund window\n\nFirst line.\nThe refund window is 14 days.\nAfter it.\n\n\
    Last line.\n## Only refund\n## Long\n";

/// The excerpts of the sections that a question finds, by their titles.
fn excerpts(library: &TestLibrary, question: &str, max_chars: usize) -> Vec<(String, Vec<(u64, String)>)> {
    let context = library.context();
    let report = find(&context, &request(question), &Cancellation::default()).unwrap();
    let mut excerpts = SectionExcerpts::new(context, &report.record, max_chars).unwrap().unwrap();
    let best = report.record.best().map(|found| {
        let lines = excerpts.excerpt(found, found.best_line.into()).into_iter();
        let title = report.record.heading_path(found).pop().unwrap();
        (title, lines.map(|line| (line.line, line.text)).collect())
    });
    best.collect()
}

/// The excerpt of the section with a title.
fn excerpt_of(library: &TestLibrary, question: &str, title: &str, max_chars: usize) -> Vec<(u64, String)> {
    let found = excerpts(library, question, max_chars).into_iter().find(|(found, _)| found == title);
    found.unwrap_or_else(|| panic!("{title} is not found")).1
}

fn line(number: u64, text: &str) -> (u64, String) {
    (number, text.to_owned())
}

#[test]
fn the_best_line_comes_with_its_neighbours_and_without_the_heading() {
    let library = TestLibrary::new(&[("m/a.md", TEXT)]);
    let excerpt = |max_chars| excerpt_of(&library, "refund window days", "Refund window", max_chars);
    let best = line(8, "The refund window is 14 days.");
    assert_eq!(excerpt(30), std::slice::from_ref(&best));
    assert_eq!(excerpt(40), [best.clone(), line(9, "After it.")]);
    assert_eq!(excerpt(49), [line(7, "First line."), best.clone(), line(9, "After it.")]);
    let all = [line(7, "First line."), best, line(9, "After it."), line(11, "Last line.")];
    assert_eq!(excerpt(1000), all);
    // A line that is longer than the limit is cut.
    let cut = excerpt(12);
    assert_eq!(cut, [line(8, "… refund …")]);
    // A heading without text has nothing to show.
    assert_eq!(excerpt_of(&library, "refund", "Only refund", 240), []);
}

#[test]
fn a_section_that_matches_by_its_heading_begins_with_its_first_line() {
    let library = TestLibrary::new(&[
        ("m/a.md", "# Refund\n\nFourteen.\nMore.\n"),
        ("m/b.md", "Refund\n======\n\nUnder.\n"),
    ]);
    assert_eq!(
        excerpts(&library, "refund", 240).into_iter().map(|(_, lines)| lines).collect::<Vec<_>>(),
        [vec![line(3, "Fourteen."), line(4, "More.")], vec![line(4, "Under.")],]
    );
}

#[test]
fn a_long_line_is_cut_around_the_match() {
    let text = format!("# A\n{} refund window {}\n", "x ".repeat(500), "y ".repeat(500));
    let library = TestLibrary::new(&[("m/a.md", &text)]);
    let lines = excerpt_of(&library, "refund window", "A", 100);
    let [(2, shown)] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(shown.contains("refund window") && shown.chars().count() <= 100, "{shown}");
    assert!(text.contains(shown.trim_matches('…')) && shown.starts_with('…') && shown.ends_with('…'));
}

#[test]
fn passages_html_and_json_have_excerpts_of_their_own_lines() {
    let long: String = (0..3000).map(|number| format!("word{number} ")).collect();
    let long = format!("# A\n{long} refund {long}\n");
    let page = "<html><body><h1>Refund</h1><p>Within</p>\n<p>fourteen refund days</p></body></html>\n";
    let library =
        TestLibrary::new(&[("m/a.md", &long), ("m/b.html", page), ("m/c.json", "{\n \"refund\": 14\n}\n")]);
    let found = excerpts(&library, "refund", 200);
    let mut titles: Vec<_> = found.iter().map(|(title, _)| title.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["A", "Refund", "c.json"]);
    for (title, lines) in found {
        let shown: Vec<_> = lines.iter().map(|(number, text)| (*number, text.as_str())).collect();
        match title.as_str() {
            "A" => {
                assert!(lines.len() == 1 && lines[0].0 == 2 && lines[0].1.contains("refund"), "{lines:?}");
                assert!(long.contains(lines[0].1.trim_matches('…')), "{lines:?}");
            }
            "Refund" => assert_eq!(shown, [(1, "Within"), (2, "fourteen refund days")]),
            _ => assert!(shown.contains(&(2, " \"refund\": 14")), "{shown:?}"),
        }
    }
}

#[test]
fn a_file_that_has_changed_since_has_no_excerpt() {
    let library = TestLibrary::new(&[("m/a.md", TEXT), ("m/b.md", "# B\nThe refund.\n")]);
    let context = library.context();
    let report = find(&context, &request("refund"), &Cancellation::default()).unwrap();
    let folder = context.manuals.get("m").unwrap().folder().to_owned();
    std::fs::write(folder.join("a.md"), TEXT.replace("14", "30")).unwrap();
    std::fs::remove_file(folder.join("b.md")).unwrap();
    let mut excerpts = SectionExcerpts::new(context, &report.record, 240).unwrap().unwrap();
    assert!(report.record.best().count() > 1);
    assert!(report.record.best().all(|found| excerpts.excerpt(found, found.best_line.into()).is_empty()));
}

#[test]
fn no_excerpts_are_made_for_no_characters() {
    let library = TestLibrary::new(&[("m/a.md", TEXT)]);
    let report = find(&library.context(), &request("refund"), &Cancellation::default()).unwrap();
    assert!(SectionExcerpts::new(library.context(), &report.record, 0).unwrap().is_none());
}

#[test]
fn an_excerpt_has_never_more_characters_than_asked_for() {
    let lines: Vec<(usize, String)> =
        (0..200).map(|number| (number + 1, "あ".repeat(number % 37 + 1))).collect();
    let lines: Vec<(usize, &str)> = lines.iter().map(|(number, text)| (*number, text.as_str())).collect();
    for max_chars in 1..300 {
        for best in [0, 5, 36, 100, 199] {
            let shown = window(&lines, best, 0, max_chars);
            let chars: usize = shown.iter().map(|line| line.text.chars().count()).sum();
            assert!(
                chars <= max_chars && (1..=MAX_LINES).contains(&shown.len()),
                "{max_chars} {best} {shown:?}"
            );
            assert!(shown.iter().any(|line| line.line == best as u64 + 1));
            assert!(shown.windows(2).all(|two| two[0].line + 1 == two[1].line));
        }
    }
}
