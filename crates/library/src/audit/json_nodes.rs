//! The layouts of JSON graphs: finds nodes and edges in the forms that diagram and workflow tools write.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The maximum depth of a tree of nodes, so that no artifact overflows the stack; deeper children are not read.
const MAX_DEPTH: usize = 200;

/// A node of a JSON artifact.
pub struct JsonNode<'a> {
    /// Its id.
    pub id: String,
    /// The object that describes it.
    pub value: &'a Map<String, Value>,
    /// The id of the node that it is a child of.
    pub parent: Option<String>,
}

/// An edge: the ids of its source and target, and whether it is a cross-reference.
pub type Edge = (String, String, bool);

/// The nodes and edges of a JSON artifact.
#[derive(Default)]
pub struct JsonGraph<'a> {
    /// The nodes, in the order in which they appear.
    pub nodes: Vec<JsonNode<'a>>,
    /// The edges that are listed apart from the nodes.
    pub edges: Vec<Edge>,
    /// Descriptions of the items that are neither.
    pub problems: Vec<String>,
}

impl<'a> JsonGraph<'a> {
    /// Collects the nodes and edges of a value in any of the usual layouts.
    pub fn of(value: &'a Value) -> Self {
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
        for key in ["edges", "links", "transitions", "connections"] {
            match object.get(key) {
                Some(Value::Array(list)) => {
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
                Some(Value::Object(targets_by_source)) => {
                    for (from, targets) in targets_by_source {
                        let edges = deep_targets(targets).into_iter().map(|to| (from.clone(), to, false));
                        self.edges.extend(edges);
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

    /// Adds a node and its children.
    fn add_node(&mut self, item: &'a Value, parent: Option<&str>, depth: usize) {
        let value = unwrapped(item);
        let keys = ["id", "key", "name", "node_id", "title"];
        let Some(id) = keys.iter().find_map(|key| id_of(value.get(*key))) else {
            self.problems.push(format!("a node without an id: {}", short(item)));
            return;
        };
        self.nodes.push(JsonNode { id: id.clone(), value, parent: parent.map(str::to_owned) });
        if depth < MAX_DEPTH {
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

/// The ids of all nodes that are named anywhere in a value.
fn deep_targets(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(deep_targets).collect(),
        Value::Object(object) => {
            match ["node", "target", "to", "id"].iter().find_map(|key| id_of(object.get(*key))) {
                Some(id) => vec![id],
                None => object.values().flat_map(deep_targets).collect(),
            }
        }
        other => id_of(Some(other)).into_iter().collect(),
    }
}

/// Reads an edge: a pair of ids, or an object with source and target.
fn edge(item: &Value) -> Option<Edge> {
    match item {
        Value::Array(pair) => match pair.as_slice() {
            [from, to, ..] => Some((id_of(Some(from))?, id_of(Some(to))?, false)),
            _ => None,
        },
        Value::Object(_) => {
            let value = unwrapped(item);
            let end = |keys: &[&str]| keys.iter().find_map(|key| id_of(value.get(*key)));
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

/// An id: a string, a number, or the id of an object.
fn id_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => id_of(object.get("id")),
        _ => None,
    }
}

/// The ids of the nodes that a list, or a single value, names.
pub fn targets(value: Option<&Value>) -> Vec<String> {
    let named = |item: &Value| {
        let keys = ["target", "to", "id", "node"];
        id_of(Some(item)).or_else(|| keys.iter().find_map(|key| id_of(item.get(*key))))
    };
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(named).collect(),
        other => other.and_then(named).into_iter().collect(),
    }
}
