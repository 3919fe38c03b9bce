//! The list of sources at the end of an answer.

use annai_core::Date;
use reqwest::Url;

use crate::citations::{Page, is_within, urls_in};
use crate::dates::date_in;

/// Words that stand above such a list.
const TITLES: &[&str] = &[
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

/// An answer, taken apart.
struct Answer<'a> {
    body: &'a str,
    lines: Vec<&'a str>,
}

/// Finds the list that an answer ends with: a title on a line of its own, and only entries from there on.
fn find(text: &str) -> Option<Answer<'_>> {
    let mut end = text.len();
    let mut lines = Vec::new();
    for line in text.split('\n').rev() {
        let start = end - line.len();
        let body = text.get(..start).unwrap_or_default();
        if let Some(rest) = after_title(line) {
            // An inline list must stand apart; "Source: …" below a bullet point is part of that point.
            let above = body.trim_end_matches('\n').len() + 1 < body.len();
            let apart = body.is_empty() || above;
            if !rest.is_empty() && (!apart || line.starts_with([' ', '\t']) || !lines.is_empty()) {
                return None;
            }
            lines.extend((!rest.is_empty()).then_some(rest));
            lines.reverse();
            let listed = lines.iter().any(|line| line.contains("://"));
            return listed.then(|| Answer { body: body.trim_end(), lines });
        }
        if !line.trim().is_empty() {
            if !is_entry(line) {
                return None;
            }
            lines.push(line);
        }
        end = start.checked_sub(1)?;
    }
    None
}

/// Whether a line can stand in a list of sources.
fn is_entry(line: &str) -> bool {
    let start = line.trim_start();
    let number = start.trim_start_matches(|letter: char| letter.is_ascii_digit() || "[(".contains(letter));
    start.starts_with(['-', '*', '•', '・'])
        || (number.len() < start.len() && number.starts_with(['.', ')', ']', ':']))
        || start.contains("://")
        || line.starts_with([' ', '\t'])
}

/// What follows the title on its line, if the line has one.
fn after_title(line: &str) -> Option<&str> {
    let mark = |letter: char| letter.is_whitespace() || "#*_>【】".contains(letter);
    let line = line.trim_matches(mark);
    let titled = TITLES
        .iter()
        .filter(|title| line.get(..title.len()).is_some_and(|start| start.eq_ignore_ascii_case(title)));
    let rest = line.get(titled.max_by_key(|title| title.len())?.len()..)?;
    let rest = rest.trim_start_matches(mark);
    // A remark in brackets may stand before the colon.
    let rest = match rest.starts_with(['(', '（']) {
        true => rest.split_once([')', '）']).map_or(rest, |(_, rest)| rest.trim_start_matches(mark)),
        false => rest,
    };
    match rest.strip_prefix([':', '：']) {
        Some(rest) => {
            let rest = rest.trim_matches(mark);
            (rest.is_empty() || rest.contains("://")).then_some(rest)
        }
        None => rest.is_empty().then_some(rest),
    }
}

/// What stands before the list of sources.
pub fn body(text: &str) -> &str {
    find(text).map_or(text.trim_end(), |answer| answer.body)
}

/// The lines of the list of sources.
pub fn lines(text: &str) -> Vec<&str> {
    find(text).map(|answer| answer.lines).unwrap_or_default()
}

/// The answer with its sources listed: a list that is there gets the dates and pages that it lacks and loses what lies
/// outside `domains`; a list that is missing is added. `accessed` is shown where a page has no date; without it dates
/// are not required.
pub fn complete(text: &str, pages: &[Page], domains: &[String], accessed: Option<Date>) -> String {
    let answer = match find(text) {
        Some(answer) => answer,
        None if pages.is_empty() => return text.to_owned(),
        None => Answer { body: text.trim_end(), lines: Vec::new() },
    };
    let listed = answer.lines.iter().filter(|line| !is_outside(line, domains));
    let mut lines: Vec<_> = listed.map(|line| complete_line(line, pages, accessed)).collect();
    let is_listed = |page: &&Page| {
        let at = |line: &&str| line.contains(&page.url) || urls_in(line).iter().any(|url| page.is_at(url));
        answer.lines.iter().any(at)
    };
    lines.extend(pages.iter().filter(|page| !is_listed(page)).map(|page| entry(page, accessed)));
    let gap = if answer.body.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}Sources:\n{}", answer.body, lines.join("\n"))
}

/// Whether a line leads only to other sites than these.
fn is_outside(line: &str, domains: &[String]) -> bool {
    let urls = urls_in(line);
    let outside = |url: &&str| {
        !Url::parse(url).ok().and_then(|url| Some(is_within(url.host_str()?, domains))).unwrap_or(false)
    };
    !domains.is_empty() && !urls.is_empty() && urls.iter().all(outside)
}

fn entry(page: &Page, accessed: Option<Date>) -> String {
    format!("- {}{}", page.url, date_of(page.published, accessed))
}

fn date_of(published: Option<Date>, accessed: Option<Date>) -> String {
    match (published, accessed) {
        (Some(date), _) => format!(" ({date})"),
        (None, Some(date)) => format!(" (accessed {date})"),
        (None, None) => String::new(),
    }
}

fn complete_line(line: &str, pages: &[Page], accessed: Option<Date>) -> String {
    let line = line.trim_end();
    // What stood behind the title becomes an entry like the others.
    let line = if line.trim_start().starts_with("http") {
        format!("- {}", line.trim_start())
    } else {
        line.to_owned()
    };
    let urls = urls_in(&line);
    let found = date_in(&line);
    if urls.is_empty() || accessed.is_none() || found.is_some_and(|(_, iso)| iso) {
        return line;
    }
    let page = pages.iter().find(|page| urls.iter().any(|url| page.is_at(url)));
    let known = found.map(|(date, _)| date).or_else(|| page.and_then(|page| page.published));
    format!("{line}{}", date_of(known, accessed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citations::pages;
    use crate::responses::Link;

    fn page(url: &str, published: Option<&str>) -> Page {
        let link = Link {
            url: url.to_owned(),
            published: published.map(str::to_owned),
            service: !url.contains(':'),
            ..Link::default()
        };
        pages(&[link], &[]).pages.remove(0)
    }

    fn cited() -> Vec<Page> {
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
    fn a_list_gets_the_dates_and_pages_that_it_lacks() {
        for title in [
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
                    "It rains.\n\n{title}\n\n- [A](https://a.example/x)\n- https://a.example/xyz\n1. https://c.example/ (2025-05-05)\n- oai-weather\n"
                )),
                "It rains.\n\nSources:\n- [A](https://a.example/x) (2026-01-02)\n- https://a.example/xyz (accessed 2026-11-16)\n1. https://c.example/ (2025-05-05)\n- oai-weather\n- https://b.example/ (accessed 2026-11-16)",
                "{title}"
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
    fn other_sites_leave_the_list() {
        let text =
            "Rain.\n\nSources:\n- https://www.a.example/x (2026-01-01)\n- https://evil.example/ (2026-01-01)";
        let kept = complete(text, &[], &["a.example".to_owned()], Date::parse("2026-11-16"));
        assert_eq!(kept, "Rain.\n\nSources:\n- https://www.a.example/x (2026-01-01)");
    }

    #[test]
    fn what_is_no_list_stays_as_it_is() {
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
    fn body_and_list_can_be_told_apart() {
        let text = completed("It rains.\n\n- umbrella");
        assert_eq!(body(&text), "It rains.\n\n- umbrella");
        assert_eq!(lines(&text).len(), 2);
        assert_eq!((body("No list.\n"), lines("No list.").len()), ("No list.", 0));
    }
}
