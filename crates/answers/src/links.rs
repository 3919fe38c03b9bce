//! Removes links from the text of an answer that must not be in it: other schemes than http and https, and pages outside
//! the domains that the caller allows.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use reqwest::Url;

use crate::citations::link_identity;
use crate::domains::is_within;
use crate::plain_text::url_at_start;

/// How often a text is checked. Nobody writes links inside links by accident, so this many passes are for attempts to hide
/// one; what is left after the last is not checked again.
const MAX_PASSES: usize = 5;
/// How far behind its scheme a link without slashes is examined, in characters. It bounds the work at each word.
const MAX_EXAMINED_CHARS: usize = 300;

/// A text without the links that are not allowed.
#[derive(Debug, PartialEq, Eq)]
pub struct CheckedText {
    /// The text. The words of a removed link stay.
    pub text: String,
    /// The links that were removed, each once.
    pub removed: BTreeSet<String>,
}

/// A part of the text that is replaced.
struct Edit {
    range: Range<usize>,
    replacement: String,
}

/// Removes the links that are not allowed from a Markdown text. An empty list of domains allows all of them. Code stays as it
/// is, unless it is nothing but a link.
pub fn without_other_links(text: &str, domains: &[String]) -> CheckedText {
    let mut checked = CheckedText { text: text.to_owned(), removed: BTreeSet::new() };
    // What stood on both sides of a removed link can be a link together, so the result is checked again.
    for _ in 0..MAX_PASSES {
        let (mut edits, removed) = (Vec::new(), &mut checked.removed);
        let mut skipped = markdown_links(&checked.text, domains, &mut edits, removed);
        skipped.extend(edits.iter().map(|edit| edit.range.clone()));
        skipped.sort_by_key(|range| range.start);
        bare_links(&checked.text, domains, &skipped, &mut edits, removed);
        if edits.is_empty() {
            break;
        }
        checked.text = apply(&checked.text, edits);
    }
    checked
}

/// Whether a link may be in an answer.
fn is_allowed(link: &str, domains: &[String]) -> bool {
    let Ok(url) = Url::parse(link.trim()) else { return false };
    let is_web = matches!(url.scheme(), "http" | "https");
    // URL parsers disagree about the host behind a backslash or a user name.
    let is_ambiguous = link.contains('\\') || !url.username().is_empty() || url.password().is_some();
    let is_within = || !is_ambiguous && url.host_str().is_some_and(|host| is_within(host, domains));
    is_web && link.contains("://") && (domains.is_empty() || is_within())
}

/// A link or an image whose end has not been reached.
struct OpenLink {
    target: String,
    range: Range<usize>,
    words: String,
}

/// Finds the links of Markdown that are not allowed. Returns the ranges of the code.
fn markdown_links(
    text: &str,
    domains: &[String],
    edits: &mut Vec<Edit>,
    removed: &mut BTreeSet<String>,
) -> Vec<Range<usize>> {
    let mut code = Vec::new();
    let mut open: Vec<OpenLink> = Vec::new();
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    for (_, definition) in parser.reference_definitions().iter() {
        if !is_allowed(&definition.dest, domains) {
            removed.insert(link_identity(&definition.dest));
            edits.push(Edit { range: definition.span.clone(), replacement: String::new() });
        }
    }
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, link_type, .. }) => {
                let target = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.into_string(),
                };
                open.push(OpenLink { target, range, words: String::new() });
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                open.push(OpenLink { target: dest_url.into_string(), range, words: String::new() });
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                let Some(link) = open.pop() else { continue };
                if let Some(outer) = open.last_mut() {
                    outer.words.push_str(&link.words);
                }
                if !is_allowed(&link.target, domains) {
                    removed.insert(link_identity(&link.target));
                    edits.push(remove_link(text, link, domains, removed));
                }
            }
            Event::Start(Tag::CodeBlock(_)) => code.push(range),
            Event::Code(content) => {
                if let Some(link) = open.last_mut() {
                    link.words.push_str(&content);
                }
                let is_link = link_at(content.trim()).is_some_and(|link| link.len() == content.trim().len());
                if is_link && !is_allowed(&content, domains) {
                    removed.insert(link_identity(&content));
                    edits.push(Edit { range, replacement: String::new() });
                } else {
                    code.push(range);
                }
            }
            Event::Text(words) => {
                if let Some(link) = open.last_mut() {
                    link.words.push_str(&words);
                }
            }
            _ => {}
        }
    }
    code
}

/// Replaces a link by its words. A link that stands alone in brackets is a citation, and disappears with its words.
fn remove_link(text: &str, link: OpenLink, domains: &[String], removed: &mut BTreeSet<String>) -> Edit {
    let before = text.get(..link.range.start).unwrap_or_default();
    let after = text.get(link.range.end..).unwrap_or_default();
    for (opening, closing) in [('(', ')'), ('（', '）')] {
        if before.ends_with(opening) && after.starts_with(closing) {
            let range = link.range.start - opening.len_utf8()..link.range.end + closing.len_utf8();
            return Edit { range, replacement: String::new() };
        }
    }
    // The words of a link can be a link themselves.
    let mut edits = Vec::new();
    bare_links(&link.words, domains, &[], &mut edits, removed);
    Edit { range: link.range, replacement: apply(&link.words, edits).trim().to_owned() }
}

/// Finds the links that are written without any markup and are not allowed, outside of the ranges to skip, which are in
/// order.
fn bare_links(
    text: &str,
    domains: &[String],
    skipped: &[Range<usize>],
    edits: &mut Vec<Edit>,
    removed: &mut BTreeSet<String>,
) {
    for BareLink { range, target } in find_bare_links(text, skipped) {
        if !is_allowed(&target, domains) {
            removed.insert(link_identity(&target));
            edits.push(Edit { range, replacement: String::new() });
        }
    }
}

/// A link that is written without any markup.
pub struct BareLink {
    /// Where it stands.
    pub range: Range<usize>,
    /// The URL; a link that begins with `www.` gets a scheme.
    pub target: String,
}

/// Finds the links that are written without any markup, outside of the ranges to skip, which are in order.
pub fn find_bare_links(text: &str, skipped: &[Range<usize>]) -> Vec<BareLink> {
    let (mut links, mut skipped) = (Vec::new(), skipped.iter().peekable());
    let mut at = 0;
    while let Some(start) = next_word(text, at) {
        while skipped.next_if(|range| range.end <= start).is_some() {}
        if let Some(range) = skipped.peek().filter(|range| range.start <= start) {
            at = range.end;
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        let Some(link) = link_at(rest) else {
            // The rest of the word cannot begin a link, except behind a character that ends words.
            let word = rest.find(|letter: char| !is_scheme_letter(letter)).unwrap_or(rest.len());
            at = start + word.max(1);
            continue;
        };
        at = start + link.len();
        let is_host_only = link.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("www."));
        let target = if is_host_only { format!("http://{link}") } else { link.to_owned() };
        links.push(BareLink { range: start..at, target });
    }
    links
}

/// Whether a character can be part of the scheme of a URL.
fn is_scheme_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "+.-".contains(letter)
}

/// The next position at which a word begins.
fn next_word(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let start = from + rest.find(|letter: char| letter.is_ascii_alphabetic())?;
    Some(start)
}

/// The link that a text starts with, written without any markup.
fn link_at(text: &str) -> Option<&str> {
    let scheme = text.find(|letter: char| !is_scheme_letter(letter)).unwrap_or(text.len());
    let (name, behind) = text.split_at_checked(scheme)?;
    if name.len() > 4 && name.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("www.")) {
        return Some(url_at_start(text));
    }
    let behind = behind.strip_prefix(':')?;
    let next = behind.chars().next()?;
    let has = |wanted: char| {
        let word = behind.chars().take(MAX_EXAMINED_CHARS).take_while(|letter| !letter.is_whitespace());
        word.into_iter().any(|letter| letter == wanted)
    };
    let is_link = behind.starts_with("//")
        || match name.to_ascii_lowercase().as_str() {
            "javascript" | "vbscript" | "blob" => !next.is_whitespace(),
            "file" => next == '/',
            "data" => matches!(next, ',' | ';') || (next.is_ascii_alphabetic() && has('/')),
            "mailto" => has('@'),
            "tel" | "sms" => next == '+' || next.is_ascii_digit(),
            _ => false,
        };
    is_link.then(|| url_at_start(text)).filter(|link| link.len() > name.len() + 1)
}

/// Makes the edits, and closes the gaps that they leave.
fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    // The larger of two edits that begin together goes first, and those inside it are part of it.
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for Edit { range, replacement } in edits {
        if range.start < at {
            continue;
        }
        out.push_str(text.get(at..range.start).unwrap_or_default());
        at = range.end;
        out.push_str(&replacement);
        if replacement.is_empty() {
            at += close_gap(&mut out, text.get(at..).unwrap_or_default());
        }
    }
    out.push_str(text.get(at..).unwrap_or_default());
    without_empty_items(&out)
}

/// Removes the brackets and the spaces around something that was removed; returns how many bytes of the rest to skip.
fn close_gap(out: &mut String, rest: &str) -> usize {
    let mut skipped = 0;
    for (opening, closing) in [('(', ')'), ('（', '）'), ('<', '>'), ('[', ']')] {
        if out.ends_with(opening) && rest.starts_with(closing) {
            out.pop();
            skipped = closing.len_utf8();
        }
    }
    let next = rest.get(skipped..).and_then(|rest| rest.chars().next());
    if next.is_none_or(|letter| letter.is_whitespace() || ".,;:!?)、。）".contains(letter)) {
        out.truncate(out.trim_end_matches(' ').len());
    }
    skipped
}

/// Removes lines of which only the marker of a list item is left.
fn without_empty_items(text: &str) -> String {
    let is_empty_item = |line: &&str| {
        let line = line.trim();
        let digits = line.trim_end_matches(['.', ')']);
        let is_number = digits.len() < line.len() && digits.chars().all(|letter| letter.is_ascii_digit());
        matches!(line, "-" | "*" | "•" | "・") || (is_number && !digits.is_empty())
    };
    text.split('\n').filter(|line| !is_empty_item(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
