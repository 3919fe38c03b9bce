//! A JSON artifact: nodes and edges in the shapes that tools write.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::graph::Graph;
use super::marks::{Mark, called, mark};
use super::{Artifact, Crossing, Drawn, Element, Finding, Kind};
use crate::ranges::LineRange;

/// The maximum depth of a tree of nodes, so that no artifact exhausts the stack; children below it are not read.
const MAX_DEPTH: usize = 200;

/// A node as the JSON has it.
struct JsonNode<'a> {
    id: String,
    value: &'a Map<String, Value>,
    parent: Option<String>,
}

/// Reads a JSON artifact.
pub fn read(text: &str) -> Artifact {
    let mut artifact = Artifact::default();
    let refuse = |what: &str| Finding::at(Kind::NotUnderstood, 1, None, what);
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            artifact.findings.push(refuse(&format!("the artifact is not JSON: {error}")));
            return artifact;
        }
    };
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut odd = Vec::new();
    gather(&value, &mut nodes, &mut edges, &mut odd);
    artifact.findings.extend(odd.iter().map(|what| refuse(what)));
    for (number, line) in (1..).zip(text.lines()) {
        let what = "the artifact itself marks it so; settle it, then remove the mark";
        artifact.findings.extend(called(line).into_iter().map(|kind| Finding::at(kind, number, None, what)));
    }
    if nodes.is_empty() {
        let what = "no nodes were found; expected {\"nodes\": […], \"edges\": […]}, a tree with children, or a list of nodes with ids";
        artifact.findings.push(refuse(what));
        return artifact;
    }
    let mut reader = GraphReader { artifact, graph: Graph::default(), lines: lines_of(text), nodes: &nodes };
    reader.add_nodes();
    reader.add_edges(edges);
    let GraphReader { mut artifact, graph, .. } = reader;
    let places: HashMap<usize, usize> = (0..graph.nodes.len()).map(|index| (index, index)).collect();
    let initial = value.get("initial").and_then(Value::as_str).and_then(|id| graph.find(id));
    let start = initial.or_else(|| graph.first_root());
    let drawn = graph.ways.clone();
    artifact.graphs.push(Drawn { graph, drawn, start, places });
    artifact
}

/// Turns nodes and edges into elements, ways and cross-references.
struct GraphReader<'a> {
    artifact: Artifact,
    graph: Graph,
    /// The line that each string first stands on.
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
                let what = format!("the id `{}` stands twice; give each node its own", node.id);
                let finding = Finding::at(Kind::NotUnderstood, line, Some(&node.id), &what);
                self.artifact.findings.push(finding);
                continue;
            }
            let index = self.graph.node(&node.id);
            if is_decision(node.value) {
                self.graph.decide(index);
            }
            self.artifact.elements.push(element(node, line));
        }
    }

    fn add_edges(&mut self, mut edges: Vec<Edge>) {
        let finder = NodeFinder::new(self.nodes);
        for node in self.nodes {
            let Some(from) = self.graph.find(&node.id) else { continue };
            if let Some(parent) = node.parent.as_ref().and_then(|parent| self.graph.find(parent)) {
                self.graph.ways.push((parent, from));
            }
            edges.extend(own_edges(node));
            for target in own_references(node) {
                let to = finder.find(&self.graph, &target);
                self.artifact.crossings.push(Crossing { from, to, named: target });
            }
        }
        for (from, to, is_reference) in edges {
            match (finder.find(&self.graph, &from), finder.find(&self.graph, &to)) {
                (Some(from), Some(to)) if is_reference => {
                    let named = self.graph.nodes.get(to).map(|node| node.id.clone()).unwrap_or_default();
                    self.artifact.crossings.push(Crossing { from, to: Some(to), named });
                }
                (Some(from), Some(to)) => self.graph.ways.push((from, to)),
                (one, _) => {
                    let missing = if one.is_none() { &from } else { &to };
                    let what = format!(
                        "an edge from `{from}` to `{to}`: no node has the id `{missing}`; add it or remove the edge"
                    );
                    let line = self.line_of(missing);
                    self.artifact.findings.push(Finding::at(Kind::NotUnderstood, line, None, &what));
                }
            }
        }
    }
}

/// Finds the node that an edge names: some tools link by names or by places in the list instead of ids.
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
        let by_place = || id.parse::<usize>().ok().and_then(|place| graph.find(self.ids.get(place)?));
        graph.find(id).or_else(|| graph.find(self.ids_by_name.get(id)?)).or_else(by_place)
    }
}

/// The element that a node is, with the lines of the source that it names.
fn element(node: &JsonNode<'_>, line: usize) -> Element {
    let mut element = Element::new(&node.id, line);
    element.in_graph = true;
    let inner =
        ["data", "metadata", "properties", "meta"].iter().filter_map(|key| node.value.get(*key)?.as_object());
    for value in std::iter::once(node.value).chain(inner) {
        for key in ["source_lines", "source_line", "sourceLines"] {
            element.take(element.line, value.get(key).and_then(cites));
        }
    }
    element
}

fn is_decision(node: &Map<String, Value>) -> bool {
    let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let kinds = ["decision", "diamond", "rhombus", "condition", "branch", "gateway"];
    ["type", "kind", "shape"].iter().any(|key| kinds.contains(&text(key).as_str()))
}

/// The edges that a node itself names.
fn own_edges(node: &JsonNode<'_>) -> Vec<Edge> {
    let listed = ["next", "to", "edges", "targets", "transitions"].iter().map(|key| node.value.get(*key));
    // State machines name what each event leads to.
    let events = node.value.get("on").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let named = listed.chain(events.map(Some)).flat_map(targets);
    named.map(|target| (node.id.clone(), target, false)).collect()
}

/// The nodes that a node refers to; addresses on the web are no nodes.
fn own_references<'a>(node: &'a JsonNode<'_>) -> impl Iterator<Item = String> + 'a {
    let keys = ["refs", "references", "see", "see_also", "related", "links"];
    let named = keys.into_iter().flat_map(|key| targets(node.value.get(key)));
    named.filter(|target| !target.contains("://"))
}

/// The line that each string of a JSON text first stands on.
fn lines_of(text: &str) -> HashMap<&str, usize> {
    let mut lines = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        for part in line.split('"').skip(1).step_by(2) {
            lines.entry(part).or_insert(number);
        }
    }
    lines
}

/// An edge: from, to, and whether it is a reference.
type Edge = (String, String, bool);

/// Finds the nodes and edges of the usual shapes, and what is of none.
fn gather<'a>(value: &'a Value, nodes: &mut Vec<JsonNode<'a>>, edges: &mut Vec<Edge>, odd: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let listed = ["nodes", "vertices", "states", "steps"].iter().find_map(|key| object.get(*key));
            let inside = ["graph", "elements", "diagram", "flowchart", "graphs"]
                .iter()
                .find_map(|key| object.get(*key));
            if let (None, Some(inside)) =
                (listed, inside.filter(|inside| inside.is_object() || inside.is_array()))
            {
                return gather(inside, nodes, edges, odd);
            }
            match listed {
                Some(Value::Array(list)) => list.iter().for_each(|item| node(item, None, nodes, odd, 0)),
                Some(Value::Object(named)) => {
                    for (id, item) in named {
                        match item {
                            Value::Object(value) => {
                                nodes.push(JsonNode { id: id.clone(), value, parent: None });
                            }
                            _ => odd.push(format!("the node `{id}` is no object")),
                        }
                    }
                }
                _ if object.contains_key("id") || object.contains_key("children") => {
                    node(value, None, nodes, odd, 0);
                }
                _ => {}
            }
            for key in ["edges", "links", "transitions", "connections"] {
                match object.get(key) {
                    Some(Value::Array(list)) => list.iter().for_each(|item| match edge(item) {
                        Some(edge) => edges.push(edge),
                        None => odd.push(format!("an edge of an unknown form: {}", short(item))),
                    }),
                    // By the node that they come from, as workflow tools write them.
                    Some(Value::Object(from)) => {
                        for (from, to) in from {
                            edges.extend(deep_targets(to).into_iter().map(|to| (from.clone(), to, false)));
                        }
                    }
                    _ => {}
                }
            }
        }
        Value::Array(list) => {
            for item in list {
                // Nodes and edges may be listed together, and several graphs.
                let is_edge = ["source", "from"].iter().any(|key| inner(item).contains_key(*key))
                    && ["target", "to"].iter().any(|key| inner(item).contains_key(*key));
                match edge(item).filter(|_| is_edge) {
                    Some(edge) => edges.push(edge),
                    None if item.get("nodes").is_some() => gather(item, nodes, edges, odd),
                    None => node(item, None, nodes, odd, 0),
                }
            }
        }
        _ => {}
    }
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// What an item says: some tools wrap it in `data`.
fn inner(item: &Value) -> &Map<String, Value> {
    let object = item.as_object().unwrap_or(&NOTHING);
    match object.get("data") {
        Some(Value::Object(data)) if !object.contains_key("id") && !object.contains_key("source") => data,
        _ => object,
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

/// A node, and its children.
fn node<'a>(
    item: &'a Value,
    parent: Option<&str>,
    nodes: &mut Vec<JsonNode<'a>>,
    odd: &mut Vec<String>,
    depth: usize,
) {
    let value = inner(item);
    let Some(id) = ["id", "key", "name", "node_id", "title"].iter().find_map(|key| name(value.get(*key)))
    else {
        odd.push(format!("a node without an id: {}", short(item)));
        return;
    };
    nodes.push(JsonNode { id: id.clone(), value, parent: parent.map(str::to_owned) });
    if depth < MAX_DEPTH {
        for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
            node(child, Some(&id), nodes, odd, depth + 1);
        }
    }
}

/// Every node that is named anywhere in a value.
fn deep_targets(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(deep_targets).collect(),
        Value::Object(object) => {
            match ["node", "target", "to", "id"].iter().find_map(|key| name(object.get(*key))) {
                Some(name) => vec![name],
                None => object.values().flat_map(deep_targets).collect(),
            }
        }
        other => name(Some(other)).into_iter().collect(),
    }
}

/// An edge: from, to, and whether it is a reference rather than a way.
fn edge(item: &Value) -> Option<(String, String, bool)> {
    match item {
        Value::Array(pair) => match pair.as_slice() {
            [from, to, ..] => Some((name(Some(from))?, name(Some(to))?, false)),
            _ => None,
        },
        Value::Object(_) => {
            let value = inner(item);
            let end = |keys: &[&str]| keys.iter().find_map(|key| name(value.get(*key)));
            let kind =
                value.get("type").or_else(|| value.get("kind")).and_then(Value::as_str).unwrap_or_default();
            let is_reference = matches!(kind, "ref" | "reference" | "xref" | "cross-reference" | "see");
            Some((
                end(&["from", "source", "start", "tail"])?,
                end(&["to", "target", "end", "head"])?,
                is_reference,
            ))
        }
        _ => None,
    }
}

/// An id, whether text or number, or that of an object.
fn name(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => name(object.get("id")),
        _ => None,
    }
}

/// The nodes that a list, or one value, names.
fn targets(value: Option<&Value>) -> Vec<String> {
    let named = |item: &Value| {
        let keys = ["target", "to", "id", "node"];
        name(Some(item)).or_else(|| keys.iter().find_map(|key| name(item.get(*key))))
    };
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(named).collect(),
        other => other.and_then(named).into_iter().collect(),
    }
}

/// The lines that a node names: `"3-9"`, `[3, 9]`, `[[1, 2], [7, 9]]`, or objects with start and end.
fn cites(value: &Value) -> Option<Mark> {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let unreadable =
        || Some(Mark { ranges: Vec::new(), unreadable: Some(value.to_string().chars().take(40).collect()) });
    match value {
        Value::Null => None,
        Value::String(text) => mark(&format!("source_lines: {text}")),
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
                let marks: Vec<_> = list.iter().filter_map(cites).collect();
                let unreadable = marks.iter().find_map(|mark| mark.unreadable.clone());
                Some(Mark { ranges: marks.into_iter().flat_map(|mark| mark.ranges).collect(), unreadable })
            }
        },
        Value::Bool(_) => unreadable(),
    }
}
