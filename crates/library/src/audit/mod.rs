//! Whether what was made of a source rests on it: every element on lines of it, every node within reach, every reference
//! answered.

mod graph;
mod json;
mod markdown;
mod marks;
mod mermaid;
mod statements;

use std::collections::{HashMap, HashSet};

use annai_core::{ErrorKind, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use self::graph::Graph;
use self::marks::Mark;
use crate::config::Library;
use crate::excerpting::lift;
use crate::fs::{self, RelPath, Sha256, at};
use crate::ranges::LineRange;
use crate::text::Lines;
use crate::vault::{Vault, check_open};

/// Larger artifacts are not read.
const MOST_BYTES: u64 = 64 << 20;
/// Larger JSON would take many times its size.
const MOST_JSON_BYTES: u64 = 16 << 20;

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
    /// What it is.
    pub kind: Kind,
    /// What is wrong, on which line, and what to do.
    pub message: String,
    /// The element; null where it is none's.
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
    /// The artifact as it is stored.
    pub artifact_path: String,
    /// The source as it is stored.
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
    let most = if is_json { MOST_JSON_BYTES } else { MOST_BYTES };
    let root = vault.root()?;
    let (file, artifact_path) = fs::steadily(|| {
        let (file, stored) = root.open_file(artifact)?;
        Ok((fs::read_text(file, &stored, most)?, stored))
    })?;
    if is_json && annai_core::json::has_too_many_values(file.text.as_bytes()) {
        let what = format!("has more than {} values, too many to be audited", annai_core::json::MOST_VALUES);
        return Err(at(ErrorKind::Forbidden, &artifact_path, &what));
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
pub struct Source {
    /// Its stored path.
    pub path: String,
    /// How many lines it has.
    pub lines: u64,
    /// Its hash.
    pub sha256: Sha256,
}

/// Looks at a vault file.
pub fn lines_of(vault: &Vault, path: &RelPath) -> Result<Source, ToolError> {
    let lifted = lift(vault, path, Lines { first: 1, last: 1, max_chars: 0 })?;
    Ok(Source { path: lifted.path, lines: lifted.excerpt.total, sha256: lifted.sha256 })
}

/// The lines that an artifact rests on, and what is to be mended.
fn judge(mut artifact: Artifact, source_lines: u64) -> (Vec<LineRange>, Vec<Finding>) {
    let claimed = give_marks_to_nodes(&mut artifact);
    let Artifact { elements, graphs, crossings, mut findings, marks } = artifact;
    let good = |range: &LineRange| {
        (1..=range.end_line).contains(&range.start_line) && range.end_line <= source_lines
    };
    // Every mark counts as cited, also one that stands before the first heading.
    let named = marks.iter().flat_map(|(.., mark)| mark.ranges.iter().copied());
    let own = elements.iter().flat_map(|element| element.cites.iter().map(|(_, range)| *range));
    let cited = named.chain(own).filter(good).collect();
    for element in &elements {
        // A heading owns the marks of the nodes below it too; theirs are judged there.
        let is_own = |line: usize| element.in_graph || !claimed.contains(&line);
        let wrong = element.cites.iter().find(|(line, range)| is_own(*line) && !good(range));
        if let Some(unreadable) = &element.unreadable {
            let what = format!("its source_lines `{unreadable}` are no lines; write them as 3-9, 12");
            findings.push(Finding::at(Kind::NotUnderstood, element.line, Some(&element.id), &what));
        }
        if let Some((_, LineRange { start_line, end_line })) = wrong {
            let what = format!(
                "it names the lines {start_line}-{end_line} of a source that has {source_lines}; name the ones it rests on"
            );
            findings.push(Finding::at(Kind::RootlessNode, element.line, Some(&element.id), &what));
        } else if element.cites.is_empty() && element.unreadable.is_none() {
            let what = "no lines of the source; add source_lines: first-last, or remove it";
            findings.push(Finding::at(Kind::RootlessNode, element.line, Some(&element.id), what));
        }
    }
    if elements.is_empty() {
        for (line, _, mark) in &marks {
            let wrong = mark.ranges.iter().find(|range| !good(range));
            if wrong.is_some() || mark.unreadable.is_some() {
                let what = "its source_lines are no lines of the source; write them as 3-9, 12";
                findings.push(Finding::at(Kind::NotUnderstood, *line, None, what));
            }
        }
    }
    for Drawn { graph, drawn, start, places } in &graphs {
        let element = |node: usize| places.get(&node).and_then(|element| elements.get(*element));
        for node in start.map(|start| graph.unreachable(start)).unwrap_or_default() {
            if let Some(element) = element(node) {
                let what = "it cannot be reached from the start; link it or remove it";
                findings.push(Finding::at(Kind::OrphanBranch, element.line, Some(&element.id), what));
            }
        }
        for (node, ways) in graph.undecided(drawn) {
            if let Some(element) = element(node) {
                let ways = if ways == 1 { "a single way" } else { "no way" };
                let what = format!("a decision with {ways} out; a decision needs at least two");
                findings.push(Finding::at(Kind::OrphanBranch, element.line, Some(&element.id), &what));
            }
        }
    }
    let ways: HashSet<_> = crossings.iter().map(|crossing| (crossing.from, crossing.to)).collect();
    for crossing in &crossings {
        let back = crossing.to.is_some_and(|to| ways.contains(&(to, Some(crossing.from))));
        if let (false, Some(from)) = (back, elements.get(crossing.from)) {
            let what = match crossing.to.and_then(|to| elements.get(to)) {
                Some(to) => format!("it refers to {}, which does not refer back; add the way back", to.id),
                None => format!("it refers to {}, which is not there; mend or remove it", crossing.named),
            };
            findings.push(Finding::at(Kind::OneWayRef, from.line, Some(&from.id), &what));
        }
    }
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings.dedup();
    (cited, findings)
}

/// Marks belong to the nodes of a graph that stand on their line, or whose id their line
/// starts with. Gives the lines whose marks found such an owner.
fn give_marks_to_nodes(artifact: &mut Artifact) -> HashSet<usize> {
    let mut by_line: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, element) in artifact.elements.iter().enumerate().filter(|(_, element)| element.in_graph) {
        by_id.entry(element.id.clone()).or_default().push(index);
        if !element.marked_in_label {
            element.own_lines.iter().for_each(|line| by_line.entry(*line).or_default().push(index));
        }
    }
    let mut claimed = HashSet::new();
    for (line, words, mark) in &artifact.marks {
        // Of several diagrams with the same ids, the last one before the mark is meant.
        let named = by_id.get(leading_id(words)).and_then(|nodes| {
            let before =
                |node: &&usize| artifact.elements.get(**node).is_some_and(|element| element.line <= *line);
            nodes.iter().rev().find(before).or(nodes.first())
        });
        let named = named.into_iter();
        let standing = by_line.get(line).into_iter().flatten();
        let mut owners: Vec<_> = named.chain(standing).copied().collect();
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            if let Some(element) = artifact.elements.get_mut(owner) {
                claimed.insert(*line);
                element.take(*line, Some(mark.clone()));
            }
        }
    }
    claimed
}

/// The id that a line starts with, behind what makes it an item of a list, a quote or a row.
fn leading_id(line: &str) -> &str {
    let marks = |letter: char| letter.is_whitespace() || "-*+%|>`\"'_・•[]()".contains(letter);
    let start = line.trim_start_matches(marks);
    let numbered = start.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let start = match numbered.strip_prefix(['.', ')']) {
        Some(rest) if numbered.len() < start.len() => rest.trim_start_matches(marks),
        _ => start.strip_prefix("x] ").unwrap_or(start),
    };
    let end = start
        .find(|letter: char| !(letter.is_alphanumeric() || "_-./#".contains(letter)))
        .unwrap_or(start.len());
    start.get(..end).unwrap_or_default().trim_end_matches(['.', '-'])
}
