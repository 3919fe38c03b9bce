//! The list of sources at the end of an answer.

use annai_core::Date;
use reqwest::Url;

use crate::citations::CitedPage;
use crate::dates::date_in;
use crate::domains::is_within;
use crate::plain_text::urls_in;

/// Headings of a list of sources.
const HEADINGS: &[&str] = &[
    "sources",
    "source",
    "references",
    "出典",
    "参考",
    "参考資料",
    "参考文献",
    "情報源",
    "引用元",
    "ソース",
];

/// An answer, split into its text and its list of sources.
struct SplitAnswer<'a> {
    body: &'a str,
    entries: Vec<&'a str>,
}

/// Splits off the list at the end of an answer: a heading on a line of its own, followed only by entries. Returns
/// `None` if the answer does not end with such a list.
fn split(text: &str) -> Option<SplitAnswer<'_>> {
    let mut end = text.len();
    let mut entries = Vec::new();
    for line in text.split('\n').rev() {
        let start = end - line.len();
        let body = text.get(..start).unwrap_or_default();
        if let Some(rest) = after_heading(line) {
            // A list on the line of its heading must be a paragraph of its own; "Source: …" below a bullet point is
            // part of that point.
            let follows_blank_line = body.trim_end_matches('\n').len() + 1 < body.len();
            let is_paragraph = body.is_empty() || follows_blank_line;
            if !rest.is_empty() && (!is_paragraph || line.starts_with([' ', '\t']) || !entries.is_empty()) {
                return None;
            }
            entries.extend((!rest.is_empty()).then_some(rest));
            entries.reverse();
            let has_url = entries.iter().any(|entry| entry.contains("://"));
            return has_url.then(|| SplitAnswer { body: body.trim_end(), entries });
        }
        if !line.trim().is_empty() {
            if !is_entry(line) {
                return None;
            }
            entries.push(line);
        }
        end = start.checked_sub(1)?;
    }
    None
}

/// Whether a line can be part of a list of sources.
fn is_entry(line: &str) -> bool {
    let start = line.trim_start();
    let after_number =
        start.trim_start_matches(|letter: char| letter.is_ascii_digit() || "[(".contains(letter));
    start.starts_with(['-', '*', '•', '・'])
        || (after_number.len() < start.len() && after_number.starts_with(['.', ')', ']', ':']))
        || start.contains("://")
        || line.starts_with([' ', '\t'])
}

/// The text behind a heading on the same line; `None` if the line is not a heading.
fn after_heading(line: &str) -> Option<&str> {
    let is_markup = |letter: char| letter.is_whitespace() || "#*_>【】".contains(letter);
    let line = line.trim_matches(is_markup);
    let matching = HEADINGS
        .iter()
        .filter(|heading| line.get(..heading.len()).is_some_and(|start| start.eq_ignore_ascii_case(heading)));
    let rest = line.get(matching.max_by_key(|heading| heading.len())?.len()..)?;
    let rest = rest.trim_start_matches(is_markup);
    // A remark in brackets may precede the colon.
    let rest = match rest.starts_with(['(', '（']) {
        true => rest.split_once([')', '）']).map_or(rest, |(_, rest)| rest.trim_start_matches(is_markup)),
        false => rest,
    };
    match rest.strip_prefix([':', '：']) {
        Some(rest) => {
            let rest = rest.trim_matches(is_markup);
            (rest.is_empty() || rest.contains("://")).then_some(rest)
        }
        None => rest.is_empty().then_some(rest),
    }
}

/// The text of an answer, without its list of sources.
pub fn body(text: &str) -> &str {
    split(text).map_or(text.trim_end(), |answer| answer.body)
}

/// The entries of the list of sources, one a line.
pub fn entries(text: &str) -> Vec<&str> {
    split(text).map(|answer| answer.entries).unwrap_or_default()
}

/// Completes the list of sources of an answer, or adds one if it is missing. Entries get the dates that they lack,
/// cited pages that are not listed are appended, and entries outside `domains` are removed. `accessed` is shown for
/// pages without a publication date; when it is `None`, entries need no date.
pub fn complete(text: &str, pages: &[CitedPage], domains: &[String], accessed: Option<Date>) -> String {
    let answer = match split(text) {
        Some(answer) => answer,
        None if pages.is_empty() => return text.to_owned(),
        None => SplitAnswer { body: text.trim_end(), entries: Vec::new() },
    };
    let allowed = answer.entries.iter().filter(|entry| !is_outside(entry, domains));
    let mut lines: Vec<_> = allowed.map(|entry| complete_entry(entry, pages, accessed)).collect();
    let is_listed = |page: &&CitedPage| {
        let names_page =
            |entry: &&str| entry.contains(&page.url) || urls_in(entry).iter().any(|url| page.is_at(url));
        answer.entries.iter().any(names_page)
    };
    lines.extend(pages.iter().filter(|page| !is_listed(page)).map(|page| new_entry(page, accessed)));
    let gap = if answer.body.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}Sources:\n{}", answer.body, lines.join("\n"))
}

/// Whether all URLs of an entry are outside these domains.
fn is_outside(entry: &str, domains: &[String]) -> bool {
    let urls = urls_in(entry);
    let is_outside = |url: &&str| {
        !Url::parse(url).ok().and_then(|url| Some(is_within(url.host_str()?, domains))).unwrap_or(false)
    };
    !domains.is_empty() && !urls.is_empty() && urls.iter().all(is_outside)
}

fn new_entry(page: &CitedPage, accessed: Option<Date>) -> String {
    format!("- {}{}", page.url, date_suffix(page.published, accessed))
}

fn date_suffix(published: Option<Date>, accessed: Option<Date>) -> String {
    match (published, accessed) {
        (Some(date), _) => format!(" ({date})"),
        (None, Some(date)) => format!(" (accessed {date})"),
        (None, None) => String::new(),
    }
}

fn complete_entry(entry: &str, pages: &[CitedPage], accessed: Option<Date>) -> String {
    let entry = entry.trim_end();
    // A URL on the line of the heading becomes a list item like the others.
    let entry = if entry.trim_start().starts_with("http") {
        format!("- {}", entry.trim_start())
    } else {
        entry.to_owned()
    };
    let urls = urls_in(&entry);
    let written = date_in(&entry);
    if urls.is_empty() || accessed.is_none() || written.is_some_and(|written| written.is_iso) {
        return entry;
    }
    let page = pages.iter().find(|page| urls.iter().any(|url| page.is_at(url)));
    let published = written.map(|written| written.date).or_else(|| page.and_then(|page| page.published));
    format!("{entry}{}", date_suffix(published, accessed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citations::select_pages;
    use crate::responses::Link;

    fn page(url: &str, published: Option<&str>) -> CitedPage {
        let link = Link {
            url: url.to_owned(),
            published: published.map(str::to_owned),
            is_service: !url.contains(':'),
            ..Link::default()
        };
        select_pages(&[link], &[]).pages.remove(0)
    }

    fn cited() -> Vec<CitedPage> {
        vec![page("https://a.example/x", Some("2026-01-02")), page("https://b.example/", None)]
    }

    fn completed(text: &str) -> String {
        complete(text, &cited(), &[], Date::parse("2026-11-16"))
    }

    const LIST: &str =
        "Sources:\n- https://a.example/x (2026-01-02)\n- https://b.example/ (accessed 2026-11-16)";

    #[test]
    fn a_missing_list_is_added() {
        assert_eq!(completed("It rains.\n"), format!("It rains.\n\n{LIST}"));
        assert_eq!(completed(""), LIST);
        assert_eq!(complete("It rains.", &[], &[], Date::parse("2026-11-16")), "It rains.");
        let undated = [page("https://b.example/", None), page("oai-weather", None)];
        assert_eq!(
            complete("It rains.", &undated, &[], None),
            "It rains.\n\nSources:\n- https://b.example/\n- oai-weather"
        );
    }

    #[test]
    fn missing_dates_and_pages_are_added() {
        for heading in [
            "Sources:",
            "**Sources:**",
            "## Sources",
            "出典：",
            "sources :",
            "Sources (accessed today):",
            "**ソース**：",
        ] {
            assert_eq!(
                completed(&format!(
                    "It rains.\n\n{heading}\n\n- [A](https://a.example/x)\n- https://a.example/xyz\n1. https://c.example/ (2025-05-05)\n- oai-weather\n"
                )),
                "It rains.\n\nSources:\n- [A](https://a.example/x) (2026-01-02)\n- https://a.example/xyz (accessed 2026-11-16)\n1. https://c.example/ (2025-05-05)\n- oai-weather\n- https://b.example/ (accessed 2026-11-16)",
                "{heading}"
            );
        }
        assert_eq!(
            completed("Rain.\n\nSources: https://q.example/"),
            "Rain.\n\nSources:\n- https://q.example/ (accessed 2026-11-16)\n- https://a.example/x (2026-01-02)\n- https://b.example/ (accessed 2026-11-16)"
        );
        let japanese = completed(
            "雨。\n\n出典:\n- https://a.example/x（2025年3月4日）\n- https://b.example/2020-01-01/",
        );
        assert!(japanese.contains("- https://a.example/x（2025年3月4日） (2025-03-04)\n- https://b.example/2020-01-01/ (accessed 2026-11-16)"), "{japanese}");
    }

    #[test]
    fn entries_outside_the_domains_are_removed() {
        let text =
            "Rain.\n\nSources:\n- https://www.a.example/x (2026-01-01)\n- https://evil.example/ (2026-01-01)";
        let kept = complete(text, &[], &["a.example".to_owned()], Date::parse("2026-11-16"));
        assert_eq!(kept, "Rain.\n\nSources:\n- https://www.a.example/x (2026-01-01)");
    }

    #[test]
    fn text_without_a_list_stays_as_it_is() {
        for text in [
            "Sources of energy: many.",
            "参考までに言うと",
            "Sources:\n(none)",
            "The sources:",
            "参考: https://c.example/\n\nPara one.\n\nPara two.\n\n- b1\n- b2 https://d.example/ rocks",
            "- Rust is out.\n  Source: https://c.example/\n\n- Go is out.\n  Source: https://d.example/",
            "Rain.\n\nSources:\n- https://c.example/\n\nNote: prices change.",
        ] {
            assert_eq!(completed(text), format!("{text}\n\n{LIST}"), "{text}");
        }
    }

    #[test]
    fn body_and_entries_can_be_separated() {
        let text = completed("It rains.\n\n- umbrella");
        assert_eq!(body(&text), "It rains.\n\n- umbrella");
        assert_eq!(entries(&text).len(), 2);
        assert_eq!((body("No list.\n"), entries("No list.").len()), ("No list.", 0));
    }
}
