//! A JSON artifact: nodes and edges in the shapes that tools write.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::graph::Graph;
use super::marks::{Mark, mark};
use super::{Artifact, Crossing, Drawn, Element, Finding, Kind};
use crate::ranges::LineRange;

/// Deeper trees are not followed.
const MOST_DEPTH: usize = 200;

/// A node as it was found.
struct Found<'a> {
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
    gather(&value, &mut nodes, &mut edges);
    if nodes.is_empty() {
        let what = "no nodes were found; expected {\"nodes\": […], \"edges\": […]}, a tree with children, or a list of nodes with ids";
        artifact.findings.push(refuse(what));
        return artifact;
    }
    let lines = lines_of(text);
    let line_of = |id: &str| lines.get(id).copied().unwrap_or(1);
    let mut graph = Graph::default();
    for found in &nodes {
        if graph.find(&found.id).is_some() {
            let what = format!("the id `{}` stands twice; give each node its own", found.id);
            artifact.findings.push(Finding::at(
                Kind::NotUnderstood,
                line_of(&found.id),
                Some(&found.id),
                &what,
            ));
            continue;
        }
        let index = graph.node(&found.id);
        let mut element = Element::new(&found.id, line_of(&found.id));
        element.in_graph = true;
        for key in ["source_lines", "source_line", "sourceLines", "lines"] {
            element.take(found.value.get(key).and_then(cites));
        }
        let text =
            |key: &str| found.value.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
        if ["type", "kind", "shape"].iter().any(|key| {
            matches!(
                text(key).as_str(),
                "decision" | "diamond" | "rhombus" | "condition" | "branch" | "gateway"
            )
        }) {
            graph.decide(index);
        }
        artifact.elements.push(element);
    }
    for found in &nodes {
        let Some(from) = graph.find(&found.id) else { continue };
        if let Some(parent) = found.parent.as_ref().and_then(|parent| graph.find(parent)) {
            graph.ways.push((parent, from));
        }
        for key in ["next", "to", "edges", "targets"] {
            for target in names(found.value.get(key)) {
                edges.push((found.id.clone(), target, false));
            }
        }
        for key in ["refs", "references", "see", "see_also", "related", "links"] {
            for target in names(found.value.get(key)) {
                let to = graph.find(&target);
                artifact.crossings.push(Crossing { from, to, named: target });
            }
        }
    }
    for (from, to, is_reference) in edges {
        match (graph.find(&from), graph.find(&to)) {
            (Some(from), Some(to)) if is_reference => {
                let named = graph.nodes.get(to).map(|node| node.id.clone()).unwrap_or_default();
                artifact.crossings.push(Crossing { from, to: Some(to), named });
            }
            (Some(from), Some(to)) => graph.ways.push((from, to)),
            (one, _) => {
                let missing = if one.is_none() { &from } else { &to };
                let what = format!(
                    "an edge from `{from}` to `{to}`: no node has the id `{missing}`; add it or remove the edge"
                );
                artifact.findings.push(Finding::at(Kind::NotUnderstood, line_of(missing), None, &what));
            }
        }
    }
    let places: HashMap<usize, usize> = (0..graph.nodes.len()).map(|index| (index, index)).collect();
    let start = graph.first_root();
    artifact.graphs.push(Drawn { graph, start, places });
    artifact
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

/// Finds the nodes and edges of the usual shapes.
fn gather<'a>(value: &'a Value, nodes: &mut Vec<Found<'a>>, edges: &mut Vec<(String, String, bool)>) {
    match value {
        Value::Object(object) => {
            let inside =
                ["graph", "elements", "diagram", "flowchart"].iter().find_map(|key| object.get(*key));
            if let Some(inside) = inside.filter(|inside| inside.is_object() || inside.is_array()) {
                return gather(inside, nodes, edges);
            }
            match ["nodes", "vertices", "states", "steps"].iter().find_map(|key| object.get(*key)) {
                Some(Value::Array(list)) => list.iter().for_each(|item| node(item, None, nodes, 0)),
                Some(Value::Object(named)) => {
                    for (id, item) in named {
                        if let Value::Object(value) = item {
                            nodes.push(Found { id: id.clone(), value, parent: None });
                        }
                    }
                }
                _ => node(value, None, nodes, 0),
            }
            let listed =
                ["edges", "links", "transitions", "connections"].iter().find_map(|key| object.get(*key));
            for item in listed.and_then(Value::as_array).into_iter().flatten() {
                edges.extend(edge(item));
            }
        }
        Value::Array(list) => {
            for item in list {
                // Cytoscape lists nodes and edges together.
                match edge(item) {
                    Some(edge) => edges.push(edge),
                    None => node(item, None, nodes, 0),
                }
            }
        }
        _ => {}
    }
}

/// A node, and its children.
fn node<'a>(item: &'a Value, parent: Option<&str>, nodes: &mut Vec<Found<'a>>, depth: usize) {
    let Value::Object(value) = item else { return };
    let value = match value.get("data") {
        Some(Value::Object(data)) => data,
        _ => value,
    };
    let Some(id) = ["id", "key", "name", "node_id"].iter().find_map(|key| name(value.get(*key))) else {
        return;
    };
    nodes.push(Found { id: id.clone(), value, parent: parent.map(str::to_owned) });
    if depth < MOST_DEPTH {
        for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
            node(child, Some(&id), nodes, depth + 1);
        }
    }
}

/// An edge: from, to, and whether it is a reference rather than a way.
fn edge(item: &Value) -> Option<(String, String, bool)> {
    match item {
        Value::Array(pair) => match pair.as_slice() {
            [from, to, ..] => Some((name(Some(from))?, name(Some(to))?, false)),
            _ => None,
        },
        Value::Object(value) => {
            let value = match value.get("data") {
                Some(Value::Object(data)) => data,
                _ => value,
            };
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

fn names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => {
            list.iter().filter_map(|item| name(Some(item)).or_else(|| name(item.get("to")))).collect()
        }
        other => name(other).into_iter().collect(),
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
            let end = ["end_line", "end", "to"].iter().find_map(|key| number(range.get(*key)));
            match start {
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
