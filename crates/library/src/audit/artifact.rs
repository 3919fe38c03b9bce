//! The model of an artifact, as the readers of its formats produce it and the checks use it.

use std::collections::HashMap;

use super::finding::AuditFinding;
use super::graph::Graph;
use super::marks::Mark;
use crate::ranges::LineRange;

/// An element of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
}
