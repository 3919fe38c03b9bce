//! What a reply says about a page: the sentence that ends at its citation, as plain text.

use std::ops::Range;

use crate::citations::one_line;

/// Longer sentences are cut.
const MOST_CHARS: usize = 500;

/// The sentence that ends at the citation at `place`; `marks` are the places of all citations.
pub fn snippet(text: &str, place: &Range<usize>, marks: &[Range<usize>]) -> String {
    if place.is_empty() {
        return String::new();
    }
    let cited = text.get(place.clone()).unwrap_or_default();
    // Usually the mark is the link itself; some replies mark the words that it proves.
    let end = if cited.contains("://") { place.start } else { place.end };
    let before = without_links(text.get(..end).unwrap_or_default(), text, marks, end);
    let before = before.trim_end_matches(|letter: char| letter.is_whitespace() || "([（【".contains(letter));
    let sentence = before.get(sentence_start(before)..).unwrap_or_default();
    let plain = one_line(&unmarked(sentence));
    match plain.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", plain.get(..end).unwrap_or_default()),
        None => plain,
    }
}

/// The text up to `end` without the links that other citations mark.
fn without_links(before: &str, text: &str, marks: &[Range<usize>], end: usize) -> String {
    let mut kept = String::with_capacity(before.len());
    let mut at = 0;
    let mut links: Vec<_> = marks
        .iter()
        .filter(|mark| mark.end <= end && text.get((*mark).clone()).is_some_and(|link| link.contains("://")))
        .collect();
    links.sort_by_key(|mark| mark.start);
    for mark in links {
        kept.push_str(before.get(at..mark.start).unwrap_or_default());
        at = at.max(mark.end);
    }
    kept.push_str(before.get(at..).unwrap_or_default());
    kept
}

/// Where the last sentence of a text begins.
fn sentence_start(text: &str) -> usize {
    let last = text.trim_end_matches(|letter: char| letter.is_whitespace() || ".!?。！？".contains(letter));
    let mut start = 0;
    let mut letters = last.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '\n' | '。' | '！' | '？' => true,
            // Not the point of 3.5 or of example.com.
            '.' | '!' | '?' => next.is_some_and(char::is_whitespace),
            _ => false,
        };
        if ends {
            start = at + letter.len_utf8();
        }
    }
    start
}

/// Markdown's marks taken off: bullets, emphasis, links (their words stay), bare addresses.
fn unmarked(text: &str) -> String {
    let text = text.trim_start();
    let text = text.trim_start_matches(['-', '*', '•', '#', '>']).trim_start();
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let text = match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < text.len() && rest.starts_with(' ') => rest.trim_start(),
        _ => text,
    };
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("](") {
        let (head, tail) = rest.split_at(start);
        let words = head.rfind('[').unwrap_or(head.len());
        let (before, words) = head.split_at(words);
        plain.push_str(before);
        plain.push_str(words.trim_start_matches('['));
        rest = tail.find(')').and_then(|end| tail.get(end + 1..)).unwrap_or_default();
    }
    plain.push_str(rest);
    let words = plain.split(' ').filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ").replace("**", "").replace("__", "").replace('`', "").replace("()", "")
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
            ("First. «The cited words.» More.", vec!["The cited words."]),
            ("«([a](https://a.example/))» first", vec![""]),
        ] {
            assert_eq!(snippets(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_place_has_a_snippet(text in "[a-c\\. \\[\\]\\(\\)\u{3042}。\n:/]{0,40}", start in 0_usize..140, length in 0_usize..40) {
            let marks = [start..start + length, 0..start];
            for mark in &marks {
                let snippet = snippet(&text, mark, &marks);
                prop_assert!(!snippet.contains("://") && !snippet.contains('\n'));
            }
        }
    }
}
