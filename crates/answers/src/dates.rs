//! Publication dates in the text of an answer: next to a link, and in a list of sources. An access date is not a
//! publication date.

use std::ops::Range;

use annai_core::Date;

use crate::plain_text::urls_in;

/// Words that introduce a publication date.
const DATE_LABELS: &[&str] = &[
    "last updated",
    "published on",
    "published",
    "updated",
    "dated",
    "date",
    "公開日",
    "更新日",
    "発表日",
    "公開",
    "更新",
    "日付",
];
/// Words that introduce the day on which somebody looked at a page.
const ACCESS_LABELS: &[&str] = &[
    "accessed",
    "accessed on",
    "retrieved",
    "retrieved on",
    "viewed",
    "visited",
    "アクセス日",
    "アクセス",
    "閲覧日",
    "閲覧",
    "参照日",
    "取得日",
];
/// The English names of the months; their first three letters are abbreviations.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// How far behind a link its date may stand, in characters: room for a label such as "last updated on". A date further
/// away is not taken for the date of the page.
const MAX_DISTANCE_CHARS: usize = 60;
/// The maximum number of occurrences of one URL that are examined. It bounds the work on a text that repeats a link;
/// dates behind later occurrences are not found.
const MAX_OCCURRENCES: usize = 20;

/// The date directly behind the citation at `range`, or behind an occurrence of `url`, in a text.
pub fn date_next_to_link(text: &str, range: &Range<usize>, url: &str) -> Option<Date> {
    let after_citation = (!range.is_empty()).then(|| text.get(range.end..)).flatten();
    // The API appends a tracking parameter to its links, so the URL in the text may be longer than `url`.
    let after_url = text.match_indices(url).take(MAX_OCCURRENCES).filter_map(|(start, _)| {
        let rest = text.get(start + url.len()..)?;
        let rest = rest
            .strip_prefix("?utm_source=openai")
            .or(rest.strip_prefix("&utm_source=openai"))
            .unwrap_or(rest);
        (!rest.starts_with(continues_url)).then_some(rest)
    });
    after_citation.into_iter().chain(after_url).find_map(leading_date)
}

/// Whether a URL continues with this character, so that the URL found so far is only a prefix of it.
fn continues_url(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/?&=#%_~+-".contains(letter)
}

/// The date at the start of a text: in brackets, behind a dash or a label such as "published", or alone on the rest of
/// its line. The date at the start of a sentence does not count.
fn leading_date(text: &str) -> Option<Date> {
    let end = text.char_indices().nth(MAX_DISTANCE_CHARS).map_or(text.len(), |(end, _)| end);
    let line = text.get(..end)?.split('\n').next().unwrap_or_default();
    let (mut rest, mut is_introduced) = (line, false);
    loop {
        let next = rest.chars().next()?;
        if next.is_whitespace() || ")]）］】>*_`\"'".contains(next) {
            rest = rest.get(next.len_utf8()..)?;
        } else if "([（［【<-–—:：,、|·・".contains(next) {
            is_introduced = true;
            rest = rest.get(next.len_utf8()..)?;
        } else if let Some((date, length)) = date_at(rest) {
            let after = rest.get(length..).unwrap_or_default();
            let is_alone = after
                .trim_matches(|letter: char| letter.is_whitespace() || ")]）］】>*_.".contains(letter))
                .is_empty();
            return (is_introduced || is_alone).then_some(date);
        } else {
            let lower = rest.to_ascii_lowercase();
            let label = DATE_LABELS.iter().find(|label| lower.starts_with(*label))?;
            is_introduced = true;
            rest = rest.get(label.len()..)?;
        }
    }
}

/// The date at the start of a text, and its length in bytes: `2026-01-02`, `2026/1/2`, `2026.01.02`, `2026年1月2日`,
/// `Jan 2, 2026`, `January 2nd 2026` or `2 January 2026`.
pub fn date_at(text: &str) -> Option<(Date, usize)> {
    let mut rest = text;
    let (year, month, day) = match number(&mut rest) {
        Some((year, 4)) => {
            let separator = rest.chars().next().filter(|letter| "-/.年".contains(*letter))?;
            skip(&mut rest, separator.len_utf8());
            let (month, _) = number(&mut rest).filter(|(_, digits)| *digits <= 2)?;
            let is_japanese = separator == '年';
            rest = rest.trim_start().strip_prefix(if is_japanese { '月' } else { separator })?;
            let (day, _) = number(&mut rest).filter(|(_, digits)| *digits <= 2)?;
            if is_japanese {
                rest = rest.trim_start().strip_prefix('日')?;
            }
            (year, month, day)
        }
        Some((day, 1 | 2)) => {
            skip_ordinal(&mut rest);
            let month = month_name(&mut rest)?;
            (year_behind(&mut rest)?, month, day)
        }
        Some(_) => return None,
        None => {
            let month = month_name(&mut rest)?;
            let (day, _) = number(&mut rest).filter(|(_, digits)| *digits <= 2)?;
            skip_ordinal(&mut rest);
            (year_behind(&mut rest)?, month, day)
        }
    };
    if rest.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let date = Date::parse(&format!("{year:04}-{month:02}-{day:02}"))?;
    Some((date, text.len() - rest.len()))
}

/// Reads a number behind spaces, and how many digits it has.
fn number(rest: &mut &str) -> Option<(u32, usize)> {
    let start = rest.trim_start_matches(' ');
    let digits = start.len() - start.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let value = start.get(..digits).filter(|digits| digits.len() <= 4)?.parse().ok()?;
    *rest = start.get(digits..).unwrap_or_default();
    Some((value, digits))
}

/// Reads the name of a month, or its abbreviation, behind spaces.
fn month_name(rest: &mut &str) -> Option<u32> {
    let start = rest.trim_start_matches(' ');
    let letters = start.len() - start.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).len();
    let word = start.get(..letters)?.to_ascii_lowercase();
    let is_name = |name: &&str| {
        **name == word || name.get(..3) == Some(&word) || word == "sept" && name.starts_with(&word)
    };
    let (month, _) = (1..).zip(&MONTHS).find(|(_, name)| is_name(name))?;
    let behind = start.get(letters..).unwrap_or_default();
    *rest = behind.strip_prefix('.').unwrap_or(behind);
    Some(month)
}

/// Reads a year behind a comma or spaces.
fn year_behind(rest: &mut &str) -> Option<u32> {
    let mut behind = rest.trim_start_matches([' ', ',']);
    let (year, _) = number(&mut behind).filter(|(_, digits)| *digits == 4)?;
    *rest = behind;
    Some(year)
}

/// Skips the ending of an ordinal number, as in `2nd`.
fn skip_ordinal(rest: &mut &str) {
    let ending = rest.get(..2).unwrap_or_default().to_ascii_lowercase();
    if ["st", "nd", "rd", "th"].contains(&ending.as_str()) {
        skip(rest, 2);
    }
}

fn skip(rest: &mut &str, bytes: usize) {
    *rest = rest.get(bytes..).unwrap_or_default();
}

/// The longest date in characters, `September 30th, 2026`; it bounds the search at each word of a line.
const MAX_DATE_CHARS: usize = 20;

/// The first date in a line, outside of its URLs, that is not an access date.
pub fn date_in(line: &str) -> Option<Date> {
    let mut text = line.to_owned();
    for url in urls_in(line) {
        text = text.replace(url, " ");
    }
    let is_part_of_word = |letter: char| letter.is_ascii_alphanumeric();
    let starts = text.char_indices().filter(|(start, letter)| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        is_part_of_word(*letter) && !before.is_some_and(is_part_of_word)
    });
    let mut end_of_last = 0;
    for (start, _) in starts {
        let rest = text.get(start..)?;
        let end = rest.char_indices().nth(MAX_DATE_CHARS).map_or(rest.len(), |(end, _)| end);
        if start < end_of_last {
            continue;
        }
        let Some((date, length)) = date_at(rest.get(..end)?) else { continue };
        end_of_last = start + length;
        let is_cut =
            rest.get(length..).is_some_and(|after| after.starts_with(|letter: char| letter.is_ascii_digit()));
        if !is_cut && !is_access_label(text.get(..start)?) {
            return Some(date);
        }
    }
    None
}

/// Whether a text ends with a word that introduces an access date.
fn is_access_label(before: &str) -> bool {
    let before = before.trim_end_matches(|letter: char| letter.is_whitespace() || ":：(（".contains(letter));
    let before = before.to_lowercase();
    ACCESS_LABELS.iter().any(|label| before.ends_with(label))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_date_counts_only_next_to_its_link_and_not_as_access_date() {
        let date =
            |text: &str| date_next_to_link(text, &(0..0), "https://a.example/x").map(|date| date.to_string());
        for text in [
            "- https://a.example/x (2026-01-02)",
            "- https://a.example/x?utm_source=openai (2026-01-02)",
            "- [T](https://a.example/x) — 2026-01-02",
            "- [T](https://a.example/x) 2026-01-02",
            "https://a.example/x（公開日：2026-01-02）",
            "https://a.example/x (2026年1月2日)",
            "https://a.example/x (2026/01/02)",
            "https://a.example/x (2026.1.2)",
            "https://a.example/x (Jan 2, 2026)",
            "https://a.example/x — January 2nd, 2026",
            "https://a.example/x (published 2 January 2026)",
            "https://a.example/x, (Last updated: 2026-01-02), and more",
        ] {
            assert_eq!(date(text).as_deref(), Some("2026-01-02"), "{text}");
        }
        for text in [
            "https://a.example/x (accessed 2026-01-02)",
            "https://a.example/x（アクセス日 2026-01-02）",
            "https://a.example/x/y (2026-01-02)",
            "https://a.example/x\n(2026-01-02)",
            "https://a.example/x and since 2026-01-02",
            "Team won ([a](https://a.example/x)). 2026-01-02 is the next match.",
            "Team won ([a](https://a.example/x)) 2026-01-02 is the next match.",
            "Team won ([a](https://a.example/x)). January 2, 2026 is the next match.",
            "https://a.example/x (2026-02-30)",
            "https://a.example/x (2026-01-023)",
            "2026-01-02 https://a.example/x",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn dates_have_many_forms() {
        for (text, expected) in [
            ("2025-08-09T10:00Z", Some(("2025-08-09", 10))),
            ("2025/8/9 x", Some(("2025-08-09", 8))),
            ("2025年 8月 9日、", Some(("2025-08-09", 17))),
            ("aug. 9 2025", Some(("2025-08-09", 11))),
            ("Sept 9, 2025", Some(("2025-09-09", 12))),
            ("9 Aug, 2025", Some(("2025-08-09", 11))),
            ("31st december 2025", Some(("2025-12-31", 18))),
            ("2025-8/9", None),
            ("2025/13/1", None),
            ("Augustus 9, 2025", None),
            ("Aug 9", None),
            ("Aug 92025", None),
            ("12025-08-09", None),
            ("May", None),
            ("", None),
        ] {
            let found = date_at(text).map(|(date, length)| (date.to_string(), length));
            let expected = expected.map(|(date, length): (&str, usize)| (date.to_owned(), length));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn dates_in_urls_and_access_dates_do_not_count() {
        let date = |line: &str| date_in(line).map(|found| found.to_string());
        assert_eq!(date("- https://a.example/2020-01-02/n"), None);
        assert_eq!(date("- https://a.example/n (2026-01-02)").as_deref(), Some("2026-01-02"));
        assert_eq!(date("- A（2026年11月2日）https://a.example/").as_deref(), Some("2026-11-02"));
        assert_eq!(date("- A, Aug 9, 2025: https://a.example/").as_deref(), Some("2025-08-09"));
        assert_eq!(date("- A (accessed on 2026-01-02), published 2025/12/31").as_deref(), Some("2025-12-31"));
        assert_eq!(date("- A（閲覧日：2026年1月2日）"), None);
        assert_eq!(date("call 12026-01-02"), None);
    }

    #[test]
    fn only_the_first_occurrences_of_a_url_are_examined() {
        let dated_after = |occurrences: usize| {
            let text =
                format!("{}https://a.example/x (2026-01-02)", "https://a.example/x ".repeat(occurrences));
            date_next_to_link(&text, &(0..0), "https://a.example/x").map(|date| date.to_string())
        };
        assert_eq!(dated_after(MAX_OCCURRENCES - 1).as_deref(), Some("2026-01-02"));
        assert_eq!(dated_after(MAX_OCCURRENCES), None);
    }

    proptest! {
        #[test]
        fn any_line_can_be_searched_for_dates(line in "[0-9 ./,年月日Janugst-]{0,40}") {
            let _ = date_in(&line);
            if let Some((_, length)) = date_at(&line) {
                prop_assert!(line.is_char_boundary(length));
            }
        }
    }
}
