//! Reads the blocks of a Markdown artifact in one pass: diagrams, links, comments, and the text with its values.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::audit::claims::{CODE_END, CODE_START, Claims, LineKind};
use crate::audit::marks::is_derived;
use crate::reading::Provenance;
use annai_core::cancellation::checkpoint;
use annai_text::{LineIndex, normalize_text};

/// The blocks of a Markdown text.
#[derive(Debug, Default)]
pub(super) struct Blocks<'a> {
    /// The lines of each diagram, with their numbers.
    pub(super) diagrams: Vec<Vec<(usize, &'a str)>>,
    /// The targets of links, with their line numbers.
    pub(super) links: Vec<(usize, String)>,
    pub(super) claims: Claims,
    /// The source comments, with their line numbers.
    pub(super) comments: Vec<(usize, Provenance)>,
}

/// What the text that follows belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Prose,
    Heading,
    Code,
    /// Diagrams, and front matter.
    Ignored,
}

/// Reads the blocks of a Markdown text.
pub(super) fn blocks<'a>(text: &'a str, lines: &LineIndex) -> Blocks<'a> {
    let mut reader = BlockReader {
        text,
        lines,
        found: Blocks::default(),
        context: Context::Prose,
        diagram: None,
        is_comment: false,
        line: (0, String::new()),
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        checkpoint();
        reader.read(event, range.start, range.end);
    }
    reader.end_line();
    reader.found
}

struct BlockReader<'a, 'b> {
    text: &'a str,
    lines: &'b LineIndex,
    found: Blocks<'a>,
    context: Context,
    diagram: Option<Vec<(usize, &'a str)>>,
    is_comment: bool,
    /// The line of text that is being collected, with its number.
    line: (usize, String),
}

impl BlockReader<'_, '_> {
    fn read(&mut self, event: Event<'_>, start: usize, end: usize) {
        let number = |reader: &Self| reader.lines.line_at(start);
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                self.end_line();
                self.context = match kind {
                    CodeBlockKind::Fenced(info) if is_mermaid(&info) => {
                        self.diagram = Some(Vec::new());
                        Context::Ignored
                    }
                    CodeBlockKind::Fenced(info) if is_drawing(&info) => Context::Ignored,
                    CodeBlockKind::Fenced(_) => Context::Code,
                    // Indented text is seldom meant as code.
                    CodeBlockKind::Indented => Context::Prose,
                };
            }
            Event::Start(Tag::MetadataBlock(_)) => self.context = Context::Ignored,
            Event::Start(Tag::Heading { .. }) => {
                self.end_line();
                self.context = Context::Heading;
            }
            Event::End(TagEnd::CodeBlock) => {
                self.end_line();
                self.found.diagrams.extend(self.diagram.take());
                self.context = Context::Prose;
            }
            Event::End(TagEnd::MetadataBlock(_) | TagEnd::Heading(_)) => {
                self.end_line();
                self.context = Context::Prose;
            }
            Event::Text(words) => match self.context {
                Context::Prose | Context::Heading => {
                    for (index, part) in words.split('\n').enumerate() {
                        self.add(number(self) + index, part);
                    }
                }
                Context::Code | Context::Ignored => self.raw_text(start, end),
            },
            Event::Code(code) => {
                self.add(number(self), &format!("{CODE_START}{code}{CODE_END}"));
            }
            Event::Start(Tag::HtmlBlock) => self.is_comment = false,
            Event::End(TagEnd::TableCell) => self.line.1.push_str(" | "),
            Event::Html(_) | Event::InlineHtml(_) => self.html(start, end),
            Event::Start(Tag::Link { dest_url, .. }) => {
                self.found.links.push((number(self), dest_url.to_string()));
            }
            _ => {}
        }
    }

    /// Adds text to a line. The line before it is complete then.
    fn add(&mut self, number: usize, text: &str) {
        if self.line.0 != number {
            self.end_line();
            self.line.0 = number;
        }
        self.line.1.push_str(text);
    }

    fn end_line(&mut self) {
        let (number, text) = std::mem::take(&mut self.line);
        if !text.trim().is_empty() {
            let kind = if self.context == Context::Heading { LineKind::Heading } else { LineKind::Prose };
            self.found.claims.read_line(number, kind, &text);
        }
    }

    /// Lines of code, or of a diagram.
    fn raw_text(&mut self, start: usize, end: usize) {
        let part = self.text.get(start..end).unwrap_or_default();
        for (number, line) in (self.lines.line_at(start)..).zip(part.lines()) {
            if let Some(diagram) = &mut self.diagram {
                diagram.push((number, line));
            } else if self.context == Context::Code {
                self.found.claims.read_line(number, LineKind::Code, line);
            }
        }
    }

    /// HTML: comments, which may take several lines, and text between tags.
    fn html(&mut self, start: usize, end: usize) {
        let first = self.lines.line_at(start);
        let html = self.text.get(start..end).unwrap_or_default();
        for (number, line) in (first..).zip(html.lines()) {
            let mut rest = line;
            loop {
                if self.is_comment {
                    let Some((_, after)) = rest.split_once("-->") else { break };
                    (self.is_comment, rest) = (false, after);
                }
                let Some(at) = rest.find("<!--") else { break };
                let (before, comment) = rest.split_at(at);
                self.add(number, &without_tags(before));
                match comment.find("-->") {
                    Some(end) => {
                        let (comment, after) = comment.split_at(end + 3);
                        self.comment(number, comment);
                        rest = after;
                    }
                    None => (self.is_comment, rest) = (true, ""),
                }
            }
            if !self.is_comment {
                self.add(number, &without_tags(rest));
            }
        }
    }

    /// A comment may say where the text below it came from, or mark its element as derived.
    fn comment(&mut self, number: usize, comment: &str) {
        if let Some(source) = Provenance::parse(comment) {
            if self.found.claims.has_room(number) {
                self.found.comments.push((number, source));
            }
        } else if comment.contains("derived") && is_derived(&normalize_text(comment)) {
            self.found.claims.derived_lines.push(number);
        }
    }
}

/// A line of HTML without its tags.
fn without_tags(html: &str) -> String {
    let mut text = String::new();
    for (index, part) in html.split('<').enumerate() {
        match (index, part.split_once('>')) {
            (0, _) => text.push_str(part),
            (_, Some((_, after))) => {
                text.push(' ');
                text.push_str(after);
            }
            (_, None) => {}
        }
    }
    text
}

/// Whether the info string of a fence says that the block is a Mermaid diagram.
pub(super) fn is_mermaid(info: &str) -> bool {
    language(info).eq_ignore_ascii_case("mermaid")
}

/// Whether it says that the block is a drawing of another kind, whose text is not code.
fn is_drawing(info: &str) -> bool {
    let drawings = ["dot", "graphviz", "plantuml", "puml", "d2", "ditaa", "ascii"];
    drawings.iter().any(|drawing| language(info).eq_ignore_ascii_case(drawing))
}

fn language(info: &str) -> &str {
    let word = info.trim_start().trim_start_matches(['{', '.']);
    let end = word.find(|ch: char| !ch.is_alphanumeric()).unwrap_or(word.len());
    word.get(..end).unwrap_or_default()
}
