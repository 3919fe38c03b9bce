//! The layouts of JSON graphs: finds nodes and edges in the forms that diagram and workflow tools write.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The maximum depth of a tree of nodes, so that no artifact overflows the stack; deeper children are not read.
const MAX_TREE_DEPTH: usize = 200;

/// The keys of the source and of the target of an edge.
const FROM_KEYS: &[&str] = &["from", "source", "start", "tail"];
const TO_KEYS: &[&str] = &["to", "target", "end", "head"];

/// A node of a JSON artifact.
pub(super) struct JsonNode<'a> {
    pub(super) id: String,
    /// The object that describes it.
    pub(super) value: &'a Map<String, Value>,
    /// The id of the node that it is a child of.
    pub(super) parent: Option<String>,
}

/// An edge of a JSON artifact.
pub(super) struct Edge {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) is_reference: bool,
}

/// The nodes and edges of a JSON artifact.
#[derive(Default)]
pub(super) struct JsonGraph<'a> {
    /// The nodes, in the order in which they appear.
    pub(super) nodes: Vec<JsonNode<'a>>,
    /// The edges that are listed apart from the nodes.
    pub(super) edges: Vec<Edge>,
    /// Descriptions of the items that are neither.
    pub(super) problems: Vec<String>,
}

impl<'a> JsonGraph<'a> {
    /// Collects the nodes and edges of a value in any of the usual layouts.
    pub(super) fn of(value: &'a Value) -> Self {
        let mut graph = Self::default();
        graph.add(value);
        graph
    }

    fn add(&mut self, value: &'a Value) {
        match value {
            Value::Object(object) => {
                let listed = first_of(object, &["nodes", "vertices", "states", "steps"]);
                let wrapped = first_of(object, &["graph", "elements", "diagram", "flowchart", "graphs"]);
                match (listed, wrapped.filter(|inside| inside.is_object() || inside.is_array())) {
                    (None, Some(inside)) => self.add(inside),
                    _ => {
                        self.add_listed_nodes(value, listed);
                        self.add_listed_edges(object);
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|item| self.add_item(item)),
            _ => {}
        }
    }

    /// Adds the nodes of a list, of an object with ids as keys, or a single tree.
    fn add_listed_nodes(&mut self, value: &'a Value, listed: Option<&'a Value>) {
        match listed {
            Some(Value::Array(list)) => list.iter().for_each(|item| self.add_node(item, None, 0)),
            Some(Value::Object(by_id)) => {
                for (id, item) in by_id {
                    match item {
                        Value::Object(value) => {
                            self.nodes.push(JsonNode { id: id.clone(), value, parent: None });
                        }
                        _ => self.problems.push(format!("the node `{id}` is not an object")),
                    }
                }
            }
            _ if value.get("id").is_some() || value.get("children").is_some() => {
                self.add_node(value, None, 0);
            }
            _ => {}
        }
    }

    fn add_listed_edges(&mut self, object: &Map<String, Value>) {
        for listed in
            ["edges", "links", "transitions", "connections"].iter().filter_map(|key| object.get(*key))
        {
            match listed {
                Value::Array(list) => {
                    for item in list {
                        match edge(item) {
                            Some(edge) => self.edges.push(edge),
                            None => {
                                self.problems.push(format!("an edge of an unknown form: {}", short(item)));
                            }
                        }
                    }
                }
                // Workflow tools list the targets by the node that the edges start at.
                Value::Object(targets_by_source) => {
                    for (from, listed) in targets_by_source {
                        let edge = |to| Edge { from: from.clone(), to, is_reference: false };
                        self.edges.extend(targets(Some(listed)).into_iter().map(edge));
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds an item of a list that may mix nodes, edges and whole graphs.
    fn add_item(&mut self, item: &'a Value) {
        let content = unwrapped(item);
        let is_edge = first_of(content, &["source", "from"]).is_some()
            && first_of(content, &["target", "to"]).is_some();
        match edge(item).filter(|_| is_edge) {
            Some(edge) => self.edges.push(edge),
            None if item.get("nodes").is_some() => self.add(item),
            None => self.add_node(item, None, 0),
        }
    }

    fn add_node(&mut self, item: &'a Value, parent: Option<&str>, depth: usize) {
        let value = unwrapped(item);
        let Some(id) = first_id(value, &["id", "key", "name", "node_id", "title"]) else {
            self.problems.push(format!("a node without an id: {}", short(item)));
            return;
        };
        self.nodes.push(JsonNode { id: id.clone(), value, parent: parent.map(str::to_owned) });
        if depth < MAX_TREE_DEPTH {
            for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
                self.add_node(child, Some(&id), depth + 1);
            }
        }
    }
}

/// The value of the first of these keys that an object has.
fn first_of<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| object.get(*key))
}

/// The first of these keys whose value is an id: a string, a number, or an object with an id.
fn first_id(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| id_of(object.get(*key)?))
}

fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => id_of(object.get("id")?),
        _ => None,
    }
}

static EMPTY_OBJECT: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The object that describes an item: some tools wrap it in `data`.
fn unwrapped(item: &Value) -> &Map<String, Value> {
    let object = item.as_object().unwrap_or(&EMPTY_OBJECT);
    match object.get("data") {
        Some(Value::Object(data)) if !object.contains_key("id") && !object.contains_key("source") => data,
        _ => object,
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

/// Reads an edge: a pair of ids, or an object with source and target.
fn edge(item: &Value) -> Option<Edge> {
    if let Some([from, to, ..]) = item.as_array().map(Vec::as_slice) {
        return Some(Edge { from: id_of(from)?, to: id_of(to)?, is_reference: false });
    }
    let value = unwrapped(item);
    let kind = first_of(value, &["type", "kind"]).and_then(Value::as_str).unwrap_or_default();
    let is_reference = matches!(kind, "ref" | "reference" | "xref" | "cross-reference" | "see");
    Some(Edge { from: first_id(value, FROM_KEYS)?, to: first_id(value, TO_KEYS)?, is_reference })
}

/// The ids of the nodes that a value names: an id, an object with one, or any of these in lists and objects.
pub(super) fn targets(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(list)) => list.iter().flat_map(|item| targets(Some(item))).collect(),
        Some(Value::Object(object)) => match first_id(object, &["node", "target", "to", "id"]) {
            Some(id) => vec![id],
            None => object.values().flat_map(|item| targets(Some(item))).collect(),
        },
        other => other.and_then(id_of).into_iter().collect(),
    }
}
