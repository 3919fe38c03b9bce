//! The snippet of a search result: the sentence that ends at the citation of a page, as plain text.

use std::ops::Range;

use crate::plain_text::{to_plain_text, truncate};

/// The maximum length of a snippet, in characters: a long sentence still fits, and 50 results stay readable. Longer
/// sentences are cut and end with an ellipsis.
const MAX_SNIPPET_CHARS: usize = 500;
/// How far before a citation a sentence may start, in bytes. It bounds the work per citation; a sentence that starts
/// earlier loses its beginning, which the limit above would cut anyway.
const MAX_LOOKBACK_BYTES: usize = 4000;
/// Words whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "no", "vs", "etc", "inc", "ltd", "co", "corp", "jr", "sr", "fig",
    "approx", "ca",
];

/// The sentence that ends at the citation at `range`. `citations` are the ranges of all citations, in order.
pub fn snippet(text: &str, range: &Range<usize>, citations: &[Range<usize>]) -> String {
    if range.is_empty() {
        return String::new();
    }
    let cited = text.get(range.clone()).unwrap_or_default();
    // Usually the range is the link itself; in some responses it is the text that the link supports.
    let end = if cited.contains("://") { range.start } else { range.end };
    let before = text_before(text, end, citations);
    let before = before.trim_end_matches(|letter: char| letter.is_whitespace() || "([（【".contains(letter));
    let sentence = before.get(last_sentence_start(before)..).unwrap_or_default();
    truncate(&to_plain_text(sentence), MAX_SNIPPET_CHARS)
}

/// The text before `end`, without the links of other citations.
fn text_before(text: &str, end: usize, citations: &[Range<usize>]) -> String {
    let mut start = end.saturating_sub(MAX_LOOKBACK_BYTES).min(text.len());
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let (mut before, mut at) = (String::new(), start);
    for citation in citations.iter().filter(|citation| citation.start >= start && citation.end <= end) {
        if citation.start >= at && text.get((*citation).clone()).is_some_and(|link| link.contains("://")) {
            before.push_str(text.get(at..citation.start).unwrap_or_default());
            at = citation.end;
        }
    }
    before.push_str(text.get(at..end).unwrap_or_default());
    before
}

/// The byte offset at which the last sentence of a text starts.
fn last_sentence_start(text: &str) -> usize {
    let text = text.trim_end_matches(|letter: char| letter.is_whitespace() || ".!?。！？．".contains(letter));
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends_sentence = match letter {
            '\n' | '。' | '！' | '？' => true,
            '．' => next.is_none_or(|next| !next.is_numeric()),
            '!' | '?' => next.is_some_and(char::is_whitespace),
            // The dots of "3.5", "example.com", "U.S." and "Dr. Smith" do not end a sentence.
            '.' => {
                next.is_some_and(char::is_whitespace)
                    && !ends_with_abbreviation(text.get(..at).unwrap_or_default())
            }
            _ => false,
        };
        if ends_sentence {
            start = at + letter.len_utf8();
        }
    }
    start
}

fn ends_with_abbreviation(before: &str) -> bool {
    let start =
        before.rfind(|letter: char| letter.is_whitespace() || "([".contains(letter)).map_or(0, |at| at + 1);
    let word = before.get(start..).unwrap_or_default();
    word.contains('.')
        || word.chars().count() == 1
        || ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The snippets of the citations that `«` and `»` enclose.
    fn snippets(marked: &str) -> Vec<String> {
        let (mut text, mut marks) = (String::new(), Vec::new());
        for letter in marked.chars() {
            match letter {
                '«' => marks.push(text.len()..text.len()),
                '»' => marks.last_mut().unwrap().end = text.len(),
                letter => text.push(letter),
            }
        }
        marks.iter().map(|mark| snippet(&text, mark, &marks)).collect()
    }

    #[test]
    fn the_sentence_before_the_link_is_the_snippet() {
        for (text, expected) in [
            ("Old. Rain is expected. «([jma](https://a.example/))»", vec!["Rain is expected."]),
            ("- **Rain** falls at 3.5 mm «([jma](https://a.example/))».", vec!["Rain falls at 3.5 mm"]),
            ("晴れ。明日は雨です。«([気象庁](https://a.example/))»", vec!["明日は雨です。"]),
            (
                "One. «([a](https://a.example/))» «([b](https://b.example/))»\n2. Two «([c](https://c.example/))»",
                vec!["One.", "One.", "Two"],
            ),
            (
                "See [the docs](https://x.example/) and https://y.example/ now «(https://a.example/)»",
                vec!["See the docs and now"],
            ),
            // Without a space nobody can tell where the URL ends, so the words behind it go with it.
            (
                "東京は晴れ、詳細はhttps://z.example/p参照です。«([a](https://a.example/))»",
                vec!["東京は晴れ、詳細は。"],
            ),
            ("First. «The cited words.» More.", vec!["The cited words."]),
            ("«([a](https://a.example/))» first", vec![""]),
            (
                "Yes. The U.S. economy grew, Dr. Smith said. «(https://a.example/)»",
                vec!["The U.S. economy grew, Dr. Smith said."],
            ),
            (
                "See [Foo](https://x.example/Foo_(bar)) <b>now</b> &amp; *then* «(https://a.example/)»",
                vec!["See Foo now & then"],
            ),
            (
                "see https:**//evil.example/login** or https:()//evil.example or www.evil.example/x ok «(https://a.example/)»",
                vec!["see or or ok"],
            ),
        ] {
            let expected: Vec<_> = expected.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(snippets(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_range_has_a_snippet(text in "[a-c\\. \\[\\]\\(\\)\u{3042}。\n:/*<>]{0,40}", start in 0_usize..140, length in 0_usize..40) {
            let marks = [start..start + length, 0..start];
            for mark in &marks {
                let snippet = snippet(&text, mark, &marks);
                prop_assert!(!snippet.contains("://") && !snippet.contains('\n'), "{snippet}");
            }
        }
    }
}
