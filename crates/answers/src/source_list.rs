//! The list of sources at the end of an answer. The server writes it from the links that the API named; what the model
//! wrote under such a heading is removed.

use annai_core::Date;

use crate::citations::CitedPage;

/// Headings of a list of sources.
const HEADINGS: &[&str] = &[
    "sources",
    "source",
    "references",
    "citations",
    "出典",
    "参考",
    "参考資料",
    "参考文献",
    "参考リンク",
    "情報源",
    "引用元",
    "ソース",
];
/// What models write under the heading when there is no source.
const NO_ENTRY: &[&str] = &["none", "n/a", "なし", "無し", "特になし"];

/// An answer, split into its text and the entries of its lists of sources.
#[derive(Debug, PartialEq, Eq)]
pub struct SplitAnswer<'a> {
    /// The text without the lists.
    pub body: String,
    /// The entries, one a line.
    pub entries: Vec<&'a str>,
}

/// Takes the lists of sources out of an answer: a heading on a line of its own with the entries below it, or a paragraph
/// of one line that begins with such a heading. Text behind a list is kept.
pub fn split(text: &str) -> SplitAnswer<'_> {
    let lines: Vec<_> = text.split('\n').collect();
    let (mut kept, mut entries) = (Vec::new(), Vec::new());
    let (mut at, mut is_code) = (0, false);
    while let Some(line) = lines.get(at) {
        is_code ^= line.trim_start().starts_with("```");
        let list = if is_code { None } else { list_at(&lines, at) };
        let Some((end, found)) = list else {
            kept.push(*line);
            at += 1;
            continue;
        };
        entries.extend(found);
        at = end;
        // One blank line is left between what stands in front of the list and what stands behind it.
        while kept.last().is_some_and(|line| line.trim().is_empty()) {
            kept.pop();
        }
        while lines.get(at).is_some_and(|line| line.trim().is_empty()) {
            at += 1;
        }
        if at < lines.len() && !kept.is_empty() {
            kept.push("");
        }
    }
    SplitAnswer { body: kept.join("\n").trim_end().to_owned(), entries }
}

/// The list whose heading is on this line: the line behind it, and its entries.
fn list_at<'a>(lines: &[&'a str], at: usize) -> Option<(usize, Vec<&'a str>)> {
    let line = lines.get(at)?;
    let rest = after_heading(line)?;
    if !rest.is_empty() {
        // "Source: …" below a bullet point is part of that point.
        let is_blank = |index: Option<usize>| {
            index.and_then(|index| lines.get(index)).is_none_or(|line| line.trim().is_empty())
        };
        let is_paragraph =
            is_blank(at.checked_sub(1)) && is_blank(Some(at + 1)) && !line.starts_with([' ', '\t']);
        return is_paragraph.then(|| (at + 1, vec![rest]));
    }
    let (mut end, mut entries, mut follows_gap) = (at + 1, Vec::new(), false);
    for (index, line) in lines.iter().enumerate().skip(at + 1) {
        if line.trim().is_empty() {
            follows_gap = !entries.is_empty();
        } else if is_entry(line) && (!follows_gap || names_page(line)) {
            entries.push(*line);
            end = index + 1;
        } else {
            break;
        }
    }
    // Without a page, only the end of the answer is certain to be a list of sources; 参考 also heads other remarks.
    let is_end = lines.iter().skip(end).all(|line| line.trim().is_empty()) && !line.contains("参考");
    let is_list = entries.iter().any(|entry| names_page(entry)) || is_end;
    is_list.then_some((end, entries))
}

/// Whether a line names a page of the web.
fn names_page(line: &str) -> bool {
    line.contains("://") || line.contains("www.")
}

/// Whether a line can be part of a list of sources.
fn is_entry(line: &str) -> bool {
    let start = line.trim_start();
    let after_number =
        start.trim_start_matches(|letter: char| letter.is_ascii_digit() || "[(".contains(letter));
    let word = start.trim_matches(|letter: char| letter.is_whitespace() || "()（）-*.。".contains(letter));
    start.starts_with(['-', '*', '•', '・'])
        || (after_number.len() < start.len() && after_number.starts_with(['.', ')', ']', ':']))
        || start.contains("://")
        || line.starts_with([' ', '\t'])
        || NO_ENTRY.contains(&word.to_lowercase().as_str())
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

/// The text with the list of these pages behind it; no list if there are none. `accessed` is shown for pages without a
/// publication date; when it is `None`, they have no date.
pub fn with_sources(body: &str, pages: &[CitedPage], accessed: Option<Date>) -> String {
    if pages.is_empty() {
        return body.to_owned();
    }
    let entries = pages.iter().map(|page| match (page.published, accessed) {
        (Some(date), _) => format!("\n- {} ({date})", page.url),
        (None, Some(date)) => format!("\n- {} (accessed {date})", page.url),
        (None, None) => format!("\n- {}", page.url),
    });
    let gap = if body.is_empty() { "" } else { "\n\n" };
    format!("{body}{gap}Sources:{}", entries.collect::<String>())
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

    #[test]
    fn the_list_has_exactly_the_pages_with_their_dates() {
        let pages = [page("https://a.example/x", Some("2026-01-02")), page("oai-weather", None)];
        let today = Date::parse("2026-11-16");
        assert_eq!(
            with_sources("It rains.", &pages, today),
            "It rains.\n\nSources:\n- https://a.example/x (2026-01-02)\n- oai-weather (accessed 2026-11-16)"
        );
        assert_eq!(
            with_sources("", &pages, None),
            "Sources:\n- https://a.example/x (2026-01-02)\n- oai-weather"
        );
        assert_eq!(with_sources("It rains.", &[], today), "It rains.");
    }

    #[test]
    fn lists_of_the_model_are_taken_out() {
        for heading in [
            "Sources:",
            "**Sources:**",
            "## Sources",
            "出典：",
            "sources :",
            "Sources (accessed today):",
            "**ソース**：",
            "### 参考リンク",
        ] {
            let text = format!(
                "It rains.\n\n{heading}\n\n- [A](https://a.example/x)\n1. https://c.example/ (2025-05-05)\n- oai-weather\n"
            );
            let split = split(&text);
            assert_eq!((split.body.as_str(), split.entries.len()), ("It rains.", 3), "{heading}");
        }
        for (text, body, entries) in [
            ("Rain.\n\nSources: https://q.example/", "Rain.", 1),
            ("Sources:\n- https://q.example/", "", 1),
            (
                "Rain.\n\nSources:\n- https://q.example/\n\nNote: prices change.",
                "Rain.\n\nNote: prices change.",
                1,
            ),
            (
                "Rain.\n\n出典:\n1. A\n   https://q.example/\n\n- b https://r.example/\n\n以上です。",
                "Rain.\n\n以上です。",
                3,
            ),
            (
                "One.\n\nSources:\n- https://q.example/\n\nTwo.\n\nSources:\n- https://r.example/",
                "One.\n\nTwo.",
                2,
            ),
            ("Rain.\n\nSources:\n(none)", "Rain.", 1),
            ("Rain.\n\nSources:\n- Japan Meteorological Agency", "Rain.", 1),
            ("Rain.\n\nSources:", "Rain.", 0),
        ] {
            let split = split(text);
            assert_eq!((split.body.as_str(), split.entries.len()), (body, entries), "{text}");
        }
    }

    #[test]
    fn text_without_a_list_stays_as_it_is() {
        for text in [
            "Sources of energy: many.",
            "参考までに言うと",
            "The sources:",
            "- Rust is out.\n  Source: https://c.example/\n\n- Go is out.\n  Source: https://d.example/",
            "Sources:\n- coal\n- oil\n\nThat is all.",
            "雨です。\n\n参考:\n- 傘を持つとよい",
            "```\nSources:\n- https://c.example/\n```",
            "",
        ] {
            assert_eq!(split(text), SplitAnswer { body: text.to_owned(), entries: vec![] }, "{text}");
        }
    }
}
