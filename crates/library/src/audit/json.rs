//! Reads JSON artifacts: graphs of nodes and edges, whose nodes cite source lines.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::artifact::{Artifact, ArtifactGraph, CrossReference, Element};
use super::finding::{AuditFinding, FindingKind};
use super::graph::Graph;
use super::json_nodes::{Edge, JsonGraph, JsonNode, targets};
use super::json_text::{is_derived, node_text};
use super::marks::{Mark, REPORTED_BY_ARTIFACT, explicit_marks, source_lines_mark};
use crate::ranges::LineRange;

/// Reads a JSON artifact.
pub fn read(text: &str) -> Artifact {
    let mut artifact = Artifact::default();
    let not_understood = |problem: &str| AuditFinding::at(FindingKind::NotUnderstood, 1, None, problem);
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            artifact.findings.push(not_understood(&format!("the artifact is not JSON: {error}")));
            return artifact;
        }
    };
    let JsonGraph { nodes, edges, problems } = JsonGraph::of(&value);
    artifact.findings.extend(problems.iter().map(|problem| not_understood(problem)));
    for (number, line) in (1..).zip(text.lines()) {
        let reported = explicit_marks(line).into_iter();
        let finding = |kind| AuditFinding::at(kind, number, None, REPORTED_BY_ARTIFACT);
        artifact.findings.extend(reported.map(finding));
    }
    if nodes.is_empty() {
        let problem = "no nodes were found; expected {\"nodes\": […], \"edges\": […]}, a tree with children, or a list of nodes with ids";
        artifact.findings.push(not_understood(problem));
        return artifact;
    }
    let mut reader = GraphReader { artifact, graph: Graph::default(), lines: lines_of(text), nodes: &nodes };
    reader.add_nodes();
    reader.add_edges(edges);
    let GraphReader { mut artifact, graph, .. } = reader;
    let elements_by_node: HashMap<usize, usize> =
        (0..graph.nodes.len()).map(|index| (index, index)).collect();
    let initial = value.get("initial").and_then(Value::as_str).and_then(|id| graph.find(id));
    let start = initial.or_else(|| graph.first_root());
    let drawn_edges = graph.edges.clone();
    artifact.graphs.push(ArtifactGraph { graph, drawn_edges, start, elements_by_node });
    artifact
}

/// Turns nodes and edges into elements, graph edges and cross-references.
struct GraphReader<'a> {
    artifact: Artifact,
    graph: Graph,
    /// The first line on which each string occurs.
    lines: HashMap<&'a str, usize>,
    nodes: &'a [JsonNode<'a>],
}

impl GraphReader<'_> {
    fn line_of(&self, id: &str) -> usize {
        self.lines.get(id).copied().unwrap_or(1)
    }

    fn add_nodes(&mut self) {
        for node in self.nodes {
            let line = self.line_of(&node.id);
            if self.graph.find(&node.id).is_some() {
                let problem = format!("the id `{}` is used twice; give each node its own", node.id);
                let finding = AuditFinding::at(FindingKind::NotUnderstood, line, Some(&node.id), &problem);
                self.artifact.findings.push(finding);
                continue;
            }
            let index = self.graph.node(&node.id);
            if is_decision(node.value) {
                self.graph.mark_decision(index);
            }
            let mut element = element(node, line);
            let text = node_text(node.value);
            (element.claims, element.is_derived) = self.artifact.claims.of_label(line, &text);
            element.is_derived |= is_derived(node.value);
            self.artifact.elements.push(element);
        }
    }

    fn add_edges(&mut self, mut edges: Vec<Edge>) {
        let finder = NodeFinder::new(self.nodes);
        for node in self.nodes {
            let Some(from) = self.graph.find(&node.id) else { continue };
            if let Some(parent) = node.parent.as_ref().and_then(|parent| self.graph.find(parent)) {
                self.graph.edges.push((parent, from));
            }
            edges.extend(own_edges(node));
            for target in own_references(node) {
                let to = finder.find(&self.graph, &target);
                self.artifact.cross_references.push(CrossReference { from, to, target });
            }
        }
        for (from, to, is_reference) in edges {
            match (finder.find(&self.graph, &from), finder.find(&self.graph, &to)) {
                (Some(from), Some(to)) if is_reference => {
                    let target = self.graph.nodes.get(to).map(|node| node.id.clone()).unwrap_or_default();
                    self.artifact.cross_references.push(CrossReference { from, to: Some(to), target });
                }
                (Some(from), Some(to)) => self.graph.edges.push((from, to)),
                (one, _) => {
                    let missing = if one.is_none() { &from } else { &to };
                    let problem = format!(
                        "an edge from `{from}` to `{to}`: no node has the id `{missing}`; add it or remove the edge"
                    );
                    let line = self.line_of(missing);
                    self.artifact.findings.push(AuditFinding::at(
                        FindingKind::NotUnderstood,
                        line,
                        None,
                        &problem,
                    ));
                }
            }
        }
    }
}

/// Finds the node that an edge names: some tools use names or positions in the list instead of ids.
struct NodeFinder<'a> {
    ids_by_name: HashMap<&'a str, &'a str>,
    ids: Vec<&'a str>,
}

impl<'a> NodeFinder<'a> {
    fn new(nodes: &'a [JsonNode<'a>]) -> Self {
        let named =
            nodes.iter().filter_map(|node| Some((node.value.get("name")?.as_str()?, node.id.as_str())));
        Self { ids_by_name: named.collect(), ids: nodes.iter().map(|node| node.id.as_str()).collect() }
    }

    fn find(&self, graph: &Graph, id: &str) -> Option<usize> {
        let by_position = || id.parse::<usize>().ok().and_then(|index| graph.find(self.ids.get(index)?));
        graph.find(id).or_else(|| graph.find(self.ids_by_name.get(id)?)).or_else(by_position)
    }
}

/// The element of a node, with the source lines that it cites.
fn element(node: &JsonNode<'_>, line: usize) -> Element {
    let mut element = Element::new(&node.id, line);
    element.is_graph_node = true;
    let inner =
        ["data", "metadata", "properties", "meta"].iter().filter_map(|key| node.value.get(*key)?.as_object());
    for value in std::iter::once(node.value).chain(inner) {
        for key in ["source_lines", "source_line", "sourceLines"] {
            element.add_mark(element.line, value.get(key).and_then(citations));
        }
    }
    element
}

fn is_decision(node: &Map<String, Value>) -> bool {
    let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let kinds = ["decision", "diamond", "rhombus", "condition", "branch", "gateway"];
    ["type", "kind", "shape"].iter().any(|key| kinds.contains(&text(key).as_str()))
}

/// The edges that are listed in a node.
fn own_edges(node: &JsonNode<'_>) -> Vec<Edge> {
    let listed = ["next", "to", "edges", "targets", "transitions"].iter().map(|key| node.value.get(*key));
    // State machines name the target of each event.
    let events = node.value.get("on").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let named = listed.chain(events.map(Some)).flat_map(targets);
    named.map(|target| (node.id.clone(), target, false)).collect()
}

/// The ids that a node refers to. URLs are not ids.
fn own_references<'a>(node: &'a JsonNode<'_>) -> impl Iterator<Item = String> + 'a {
    let keys = ["refs", "references", "see", "see_also", "related", "links"];
    let named = keys.into_iter().flat_map(|key| targets(node.value.get(key)));
    named.filter(|target| !target.contains("://"))
}

/// The first line on which each string of a JSON text occurs.
fn lines_of(text: &str) -> HashMap<&str, usize> {
    let mut lines = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        for part in line.split('"').skip(1).step_by(2) {
            lines.entry(part).or_insert(number);
        }
    }
    lines
}

/// Parses cited lines: `"3-9"`, `[3, 9]`, `[[1, 2], [7, 9]]`, or objects with start and end.
fn citations(value: &Value) -> Option<Mark> {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let unreadable =
        || Some(Mark { ranges: Vec::new(), unreadable: Some(value.to_string().chars().take(40).collect()) });
    match value {
        Value::Null => None,
        Value::String(text) => source_lines_mark(&format!("source_lines: {text}")),
        Value::Number(_) => match number(Some(value)) {
            Some(line) => {
                Some(Mark { ranges: vec![LineRange { start_line: line, end_line: line }], unreadable: None })
            }
            None => unreadable(),
        },
        Value::Object(range) => {
            let start = ["start_line", "start", "from"].iter().find_map(|key| number(range.get(*key)));
            let ends: Vec<_> = ["end_line", "end", "to"].iter().filter_map(|key| range.get(*key)).collect();
            let end = ends.iter().find_map(|end| number(Some(end)));
            match start.filter(|_| ends.is_empty() || end.is_some()) {
                Some(start_line) => {
                    let range = LineRange { start_line, end_line: end.unwrap_or(start_line) };
                    Some(Mark { ranges: vec![range], unreadable: None })
                }
                None => unreadable(),
            }
        }
        Value::Array(list) => match list.as_slice() {
            [] => None,
            [one, other] if one.is_u64() && other.is_u64() => {
                let range = LineRange { start_line: number(Some(one))?, end_line: number(Some(other))? };
                Some(Mark { ranges: vec![range], unreadable: None })
            }
            list => {
                let marks: Vec<_> = list.iter().filter_map(citations).collect();
                let unreadable = marks.iter().find_map(|mark| mark.unreadable.clone());
                Some(Mark { ranges: marks.into_iter().flat_map(|mark| mark.ranges).collect(), unreadable })
            }
        },
        Value::Bool(_) => unreadable(),
    }
}
