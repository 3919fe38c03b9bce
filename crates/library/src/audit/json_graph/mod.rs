//! Reads JSON artifacts: graphs of nodes and edges, whose nodes cite source lines.

mod layouts;
mod node_text;

use std::collections::HashMap;

use serde_json::{Map, Value};

use self::layouts::{Edge, JsonGraph, JsonNode, targets};
use self::node_text::{CITATION_KEYS, EDGE_KEYS, REFERENCE_KEYS, described, is_marked_derived, node_text};
use super::artifact::{Artifact, CrossReference, Element};
use super::finding::{AuditFinding, FindingKind};
use super::graph::Graph;
use super::marks::{Mark, explicit_findings, source_lines_mark};
use crate::reading::LineRange;

/// Reads a JSON artifact.
pub(super) fn read(text: &str) -> Artifact {
    let mut artifact = Artifact::default();
    let not_understood = |problem: &str| AuditFinding::not_understood(1, problem);
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            artifact.findings.push(not_understood(&format!("the artifact is not JSON: {error}")));
            return artifact;
        }
    };
    let JsonGraph { nodes, edges, problems } = JsonGraph::of(&value);
    artifact.findings.extend(problems.iter().map(|problem| not_understood(problem)));
    artifact
        .findings
        .extend((1..).zip(text.lines()).flat_map(|(number, line)| explicit_findings(line, number, None)));
    if nodes.is_empty() {
        let problem = "no nodes were found; expected {\"nodes\": […], \"edges\": […]}, a tree with children, or a list of nodes with ids";
        artifact.findings.push(not_understood(problem));
        return artifact;
    }
    let mut reader = GraphReader { artifact, graph: Graph::default(), lines: lines_of(text), nodes: &nodes };
    reader.add_nodes();
    reader.add_edges(edges);
    let GraphReader { mut artifact, mut graph, .. } = reader;
    let initial = value.get("initial").and_then(Value::as_str).and_then(|id| graph.find(id));
    graph.start = initial.unwrap_or_else(|| graph.first_root());
    artifact.graphs.push(graph);
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
        for JsonNode { id, value, .. } in self.nodes {
            let mut element = Element { is_graph_node: true, ..Element::new(id, self.line_of(id)) };
            if self.graph.find(id).is_some() {
                let problem = format!("the id `{id}` is used twice; give each node its own");
                self.artifact.findings.push(element.finding(FindingKind::NotUnderstood, &problem));
                continue;
            }
            for object in described(value) {
                for key in CITATION_KEYS {
                    element.add_mark(element.line, object.get(*key).and_then(citations));
                }
            }
            (element.claims, element.is_derived) =
                self.artifact.claims.of_label(element.line, &node_text(value));
            element.is_derived |= is_marked_derived(value);
            let index = self.graph.node(id);
            if let Some(node) = self.graph.nodes.get_mut(index) {
                node.is_decision = is_decision(value);
                node.element = Some(self.artifact.elements.len());
            }
            self.artifact.elements.push(element);
        }
    }

    fn add_edges(&mut self, mut edges: Vec<Edge>) {
        let finder = NodeFinder::new(self.nodes);
        for node in self.nodes {
            let Some(from) = self.graph.find(&node.id) else { continue };
            if let Some(parent) = node.parent.as_ref().and_then(|parent| self.graph.find(parent)) {
                self.graph.draw_edge(parent, from);
            }
            edges.extend(own_edges(node));
            // URLs are not ids.
            let named = REFERENCE_KEYS.iter().flat_map(|key| targets(node.value.get(*key)));
            for target in named.filter(|target| !target.contains("://")) {
                let to = finder.find(&self.graph, &target);
                self.artifact.cross_references.push(CrossReference { from, to, target });
            }
        }
        for Edge { from, to, is_reference } in edges {
            match (finder.find(&self.graph, &from), finder.find(&self.graph, &to)) {
                (Some(from), Some(found)) if is_reference => {
                    let reference = CrossReference { from, to: Some(found), target: to };
                    self.artifact.cross_references.push(reference);
                }
                (Some(from), Some(to)) => self.graph.draw_edge(from, to),
                (one, _) => {
                    let missing = if one.is_none() { &from } else { &to };
                    let problem = format!(
                        "an edge from `{from}` to `{to}`: no node has the id `{missing}`; add it or remove the edge"
                    );
                    let line = self.line_of(missing);
                    self.artifact.findings.push(AuditFinding::not_understood(line, &problem));
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

fn is_decision(node: &Map<String, Value>) -> bool {
    let kinds = ["decision", "diamond", "rhombus", "condition", "branch", "gateway"];
    let is_kind =
        |value: &Value| value.as_str().is_some_and(|kind| kinds.contains(&kind.to_lowercase().as_str()));
    ["type", "kind", "shape"].iter().any(|key| node.get(*key).is_some_and(is_kind))
}

/// The edges that are listed in a node.
fn own_edges(node: &JsonNode<'_>) -> impl Iterator<Item = Edge> {
    let listed = EDGE_KEYS.iter().map(|key| node.value.get(*key));
    // State machines name the target of each event.
    let events = node.value.get("on").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let named = listed.chain(events.map(Some)).flat_map(targets);
    named.map(|to| Edge { from: node.id.clone(), to, is_reference: false })
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
    let range = |start: Option<&Value>, end: Option<&Value>| {
        Some(LineRange { start_line: start?.as_u64()?, end_line: end?.as_u64()? })
    };
    let range = match value {
        Value::Null => return None,
        Value::String(text) => return source_lines_mark(&format!("source_lines: {text}")),
        Value::Array(list) => match list.as_slice() {
            [] => return None,
            [one, other] if one.is_u64() && other.is_u64() => range(Some(one), Some(other)),
            list => {
                let marks: Vec<_> = list.iter().filter_map(citations).collect();
                let unreadable = marks.iter().find_map(|mark| mark.unreadable.clone());
                return Some(Mark {
                    ranges: marks.into_iter().flat_map(|mark| mark.ranges).collect(),
                    unreadable,
                });
            }
        },
        Value::Object(object) => {
            let start = ["start_line", "start", "from"].iter().find_map(|key| object.get(*key));
            let end = ["end_line", "end", "to"].iter().find_map(|key| object.get(*key));
            range(start, end.or(start))
        }
        line => range(Some(line), Some(line)),
    };
    let unreadable = range.is_none().then(|| value.to_string().chars().take(40).collect());
    Some(Mark { ranges: range.into_iter().collect(), unreadable })
}
