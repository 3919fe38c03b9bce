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

/// The date at the start of a text, written as `2026-01-02` or `2026年1月2日`, and its length in bytes.
fn date_at(text: &str) -> Option<(Date, usize)> {
    if let Some(date) = text.get(..10).and_then(Date::parse) {
        let digit =
            text.get(10..).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
        return (!digit).then_some((date, 10));
    }
    let (year, rest) = text.split_once('年')?;
    let (month, rest) = rest.split_once('月')?;
    let (day, _) = rest.split_once('日')?;
    let number = |text: &str| (text.len() <= 4).then(|| text.trim().parse::<u32>().ok()).flatten();
    let date = Date::parse(&format!("{:04}-{:02}-{:02}", number(year)?, number(month)?, number(day)?))?;
    let length = year.len() + month.len() + day.len() + "年月日".len();
    Some((date, length))
}

/// A date in a line of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDate {
    /// The date.
    pub date: Date,
    /// Whether it is written as YYYY-MM-DD.
    pub is_iso: bool,
}

/// The longest date in characters, `2026年11月16日` with spaces; it bounds the search at each digit of a line.
const MAX_DATE_CHARS: usize = 12;

/// The first date in a line, outside of its URLs.
pub fn date_in(line: &str) -> Option<WrittenDate> {
    let mut text = line.to_owned();
    for url in urls_in(line) {
        text = text.replace(url, " ");
    }
    let mut starts = text.char_indices().filter(|(_, letter)| letter.is_ascii_digit());
    starts.find_map(|(start, _)| {
        if text.get(..start)?.ends_with(|letter: char| letter.is_ascii_digit()) {
            return None;
        }
        let rest = text.get(start..)?;
        let end = rest.char_indices().nth(MAX_DATE_CHARS).map_or(rest.len(), |(end, _)| end);
        let (date, _) = date_at(rest.get(..end)?)?;
        Some(WrittenDate { date, is_iso: Date::parse(rest.get(..10).unwrap_or_default()).is_some() })
    })
}

#[cfg(test)]
mod tests {
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
            "https://a.example/x (2026-02-30)",
            "https://a.example/x (2026-01-023)",
            "2026-01-02 https://a.example/x",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn dates_in_urls_do_not_count() {
        let date = |line: &str| date_in(line).map(|found| (found.date.to_string(), found.is_iso));
        assert_eq!(date("- https://a.example/2020-01-02/n"), None);
        assert_eq!(date("- https://a.example/n (2026-01-02)"), Some(("2026-01-02".into(), true)));
        assert_eq!(date("- A（2026年11月2日）https://a.example/"), Some(("2026-11-02".into(), false)));
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
}
