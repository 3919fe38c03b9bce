use proptest::prelude::*;

use super::*;
use crate::test_corpus::{as_segments, manual, outcome, outcome_at_home, vault};

/// The counts as `(term, sections, files)`, and the number of sections with all terms.
fn counts(views: &[View], question: &str) -> (Vec<(String, usize, usize)>, usize) {
    let found = TermCounts::of(views, question, &outcome(views, question));
    let terms = found.terms.into_iter().map(|count| (count.term, count.sections, count.files)).collect();
    (terms, found.sections_with_all)
}

fn row(term: &str, sections: usize, files: usize) -> (String, usize, usize) {
    (term.to_owned(), sections, files)
}

#[test]
fn each_term_has_the_sections_and_files_that_contain_it() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# Refunds\nA refund takes days.\n# Fees\nA window fee.\n# More\nrefund again\n"),
            ("b.md", "# Window\nNothing.\n"),
        ],
    )];
    let expected = (vec![row("refund", 2, 1), row("window", 2, 2), row("penguin", 0, 0)], 0);
    assert_eq!(counts(&views, "refund window penguin"), expected);
    assert_eq!(counts(&views, "fee window"), (vec![row("fee", 1, 1), row("window", 2, 2)], 1));
}

#[test]
fn the_passages_of_a_long_section_are_one_section() {
    let filler = "filler line\n".repeat(800);
    let views = [manual("m", &[("a.md", &format!("# A\nzebra\n{filler}zebra lion\n{filler}\n"))])];
    assert!(views[0].segments[0].nodes.len() > 2);
    assert_eq!(counts(&views, "zebra lion"), (vec![row("zebra", 1, 1), row("lion", 1, 1)], 1));
}

#[test]
fn terms_count_in_every_spelling_and_are_shown_as_they_are_written() {
    let views = [vault(&[("a.md", "有給\n休暇は20日\n\nThe user_id\n")])];
    assert_eq!(counts(&views, "有給休暇"), (vec![row("有給休暇", 1, 1)], 1));
    let (terms, _) = counts(&views, "ＵＳＥＲ-ID");
    assert_eq!(terms[0], row("ＵＳＥＲ-ID", 1, 1));
    // A whole word comes before a part of a longer one.
    let written = WrittenTerms::new("REPORTS and a Report");
    assert_eq!(written.find("report"), Some("Report"));
    assert_eq!((written.find("repo"), written.find("penguin")), (Some("REPO"), None));
}

#[test]
fn sections_outside_the_manual_are_counted_apart() {
    let views = [manual("m", &[("a.md", "# A\nzebra\n")]), manual("n", &[("b.md", "# B\nzebra lion\n")])];
    let outcome = outcome_at_home(&views, "m", "zebra lion");
    let found = TermCounts::of(&views, "zebra lion", &outcome);
    let rows: Vec<_> =
        found.terms.iter().map(|count| (count.sections, count.files, count.outside_sections)).collect();
    assert_eq!((rows, found.sections_with_all), (vec![(1, 1, Some(1)), (0, 0, Some(1))], 0));
}

#[test]
fn long_terms_are_cut_and_terms_beyond_the_limit_are_not_listed() {
    let views = [manual("m", &[("a.md", "# A\nzebra\n")])];
    let (terms, _) = counts(&views, &"x".repeat(500));
    assert_eq!(terms, [row(&"x".repeat(MAX_TERM_CHARS), 0, 0)]);
    let question: String = (0..60).map(|number| format!("word{} ", "a".repeat(number))).collect();
    assert_eq!(counts(&views, &question).0.len(), 48);
}

#[test]
fn a_question_of_excluded_words_has_no_terms() {
    let views = [manual("m", &[("a.md", "# A\nzebra\n")])];
    assert_eq!(counts(&views, "-zebra"), (Vec::new(), 0));
}

proptest! {
    #[test]
    fn counts_are_those_of_a_plain_look_at_every_section(
        sections in prop::collection::vec(prop::collection::vec(0_usize..4, 0..4), 1..12),
    ) {
        let words = ["zebra", "lion", "tiger", "panda"];
        let text = |section: &Vec<usize>| {
            section.iter().map(|word| words[*word]).collect::<Vec<_>>().join(" ")
        };
        // Two sections in each file, and the files in two segments.
        let files: Vec<(String, String)> = sections
            .chunks(2)
            .enumerate()
            .map(|(number, pair)| (format!("{number:02}.md"), pair.iter().map(|one| format!("# H\n{}\n", text(one))).collect()))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let (one, other) = files.split_at(files.len() / 2);
        let views = match one {
            [] => [manual("m", other)],
            _ => [as_segments(vec![manual("m", one), manual("m", other)])],
        };
        let (terms, with_all) = counts(&views, "zebra lion");
        let has = |section: &Vec<usize>, word: usize| section.contains(&word);
        for (word, (_, sections_with, files_with)) in terms.iter().enumerate() {
            prop_assert_eq!(*sections_with, sections.iter().filter(|section| has(section, word)).count());
            let files = sections.chunks(2).filter(|pair| pair.iter().any(|section| has(section, word)));
            prop_assert_eq!(*files_with, files.count());
        }
        prop_assert_eq!(with_all, sections.iter().filter(|section| has(section, 0) && has(section, 1)).count());
    }
}
