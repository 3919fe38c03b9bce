//! The text of a node of a JSON artifact.

use serde_json::{Map, Value};

/// How deep the values of a node are read, so that no artifact overflows the stack; deeper text is not read.
const MAX_DEPTH: usize = 16;

/// The keys whose values are structure, layout or addresses rather than text.
const STRUCTURE: &[&str] = &[
    "id",
    "key",
    "node_id",
    "type",
    "kind",
    "shape",
    "next",
    "to",
    "from",
    "source",
    "target",
    "targets",
    "refs",
    "references",
    "see",
    "see_also",
    "related",
    "links",
    "edges",
    "transitions",
    "connections",
    "children",
    "nodes",
    "steps",
    "states",
    "on",
    "parent",
    "source_lines",
    "source_line",
    "sourceLines",
    "derived",
    "position",
    "style",
    "class",
    "className",
    "color",
    "url",
    "href",
    "icon",
    "image",
    "path",
    "file",
    "created_at",
    "updated_at",
    "version",
    "lang",
    "rev",
    "sha256",
    "tags",
];

/// The text of a node: its strings, one per line. Numbers are left out, because most are layout.
pub fn node_text(node: &Map<String, Value>) -> String {
    let mut text = String::new();
    collect(node, &mut text, 0);
    text
}

fn collect(object: &Map<String, Value>, text: &mut String, depth: usize) {
    for (key, value) in object {
        if !STRUCTURE.contains(&key.as_str()) {
            collect_value(value, text, depth);
        }
    }
}

fn collect_value(value: &Value, text: &mut String, depth: usize) {
    match value {
        Value::String(words) => {
            text.push_str(words);
            text.push('\n');
        }
        Value::Array(list) if depth < MAX_DEPTH => {
            list.iter().for_each(|item| collect_value(item, text, depth + 1));
        }
        Value::Object(object) if depth < MAX_DEPTH => collect(object, text, depth + 1),
        _ => {}
    }
}

/// Whether a node is marked as derived: `"derived": true`, or a text that says what from.
pub fn is_derived(node: &Map<String, Value>) -> bool {
    let inner =
        ["data", "metadata", "properties", "meta"].iter().filter_map(|key| node.get(*key)?.as_object());
    std::iter::once(node).chain(inner).any(|object| match object.get("derived") {
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
            assert_eq!(is_derived(node.as_object().unwrap()), expected, "{node}");
        }
    }
}
