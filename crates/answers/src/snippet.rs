//! What a reply says about a page: the sentence that ends at its citation, as plain text.

use std::ops::Range;

use crate::citations::{one_line, urls_in};

/// Longer sentences are cut.
const MOST_CHARS: usize = 500;
/// So much before a citation is looked at, in bytes.
const REACH: usize = 4000;
/// Words whose point ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "st", "no", "vs", "etc", "inc", "ltd", "co", "corp", "jr", "sr", "fig",
    "approx", "ca",
];

/// The sentence that ends at the citation at `place`; `marks` are the places of all citations, in order.
pub fn snippet(text: &str, place: &Range<usize>, marks: &[Range<usize>]) -> String {
    if place.is_empty() {
        return String::new();
    }
    let cited = text.get(place.clone()).unwrap_or_default();
    // Usually the mark is the link itself; some replies mark the words that it proves.
    let end = if cited.contains("://") { place.start } else { place.end };
    let before = before_without_links(text, end, marks);
    let before = before.trim_end_matches(|letter: char| letter.is_whitespace() || "([（【".contains(letter));
    let sentence = before.get(sentence_start(before)..).unwrap_or_default();
    let plain = plain(sentence);
    match plain.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", plain.get(..end).unwrap_or_default()),
        None => plain,
    }
}

/// What stands before `end`, without the links that other citations mark.
fn before_without_links(text: &str, end: usize, marks: &[Range<usize>]) -> String {
    let mut start = end.saturating_sub(REACH);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let (mut kept, mut at) = (String::new(), start);
    for mark in marks.iter().filter(|mark| mark.start >= start && mark.end <= end) {
        if mark.start >= at && text.get((*mark).clone()).is_some_and(|link| link.contains("://")) {
            kept.push_str(text.get(at..mark.start).unwrap_or_default());
            at = mark.end;
        }
    }
    kept.push_str(text.get(at..end).unwrap_or_default());
    kept
}

/// Where the last sentence of a text begins.
fn sentence_start(text: &str) -> usize {
    let last = text.trim_end_matches(|letter: char| letter.is_whitespace() || ".!?。！？．".contains(letter));
    let mut start = 0;
    let mut letters = last.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '\n' | '。' | '！' | '？' => true,
            '．' => next.is_none_or(|next| !next.is_numeric()),
            '!' | '?' => next.is_some_and(char::is_whitespace),
            // Not the point of 3.5, example.com, U.S. or Dr. Smith.
            '.' => {
                next.is_some_and(char::is_whitespace) && !is_abbreviation(last.get(..at).unwrap_or_default())
            }
            _ => false,
        };
        if ends {
            start = at + letter.len_utf8();
        }
    }
    start
}

fn is_abbreviation(before: &str) -> bool {
    let start =
        before.rfind(|letter: char| letter.is_whitespace() || "([".contains(letter)).map_or(0, |at| at + 1);
    let word = before.get(start..).unwrap_or_default();
    word.contains('.')
        || word.chars().count() == 1
        || ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str())
}

/// Text without Markdown, HTML and addresses, on one line.
pub fn plain(text: &str) -> String {
    let text = text.trim_start();
    let text = text.trim_start_matches(['-', '*', '•', '#', '>']).trim_start();
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let text = match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < text.len() && rest.starts_with(' ') => rest.trim_start(),
        _ => text,
    };
    // Marks first: an address may be hidden between them.
    let text = without_tags(&without_link_targets(text));
    let marks = ["**", "__", "~~", "`", "*", "|", "()"];
    let mut text =
        marks.iter().fold(text, |text, mark| text.replace(mark, if *mark == "|" { " " } else { "" }));
    for (entity, letter) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
    {
        text = text.replace(entity, letter);
    }
    let urls: Vec<_> = urls_in(&text).into_iter().map(str::to_owned).collect();
    for url in urls.iter().filter(|url| !url.is_empty()) {
        text = text.replacen(url.as_str(), "", 1);
    }
    let is_address = |word: &str| {
        word.contains("://")
            || word.trim_start_matches(['(', '[', '<']).to_ascii_lowercase().starts_with("www.")
    };
    let words = text.split_whitespace().filter(|word| !is_address(word)).map(|word| word.trim_matches('_'));
    one_line(&words.collect::<Vec<_>>().join(" ").replace("()", ""))
}

/// `[words](target)` as its words.
fn without_link_targets(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("](") {
        let (head, tail) = rest.split_at(start);
        let words = head.rfind('[').unwrap_or(head.len());
        let (before, words) = head.split_at(words);
        plain.push_str(before);
        plain.push_str(words.strip_prefix('[').unwrap_or(words));
        let mut depth = 0;
        let end = tail.char_indices().find(|(_, letter)| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            *letter == ')' && depth == 0
        });
        rest = end.and_then(|(end, _)| tail.get(end + 1..)).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The text without HTML tags.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        plain.push_str(before);
        let is_tag = tag
            .get(1..)
            .is_some_and(|tag| tag.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/'));
        match tag.find('>').filter(|_| is_tag) {
            Some(end) => rest = tag.get(end + 1..).unwrap_or_default(),
            None => {
                plain.push('<');
                rest = tag.get(1..).unwrap_or_default();
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Snippets of the parts of a text that stand between `«` and `»`.
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
            (
                "東京は晴れ、詳細はhttps://z.example/p参照です。«([a](https://a.example/))»",
                vec!["東京は晴れ、詳細は"],
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
            if text.contains("参照です") {
                // Where an address ends in running text nobody can tell.
                assert!(snippets(text)[0].starts_with(&expected[0]), "{text}");
            } else {
                assert_eq!(snippets(text), expected, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_place_has_a_snippet(text in "[a-c\\. \\[\\]\\(\\)\u{3042}。\n:/*<>]{0,40}", start in 0_usize..140, length in 0_usize..40) {
            let marks = [start..start + length, 0..start];
            for mark in &marks {
                let snippet = snippet(&text, mark, &marks);
                prop_assert!(!snippet.contains("://") && !snippet.contains('\n'), "{snippet}");
            }
        }
    }
}
