//! Makes the nodes of a file from its headings.

use super::node::{Node, NodeKind};
use crate::lines::LineIndex;

/// A heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// Its level, from 1 to 6.
    pub level: u8,
    /// Its text, without markup.
    pub title: String,
    /// Its id, where one is written beside the title.
    pub anchor: Option<Box<str>>,
    /// The byte of the text at which its first line begins, or its row in a reduced text.
    pub start: usize,
    /// How many lines it has.
    pub lines: usize,
}

/// The nodes of headings, which are in the order of the text. Before them comes the text before the first heading, if
/// `preface` gives it a title. A preface of the kind `Page` is the root of all other nodes.
pub fn outline(
    text: &str,
    lines: &LineIndex,
    headings: Vec<Heading>,
    preface: Option<(&str, NodeKind)>,
) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(headings.len() + 1);
    // The sections that have not ended yet, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let last_line = lines.count().max(1);
    let whole = Node { end_line: last_line, own_end_line: last_line, own: 0..text.len(), ..Node::default() };
    if let Some((title, kind)) = preface {
        open.extend((kind == NodeKind::Page).then_some(0));
        nodes.push(Node { title: title.to_owned(), level: 1, start_line: 1, kind, ..whole.clone() });
    }
    // The characters of the line so far, so that many headings on one line are counted once.
    let (mut counted_line, mut counted_to, mut chars) = (0, 0, 0);
    for Heading { level, title, anchor, start, lines: heading_lines } in headings {
        let line = lines.line_at(start);
        if line != counted_line {
            (counted_line, chars) = (line, 0);
            counted_to = lines.line(line).map_or(start, |line| line.start);
        }
        chars += text.get(counted_to..start).unwrap_or_default().chars().count();
        counted_to = counted_to.max(start);
        // A line that two sections share belongs to both.
        let end = if chars > 0 { line } else { (line - 1).max(1) };
        if let Some(before) = nodes.last_mut() {
            before.own_end_line = end.max(before.start_line);
            before.own.end = start;
            if before.kind == NodeKind::Untitled {
                before.end_line = before.own_end_line;
            }
        }
        while let Some(ended) =
            open.last().and_then(|last| nodes.get_mut(*last)).filter(|last| last.level >= level)
        {
            ended.end_line = end.max(ended.start_line);
            open.pop();
        }
        open.push(nodes.len());
        nodes.push(Node {
            title,
            level,
            start_line: line,
            start_char: chars,
            parent: open.iter().rev().nth(1).copied(),
            anchor,
            heading_lines,
            own: start..text.len(),
            ..whole.clone()
        });
    }
    nodes
}
