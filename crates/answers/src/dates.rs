//! Dates in the text of an answer: beside a link, and in a list of sources. The day of access is not the day of
//! publication.

use std::ops::Range;

use annai_core::Date;

use crate::citations::urls_in;

/// Words that a date of publication may stand behind.
const WORDS: &[&str] = &[
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
/// No date stands further from its link than this, in characters.
const REACH: usize = 60;
/// So many places of one address are looked at.
const MOST_PLACES: usize = 20;

/// The date that stands directly behind a citation or an address in the text.
pub fn date_beside(text: &str, place: &Range<usize>, url: &str) -> Option<Date> {
    let behind_mark = (!place.is_empty()).then(|| text.get(place.end..)).flatten();
    // The API marks its links, so the address may go on with that mark.
    let behind_url = text.match_indices(url).take(MOST_PLACES).filter_map(|(start, _)| {
        let rest = text.get(start + url.len()..)?;
        let rest = rest
            .strip_prefix("?utm_source=openai")
            .or(rest.strip_prefix("&utm_source=openai"))
            .unwrap_or(rest);
        (!rest.starts_with(goes_on)).then_some(rest)
    });
    behind_mark.into_iter().chain(behind_url).find_map(leading_date)
}

/// Whether an address goes on with this letter.
fn goes_on(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "/?&=#%_~+-".contains(letter)
}

/// The date that a text begins with: in brackets, behind a dash or a word such as "published", or alone to the end of
/// its line. A sentence that happens to start with a date is none.
fn leading_date(text: &str) -> Option<Date> {
    let end = text.char_indices().nth(REACH).map_or(text.len(), |(end, _)| end);
    let line = text.get(..end)?.split('\n').next().unwrap_or_default();
    let (mut rest, mut announced) = (line, false);
    loop {
        let next = rest.chars().next()?;
        if next.is_whitespace() || ")]）］】>*_`\"'".contains(next) {
            rest = rest.get(next.len_utf8()..)?;
        } else if "([（［【<-–—:：,、|·・".contains(next) {
            announced = true;
            rest = rest.get(next.len_utf8()..)?;
        } else if let Some((date, length)) = date_at(rest) {
            let after = rest.get(length..).unwrap_or_default();
            let alone = after
                .trim_matches(|letter: char| letter.is_whitespace() || ")]）］】>*_.".contains(letter))
                .is_empty();
            return (announced || alone).then_some(date);
        } else {
            let lower = rest.to_ascii_lowercase();
            let word = WORDS.iter().find(|word| lower.starts_with(*word))?;
            announced = true;
            rest = rest.get(word.len()..)?;
        }
    }
}

/// The date at the start of a text, as `2026-01-02` or `2026年1月2日`, and how long it is.
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

/// The first date in a line outside of its addresses, and whether it is written as ISO.
pub fn date_in(line: &str) -> Option<(Date, bool)> {
    let mut text = line.to_owned();
    for url in urls_in(line) {
        text = text.replace(url, " ");
    }
    let starts = text.char_indices().filter(|(_, letter)| letter.is_ascii_digit());
    let found = starts.filter_map(|(start, _)| {
        let alone = !text.get(..start)?.ends_with(|letter: char| letter.is_ascii_digit());
        let rest = text.get(start..)?;
        let near = rest.char_indices().nth(12).map_or(rest, |(end, _)| rest.get(..end).unwrap_or_default());
        alone
            .then(|| date_at(near))
            .flatten()
            .map(|(date, _)| (date, Date::parse(rest.get(..10).unwrap_or_default()).is_some()))
    });
    let mut found = found;
    found.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_counts_only_beside_its_link_and_not_as_day_of_access() {
        let date =
            |text: &str| date_beside(text, &(0..0), "https://a.example/x").map(|date| date.to_string());
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
    fn dates_in_lines_are_not_those_of_addresses() {
        let date = |line: &str| date_in(line).map(|(date, iso)| (date.to_string(), iso));
        assert_eq!(date("- https://a.example/2020-01-02/n"), None);
        assert_eq!(date("- https://a.example/n (2026-01-02)"), Some(("2026-01-02".into(), true)));
        assert_eq!(date("- A（2026年11月2日）https://a.example/"), Some(("2026-11-02".into(), false)));
        assert_eq!(date("call 12026-01-02"), None);
    }

    #[test]
    fn long_texts_take_no_long_time() {
        let text = "https://a.example/x ".repeat(50_000);
        let started = std::time::Instant::now();
        assert_eq!(date_beside(&text, &(0..5), "https://a.example/x"), None);
        assert!(started.elapsed() < std::time::Duration::from_secs(1), "{:?}", started.elapsed());
    }
}
