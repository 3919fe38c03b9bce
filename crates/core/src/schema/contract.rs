//! Finds schemas of arguments that promise callers more than [`super::validate()`] enforces, or that clients refuse.

use serde_json::Value;

use super::{for_each_subschema, keywords};
use crate::JsonObject;

/// The keywords that [`super::validate()`] enforces.
const VALIDATED: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "anyOf",
    "oneOf",
];
/// The keywords that inform a reader and restrict nothing.
const ANNOTATIONS: &[&str] = &["description", "default", "examples", "writeOnly", "deprecated", "format"];

/// What is wrong with the schema of a tool's arguments: an object that accepts unknown keys, a keyword that is not
/// validated, or a type that Gemini CLI, OpenCode and Cursor refuse (a list of types, and `null`). A test calls this for
/// every tool.
#[must_use]
pub fn contract_violations(schema: &JsonObject) -> Vec<String> {
    let mut violations = Vec::new();
    collect(&mut schema.clone(), &mut violations);
    violations
}

fn collect(schema: &mut JsonObject, violations: &mut Vec<String>) {
    for keyword in schema.keys().map(String::as_str) {
        if !VALIDATED.contains(&keyword) && !ANNOTATIONS.contains(&keyword) {
            violations.push(format!("the keyword `{keyword}` is not validated"));
        }
    }
    if schema.get("type").is_some_and(Value::is_array) {
        violations.push(format!("the type is a list: {:?}", keywords::types(schema)));
    }
    if keywords::is_null_schema(schema) || keywords::enum_contains_null(schema) {
        violations.push("null is a value of its own".to_owned());
    }
    if keywords::types(schema).contains(&"object") && !schema.contains_key("additionalProperties") {
        let properties = schema.get("properties").and_then(Value::as_object);
        let keys: Vec<_> = properties.into_iter().flat_map(JsonObject::keys).collect();
        violations.push(format!("the object with the keys {keys:?} accepts unknown keys"));
    }
    for_each_subschema(schema, &mut |subschema| {
        if let Value::Object(subschema) = subschema {
            collect(subschema, violations);
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn accepted_unknown_keys_and_keywords_that_are_not_validated_are_violations() {
        let schema = json!({ "type": "object", "properties": { "a": { "pattern": "x" } } });
        assert_eq!(
            contract_violations(schema.as_object().unwrap()),
            [
                "the object with the keys [\"a\"] accepts unknown keys",
                "the keyword `pattern` is not validated"
            ]
        );
    }

    #[test]
    fn null_and_lists_of_types_are_violations_at_any_depth() {
        for (schema, violation) in [
            (json!({ "type": ["string", "null"] }), "the type is a list: [\"string\", \"null\"]"),
            (json!({ "enum": ["a", null] }), "null is a value of its own"),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), "null is a value of its own"),
        ] {
            let nested = json!({ "type": "array", "items": schema });
            for schema in [&schema, &nested] {
                assert_eq!(contract_violations(schema.as_object().unwrap()), [violation], "{schema}");
            }
        }
    }
}
