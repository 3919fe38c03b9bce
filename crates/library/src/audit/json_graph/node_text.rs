//! The text of a node of a JSON artifact.

use serde_json::{Map, Value};

/// The keys whose values name the nodes that edges of a node lead to.
pub(super) const EDGE_KEYS: &[&str] = &["next", "to", "edges", "targets", "transitions"];
/// The keys whose values name the nodes that a node refers to.
pub(super) const REFERENCE_KEYS: &[&str] = &["refs", "references", "see", "see_also", "related", "links"];
/// The keys whose values are the source lines that a node cites.
pub(super) const CITATION_KEYS: &[&str] = &["source_lines", "source_line", "sourceLines"];

/// How deep the values of a node are read, so that no artifact overflows the stack; deeper text is not read.
const MAX_TEXT_DEPTH: usize = 16;

/// Further keys whose values are structure, layout or addresses rather than text.
const STRUCTURE: &[&str] = &[
    "id", "key", "node_id", "type", "kind", "shape", "from", "source", "target", "children", "nodes",
    "steps", "states", "on", "parent", "derived", "position", "style", "class", "color", "url", "href",
    "icon", "image", "path", "file", "version", "rev", "sha256",
];

/// The object of a node, and those inside it that describe it further.
pub(super) fn described(node: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let inner = ["data", "metadata", "properties", "meta"];
    std::iter::once(node).chain(inner.into_iter().filter_map(|key| node.get(key)?.as_object()))
}

/// The text of a node: its strings, one per line. Numbers are left out, because most are layout.
pub(super) fn node_text(node: &Map<String, Value>) -> String {
    let mut text = String::new();
    collect(node, &mut text, 0);
    text
}

fn collect(object: &Map<String, Value>, text: &mut String, depth: usize) {
    let is_structure = |key: &str| {
        [STRUCTURE, CITATION_KEYS, EDGE_KEYS, REFERENCE_KEYS].iter().any(|keys| keys.contains(&key))
    };
    for (_, value) in object.iter().filter(|(key, _)| !is_structure(key)) {
        collect_value(value, text, depth);
    }
}

fn collect_value(value: &Value, text: &mut String, depth: usize) {
    match value {
        Value::String(words) => {
            text.push_str(words);
            text.push('\n');
        }
        Value::Array(list) if depth < MAX_TEXT_DEPTH => {
            list.iter().for_each(|item| collect_value(item, text, depth + 1));
        }
        Value::Object(object) if depth < MAX_TEXT_DEPTH => collect(object, text, depth + 1),
        _ => {}
    }
}

/// Whether a node is marked as derived: `"derived": true`, or a text that says what from.
pub(super) fn is_marked_derived(node: &Map<String, Value>) -> bool {
    described(node).any(|object| match object.get("derived") {
        Some(Value::Bool(derived)) => *derived,
        Some(Value::String(from)) => !from.is_empty() && from != "false",
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_of_a_node_is_its_strings_without_structure() {
        let node = json!({
            "id": "n1", "label": "定年は60歳", "x": 12, "next": ["n2"], "source_lines": "1-3",
            "data": { "note": ["a", { "deep": "b" }], "color": "#123456" }, "children": [{ "label": "child" }],
        });
        assert_eq!(node_text(node.as_object().unwrap()), "定年は60歳\na\nb\n");
    }

    #[test]
    fn a_node_is_derived_when_it_says_so() {
        for (node, expected) in [
            (json!({ "derived": true }), true),
            (json!({ "derived": "sum of a and b" }), true),
            (json!({ "data": { "derived": true } }), true),
            (json!({ "derived": false }), false),
            (json!({ "derived": "" }), false),
            (json!({ "label": "x" }), false),
        ] {
            assert_eq!(is_marked_derived(node.as_object().unwrap()), expected, "{node}");
        }
    }
}
