//! The list of sources at the end of an answer.

use annai_core::Date;

use crate::citations::Page;

/// Words that stand above such a list.
const TITLES: &[&str] =
    &["sources", "source", "references", "出典", "参考", "参考資料", "参考文献", "情報源", "引用元"];

/// An answer, taken apart.
struct List<'a> {
    body: &'a str,
    lines: Vec<&'a str>,
}

/// Finds the last list of sources: its title, then lines with addresses to the end.
fn find(text: &str) -> Option<List<'_>> {
    let mut end = text.len();
    let mut lines = Vec::new();
    for line in text.split('\n').rev() {
        let start = end - line.len();
        if let Some(rest) = after_title(line) {
            if !rest.is_empty() {
                lines.push(rest);
            }
            lines.reverse();
            let body = text.get(..start).unwrap_or_default().trim_end();
            return lines.iter().any(|line| line.contains("://")).then_some(List { body, lines });
        }
        end = start.saturating_sub(1);
        if !line.trim().is_empty() {
            lines.push(line);
        }
    }
    None
}

/// What follows the title on its line, if the line has one.
fn after_title(line: &str) -> Option<&str> {
    let mark = |letter: char| letter.is_whitespace() || "#*_>-•【】".contains(letter);
    let line = line.trim_start_matches(mark);
    let title = TITLES
        .iter()
        .filter(|title| line.get(..title.len()).is_some_and(|start| start.eq_ignore_ascii_case(title)));
    let rest = line.get(title.max_by_key(|title| title.len())?.len()..)?;
    let rest = rest.trim_start_matches(mark);
    match rest.strip_prefix([':', '：']) {
        Some(rest) => Some(rest.trim_matches(mark)),
        None => rest.is_empty().then_some(rest),
    }
}

/// What stands before the list of sources.
pub fn body(text: &str) -> &str {
    find(text).map_or(text.trim_end(), |list| list.body)
}

/// The lines of the list of sources.
pub fn lines(text: &str) -> Vec<&str> {
    find(text).map(|list| list.lines).unwrap_or_default()
}

/// The answer with its sources listed: a list that is there gets the dates that it lacks, a list that is
/// missing is added. `accessed` is shown where a page has no date; without it dates are not required.
pub fn complete(text: &str, pages: &[Page], accessed: Option<Date>) -> String {
    let (body, lines) = match find(text) {
        Some(list) => {
            let lines = list.lines.into_iter().map(|line| complete_line(line, pages, accessed)).collect();
            (list.body, lines)
        }
        None if pages.is_empty() => return text.to_owned(),
        None => (text.trim_end(), pages.iter().map(|page| entry(page, accessed)).collect::<Vec<_>>()),
    };
    let gap = if body.is_empty() { "" } else { "\n\n" };
    format!("{body}{gap}Sources:\n{}", lines.join("\n"))
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
    if !line.contains("://") || has_date(line) || accessed.is_none() {
        return line.to_owned();
    }
    let page = pages.iter().find(|page| line.contains(&page.url));
    format!("{line}{}", date_of(page.and_then(|page| page.published), accessed))
}

fn has_date(line: &str) -> bool {
    line.char_indices().any(|(start, _)| line.get(start..start + 10).and_then(Date::parse).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, published: Option<&str>) -> Page {
        let published = published.and_then(Date::parse);
        Page { url: url.to_owned(), title: None, published, score: None, place: 0..0 }
    }

    fn completed(text: &str) -> String {
        let pages = [page("https://a.example/x", Some("2026-01-02")), page("https://b.example/", None)];
        complete(text, &pages, Date::parse("2026-11-16"))
    }

    #[test]
    fn a_missing_list_is_added() {
        assert_eq!(
            completed("It rains.\n"),
            "It rains.\n\nSources:\n- https://a.example/x (2026-01-02)\n- https://b.example/ (accessed 2026-11-16)"
        );
        assert_eq!(
            completed(""),
            "Sources:\n- https://a.example/x (2026-01-02)\n- https://b.example/ (accessed 2026-11-16)"
        );
        assert_eq!(complete("It rains.", &[], Date::parse("2026-11-16")), "It rains.");
        assert_eq!(
            complete("It rains.", &[page("https://b.example/", None)], None),
            "It rains.\n\nSources:\n- https://b.example/"
        );
    }

    #[test]
    fn a_list_gets_the_dates_that_it_lacks() {
        for title in ["Sources:", "**Sources:**", "## Sources", "出典：", "sources :", "- Sources:"] {
            assert_eq!(
                completed(&format!(
                    "It rains.\n\n{title}\n\n- [A](https://a.example/x)\n- https://c.example/ (2025-05-05)\n- oai-weather\n"
                )),
                "It rains.\n\nSources:\n- [A](https://a.example/x) (2026-01-02)\n- https://c.example/ (2025-05-05)\n- oai-weather",
                "{title}"
            );
        }
        assert_eq!(
            completed("Rain.\nSources: https://q.example/"),
            "Rain.\n\nSources:\nhttps://q.example/ (accessed 2026-11-16)"
        );
    }

    #[test]
    fn a_word_is_not_a_list() {
        for text in ["Sources of energy: many.", "参考までに言うと", "Sources:\n(none)", "The sources:"]
        {
            assert!(completed(text).starts_with(text), "{text}");
            assert!(completed(text).contains("Sources:\n- https://a.example/x (2026-01-02)"), "{text}");
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
