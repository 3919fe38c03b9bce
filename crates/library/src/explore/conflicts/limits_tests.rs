use std::collections::HashSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::dictionary::{Dictionary, WordList};
use super::super::test_corpus::{manual, query};
use super::tests::of_views;
use super::*;

fn as_files(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

/// Sections that all state another value.
fn sections(count: usize) -> Vec<(String, String)> {
    let text = |days: usize| format!("# Alpha\nThe refund window of a gift card is {days} days.\n");
    let name = |number: usize| char::from(b'a' + number as u8).to_string();
    (0..count).map(|number| (format!("{0}{0}.md", name(number)), text(10 + 5 * number))).collect()
}

#[test]
fn the_number_of_conflicts_is_limited_and_said_to_be() {
    for (count, reported, is_limited) in [(6, 15, false), (7, MAX_REPORTED, true), (12, MAX_REPORTED, true)] {
        let files = sections(count);
        let found = of_views(&[manual("m", &as_files(&files))], &query("refund"));
        assert_eq!((found.conflicts.len(), found.is_limited), (reported, is_limited), "{count}");
        let pairs: HashSet<_> =
            found.conflicts.iter().map(|conflict| (conflict.one, conflict.other)).collect();
        assert_eq!(pairs.len(), reported, "each pair is reported once");
    }
}

#[test]
fn quotes_name_the_lines_of_the_file() {
    let files = [
        (
            "a.md",
            "# Alpha\n\nIntro text.\n\nSome words first. The refund window\nof a gift card is 14\ndays.\n",
        ),
        (
            "b.md",
            "---\ntitle: x\n---\n\n# Omega\n\n- other item\n- The refund window of a gift card\n  is 30 days.\n",
        ),
        (
            "c.md",
            "# Gamma\n\n| Rule | Value |\n|---|---|\n| Other | 5 MB |\n| Refund window of a gift card | 60 days |\n",
        ),
    ];
    let found = of_views(&[manual("m", &files)], &query("refund window"));
    let quotes: Vec<_> = found.conflicts.iter().flat_map(|conflict| &conflict.sentences).collect();
    let quote = |text: &str, first_line, last_line| Quote { text: text.to_owned(), first_line, last_line };
    let prose = quote("the refund window of a gift card is 14 days.", 5, 7);
    let item = quote("the refund window of a gift card is 30 days.", 8, 9);
    let cell = quote("refund window of a gift card, value: 60 days", 6, 6);
    assert_eq!(quotes, [&prose, &item, &prose, &cell, &item, &cell], "{found:?}");
}

/// A table of 1,000 rows whose values differ by this many days.
fn table(title: &str, more: usize) -> String {
    let rows: String =
        (0..1000).map(|row| format!("| part {} | {} days |\n", name(row), 10 + row + more)).collect();
    format!("# {title}\n\n| Part | Refund window |\n|---|---|\n{rows}")
}

/// A name of letters for a number.
fn name(number: usize) -> String {
    let letter = |digit: usize| char::from(b'a' + (digit % 10) as u8);
    ["q", "w", "z"]
        .iter()
        .zip([number / 100, number / 10, number])
        .fold(String::new(), |name, (mark, digit)| name + mark + &letter(digit).to_string())
        + "mo"
}

#[test]
fn of_two_tables_of_1000_rows_the_row_that_is_asked_for_is_compared() {
    let files = [("a.md", table("Alpha", 0)), ("b.md", table("Omega", 500))];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let views = [manual("m", &files)];
    let start = Instant::now();
    for row in [3, 457, 998] {
        let found = of_views(&views, &query(&format!("refund window of part {}", name(row))));
        assert!(found.conflicts.len() <= MAX_REPORTED);
        let quotes =
            |conflict: &Conflict| conflict.sentences.iter().all(|quote| quote.text.contains(&name(row)));
        let asked: Vec<_> = found.conflicts.iter().filter(|conflict| quotes(conflict)).collect();
        assert_eq!(asked.len(), 1, "{row}: {:?}", found.conflicts);
        assert!(asked[0].about.ends_with(&format!("{} days / {} days", 10 + row, 510 + row)), "{asked:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn synonyms_that_make_everything_alike_do_no_harm() {
    let words: Vec<String> = (0..300).map(name).collect();
    let list = format!("synonyms:\n  - [{}]\n", words.join(", "));
    let dictionary = Dictionary::new(&[WordList::read(&list).unwrap()]);
    let files: Vec<_> = (0..40)
        .map(|number| {
            let all = words.iter().map(|word| format!("The {word} of a gift card is {number} days.\n\n"));
            (format!("{}.md", name(number)), format!("# Alpha\n{}", all.collect::<String>()))
        })
        .collect();
    let query = Query::new(&format!("{} of a gift card", words[7]), None, &dictionary).unwrap();
    let start = Instant::now();
    let found = of_views(&[manual("m", &as_files(&files))], &query);
    assert!(found.conflicts.len() <= MAX_REPORTED && found.variants.len() <= MAX_REPORTED);
    assert!(found.is_limited && !found.conflicts.is_empty());
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sections_are_compared_without_a_panic(
        texts in prop::collection::vec(
            "(refund |返品|14 days|30日|from |at most |[|#>`*\\n-]|は|です。|not |\\. |, |[あ-ん]|\\PC){0,40}",
            2..5,
        )
    ) {
        let files: Vec<_> = (0..)
            .zip(&texts)
            .map(|(number, text)| (format!("{}.md", name(number)), format!("# refund 返品\n{text}\n")))
            .collect();
        let found = of_views(&[manual("m", &as_files(&files))], &query("refund 返品"));
        for quote in found.conflicts.iter().chain(&found.variants).flat_map(|conflict| &conflict.sentences) {
            let longest = files.iter().map(|(_, text)| text.lines().count()).max().unwrap();
            prop_assert!(1 < quote.first_line && quote.first_line <= quote.last_line);
            prop_assert!(quote.last_line as usize <= longest);
        }
    }
}
