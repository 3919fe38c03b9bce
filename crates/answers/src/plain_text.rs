//! Plain text from Markdown and HTML, and the URLs in a text.

use crate::visible_text::visible_text;

/// Joins the words of a text into one line, without control characters.
pub fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The first `max_chars` characters of a text, with an ellipsis if any were cut off.
pub fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A text, at most `max_chars` characters including the ellipsis that marks a cut.
pub fn truncate_within(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    truncate(text, max_chars.saturating_sub(1))
}

/// The `http` and `https` URLs in a line, in order.
pub fn urls_in(line: &str) -> Vec<&str> {
    let mut urls = Vec::new();
    let mut rest = line;
    while let Some(start) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        let url = url_at_start(rest.get(start..).unwrap_or_default());
        urls.push(url);
        rest = rest.get(start + url.len().max(1)..).unwrap_or_default();
    }
    urls
}

/// The URL that a text starts with, without the punctuation that follows it.
pub fn url_at_start(text: &str) -> &str {
    let is_delimiter =
        |letter: char| letter.is_whitespace() || "<>\"'`|（）「」『』【】、。，；]".contains(letter);
    let mut end = text.find(is_delimiter).unwrap_or(text.len());
    // A closing bracket belongs to the URL only if it was opened in the URL.
    let mut depth = 0_i32;
    for (at, letter) in text.get(..end).unwrap_or_default().char_indices() {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            end = at;
            break;
        }
    }
    text.get(..end).unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_'])
}

/// Removes Markdown, HTML and URLs from a text and joins it into one line.
pub fn to_plain_text(text: &str) -> String {
    let text = visible_text(text);
    let text = without_list_marker(&text);
    // Markup goes first, because a URL may be hidden between its characters.
    let text = decode_entities(&without_markup(&without_tags(&without_link_targets(text))));
    let text = without_urls(text);
    let is_url = |word: &str| {
        word.contains("://")
            || word.trim_start_matches(['(', '[', '<']).to_ascii_lowercase().starts_with("www.")
    };
    let words = text.split_whitespace().filter(|word| !is_url(word)).map(|word| word.trim_matches('_'));
    one_line(&words.collect::<Vec<_>>().join(" ").replace("()", ""))
}

/// Removes the marker of a list item, heading or quotation from the start of a line.
fn without_list_marker(text: &str) -> &str {
    let text = text.trim_start();
    let text = text.trim_start_matches(['-', '*', '•', '#', '>']).trim_start();
    let after_digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match after_digits.strip_prefix(['.', ')']) {
        Some(rest) if after_digits.len() < text.len() && rest.starts_with(' ') => rest.trim_start(),
        _ => text,
    }
}

/// Replaces `[words](target)` by its words.
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

/// Removes HTML tags.
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

/// Removes the characters with which Markdown marks emphasis, code and tables.
fn without_markup(text: &str) -> String {
    let removed =
        ["**", "__", "~~", "`", "*"].iter().fold(text.to_owned(), |text, mark| text.replace(mark, ""));
    removed.replace('|', " ").replace("()", "")
}

/// Replaces the most common character references of HTML by their characters.
pub fn decode_entities(text: &str) -> String {
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

fn without_urls(mut text: String) -> String {
    let urls: Vec<_> = urls_in(&text).into_iter().map(str::to_owned).collect();
    for url in urls.iter().filter(|url| !url.is_empty()) {
        text = text.replacen(url.as_str(), "", 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_are_found_in_lines() {
        for (line, expected) in [
            ("- https://a.example/x (2026-01-02)", vec!["https://a.example/x"]),
            (
                "[T](https://a.example/Foo_(bar)) and http://b.example.",
                vec!["https://a.example/Foo_(bar)", "http://b.example"],
            ),
            ("詳細はhttps://z.example/p、参照", vec!["https://z.example/p"]),
            ("nothing", vec![]),
            ("https://", vec!["https://"]),
        ] {
            assert_eq!(urls_in(line), expected, "{line}");
        }
    }

    #[test]
    fn plain_text_has_no_markup_and_no_urls() {
        for (text, expected) in [
            ("- **Bold** and `code`", "Bold and code"),
            (
                "12. See [the docs](https://x.example/Foo_(bar)) <b>now</b> &amp; *then*",
                "See the docs now & then",
            ),
            ("> a | b\n\tc", "a b c"),
            ("3.5 mm < 4 mm", "3.5 mm < 4 mm"),
            ("https:**//evil.example/** or www.evil.example ok", "or ok"),
            ("", ""),
        ] {
            assert_eq!(to_plain_text(text), expected, "{text}");
        }
    }

    #[test]
    fn long_text_is_truncated_at_a_character() {
        assert_eq!((truncate("東京都", 2), truncate("東京", 2)), ("東京…".to_owned(), "東京".to_owned()));
    }

    proptest! {
        #[test]
        fn any_line_can_be_searched_for_urls(line in "[htps:/ .()\u{3042}]{0,40}") {
            for url in urls_in(&line) {
                prop_assert!(line.contains(url));
            }
        }
    }
}
