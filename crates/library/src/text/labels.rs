//! What sections are called by elsewhere: `第3条`, `別表2`, `4.2`, `appendix a`. All of it in normal form.

use std::sync::LazyLock;

use regex::Regex;

/// The maximum number of references of one text. A table of contents refers to everything and says nothing; what comes
/// behind the first 50 is not followed.
const MAX_REFERENCES: usize = 50;

/// Numbered parts of Japanese rules and of English manuals, anywhere in a text.
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

/// A number that a title begins with.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static LEADING_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?<number>\d+(?:\.\d+)*)(?:[.)] |[ :]|$)").expect("the pattern of leading numbers is valid")
});

/// The labels of the parts that a text points at, each once, in order.
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

/// The labels that a section goes by, from its title in normal form.
pub fn labels(title: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(number) = LEADING_NUMBER.captures(title).and_then(|found| found.name("number")) {
        let number = number.as_str();
        found.push(number.to_owned());
        if !number.contains('.') {
            // A plain number may be meant as a chapter, an article or a step.
            found
                .extend(["第{}章", "第{}条", "chapter {}", "step {}"].map(|form| form.replace("{}", number)));
        }
    }
    // Only what stands at the beginning names the section; further on it points elsewhere.
    let start = title.find(|letter: char| letter.is_alphanumeric()).unwrap_or_default();
    let start = title.get(start..).unwrap_or_default();
    if let Some(first) = references(start).into_iter().next()
        && REFERENCE.find(start).is_some_and(|found| found.start() == 0)
        && !found.contains(&first)
    {
        found.push(first);
    }
    found
}

/// A heading as anchors spell it.
pub fn slug(title: &str) -> String {
    let kept =
        title.trim().chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The heading that an anchor names: by an id of its own (`{#id}`), by its words, or as the nth of equal ones (`-n`).
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

/// A link's target as it was meant: `%20` is a space.
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
    fn anchors_are_spelled_as_on_the_web() {
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
    fn titles_and_references_have_the_same_labels() {
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
