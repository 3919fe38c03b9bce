//! Reads a Markdown text once, by the events of the parser: its headings, and what a reader of the page does not see. Of the
//! text of a paragraph, a heading or a table cell, that is everything outside of the parser's text and code; what stands
//! before and between them tells lines apart, and stays.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::pieces::{MAX_PIECE_BYTES, after_cut, piece_end};
use super::templates::Templates;
use crate::lines::LineIndex;
use crate::rendering::{Edit, Rendering};
use crate::sections::{Heading, explicit_anchor, plain_title};
use annai_core::cancellation::checkpoint;

const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_FOOTNOTES);

/// Starts of lines that mean something else than in CommonMark, and what the parser reads instead: notes and tabs of MkDocs,
/// whose text is indented but no code, are list items, and the end of a shortcode is no quote.
const LINE_STARTS: [(&str, &str); 5] =
    [("!!! ", "-  ."), ("??? ", "-  ."), ("???+", "-  ."), ("=== \"", "-  .\""), (">}}", ".}}")];

/// Reads the document that begins at a byte of the text. The headings are those outside of quotes, lists and footnotes.
pub fn read(text: &str, lines: &LineIndex, start: usize) -> (Rendering, Vec<Heading>) {
    let (mut reader, mut at) = (Reader { text, ..Reader::default() }, start);
    while at < text.len() {
        let end = piece_end(text, at);
        let source = with_line_starts(text.get(at..end).unwrap_or_default());
        reader.last_block = if end < text.len() { at + MAX_PIECE_BYTES / 2 } else { usize::MAX };
        let next = reader.read(&source, at, false);
        at = next.unwrap_or_else(|| after_cut(text, end, reader.code_block));
    }
    let rendering = Rendering::new(reader.edits);
    let heading = |(level, range, content): (u8, Range<usize>, Range<usize>)| {
        let anchor = text.get(content.clone()).and_then(explicit_anchor).map(Into::into);
        let title = plain_title(&rendering.render(text, content));
        let (first, last) = (lines.line_at(range.start), lines.line_at(range.end.max(1) - 1));
        let start = lines.line(first).unwrap_or_default().start;
        Heading { level, title, anchor, start, lines: last + 1 - first }
    };
    let headings = reader.headings.into_iter().map(heading).collect();
    (rendering, headings)
}

/// A text with other starts of lines, of the same length.
fn with_line_starts(text: &str) -> Cow<'_, str> {
    if !LINE_STARTS.iter().any(|(start, _)| text.contains(start)) {
        return text.into();
    }
    let mut changed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let known =
            LINE_STARTS.iter().find_map(|(start, other)| Some((*other, content.strip_prefix(start)?)));
        let (other, rest) = known.unwrap_or(("", content));
        let (indent, _) = line.split_at(line.len() - content.len());
        changed.extend([indent, other, rest]);
    }
    changed.into()
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    edits: Vec<Edit>,
    /// The level, the bytes, and the content of each heading.
    headings: Vec<(u8, Range<usize>, Range<usize>)>,
    /// The depth of quotes, lists and footnotes.
    depth: usize,
    /// Where the open code block begins; also the one that a piece ends in.
    code_block: Option<usize>,
    /// A block that begins here or later belongs to the next piece.
    last_block: usize,
    /// Up to where the blocks are read.
    read_to: usize,
    /// The text of the open block so far, with its markup.
    content: Option<Range<usize>>,
    /// The code in it.
    code: Vec<Range<usize>>,
    /// Whether a line of it begins here.
    is_line_start: bool,
    /// Two stars in it that are not paired yet, and whether a letter next to them is not ASCII.
    stars: Option<(Range<usize>, bool)>,
    templates: Templates,
}

impl Reader<'_> {
    /// Reads a source that is as long as the part of the text that begins at an offset, and returns where the next piece
    /// begins; none where it is read to its end.
    fn read(&mut self, source: &str, offset: usize, is_html: bool) -> Option<usize> {
        let parser = Parser::new_ext(source, OPTIONS);
        self.read_to = offset;
        for (event, range) in parser.into_offset_iter() {
            checkpoint();
            let written = source.get(range.clone()).unwrap_or_default();
            let range = offset + range.start..offset + range.end;
            match event {
                Event::Start(tag) if is_inline(tag.to_end()) => self.add(range.start..range.start),
                Event::End(tag) if is_inline(tag) => self.add(range.end..range.end),
                Event::Text(_) if self.code_block.is_some() => {}
                Event::Text(shown) => self.text(range, written, &shown),
                Event::Code(_) => {
                    self.add(range.clone());
                    self.code.push(range);
                }
                Event::InlineHtml(_) | Event::FootnoteReference(_) => self.add(range),
                Event::SoftBreak | Event::HardBreak => {
                    self.add(range);
                    self.is_line_start = true;
                }
                Event::Start(tag) => {
                    self.end_block(false);
                    self.skip_to(range.start);
                    if self.depth == 0 && range.start >= self.last_block {
                        // Its indent belongs to it.
                        let before = source.get(..range.start - offset).unwrap_or_default();
                        return before.rfind(['\n', '\r']).map(|last| offset + last + 1);
                    }
                    self.depth += usize::from(is_container(tag.to_end()));
                    self.code_block = matches!(tag, Tag::CodeBlock(_)).then_some(range.start);
                    if tag == Tag::HtmlBlock && !is_html {
                        self.html(range);
                    }
                }
                Event::End(tag) => {
                    let is_heading = matches!(tag, TagEnd::Heading(_));
                    if let (TagEnd::Heading(level), 0) = (tag, self.depth) {
                        let content = self.content.clone().unwrap_or(range.start..range.start);
                        self.headings.push((level as u8, range.clone(), content));
                    }
                    self.end_block(is_heading);
                    match is_container(tag) {
                        true => self.depth -= 1,
                        false => self.read_to = range.end,
                    }
                    self.code_block = self.code_block.filter(|_| range.end == offset + source.len());
                }
                Event::Rule => self.skip_to(range.start),
                _ => {}
            }
        }
        self.end_block(false);
        self.skip_to(offset + source.len());
        None
    }

    /// Leaves out the definitions of links before the next block. Besides them, only the marks of blocks stand there.
    fn skip_to(&mut self, next: usize) {
        let between = self.text.get(self.read_to..next).unwrap_or_default();
        let is_definition = |at: &usize| !between.get(*at..).unwrap_or_default().starts_with("[^");
        let first = between.match_indices('[').map(|(at, _)| at).find(is_definition);
        if let Some(first) = first {
            let last = between.rfind(['\n', '\r']).filter(|last| *last > first).unwrap_or(between.len());
            self.edits.push(Edit::new(self.read_to + first..self.read_to + last, None));
        }
        self.read_to = self.read_to.max(next);
    }

    /// Adds a part to the text of the block, and leaves out the marks before it.
    fn add(&mut self, range: Range<usize>) {
        let before = self.text.get(..range.start).unwrap_or_default();
        // The block may begin with an escape.
        let first = range.start - usize::from(before.ends_with('\\'));
        if self.content.is_none() {
            self.skip_to(first);
        }
        let Range { start, end } = self.content.clone().unwrap_or(first..first);
        self.content = Some(start..range.end);
        let marks = before.get(end..).unwrap_or_default();
        let is_indent = |letter: char| self.is_line_start && matches!(letter, ' ' | '\t' | '>');
        let rest = marks.trim_start_matches(is_indent);
        self.is_line_start = false;
        // A single tilde, or a star between digits, is no emphasis for the reader: `10~20`, `2*3 and 4*5`.
        let is_digit = |at: usize| self.text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let is_product = || rest == "*" && is_digit(end.saturating_sub(1)) && is_digit(range.start);
        if !rest.trim().is_empty() && rest != "~" && !is_product() {
            self.edits.push(Edit::new(range.start - rest.len()..range.start, None));
        }
    }

    fn text(&mut self, range: Range<usize>, written: &str, shown: &str) {
        self.add(range.clone());
        if written.starts_with('&') && shown != written {
            let is_plain = |letter: &char| !letter.is_whitespace() && !letter.is_control();
            // A line stays one line.
            let letter = shown.chars().next().map(|letter| Some(letter).filter(is_plain).unwrap_or(' '));
            self.edits.push(Edit::new(range, letter));
        } else if written == "*" {
            self.pair_stars(range.end);
        }
    }

    /// Leaves out pairs of stars that are no emphasis in CommonMark because of the Japanese brackets and letters next to
    /// them: `**「語」**を`.
    fn pair_stars(&mut self, last: usize) {
        let stars = last.saturating_sub(2)..last;
        if self.text.get(stars.clone()) != Some("**") {
            return;
        }
        let before = self.text.get(..stars.start).and_then(|before| before.chars().next_back());
        let after = self.text.get(last..).and_then(|after| after.chars().next());
        let is_wide = [before, after].into_iter().flatten().any(|letter| !letter.is_ascii());
        match self.stars.take() {
            Some((open, is_open_wide)) if !before.is_none_or(char::is_whitespace) => {
                let pair = [open, stars].into_iter().filter(|_| is_wide || is_open_wide);
                self.edits.extend(pair.map(|stars| Edit::new(stars, None)));
            }
            _ if !after.is_none_or(char::is_whitespace) => self.stars = Some((stars, is_wide)),
            _ => {}
        }
    }

    /// Ends the text of a block, and leaves out the templates in it.
    fn end_block(&mut self, is_heading: bool) {
        let code = std::mem::take(&mut self.code);
        (self.stars, self.is_line_start) = (None, false);
        if let Some(content) = self.content.take() {
            self.read_to = content.end;
            self.templates.add_edits(self.text, content, &code, is_heading, &mut self.edits);
        }
    }

    /// Reads the text between the tags of HTML.
    fn html(&mut self, range: Range<usize>) {
        let first = self.edits.len();
        self.templates.add_edits(self.text, range.clone(), &[], false, &mut self.edits);
        let mut source = self.text.get(range.clone()).unwrap_or_default().as_bytes().to_vec();
        for edit in self.edits.iter().skip(first) {
            let Range { start, end } = edit.range();
            let tag = source.get_mut(start - range.start..end.min(range.end) - range.start);
            let tag = tag.unwrap_or_default().iter_mut();
            tag.filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b'.');
        }
        // What looks like a heading is none.
        self.depth += 1;
        self.read(&String::from_utf8(source).unwrap_or_default(), range.start, true);
        self.depth -= 1;
    }
}

const fn is_inline(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

const fn is_container(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition)
}
