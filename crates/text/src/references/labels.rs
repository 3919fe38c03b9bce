//! Section labels, by which texts refer to sections: `第3条`, `別表2`, `4.2`, `appendix a`. All texts are normalized.

use std::sync::LazyLock;

use annai_language::JAPANESE;
use regex::{Captures, Regex};

use crate::normalization::{is_separator, kanji_number};

/// The maximum number of references of one text. A text with more is a table of contents, whose references carry little
/// information; those after the first 50 are not followed.
const MAX_REFERENCES: usize = 50;

/// References to numbered parts of Japanese rules and English manuals, and to appendices without a number.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"第 ?(?<part>\d+(?:-\d+)*) ?(?<unit>条|章|節|項|編|部)(?<branch>の\d+)?",
        r"|(?<table>別紙様式|別表|別紙|付録|附録|付表|様式|資料) ?(?:第? ?(?<number>\d+|[a-z](?-u:\b))|第(?<kanji>[一二三四五六七八九十]+))",
        r"|(?<whole>別表|別紙|付録|附録|付表|[附付] ?則)",
        r"|\b(?<kind>section|sec\.|chapter|appendix|annex|table|part|schedule|article|step) (?<name>\d+(?:\.\d+)*|[a-z](?-u:\b))",
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
        let Some(label) = label_of(&matched, text) else { continue };
        if !found.contains(&label) {
            found.push(label);
        }
        if found.len() == MAX_REFERENCES {
            break;
        }
    }
    found
}

/// The label that a match names; none for a paragraph, which has a number only within its article.
fn label_of(matched: &Captures<'_>, text: &str) -> Option<String> {
    let part = |name: &str| matched.name(name).map(|part| part.as_str());
    let whole = matched.get(0).and_then(|whole| text.get(whole.end()..)).unwrap_or_default();
    Some(match (part("unit"), part("table"), part("whole"), part("kind"), part("paragraph")) {
        (Some("項"), ..) => return None,
        (Some(unit), ..) => {
            let number = part("part").unwrap_or_default();
            match (part("branch"), kanji_branch(whole)) {
                (None, Some(branch)) => format!("第{number}{unit}の{branch}"),
                (branch, _) => format!("第{number}{unit}{}", branch.unwrap_or_default()),
            }
        }
        (_, Some(table), ..) => {
            let number = part("kanji").and_then(|number| kanji_number(number.chars()));
            let number = number.map(|number| number.to_string());
            format!("{table}{}", number.as_deref().or(part("number")).unwrap_or_default())
        }
        (_, _, Some(whole), ..) if whole.ends_with('則') => "附則".to_owned(),
        (_, _, Some(whole), ..) => whole.to_owned(),
        (_, _, _, Some("section" | "sec."), _) => part("name")?.to_owned(),
        (_, _, _, Some(kind), _) => format!("{kind} {}", part("name")?),
        (.., paragraph) => paragraph?.to_owned(),
    })
}

/// The number of a branch article that is written in Kanji, from the text behind the article: 2 of `の二`. What is counted
/// behind a number (`の二つ`, `の三者`) is no branch.
fn kanji_branch(text: &str) -> Option<u64> {
    let text = text.strip_prefix('の')?;
    let end = text.find(|ch| kanji_number(std::iter::once(ch)).is_none()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let ends_here = |ch: char| is_separator(ch) || JAPANESE.after_branches.contains(ch);
    // Branches are counted from 2 on: `の一` begins a word such as 一部.
    let number = kanji_number(number.chars()).filter(|number| *number > 1)?;
    rest.chars().next().is_none_or(ends_here).then_some(number)
}

/// A part of a document that counts its own kind: articles, chapters and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// An article (条).
    Article,
    /// A chapter (章).
    Chapter,
    /// A numbered section of a chapter (節).
    Section,
    /// A numbered paragraph of an article (項).
    Paragraph,
    /// A section with a heading, be it numbered or not.
    Heading,
}

/// The number of an article, a chapter, a section or a paragraph that a normalized title begins with, with the number of
/// its branch; none where the title does not begin with one.
pub fn part_number(title: &str) -> Option<(Unit, (u32, u32))> {
    let matched =
        REFERENCE.captures(title).filter(|matched| matched.get(0).is_some_and(|all| all.start() == 0))?;
    let part = |name: &str| matched.name(name).map(|part| part.as_str());
    let unit = match part("unit").or(part("kind"))? {
        "条" | "article" => Unit::Article,
        "章" | "chapter" => Unit::Chapter,
        "節" => Unit::Section,
        "項" => Unit::Paragraph,
        _ => return None,
    };
    let number = part("part").or(part("name"))?;
    let (number, inner) = number.split_once(['-', '.']).unwrap_or((number, "0"));
    let after = matched.get(0).and_then(|all| title.get(all.end()..)).unwrap_or_default();
    let branch = part("branch").and_then(|branch| branch.trim_start_matches('の').parse().ok());
    let branch = branch.or_else(|| u32::try_from(kanji_branch(after)?).ok());
    Some((unit, (number.parse().ok()?, branch.or_else(|| inner.parse().ok()).unwrap_or(0))))
}

/// The number without parts at the beginning of a normalized title: 3 of `3. 準備`.
pub fn leading_number(title: &str) -> Option<u32> {
    LEADING_NUMBER.captures(title)?.name("number")?.as_str().parse().ok()
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
    if let Some(first) = REFERENCE.captures(start)
        && names_section(&first, start)
        && let Some(label) = label_of(&first, start)
        && !found.contains(&label)
    {
        found.push(label);
    }
    found
}

/// Whether a reference in a title names the section itself. An appendix without a number stands alone or before its name:
/// `別表の見方` is about the appendix.
fn names_section(matched: &Captures<'_>, title: &str) -> bool {
    let Some(whole) = matched.get(0).filter(|whole| whole.start() == 0) else { return false };
    let next = title.get(whole.end()..).and_then(|rest| rest.chars().next());
    matched.name("whole").is_none() || next.is_none_or(is_separator)
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
    fn percent_encoding_is_decoded() {
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
            ("第3条の2 特則", "第3条の二に定める"),
            ("第3条の二 特則", "第3条の2第1項"),
            ("附 則", "附則による"),
            ("付則", "附則による"),
            ("別表 手術給付倍率", "別表のとおり"),
            ("別表第二 手術", "別表2のとおり"),
            ("別表2", "別表第二のとおり"),
            ("付録a", "付録aを見よ"),
            ("別紙3 様式", "別紙第3による"),
            ("annex b", "see annex b."),
            ("schedule 1: fees", "as in schedule 1"),
        ] {
            let (labels, references) = (labels(title), references(text));
            assert!(
                references.iter().any(|reference| labels.contains(reference)),
                "{labels:?} {references:?}"
            );
        }
        assert_eq!(labels("limits of section 4.2"), Vec::<String>::new());
        assert_eq!(labels("2024年版"), Vec::<String>::new());
        assert_eq!(labels("別表の見方"), Vec::<String>::new());
        assert_eq!(references("第3条の一部、第4条の二つ"), ["第3条", "第4条"]);
        assert_eq!(references("a table of contents, a part of it"), Vec::<String>::new());
    }

    #[test]
    fn a_title_has_the_number_of_its_part() {
        for (title, expected) in [
            ("第3条 支払", Some((Unit::Article, (3, 0)))),
            ("第3条の2 特則", Some((Unit::Article, (3, 2)))),
            ("第3条の二", Some((Unit::Article, (3, 2)))),
            ("第3-2条", Some((Unit::Article, (3, 2)))),
            ("第2章 総則", Some((Unit::Chapter, (2, 0)))),
            ("chapter 7 returns", Some((Unit::Chapter, (7, 0)))),
            ("第1節", Some((Unit::Section, (1, 0)))),
            ("第2項", Some((Unit::Paragraph, (2, 0)))),
            ("支払(第3条)", None),
            ("appendix a", None),
            ("第99999999999条", None),
        ] {
            assert_eq!(part_number(title), expected, "{title}");
        }
        assert_eq!(
            (leading_number("3. 準備"), leading_number("3.1 準備"), leading_number("準備 3")),
            (Some(3), None, None)
        );
    }
}
