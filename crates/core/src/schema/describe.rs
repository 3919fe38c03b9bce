//! Describes in words what a schema accepts. Error messages and the generated documentation use the same words.

use serde_json::Value;

use super::keywords::{alternatives, enum_values, is_null_schema, types};
use crate::JsonObject;

/// What a schema accepts, in words: `an integer from 1 to 10`.
#[must_use]
pub fn describe(schema: &JsonObject) -> String {
    if let Some(values) = enum_values(schema) {
        return format!("one of {}", values.join(", "));
    }
    if let Some(alternatives) = alternatives(schema) {
        let words: Vec<_> = alternatives.filter(|schema| !is_null_schema(schema)).map(describe).collect();
        return words.join(" or ");
    }
    let types = types(schema).into_iter().filter(|type_name| *type_name != "null");
    let words: Vec<_> = types.map(|type_name| describe_type(type_name, schema)).collect();
    if words.is_empty() { "a JSON value".to_owned() } else { words.join(" or ") }
}

fn describe_type(type_name: &str, schema: &JsonObject) -> String {
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_number).map(ToString::to_string);
    // A minimum length of 0 says nothing.
    let min_length = |keyword: &str| limit(keyword).filter(|min| min != "0");
    match type_name {
        "integer" | "number" => {
            let noun = if type_name == "integer" { "an integer" } else { "a number" };
            match limit("exclusiveMinimum") {
                Some(min) => {
                    let max = limit("maximum").map(|max| format!(" and at most {max}"));
                    format!("{noun} greater than {min}{}", max.unwrap_or_default())
                }
                None => format!("{noun}{}", describe_range(limit("minimum"), limit("maximum"), "")),
            }
        }
        "string" => match (min_length("minLength"), limit("maxLength")) {
            (Some(min), None) if min == "1" => "a string that is not empty".to_owned(),
            (Some(min), Some(max)) if min == max => format!("a string of exactly {min} characters"),
            (min, max) => format!("a string{}", describe_range(min, max, " characters")),
        },
        "array" => {
            let range = describe_range(min_length("minItems"), limit("maxItems"), " items");
            let items = schema.get("items").and_then(Value::as_object).map(types).unwrap_or_default();
            match (range.as_str(), items.as_slice()) {
                ("", ["string"]) => "an array of strings".to_owned(),
                ("", ["integer"]) => "an array of integers".to_owned(),
                ("", ["object"]) => "an array of objects".to_owned(),
                _ => format!("an array{range}"),
            }
        }
        "boolean" => "true or false".to_owned(),
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

fn describe_range(min: Option<String>, max: Option<String>, unit: &str) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!(" from {min} to {max}{unit}"),
        (Some(min), None) => format!(" of at least {min}{unit}"),
        (None, Some(max)) => format!(" of at most {max}{unit}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_are_described_in_words() {
        for (schema, words) in [
            (json!({}), "a JSON value"),
            (json!({ "type": ["boolean", "null"] }), "true or false"),
            (json!({ "type": "integer", "minimum": 1, "maximum": 10 }), "an integer from 1 to 10"),
            (json!({ "type": "number", "exclusiveMinimum": 0 }), "a number greater than 0"),
            (
                json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 2 }),
                "a number greater than 0 and at most 2",
            ),
            (json!({ "type": "string", "minLength": 1 }), "a string that is not empty"),
            (json!({ "type": "string", "minLength": 0, "maxLength": 5 }), "a string of at most 5 characters"),
            (json!({ "type": "array", "minItems": 2 }), "an array of at least 2 items"),
            (json!({ "type": "array", "items": { "type": "string" } }), "an array of strings"),
            (json!({ "enum": ["a", "b"] }), "one of a, b"),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "object" }, { "type": "null" }] }),
                "a string or an object",
            ),
        ] {
            assert_eq!(describe(schema.as_object().unwrap()), words, "{schema}");
        }
    }
}
