//! Marks the links in the text of an answer that no search returned: the model may have made them up.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::citations::{link_identity, page_identity};
use crate::links::{BareLink, find_bare_links};
use crate::plain_text::{decode_entities, url_at_start};
use crate::responses::ParsedResponse;

/// The remark behind a link.
const MARK: &str = "(unverified link)";
/// The same in Japanese text.
const JAPANESE_MARK: &str = "（未確認のリンク）";
/// A text is Japanese if it has one hiragana for this many Latin letters: Japanese prose has more, even about technology,
/// and English prose with a Japanese title has fewer.
const LATIN_LETTERS_PER_HIRAGANA: usize = 4;

/// The pages that a link in the text may lead to.
pub struct KnownPages(BTreeSet<String>);

impl KnownPages {
    /// The pages that the API named as citations or as sources of its searches, and those that the question itself names:
    /// the model did not make up what it was given.
    pub fn new(response: &ParsedResponse, question: &str) -> Self {
        let returned = response.citations.iter().chain(&response.sources);
        let returned = returned.filter(|link| !link.is_service).map(|link| link.url.clone());
        let asked = find_bare_links(question, &[]).into_iter().map(|link| link.target);
        let asked: Vec<_> = asked.flat_map(|url| readings(&url)).collect();
        Self(returned.chain(asked).filter_map(|url| page_identity(&url)).collect())
    }

    /// Whether a link leads to one of the pages, in one of the ways to read it.
    fn contains(&self, link: &str) -> bool {
        readings(link).iter().any(|url| page_identity(url).is_some_and(|page| self.0.contains(&page)))
    }
}

/// A text in which every link that leads to no known page is marked.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MarkedText {
    /// The text.
    pub text: String,
    /// The links that lead to no known page, each once. Those in code are not marked.
    pub unverified: BTreeSet<String>,
}

/// A stretch of the text that stays in one piece.
struct Span {
    range: Range<usize>,
    kind: SpanKind,
    /// Where it leads.
    targets: Vec<String>,
}

#[derive(PartialEq, Eq)]
enum SpanKind {
    /// A link or an image of Markdown, the definition of one, or HTML.
    Markup,
    /// Code, which has to stay as it is.
    Code,
    /// A link without any markup.
    Bare,
}

/// Marks the links of a Markdown text that lead to no known page.
pub fn mark_unverified_links(text: &str, known: &KnownPages) -> MarkedText {
    let spans = spans(text);
    let mark = if is_japanese(text, &spans) { JAPANESE_MARK } else { MARK };
    let mut marked = MarkedText { text: String::with_capacity(text.len()), unverified: BTreeSet::new() };
    let mut at = 0;
    for Span { range, kind, targets } in spans {
        let mut unverified = targets.iter().filter(|link| is_web(link) && !known.contains(link)).peekable();
        let is_marked = unverified.peek().is_some() && kind != SpanKind::Code;
        marked.unverified.extend(unverified.map(|link| link_identity(link)));
        let end = text.get(..range.end).unwrap_or_default().trim_end().len().max(at);
        let (inside, behind) = (text.get(at..end).unwrap_or_default(), text.get(end..).unwrap_or_default());
        marked.text.push_str(inside);
        at = end;
        let has_mark = [MARK, JAPANESE_MARK]
            .iter()
            .any(|mark| inside.ends_with(mark) || behind.trim_start_matches(' ').starts_with(mark));
        if is_marked && !has_mark {
            // Clients take what directly follows a link without markup for a part of it.
            let needs_space = kind == SpanKind::Bare || mark == MARK;
            marked.text.push_str(if needs_space { " " } else { "" });
            marked.text.push_str(mark);
        }
    }
    marked.text.push_str(text.get(at..).unwrap_or_default());
    marked
}

/// The links of a text, and its code and HTML with the links inside, in order.
fn spans(text: &str) -> Vec<Span> {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    let definitions: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(_, definition)| (definition.span.clone(), definition.dest.to_string()))
        .collect();
    let (mut spans, mut depth, mut words) = (Vec::<Span>::new(), 0_usize, String::new());
    for (event, range) in parser.into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                // An image inside a link, or a link inside the words of an image, is part of the outer one.
                match spans.last_mut().filter(|_| depth > 0) {
                    Some(outer) => outer.targets.push(dest_url.into_string()),
                    None => spans.push(Span::new(range, SpanKind::Markup, vec![dest_url.into_string()])),
                }
                depth += 1;
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                depth = depth.saturating_sub(1);
                if let Some(link) = spans.last_mut().filter(|_| depth == 0) {
                    // The words of a link can name another page than the one it leads to.
                    link.targets.extend(find_bare_links(&words, &[]).into_iter().map(|link| link.target));
                    words.clear();
                }
            }
            Event::Text(part) | Event::Code(part) if depth > 0 => words.push_str(&part),
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => {
                spans.push(Span::with_links_in(text, range, SpanKind::Code));
            }
            Event::Html(_) | Event::InlineHtml(_) if depth == 0 => {
                spans.push(Span::with_links_in(text, range, SpanKind::Markup));
            }
            _ => {}
        }
    }
    // A definition that a link refers to is marked there.
    let used: BTreeSet<_> = spans.iter().flat_map(|span| span.targets.iter().cloned()).collect();
    for (range, target) in definitions {
        let targets = if used.contains(&target) { Vec::new() } else { vec![target] };
        spans.push(Span::new(range, SpanKind::Markup, targets));
    }
    spans.sort_by_key(|span| span.range.start);
    let taken: Vec<_> = spans.iter().map(|span| span.range.clone()).collect();
    let mut next = taken.iter().peekable();
    for BareLink { mut range, mut target } in find_bare_links(text, &taken) {
        // A link without markup ends where markup begins.
        while next.next_if(|taken| taken.start < range.start).is_some() {}
        if let Some(taken) = next.peek().filter(|taken| taken.start < range.end) {
            let end =
                range.start + url_at_start(text.get(range.start..taken.start).unwrap_or_default()).len();
            target.truncate(target.len().saturating_sub(range.end - end));
            range.end = end;
        }
        spans.push(Span::new(range, SpanKind::Bare, vec![target]));
    }
    spans.sort_by_key(|span| span.range.start);
    spans
}

impl Span {
    const fn new(range: Range<usize>, kind: SpanKind, targets: Vec<String>) -> Self {
        Self { range, kind, targets }
    }

    /// A stretch of code or HTML with the links that stand in it.
    fn with_links_in(text: &str, range: Range<usize>, kind: SpanKind) -> Self {
        let content = text.get(range.clone()).unwrap_or_default();
        let targets = find_bare_links(content, &[]).into_iter().map(|link| link.target);
        Self::new(range, kind, targets.collect())
    }
}

/// Whether a link leads to the web. Others have been removed from the text.
fn is_web(link: &str) -> bool {
    let scheme = link.split_once("://").map(|(scheme, _)| scheme.trim());
    scheme.is_some_and(|scheme| ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web)))
}

/// The URLs that a link may stand for: as it is written, with its escapes decoded, without the Japanese words that follow
/// it directly, and, where it begins with `www.`, with either scheme.
fn readings(link: &str) -> Vec<String> {
    let before_words = link.split(is_hiragana).next().unwrap_or(link);
    let ascii = link.split(|letter: char| !letter.is_ascii()).next().unwrap_or(link);
    let ascii = if ascii.ends_with(|letter: char| letter.is_ascii_alphanumeric()) { ascii } else { link };
    let mut readings = Vec::new();
    for reading in [link, before_words, ascii] {
        let decoded = decode_entities(&reading.replace('\\', ""));
        for url in [reading.to_owned(), decoded] {
            if let Some(host) = url.strip_prefix("http://www.") {
                readings.push(format!("https://www.{host}"));
            }
            readings.push(url);
        }
    }
    readings
}

/// Whether the prose of a text is Japanese.
fn is_japanese(text: &str, spans: &[Span]) -> bool {
    let (mut hiragana, mut latin, mut at) = (0_usize, 0_usize, 0);
    let mut count = |prose: &str| {
        hiragana += prose.chars().filter(|letter| is_hiragana(*letter)).count();
        latin += prose.bytes().filter(u8::is_ascii_alphabetic).count();
    };
    for span in spans {
        count(text.get(at..span.range.start).unwrap_or_default());
        at = span.range.end.max(at);
    }
    count(text.get(at..).unwrap_or_default());
    hiragana > 0 && hiragana * LATIN_LETTERS_PER_HIRAGANA >= latin
}

const fn is_hiragana(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{309f}')
}

#[cfg(test)]
#[path = "unverified_links_tests.rs"]
mod tests;
