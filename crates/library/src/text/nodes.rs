//! The nodes of a file: its headings, as CommonMark defines them, each with the lines of its section.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::lines::{LineIndex, truncate_chars};

/// The maximum length of a title, because refs and tables of contents repeat it; a longer one is truncated.
pub const MAX_TITLE_CHARS: usize = 200;

/// A heading and its section, which ends before the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The text of the heading.
    pub title: String,
    /// The level of the heading, from 1 to 6.
    pub level: u8,
    /// The line of the heading, counted from 1.
    pub start_line: usize,
    /// How many characters of that line come before the heading. It is 0 except in HTML, where several headings may stand
    /// on one line.
    pub start_char: usize,
    /// The last line of the section, including its subsections.
    pub end_line: usize,
    /// The last line before the next heading of any level.
    pub own_end_line: usize,
    /// The index of the enclosing node.
    pub parent: Option<usize>,
}

impl Node {
    /// The id of the node: the path of its file and its line, and its character where several headings stand on one line.
    pub fn id(&self, path: &str) -> String {
        node_id(path, self.start_line, self.start_char)
    }
}

/// The id of the node that begins at a place.
pub fn node_id(path: &str, line: usize, char: usize) -> String {
    if char == 0 { format!("{path}#L{line}") } else { format!("{path}#L{line}.{char}") }
}

/// The nodes of a Markdown text. Text before the first heading, or a text without headings, is a node named after the
/// file.
pub fn markdown_nodes(text: &str, lines: &LineIndex, file_name: &str) -> Vec<Node> {
    let mut nodes = Vec::new();
    let headings = headings(text, lines);
    let first = headings.first().map_or(lines.count() + 1, |(_, _, line)| *line);
    let has_preface = (1..first).any(|line| {
        lines
            .line(line)
            .and_then(|line| text.get(line))
            .is_some_and(|line| !line.trim_matches(['\u{feff}']).trim().is_empty())
    });
    if has_preface || headings.is_empty() {
        let end = first - 1;
        nodes.push(Node {
            title: file_name.to_owned(),
            level: 1,
            start_line: 1,
            start_char: 0,
            end_line: end.max(1),
            own_end_line: end.max(1),
            parent: None,
        });
    }
    // The sections that have not ended yet, outermost first.
    let mut open: Vec<usize> = Vec::new();
    for (index, (level, title, line)) in headings.iter().enumerate() {
        let close = |nodes: &mut Vec<Node>, node: usize| {
            if let Some(node) = nodes.get_mut(node) {
                node.end_line = line - 1;
            }
        };
        while let Some(last) =
            open.last().copied().filter(|last| nodes.get(*last).is_some_and(|node| node.level >= *level))
        {
            close(&mut nodes, last);
            open.pop();
        }
        let next = headings.get(index + 1).map_or(lines.count(), |(_, _, line)| line - 1);
        nodes.push(Node {
            title: title.clone(),
            level: *level,
            start_line: *line,
            start_char: 0,
            end_line: lines.count(),
            own_end_line: next,
            parent: open.last().copied(),
        });
        open.push(nodes.len() - 1);
    }
    nodes
}

/// The single node of a JSON file.
pub fn json_node(lines: &LineIndex, file_name: &str) -> Node {
    let end = lines.count().max(1);
    Node {
        title: file_name.to_owned(),
        level: 1,
        start_line: 1,
        start_char: 0,
        end_line: end,
        own_end_line: end,
        parent: None,
    }
}

/// Level, title and line of every heading that is not inside a quote, a list or a footnote.
fn headings(text: &str, lines: &LineIndex) -> Vec<(u8, String, usize)> {
    let start = front_matter_end(text, lines);
    let body = text.get(start..).unwrap_or_default();
    let (mut found, mut depth, mut current) = (Vec::new(), 0_usize, None);
    for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                current = Some((level_number(level), String::new(), lines.line_at(start + range.start)));
            }
            Event::End(TagEnd::Heading(_)) => found.extend(current.take()),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => depth -= 1,
            Event::Text(words) | Event::Code(words) | Event::InlineHtml(words) => {
                if let Some((_, title, _)) = &mut current {
                    title.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, title, _)) = &mut current {
                    title.push(' ');
                }
            }
            _ => {}
        }
    }
    for (_, title, _) in &mut found {
        *title = truncate_chars(title.trim(), MAX_TITLE_CHARS).0.to_owned();
    }
    found
}

const fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// The byte at which the document begins, after its YAML front matter (`---` … `---` from the first line on).
fn front_matter_end(text: &str, lines: &LineIndex) -> usize {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let line = |number: usize| lines.line(number).and_then(|line| text.get(line)).map(str::trim_end);
    if line(1).map(|line| line.trim_start_matches('\u{feff}')) != Some("---") {
        return bom;
    }
    // Front matter begins with a key and has no blank line; any other `---` is a thematic break.
    let is_key = |line: &str| {
        let name = line.split(':').next().unwrap_or_default();
        name.len() < line.len()
            && !name.is_empty()
            && name.chars().all(|ch| ch.is_alphanumeric() || "_- .".contains(ch))
    };
    let has_key = line(2).is_some_and(is_key);
    let end = (2..=lines.count())
        .take_while(|number| line(*number) != Some(""))
        .find(|number| matches!(line(*number), Some("---" | "...")));
    match end.filter(|end| *end == 2 || has_key) {
        Some(end) => lines.line(end + 1).map_or(text.len(), |next| next.start),
        None => bom,
    }
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;
