//! Search text, in which quotations and code are looked up: normalized, without white space and without inline markup.

use std::borrow::Cow;

use super::quotes::{CODE_END, CODE_START};
use annai_text::normalize_line;

/// The search text of a line: normalized, without white space, emphasis, code and quotation marks, the brackets and targets
/// of links, and tags.
pub(crate) fn search_text(line: &str) -> String {
    let mut normal = String::new();
    normalize_line(&without_targets(line), &mut normal);
    let mut searched = String::with_capacity(normal.len());
    let mut rest = normal.chars();
    while let Some(ch) = rest.next() {
        match ch {
            '`' | '*' | '_' | '~' | '[' | ']' | '\\' | '"' | '\'' | '“' | '”' | '‘' | '’' => {}
            '\u{feff}' | '\u{200b}' | CODE_START | CODE_END => {}
            '<' => match tag_len(rest.as_str()) {
                Some(len) => rest = rest.as_str().get(len..).unwrap_or_default().chars(),
                None => searched.push(ch),
            },
            ch if ch.is_whitespace() => {}
            ch => searched.push(ch),
        }
    }
    searched
}

/// A line without the targets of its links. It is not normalized yet, so that 「」 are no brackets of a link.
fn without_targets(line: &str) -> Cow<'_, str> {
    if !line.contains("](") {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, target)) = rest.split_once("](") {
        text.push_str(before);
        text.push(']');
        rest = match target.bytes().take(MAX_TARGET_BYTES).position(|byte| byte == b')') {
            Some(end) => target.get(end + 1..).unwrap_or_default(),
            None => {
                text.push('(');
                target
            }
        };
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The longest target of a link; what is longer is text in brackets.
const MAX_TARGET_BYTES: usize = 2000;
/// The longest tag; what is longer is text with a `<` in it.
const MAX_TAG_BYTES: usize = 200;

/// The tags that only shape text. Others are code, such as `Vec<String>`.
const TEXT_TAGS: &[&str] = &[
    "a", "b", "br", "code", "del", "details", "div", "em", "font", "i", "img", "ins", "kbd", "li", "mark",
    "ol", "p", "rb", "rp", "rt", "ruby", "s", "small", "span", "strong", "sub", "summary", "sup", "table",
    "tbody", "td", "th", "thead", "tr", "u", "ul",
];

/// The length of the rest of a comment or of a tag that only shapes text, after its `<`.
fn tag_len(text: &str) -> Option<usize> {
    let name = text.strip_prefix('/').unwrap_or(text);
    let name_len = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let is_tag = name.get(..name_len).is_some_and(|name| TEXT_TAGS.contains(&name));
    if !is_tag && !text.starts_with("!--") {
        return None;
    }
    let end = text.bytes().take(MAX_TAG_BYTES).position(|byte| byte == b'>')?;
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_white_space_do_not_matter() {
        for text in [
            "Set the timeout to 30 s",
            "set the **timeout** to `30 s`",
            "set the [timeout](https://example.com/a) to 30 s",
            "Ｓｅｔ　the <b>timeout</b> to 30s",
            "set the _timeout_ to \"30 s\"",
        ] {
            assert_eq!(search_text(text), "setthetimeoutto30s", "{text}");
        }
        assert_eq!(
            (search_text("a < b"), search_text("Vec<String>")),
            ("a<b".to_owned(), "vec<string>".to_owned())
        );
        assert_eq!((search_text("[a] (b)"), search_text("「a」(b)")), ("a(b)".to_owned(), "a(b)".to_owned()));
        assert_eq!(search_text("a](b"), "a(b");
    }
}
