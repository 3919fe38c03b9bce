//! The model of an artifact, as the readers of its formats produce it and the checks use it.

use super::claims::{Claim, Claims};
use super::finding::{AuditFinding, FindingKind};
use super::graph::Graph;
use super::marks::Mark;
use crate::reading::{LineRange, Provenance};

/// An element of an artifact.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Element {
    /// Its id: that of a node, or the text of a heading.
    pub(crate) id: String,
    /// The line of the artifact where it is defined.
    pub(crate) line: usize,
    /// The source lines that it cites, each with the line of the artifact that cites them.
    pub(crate) citations: Vec<(usize, LineRange)>,
    /// The text of a `source_lines` mark that could not be parsed.
    pub(crate) unreadable: Option<String>,
    /// Whether it is a node of a graph rather than a heading.
    pub(crate) is_graph_node: bool,
    /// The values of its text, which its cited lines must contain.
    pub(crate) claims: Vec<Claim>,
    /// Whether it is marked as derived from what it cites, so that its values need not occur there.
    pub(crate) is_derived: bool,
    /// The indexes of the source comments that cover any of its lines.
    pub(crate) comments: Vec<usize>,
}

impl Element {
    pub(crate) fn new(id: &str, line: usize) -> Self {
        Self { id: id.to_owned(), line, ..Self::default() }
    }

    /// Adds what a mark on a line of the artifact says.
    pub(crate) fn add_mark(&mut self, line: usize, mark: Option<Mark>) {
        if let Some(mark) = mark {
            self.citations.extend(mark.ranges.into_iter().map(|range| (line, range)));
            self.unreadable = self.unreadable.take().or(mark.unreadable);
        }
    }

    /// A problem of this element.
    pub(crate) fn finding(&self, kind: FindingKind, problem: &str) -> AuditFinding {
        AuditFinding::at(kind, self.line, Some(&self.id), problem)
    }
}

/// A source comment, which says where the text below it was copied from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceComment {
    pub(crate) line: usize,
    pub(crate) source: Provenance,
    /// The first line that it covers: the first below it that is not blank.
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
}

/// A cross-reference from one element to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrossReference {
    /// The index of the element that refers.
    pub(crate) from: usize,
    /// The index of the element that is referred to; `None` when it does not exist.
    pub(crate) to: Option<usize>,
    pub(crate) target: String,
}

/// A parsed artifact.
#[derive(Debug, Default)]
pub(crate) struct Artifact {
    pub(crate) elements: Vec<Element>,
    pub(crate) graphs: Vec<Graph>,
    pub(crate) cross_references: Vec<CrossReference>,
    pub(crate) findings: Vec<AuditFinding>,
    /// Every `source_lines` mark with the number and the text of its line, which decide whose it is.
    pub(crate) marks: Vec<(usize, String, Mark)>,
    /// The values in its text that belong to no element yet.
    pub(crate) claims: Claims,
    /// The text before the first heading. It is no element, but what it cites must contain its values.
    pub(crate) preface: Element,
    /// The source comments, sorted by line. The lines that they cover do not overlap.
    pub(crate) comments: Vec<SourceComment>,
}

/// Whether a range lies within a source of `source_lines` lines.
pub(crate) fn is_within(range: &LineRange, source_lines: u64) -> bool {
    (1..=range.end_line).contains(&range.start_line) && range.end_line <= source_lines
}
