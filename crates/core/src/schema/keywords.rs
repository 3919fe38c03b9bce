//! Reads the JSON Schema keywords that have more than one way of being written.

use serde_json::Value;

use crate::JsonObject;

/// The strings of an enumeration, whether it is written as `enum`, as `const`, or as a union of those; `None` when the
/// schema also accepts other values. A `null` among them is left out: see [`accepts_null`].
pub(super) fn enum_values(schema: &JsonObject) -> Option<Vec<&str>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(values.iter().filter_map(Value::as_str).collect());
    }
    if let Some(value) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![value]);
    }
    let mut values = Vec::new();
    for alternative in alternatives(schema)? {
        match enum_values(alternative) {
            Some(more) => values.extend(more),
            None if is_null_schema(alternative) => {}
            None => return None,
        }
    }
    Some(values)
}

/// The alternatives of a union, written as `anyOf` or `oneOf`.
pub(super) fn alternatives(schema: &JsonObject) -> Option<impl Iterator<Item = &JsonObject>> {
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(alternatives.iter().filter_map(Value::as_object))
}

/// Whether `null` is accepted.
#[must_use]
pub fn accepts_null(schema: &JsonObject) -> bool {
    types(schema).contains(&"null")
        || enum_contains_null(schema)
        || alternatives(schema).is_some_and(|mut alternatives| alternatives.any(accepts_null))
}

/// Whether `null` is among the values of an `enum`.
pub(super) fn enum_contains_null(schema: &JsonObject) -> bool {
    schema.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&Value::Null))
}

/// The names under `type`, one or several.
pub(super) fn types(schema: &JsonObject) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(type_name)) => vec![type_name],
        Some(Value::Array(type_names)) => type_names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether `null` is the only value that is accepted.
pub(super) fn is_null_schema(schema: &JsonObject) -> bool {
    types(schema) == ["null"]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn enumerations_are_recognized_in_every_notation() {
        let values = |schema: Value| {
            let values = enum_values(schema.as_object().unwrap());
            values.map(|values| values.join(","))
        };
        assert_eq!(values(json!({ "enum": ["a", "b", null] })), Some("a,b".to_owned()));
        assert_eq!(values(json!({ "const": "a" })), Some("a".to_owned()));
        let union =
            json!({ "anyOf": [{ "oneOf": [{ "const": "a" }, { "enum": ["b"] }] }, { "type": "null" }] });
        assert_eq!(values(union), Some("a,b".to_owned()));
        assert_eq!(values(json!({ "anyOf": [{ "const": "a" }, { "type": "string" }] })), None);
    }

    #[test]
    fn null_is_accepted_by_a_type_an_enumeration_or_an_alternative() {
        let accepts = |schema: Value| accepts_null(schema.as_object().unwrap());
        assert!(accepts(json!({ "type": ["string", "null"] })));
        assert!(accepts(json!({ "enum": ["a", null] })));
        assert!(accepts(json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })));
        assert!(!accepts(json!({ "type": "string" })));
    }
}
