//! The model of an artifact, as the readers of its formats produce it and the checks use it.

use std::collections::HashMap;

use super::claims::{Claim, Claims};
use super::finding::AuditFinding;
use super::graph::Graph;
use super::marks::Mark;
use crate::provenance::Provenance;
use crate::ranges::LineRange;

/// An element of an artifact.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Element {
    /// Its id: that of a node, or the text of a heading.
    pub id: String,
    /// The line of the artifact where it is defined.
    pub line: usize,
    /// The source lines that it cites, each with the line of the artifact that cites them.
    pub citations: Vec<(usize, LineRange)>,
    /// The text of a `source_lines` mark that could not be parsed.
    pub unreadable: Option<String>,
    /// Whether it is a node of a graph rather than a heading.
    pub is_graph_node: bool,
    /// The lines on which a flowchart mentions it.
    pub own_lines: Vec<usize>,
    /// Whether its own label cites lines, so that marks on the same line are not its own.
    pub has_mark_in_label: bool,
    /// The values of its text, which its cited lines must contain.
    pub claims: Vec<Claim>,
    /// Whether it is marked as derived from what it cites, so that its values need not occur there.
    pub is_derived: bool,
    /// The indexes of the source comments that cover any of its lines.
    pub comments: Vec<usize>,
}

impl Element {
    pub fn new(id: &str, line: usize) -> Self {
        Self { id: id.to_owned(), line, ..Self::default() }
    }

    /// Adds what a mark on a line of the artifact says.
    pub fn add_mark(&mut self, line: usize, mark: Option<Mark>) {
        if let Some(mark) = mark {
            self.citations.extend(mark.ranges.into_iter().map(|range| (line, range)));
            self.unreadable = self.unreadable.take().or(mark.unreadable);
        }
    }
}

/// A source comment, which says where the text below it was copied from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceComment {
    /// The line of the artifact.
    pub line: usize,
    /// Where the text came from.
    pub source: Provenance,
    /// The first line that it covers: the first below it that is not blank.
    pub first_line: usize,
    /// The last line that it covers.
    pub last_line: usize,
}

impl SourceComment {
    /// Whether a line is below the comment and in its reach.
    pub const fn covers(&self, line: usize) -> bool {
        self.first_line <= line && line <= self.last_line
    }
}

/// A cross-reference from one element to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossReference {
    /// The index of the element that refers.
    pub from: usize,
    /// The index of the element that is referred to; `None` when it does not exist.
    pub to: Option<usize>,
    /// The target as it is written.
    pub target: String,
}

/// A graph in an artifact.
#[derive(Debug)]
pub struct ArtifactGraph {
    /// Its nodes, and the edges along which they are reached.
    pub graph: Graph,
    /// The edges as they are drawn: an undirected link once, and none that a subgraph implies.
    pub drawn_edges: Vec<(usize, usize)>,
    /// The node that it starts at.
    pub start: Option<usize>,
    /// The index of the element of each node.
    pub elements_by_node: HashMap<usize, usize>,
}

/// A parsed artifact.
#[derive(Debug, Default)]
pub struct Artifact {
    /// Its headings and nodes.
    pub elements: Vec<Element>,
    /// Its graphs.
    pub graphs: Vec<ArtifactGraph>,
    /// The references between its elements.
    pub cross_references: Vec<CrossReference>,
    /// The problems that its reader found.
    pub findings: Vec<AuditFinding>,
    /// Every `source_lines` mark with the number and the text of its line, which decide whose it is.
    pub marks: Vec<(usize, String, Mark)>,
    /// The values in its text that belong to no element yet.
    pub claims: Claims,
    /// The text before the first heading. It is no element, but what it cites must contain its values.
    pub preface: Element,
    /// The source comments, sorted by line.
    pub comments: Vec<SourceComment>,
}

impl Artifact {
    /// Notes for each element which source comments cover any of its lines. `starts` are the lines of the headings, whose
    /// elements come first.
    pub fn note_comments(&mut self, starts: &[usize], last_line: usize) {
        let ends = starts.iter().skip(1).map(|start| start - 1).chain([last_line]);
        let headings: Vec<_> = starts.iter().copied().zip(ends).collect();
        let before_headings = (1, starts.first().map_or(last_line, |start| start - 1));
        for (index, element) in self.elements.iter_mut().enumerate() {
            let lines = headings.get(index).copied().unwrap_or((element.line, element.line));
            element.comments = comments_between(&self.comments, lines);
        }
        self.preface.comments = comments_between(&self.comments, before_headings);
    }
}

/// The indexes of the comments that cover any of the lines from the first to the last.
fn comments_between(comments: &[SourceComment], (first, last): (usize, usize)) -> Vec<usize> {
    // They are sorted, and their lines do not overlap.
    let from = comments.partition_point(|comment| comment.last_line < first);
    let covering = comments.iter().enumerate().skip(from).take_while(|(_, comment)| comment.line < last);
    let covers = |comment: &SourceComment| comment.first_line <= comment.last_line.min(last);
    covering.filter(|(_, comment)| covers(comment)).map(|(index, _)| index).collect()
}

/// Whether a range lies within a source of `source_lines` lines.
pub fn is_within(range: &LineRange, source_lines: u64) -> bool {
    (1..=range.end_line).contains(&range.start_line) && range.end_line <= source_lines
}
