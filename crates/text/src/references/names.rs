//! The names of documents and sections, by which texts refer to them: `「旅費規程」`, `別に定める旅費規程`. All texts are
//! normalized: every bracket is `[` or `]`.

use std::ops::Range;
use std::sync::LazyLock;

use annai_language::JAPANESE;
use regex::Regex;

use super::labels::labels;
use crate::normalization::is_separator;

/// The maximum number of names in one text. A text with more quotes words rather than documents; those after the first 50
/// are not followed.
const MAX_NAMES: usize = 50;
/// The minimum length of a name without separators: shorter ones are words.
const MIN_NAME_CHARS: usize = 3;

/// A name in brackets, and a name behind 別に定める, which ends somewhere before the next break of the sentence. What a
/// link shows is in brackets too, and followed by its target.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\[(?<quoted>[^\[\]\n]{3,100})\]",
        r#"(?<target>\((?:[!-'*-~]*|(?:https?:|[#./])[^\s()]*)(?: "[^"\n]*")?\))?"#,
        r"|別[に途]定める(?<rule>[^\[\](){}、。,.:;\s]{2,60})",
    ))
    .expect("the pattern of names is valid")
});

/// The label of a document or a section by its normalized name, without separators; none for a name that is too short.
pub fn name_label(name: &str) -> Option<String> {
    let bare: String = name.chars().filter(|ch| !is_separator(*ch)).collect();
    (bare.chars().count() >= MIN_NAME_CHARS).then(|| format!("[{bare}]"))
}

/// The labels by which texts may refer to a section, from its normalized title: its numbers and its name.
pub fn title_labels(title: &str) -> Vec<String> {
    labels(title).into_iter().chain(name_label(title)).collect()
}

/// The labels of the names that a text refers to, each once, in order.
pub fn named(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for matched in NAME.captures_iter(text) {
        let is_link = matched.name("target").is_some();
        let quoted = matched.name("quoted").filter(|quoted| !is_link && is_quoted(text, &quoted.range()));
        let rule = matched.name("rule").map_or("", |rule| rule.as_str());
        // Only a name that a section has is followed, so every possible end of the name is tried.
        let ends = JAPANESE.rule_names.iter();
        let ends = ends.flat_map(|word| rule.match_indices(word).map(|(at, word)| at + word.len()));
        let rules = ends.filter_map(|end| rule.get(..end));
        for label in quoted.map(|quoted| quoted.as_str()).into_iter().chain(rules).filter_map(name_label) {
            if found.len() < MAX_NAMES && !found.contains(&label) {
                found.push(label);
            }
        }
        if found.len() == MAX_NAMES {
            break;
        }
    }
    found
}

/// Whether the brackets around a part of a text are the quotes of a Japanese sentence. A name without Japanese characters
/// stands in one; in code, front matter and links by reference, square brackets look the same.
fn is_quoted(text: &str, part: &Range<usize>) -> bool {
    let name = text.get(part.clone()).unwrap_or_default();
    let before = text.get(..part.start.saturating_sub(1)).and_then(|text| text.chars().next_back());
    let after = text.get(part.end + 1..).and_then(|text| text.chars().next());
    let is_japanese = |ch: Option<char>| ch.is_some_and(|ch| !ch.is_ascii());
    let is_reference = before == Some(']') || after == Some('[');
    !name.is_ascii() || (!is_reference && (is_japanese(before) || is_japanese(after)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalization::normalize_text;

    #[test]
    fn names_are_found_in_brackets_and_behind_betsu_ni_sadameru() {
        for (text, expected) in [
            ("別に定める慶弔見舞金規程による。", &["[慶弔見舞金規程]"][..]),
            ("別途定める運用マニュアルのとおり", &["[運用マニュアル]"]),
            ("別に定める就業規則施行細則", &["[就業規則]", "[就業規則施行細則]"]),
            ("「旅費規程」(以下「規程」という)", &["[旅費規程]"]),
            ("『Setup Guide』と「旅費 規程」", &["[setupguide]", "[旅費規程]"]),
            ("「A規程」「B規程」", &["[a規程]", "[b規程]"]),
            ("別に定めるところによる", &[]),
            ("「旅費規程」(以下規程)、「就業規則」（第3条）", &["[旅費規程]", "[就業規則]"]),
            ("[旅費規程](travel.md) [旅費規程](https://a.example/旅費) [旅費規程](a.md \"b\")", &[]),
            // Code, front matter and links by reference.
            ("a[service] = [internal], tags: [databases]", &[]),
            ("[Changelog][active-record]を見る", &[]),
            ("「Changelog」を見る", &["[changelog]"]),
            ("「旅費」", &[]),
            ("[ ] [x] 「」", &[]),
        ] {
            assert_eq!(named(&normalize_text(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_title_is_found_by_its_number_and_by_its_name() {
        assert_eq!(title_labels("第3条 旅費"), ["第3条", "[第3条旅費]"]);
        assert_eq!(title_labels("旅費・規程"), ["[旅費規程]"]);
        assert_eq!(title_labels("faq"), ["[faq]"]);
        assert_eq!(title_labels("a b"), Vec::<String>::new());
    }

    #[test]
    fn no_more_names_than_the_limit_are_followed() {
        let text: String = (0..10_000).map(|number| format!("[規程{number}]")).collect();
        assert_eq!(named(&text).len(), MAX_NAMES);
        assert_eq!(named(&"[".repeat(100_000)), Vec::<String>::new());
        assert_eq!(named(&"別に定める".repeat(20_000)), Vec::<String>::new());
    }
}
