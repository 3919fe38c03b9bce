//! Makes the nodes of a reduced HTML file from its rows, once all of them are read.

use super::headings::MAX_TITLE_CHARS;
use super::html::HtmlText;
use super::html_rows::{Heading, HtmlRows};
use super::lines::{LineIndex, truncate_chars};
use super::nodes::{Node, NodeKind};

impl HtmlRows {
    /// The reduced file, whose original has this many lines.
    pub fn finish(mut self, line_count: usize, file_name: &str) -> HtmlText {
        self.end_heading();
        if let Some(last) = self.lines.last_mut() {
            last.end = self.text.len();
        }
        let title = self.title.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let title =
            Some(truncate_chars(&title, MAX_TITLE_CHARS).0.to_owned()).filter(|title| !title.is_empty());
        if self.headings.is_empty() {
            self.insert_title(title.as_deref());
        }
        self.lines.truncate(line_count);
        let end = self.text.len();
        if let Some(last) = self.lines.last_mut() {
            last.end = end;
        }
        self.lines.resize(line_count, end..end);
        let lines = LineIndex::from_ranges(self.lines);
        let has_preface = self.headings.first().is_none_or(|first| first.start > 0);
        if has_preface {
            let name = title.clone().unwrap_or_else(|| file_name.to_owned());
            self.headings.insert(0, Heading { level: 1, start: 0, title: name });
        }
        let last_node = self.headings.len() - 1;
        let node_of =
            |headings: usize| (headings + usize::from(has_preface)).saturating_sub(1).min(last_node);
        let links = self.links.into_iter().map(|(headings, target)| (node_of(headings), target)).collect();
        let starts = self.headings.iter().map(|heading| heading.start).collect();
        let nodes = nodes(self.headings, &self.text, &lines, has_preface);
        HtmlText { text: self.text, lines, nodes, starts, has_preface, title, links }
    }

    /// Makes the title of the page the heading of a page without headings.
    fn insert_title(&mut self, title: Option<&str>) {
        let first_row = self.lines.iter().position(|line| line.start < line.end);
        let is_before = first_row.is_none_or(|index| self.title_line <= index + 1);
        let Some(title) = title.filter(|_| is_before && self.title_line > 0) else { return };
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let row = format!("# {title}{separator}");
        self.text.insert_str(0, &row);
        while self.lines.len() < self.title_line {
            self.lines.push(0..0);
        }
        for (number, line) in (1..).zip(&mut self.lines) {
            *line = match number {
                _ if number < self.title_line => 0..0,
                // Rows that began on the same line follow in it.
                _ if number == self.title_line && line.end == 0 => 0..row.len() - separator.len(),
                _ if number == self.title_line => 0..line.end + row.len(),
                _ => line.start + row.len()..line.end + row.len(),
            };
        }
        self.headings.push(Heading { level: 1, start: 0, title: title.to_owned() });
    }
}

/// The nodes of headings.
fn nodes(headings: Vec<Heading>, text: &str, lines: &LineIndex, has_preface: bool) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::with_capacity(headings.len());
    // The sections that have not ended yet, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let last_line = lines.count().max(1);
    // The characters of the line so far, so that many headings on one line are counted once.
    let (mut counted_line, mut counted_to, mut chars) = (0, 0, 0);
    for (index, heading) in headings.into_iter().enumerate() {
        let is_preface = has_preface && index == 0;
        let line = if is_preface { 1 } else { lines.line_at(heading.start) };
        if line != counted_line {
            (counted_line, chars) = (line, 0);
            counted_to = lines.line(line).map_or(heading.start, |line| line.start);
        }
        chars += text.get(counted_to..heading.start).unwrap_or_default().chars().count();
        counted_to = counted_to.max(heading.start);
        // A line that two sections share belongs to both.
        let end = if chars > 0 { line } else { (line - 1).max(1) };
        if let Some(before) = nodes.last_mut() {
            before.own_end_line = end.max(before.start_line);
        }
        while let Some(node) = open.last().and_then(|last| nodes.get_mut(*last)) {
            if node.level < heading.level && !(has_preface && open.len() == 1 && open.first() == Some(&0)) {
                break;
            }
            node.end_line = end.max(node.start_line);
            open.pop();
        }
        nodes.push(Node {
            title: heading.title,
            level: heading.level,
            start_line: line,
            start_char: if is_preface { 0 } else { chars },
            end_line: last_line,
            own_end_line: last_line,
            parent: open.last().copied(),
            kind: if is_preface { NodeKind::Untitled } else { NodeKind::Heading },
            anchor: None,
        });
        open.push(index);
    }
    nodes
}
