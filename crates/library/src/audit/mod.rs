//! Whether what was made of a source rests on it: every element on lines of it, every node within reach, every reference
//! answered.

mod graph;
mod json;
mod judge;
mod markdown;
mod marks;
mod mermaid;
mod statements;
mod strokes;

use std::collections::HashMap;

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use self::graph::Graph;
use self::judge::judge;
use self::marks::Mark;
use crate::config::Library;
use crate::error::LibraryError;
use crate::excerpting::read_excerpt;
use crate::fs::{self, RelPath, Sha256};
use crate::ranges::LineRange;
use crate::text::Lines;
use crate::vault::{Vault, check_open};

/// The maximum size of an artifact, which is read as a whole; a larger one is refused.
const MAX_ARTIFACT_BYTES: u64 = 64 << 20;
/// The maximum size of a JSON artifact, whose values take many times the memory of its text; a larger one is refused.
const MAX_JSON_ARTIFACT_BYTES: u64 = 16 << 20;

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An element with no lines of the source.
    RootlessNode,
    /// A node out of reach, or a decision with a single way out.
    OrphanBranch,
    /// A reference that is not answered.
    OneWayRef,
    /// Something that could not be read, and was not guessed.
    NotUnderstood,
}

impl Kind {
    /// As it is told.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RootlessNode => "rootless_node",
            Self::OrphanBranch => "orphan_branch",
            Self::OneWayRef => "one_way_ref",
            Self::NotUnderstood => "not_understood",
        }
    }
}

/// Something to be mended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The kind of problem.
    pub kind: Kind,
    /// What is wrong, on which line, and how to fix it.
    pub message: String,
    /// The element that has the problem; null when it concerns the whole artifact.
    pub node_id: Option<String>,
    /// The line in the artifact.
    #[serde(skip)]
    #[schemars(skip)]
    pub line: usize,
    /// What is wrong and what to do, without the line.
    #[serde(skip)]
    #[schemars(skip)]
    pub what: String,
}

impl Finding {
    fn at(kind: Kind, line: usize, node: Option<&str>, what: &str) -> Self {
        let node_id = node.filter(|node| !node.is_empty()).map(str::to_owned);
        let message = match &node_id {
            Some(node) => format!("line {line}, {node}: {what}"),
            None => format!("line {line}: {what}"),
        };
        Self { kind, message, node_id, line, what: what.to_owned() }
    }
}

/// An element of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Element {
    id: String,
    line: usize,
    /// The lines of the source that it rests on, each with the line that says so.
    cites: Vec<(usize, LineRange)>,
    /// A mark of it that cannot be read.
    unreadable: Option<String>,
    /// Whether it is a node of a graph, and the lines that it stands on there.
    in_graph: bool,
    own_lines: Vec<usize>,
    marked_in_label: bool,
}

impl Element {
    fn new(id: &str, line: usize) -> Self {
        Self { id: id.to_owned(), line, ..Self::default() }
    }

    fn take(&mut self, line: usize, mark: Option<Mark>) {
        if let Some(mark) = mark {
            self.cites.extend(mark.ranges.into_iter().map(|range| (line, range)));
            self.unreadable = self.unreadable.take().or(mark.unreadable);
        }
    }
}

/// A cross-reference between elements; to none where its target is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Crossing {
    from: usize,
    to: Option<usize>,
    named: String,
}

/// A graph in an artifact.
#[derive(Debug)]
struct Drawn {
    graph: Graph,
    /// The ways as they are drawn.
    drawn: Vec<(usize, usize)>,
    /// The node that it starts at.
    start: Option<usize>,
    /// Which element each node is.
    places: HashMap<usize, usize>,
}

/// An artifact, read.
#[derive(Debug, Default)]
struct Artifact {
    elements: Vec<Element>,
    graphs: Vec<Drawn>,
    crossings: Vec<Crossing>,
    findings: Vec<Finding>,
    /// Every mark with its line, for the nodes that it may belong to.
    marks: Vec<(usize, String, Mark)>,
}

/// What an audit found.
#[derive(Debug, PartialEq)]
pub struct Audited {
    /// The artifact's path as it is stored.
    pub artifact_path: String,
    /// The source's path as it is stored.
    pub source_path: String,
    /// How many lines the source has.
    pub source_lines: u64,
    /// The source's hash.
    pub(crate) version: Sha256,
    /// The lines of the source that the artifact names.
    pub cited: Vec<LineRange>,
    /// What is to be mended, line by line.
    pub findings: Vec<Finding>,
}

/// Audits an artifact against its source.
pub fn audit(vault: &Vault, artifact: &RelPath, source: &RelPath) -> Result<Audited, ToolError> {
    let source = lines_of(vault, source)?;
    check_open(artifact)?;
    let is_json = artifact.as_str().to_ascii_lowercase().ends_with(".json");
    let most = if is_json { MAX_JSON_ARTIFACT_BYTES } else { MAX_ARTIFACT_BYTES };
    let root = vault.root()?;
    let (file, artifact_path) = fs::steadily(|| {
        let (file, stored) = root.open_file(artifact)?;
        Ok((fs::read_text(file, &stored, most)?, stored))
    })?;
    if is_json && annai_core::json::has_too_many_values(file.text.as_bytes()) {
        let problem =
            format!("has more than {} values, too many to be audited", annai_core::json::MAX_JSON_VALUES);
        return Err(LibraryError::forbidden(artifact_path, problem).into());
    }
    let name = artifact_path.rsplit('/').next().unwrap_or(&artifact_path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let read = match ending.as_deref() {
        Some("json") => json::read(&file.text),
        Some("mmd" | "mermaid") => markdown::read_chart(&file.text),
        _ => markdown::read(&file.text, name),
    };
    let (cited, findings) = judge(read, source.lines);
    Ok(Audited {
        artifact_path,
        source_path: source.path,
        source_lines: source.lines,
        version: source.sha256,
        cited,
        findings,
    })
}

/// The same for a person at a terminal, by the settings.
pub fn audit_files(settings: &Library, artifact: &str, source: &str) -> Result<Audited, ToolError> {
    audit(&Vault::new(settings.vault_folder()), &RelPath::parse(artifact)?, &RelPath::parse(source)?)
}

/// A file that something was made of.
pub struct SourceFile {
    /// Its stored path.
    pub path: String,
    /// How many lines it has.
    pub lines: u64,
    /// Its hash.
    pub sha256: Sha256,
}

/// Looks at a vault file.
pub fn lines_of(vault: &Vault, path: &RelPath) -> Result<SourceFile, ToolError> {
    let read = read_excerpt(vault, path, Lines { first: 1, last: 1, max_chars: 0 })?;
    Ok(SourceFile { path: read.path, lines: read.excerpt.total, sha256: read.sha256 })
}
