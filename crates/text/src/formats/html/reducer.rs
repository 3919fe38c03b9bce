//! Reduces HTML to headings and rows of text. It reads tokens only and builds no tree, so that nesting costs nothing and
//! everything is linear in the size of the input.
//!
//! A block element begins a new row; a heading is a row of its own that begins with `#` signs, as in Markdown. Positions
//! refer to the original: line n of the reduced text has the rows that began on line n of the file.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use super::elements::{is_block, is_row_block};
use super::feeder::{Feeder, Piece};
use super::rows::HtmlRows;
use crate::document::Document;
use crate::lines::line_ranges;
use annai_core::cancellation::checkpoint;

/// Reduces an HTML file. Text before the first heading is a node that is named after the page, or else after the file.
pub fn reduce(original: &str, name: &str) -> Document {
    let sink = Reducer::default();
    let tokenizer = Tokenizer::new(sink, TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() });
    let queue = BufferQueue::default();
    let mut feeder = Feeder::new(original);
    while let Some(piece) = feeder.next(tokenizer.sink.tokens.get()) {
        checkpoint();
        match piece {
            Piece::Text(text) => queue.push_back(StrTendril::from_slice(text)),
            Piece::Skipped { line_breaks } => {
                tokenizer.sink.skipped_lines.set(tokenizer.sink.skipped_lines.get() + line_breaks);
                continue;
            }
        }
        // The reducer never asks to run a script, so the tokenizer always reads all of it.
        let _ = tokenizer.feed(&queue);
    }
    tokenizer.end();
    tokenizer.sink.rows.into_inner().finish(line_ranges(original).count(), name)
}

/// What the text between two tags is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Content {
    #[default]
    Normal,
    /// Not shown: a script, a style.
    Dropped,
    /// The title of the page.
    Title,
    /// Shown as it is written, up to its end tag.
    Verbatim,
}

/// Receives the tokens.
#[derive(Default)]
struct Reducer {
    rows: RefCell<HtmlRows>,
    content: Cell<Content>,
    /// How many elements of a kind that is not shown are open.
    hidden_depth: Cell<usize>,
    /// Whether these elements are `svg`; otherwise they are `template`.
    is_svg: Cell<bool>,
    /// How many elements that keep their line breaks are open.
    pre_depth: Cell<usize>,
    /// The number of tokens so far, without errors.
    tokens: Cell<usize>,
    /// How many line breaks were not given to the tokenizer.
    skipped_lines: Cell<usize>,
}

impl TokenSink for Reducer {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let line = usize::try_from(line).unwrap_or(usize::MAX).saturating_add(self.skipped_lines.get());
        // An error says that the file is not as the standard demands; the tokenizer goes on as browsers do.
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.tokens.set(self.tokens.get() + 1);
        match token {
            Token::CharacterTokens(text) => self.add_text(&text, line),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return self.start(&tag, line),
            Token::TagToken(tag) => self.end(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Reducer {
    fn add_text(&self, text: &str, line: usize) {
        let mut rows = self.rows.borrow_mut();
        match self.content.get() {
            Content::Dropped => {}
            _ if self.hidden_depth.get() > 0 => {}
            Content::Title => rows.add_title(text, line),
            Content::Verbatim => rows.add_verbatim(text, line),
            Content::Normal if self.pre_depth.get() > 0 => rows.add_verbatim(text, line),
            Content::Normal => rows.add_flowing(text, line),
        }
    }

    fn start(&self, tag: &Tag, line: usize) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        if self.hidden_depth.get() > 0 && self.is_svg.get() && ends_drawing(name) {
            self.hidden_depth.set(0);
            self.rows.borrow_mut().break_weakly();
        }
        if self.hidden_depth.get() > 0 {
            return self.start_hidden(name, tag.self_closing);
        }
        let mut rows = self.rows.borrow_mut();
        match name {
            "svg" | "template" => {
                self.is_svg.set(name == "svg");
                self.hidden_depth.set(usize::from(name == "template" || !tag.self_closing));
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => rows.start_heading(heading_level(name)),
            "br" => rows.break_line(),
            "li" => rows.start_item(),
            "tr" => rows.break_strongly(),
            "td" | "th" => rows.start_cell(),
            "pre" | "listing" => {
                rows.start_verbatim();
                self.pre_depth.set(self.pre_depth.get() + 1);
            }
            "textarea" | "xmp" | "plaintext" => rows.start_verbatim(),
            "a" | "area" => {
                if let Some(target) = attribute(tag, "href") {
                    rows.add_link(target);
                }
            }
            "img" => {
                if let Some(text) = attribute(tag, "alt") {
                    rows.add_flowing(text, line);
                }
            }
            name if is_row_block(name) => rows.break_strongly(),
            name if is_block(name) => rows.break_weakly(),
            _ => {}
        }
        self.raw_content(name)
    }

    /// A start tag inside of an element that is not shown.
    fn start_hidden(&self, name: &str, self_closing: bool) -> TokenSinkResult<()> {
        let depth = self.hidden_depth.get();
        if !self.is_svg.get() {
            self.hidden_depth.set(depth + usize::from(name == "template"));
            return self.raw_content(name);
        }
        self.hidden_depth.set(depth + usize::from(name == "svg" && !self_closing));
        // In a drawing, these elements may close themselves.
        if self_closing { TokenSinkResult::Continue } else { self.raw_content(name) }
    }

    /// How the tokenizer reads the content of an element, and what becomes of it.
    fn raw_content(&self, name: &str) -> TokenSinkResult<()> {
        let (content, result) = match name {
            "script" => (Content::Dropped, TokenSinkResult::RawData(RawKind::ScriptData)),
            "style" | "noscript" | "iframe" | "noembed" | "noframes" => {
                (Content::Dropped, TokenSinkResult::RawData(RawKind::Rawtext))
            }
            "title" => (Content::Title, TokenSinkResult::RawData(RawKind::Rcdata)),
            "textarea" => (Content::Verbatim, TokenSinkResult::RawData(RawKind::Rcdata)),
            "xmp" => (Content::Verbatim, TokenSinkResult::RawData(RawKind::Rawtext)),
            "plaintext" => (Content::Verbatim, TokenSinkResult::Plaintext),
            _ => return TokenSinkResult::Continue,
        };
        self.content.set(content);
        result
    }

    fn end(&self, name: &str) {
        let mut rows = self.rows.borrow_mut();
        // Raw content ends with its own end tag only, so this is it.
        let content = self.content.replace(Content::Normal);
        if content == Content::Verbatim {
            rows.break_strongly();
        }
        if content == Content::Title {
            rows.end_title();
        }
        let hidden = self.hidden_depth.get();
        if hidden > 0 {
            let closes = name == if self.is_svg.get() { "svg" } else { "template" };
            self.hidden_depth.set(hidden - usize::from(closes));
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => rows.end_heading(),
            "li" | "tr" => rows.break_strongly(),
            "br" => rows.break_line(),
            "pre" | "listing" => {
                self.pre_depth.set(self.pre_depth.get().saturating_sub(1));
                rows.break_strongly();
            }
            name if is_row_block(name) => rows.break_strongly(),
            name if is_block(name) => rows.break_weakly(),
            _ => {}
        }
    }
}

fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}

fn heading_level(name: &str) -> u8 {
    name.bytes().last().map_or(1, |digit| digit.saturating_sub(b'0'))
}

/// Elements that end a drawing that was not closed, as in browsers.
fn ends_drawing(name: &str) -> bool {
    let is_other =
        matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "br" | "img" | "span" | "li" | "pre");
    is_other || is_block(name) || is_row_block(name)
}

#[cfg(test)]
#[path = "reducer_tests.rs"]
mod tests;
