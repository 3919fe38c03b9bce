//! The nodes of a file: its headings, each with the lines of its section, and the title of the page.

use serde::{Deserialize, Serialize};

use super::anchors::slug;
use super::front_matter::front_matter;
use super::headings::{Heading, headings, plain_title};
use super::lines::LineIndex;
use super::page_title::is_page_number;
use super::rendering::Rendering;

/// The number of lines at the start of a page that are searched for its first line of text.
const MAX_SKIPPED_LINES: usize = 20;

/// What a node is, and where its title comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// A heading.
    #[default]
    Heading,
    /// A heading that is only the number of a page; the title is the first line of text below it.
    PageBreak,
    /// The beginning of a page whose title stands in its front matter instead of a heading of level 1. All other sections
    /// belong to it.
    Page,
    /// Text without a heading: before the first one, or a whole file.
    Untitled,
}

impl NodeKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Heading, Self::PageBreak, Self::Page, Self::Untitled];
}

/// A heading and its section, which ends before the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The text of the heading without markup.
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
    /// What it is.
    pub kind: NodeKind,
    /// The id of the heading that is not part of its title, by which links name it.
    pub anchor: Option<Box<str>>,
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

/// A Markdown file.
pub struct MarkdownPage {
    /// The title: that of the front matter, else the first heading of level 1, else the name of the file.
    pub title: String,
    /// The nodes, in order.
    pub nodes: Vec<Node>,
    /// The text as a reader sees it.
    pub rendering: Rendering,
}

/// Reads a Markdown text. Text before the first heading, or a text without headings, is a node with the title of the page;
/// `name` is what the page is called where nothing in it says so.
pub fn markdown_page(text: &str, lines: &LineIndex, name: &str) -> MarkdownPage {
    let front_matter = front_matter(text, lines);
    let rendering = Rendering::new(text, front_matter.end);
    let headings = headings(text, lines, front_matter.end, &rendering);
    let written = front_matter.title.map(|title| written_title(&title)).filter(|title| !title.is_empty());
    let has_written_title = written.is_some();
    let title = written.or_else(|| first_title(&headings)).unwrap_or_else(|| name.to_owned());
    let is_root = has_written_title && headings.iter().all(|heading| heading.level > 1);
    let nodes = nodes(text, lines, headings, &title, is_root);
    let nodes = nodes.into_iter().map(|node| with_page_title(node, text, lines, &rendering)).collect();
    MarkdownPage { title, nodes, rendering }
}

/// A title from metadata, without markup.
pub fn written_title(title: &str) -> String {
    plain_title(&Rendering::new(title, 0).render(title, 0..title.len()))
}

/// The first heading of level 1 that names the page.
fn first_title(headings: &[Heading]) -> Option<String> {
    let is_title = |heading: &&Heading| {
        heading.level == 1 && !heading.title.is_empty() && !is_page_number(&heading.title)
    };
    headings.iter().find(is_title).map(|heading| heading.title.clone())
}

/// The nodes of headings. The text before them is a node with the title of the page, and their root if `is_root`.
fn nodes(text: &str, lines: &LineIndex, headings: Vec<Heading>, title: &str, is_root: bool) -> Vec<Node> {
    let mut nodes = Vec::with_capacity(headings.len() + 1);
    let first = headings.first().map_or(lines.count() + 1, |heading| heading.line);
    let has_preface = (1..first).any(|line| {
        lines
            .line(line)
            .and_then(|line| text.get(line))
            .is_some_and(|line| !line.trim_matches(['\u{feff}']).trim().is_empty())
    });
    // The sections that have not ended yet, outermost first.
    let mut open: Vec<usize> = Vec::new();
    if has_preface || headings.is_empty() {
        let end = (first - 1).max(1);
        nodes.push(Node {
            title: title.to_owned(),
            end_line: if is_root { lines.count().max(1) } else { end },
            own_end_line: end,
            kind: if is_root { NodeKind::Page } else { NodeKind::Untitled },
            ..json_node(lines, "")
        });
        open.extend(is_root.then_some(0));
    }
    let next_lines: Vec<_> =
        headings.iter().skip(1).map(|next| next.line - 1).chain([lines.count()]).collect();
    for (Heading { level, title, anchor, line }, own_end_line) in headings.into_iter().zip(next_lines) {
        while let Some(last) =
            open.last().and_then(|last| nodes.get_mut(*last)).filter(|last| last.level >= level)
        {
            last.end_line = line - 1;
            open.pop();
        }
        nodes.push(Node {
            title,
            level,
            start_line: line,
            start_char: 0,
            end_line: lines.count(),
            own_end_line,
            parent: open.last().copied(),
            kind: NodeKind::Heading,
            anchor,
        });
        open.push(nodes.len() - 1);
    }
    nodes
}

/// The first line of text as the title of a page whose heading is only its number.
fn with_page_title(node: Node, text: &str, lines: &LineIndex, rendering: &Rendering) -> Node {
    if node.kind != NodeKind::Heading || !is_page_number(&node.title) {
        return node;
    }
    let first = first_text_line(text, lines, rendering, node.start_line + 1..=node.own_end_line);
    let anchor = node.anchor.or_else(|| Some(slug(&node.title).into()));
    Node { title: first.unwrap_or(node.title), kind: NodeKind::PageBreak, anchor, ..node }
}

/// The first of these lines that has words, as a reader sees it.
pub fn first_text_line(
    text: &str,
    lines: &LineIndex,
    rendering: &Rendering,
    numbers: std::ops::RangeInclusive<usize>,
) -> Option<String> {
    numbers.take(MAX_SKIPPED_LINES).find_map(|number| {
        let line = rendering.render(text, lines.line(number)?);
        let is_mark = |letter: char| {
            letter.is_ascii_whitespace() || matches!(letter, '>' | '|' | '-' | '*' | '+' | '#')
        };
        let title = plain_title(line.trim_start_matches(is_mark));
        title.contains(char::is_alphanumeric).then_some(title)
    })
}

/// The single node of a file without headings.
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
        kind: NodeKind::Untitled,
        anchor: None,
    }
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;
