//! Findings: the problems that an audit reports.

use schemars::JsonSchema;
use serde::Serialize;

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// An element that cites no lines of the source.
    RootlessNode,
    /// A node that cannot be reached from the start, or a decision with only one outgoing edge.
    OrphanBranch,
    /// A cross-reference whose target does not exist or does not refer back.
    OneWayRef,
    /// A value in an element that does not occur in the lines that the element cites.
    Unsupported,
    /// A source comment whose file has changed since the text was copied, or cannot be read, or has fewer lines.
    StaleSource,
    /// A part of the artifact that could not be parsed or checked.
    NotUnderstood,
}

impl FindingKind {
    /// The name as it appears in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RootlessNode => "rootless_node",
            Self::OrphanBranch => "orphan_branch",
            Self::OneWayRef => "one_way_ref",
            Self::Unsupported => "unsupported",
            Self::StaleSource => "stale_source",
            Self::NotUnderstood => "not_understood",
        }
    }
}

/// A problem in the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditFinding {
    /// The kind of problem.
    pub kind: FindingKind,
    /// What is wrong, on which line, and how to fix it.
    pub message: String,
    /// The element that has the problem; null when it concerns the whole artifact.
    pub node_id: Option<String>,
    /// The value that is not supported, as the artifact writes it; only for `unsupported`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The lines that were looked at for the value, such as `source.md#L3-9`, or `manual_id/path#L3-9` for a manual; only
    /// for `unsupported`, at most five.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checked: Vec<String>,
    /// The line in the artifact.
    #[serde(skip)]
    #[schemars(skip)]
    pub line: usize,
    /// What is wrong and what to do, without the line.
    #[serde(skip)]
    #[schemars(skip)]
    pub problem: String,
}

impl AuditFinding {
    /// A finding on a line of the artifact that could not be parsed or checked.
    pub(super) fn not_understood(line: usize, problem: &str) -> Self {
        Self::at(FindingKind::NotUnderstood, line, None, problem)
    }

    /// A finding on a line of the artifact, about an element of it.
    pub(super) fn at(kind: FindingKind, line: usize, node: Option<&str>, problem: &str) -> Self {
        let node_id = node.filter(|node| !node.is_empty()).map(str::to_owned);
        let message = match &node_id {
            Some(node) => format!("line {line}, {node}: {problem}"),
            None => format!("line {line}: {problem}"),
        };
        Self { kind, message, node_id, value: None, checked: Vec::new(), line, problem: problem.to_owned() }
    }
}
