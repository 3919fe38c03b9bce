//! Section labels, by which texts refer to sections: `第3条`, `別表2`, `4.2`, `appendix a`. All texts are normalized.

use std::sync::LazyLock;

use regex::Regex;

/// The maximum number of references of one text. A text with more is a table of contents, whose references carry little
/// information; those after the first 50 are not followed.
const MAX_REFERENCES: usize = 50;

/// References to numbered parts of Japanese rules and English manuals.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"第 ?(?<part>\d+(?:-\d+)*) ?(?<unit>条|章|節|編|部)(?<branch>の\d+)?",
        r"|(?<table>別紙様式|別表|別紙|付録|附録|付表|様式|資料) ?第? ?(?<number>\d+|[a-z]\b)",
        r"|\b(?<kind>section|sec\.|chapter|appendix|annex|table|part|schedule|article|step) (?<name>\d+(?:\.\d+)*|[a-z]\b)",
        r"|§ ?(?<paragraph>\d+(?:\.\d+)*)",
    ))
    .expect("the pattern of references is valid")
});

/// The number at the beginning of a title.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static LEADING_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?<number>\d+(?:\.\d+)*)(?:[.)] |[ :]|$)").expect("the pattern of leading numbers is valid")
});

/// The labels that a text refers to, each once, in order.
pub fn references(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for matched in REFERENCE.captures_iter(text) {
        let part = |name: &str| matched.name(name).map(|part| part.as_str());
        let label = match (part("unit"), part("table"), part("kind"), part("paragraph")) {
            (Some(unit), ..) => {
                format!("第{}{unit}{}", part("part").unwrap_or_default(), part("branch").unwrap_or_default())
            }
            (_, Some(table), ..) => format!("{table}{}", part("number").unwrap_or_default()),
            (_, _, Some("section" | "sec."), _) => part("name").unwrap_or_default().to_owned(),
            (_, _, Some(kind), _) => format!("{kind} {}", part("name").unwrap_or_default()),
            (.., Some(paragraph)) => paragraph.to_owned(),
            _ => continue,
        };
        if !found.contains(&label) {
            found.push(label);
        }
        if found.len() == MAX_REFERENCES {
            break;
        }
    }
    found
}

/// The labels of a section, from its normalized title.
pub fn labels(title: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(number) = LEADING_NUMBER.captures(title).and_then(|found| found.name("number")) {
        let number = number.as_str();
        found.push(number.to_owned());
        if !number.contains('.') {
            // A plain number may be the number of a chapter, an article or a step.
            found
                .extend(["第{}章", "第{}条", "chapter {}", "step {}"].map(|form| form.replace("{}", number)));
        }
    }
    // Only a label at the beginning names the section; a later one refers to another section.
    let start = title.find(|ch: char| ch.is_alphanumeric()).unwrap_or_default();
    let start = title.get(start..).unwrap_or_default();
    if let Some(first) = references(start).into_iter().next()
        && REFERENCE.find(start).is_some_and(|found| found.start() == 0)
        && !found.contains(&first)
    {
        found.push(first);
    }
    found
}

/// The anchor of a heading, in the spelling of GitHub.
pub fn slug(title: &str) -> String {
    let kept = title.trim().chars().filter(|ch| ch.is_alphanumeric() || matches!(ch, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|ch| if ch == ' ' { '-' } else { ch }).collect()
}

/// The index of the heading that an anchor names: by its explicit id (`{#id}`), by its words, or as the nth heading with
/// the same words (`-n`).
pub fn find_anchor<'a>(titles: impl Iterator<Item = &'a str>, anchor: &str) -> Option<usize> {
    let wanted = slug(anchor);
    let numbered =
        wanted.rsplit_once('-').and_then(|(name, number)| Some((name, number.parse::<usize>().ok()?)));
    let mut equal = Vec::new();
    for (index, title) in titles.enumerate() {
        let (words, id) = match title.rsplit_once("{#") {
            Some((words, id)) => (words, id.trim_end().strip_suffix('}')),
            None => (title, None),
        };
        let name = slug(words);
        if id == Some(anchor) || name == wanted {
            return Some(index);
        }
        if numbered.is_some_and(|(wanted, _)| name == wanted) {
            equal.push(index);
        }
    }
    equal.get(numbered?.1).copied()
}

/// Decodes percent-encoding (`%20`); an invalid escape is kept.
pub fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_finds_its_heading_by_words_number_or_id() {
        assert_eq!(slug("Rate limits (v2)!"), "rate-limits-v2");
        assert_eq!(slug("第3条 支払"), "第3条-支払");
        let titles = ["Intro", "Same", "Same", "Own {#mine}"];
        let find = |anchor: &str| find_anchor(titles.into_iter(), anchor);
        assert_eq!(
            (find("same"), find("same-1"), find("mine"), find("own"), find("none-1")),
            (Some(1), Some(2), Some(3), Some(3), None)
        );
        assert_eq!(
            (percent_decoded("a%20b%E7%AC%AC"), percent_decoded("50%")),
            ("a b第".to_owned(), "50%".to_owned())
        );
    }

    #[test]
    fn a_title_and_a_reference_to_it_have_a_common_label() {
        for (title, text) in [
            ("第3条 支払事由", "給付は第3条に準ずる。"),
            ("第3条の2 特則", "第3条の2を見よ"),
            ("別表 第2 手術", "別表2のとおり"),
            ("4.2 limits", "see section 4.2."),
            ("4.2. limits", "(§4.2)"),
            ("3. 準備", "第3章参照"),
            ("appendix a: tables", "see appendix a for tables"),
            ("chapter 7 returns", "as in chapter 7,"),
        ] {
            let (labels, references) = (labels(title), references(text));
            assert!(
                references.iter().any(|reference| labels.contains(reference)),
                "{labels:?} {references:?}"
            );
        }
        assert_eq!(labels("limits of section 4.2"), Vec::<String>::new());
        assert_eq!(labels("2024年版"), Vec::<String>::new());
        assert_eq!(references("a table of contents, a part of it"), Vec::<String>::new());
    }
}
