//! Arguments that may be absent: their published schema does not mention `null`, and a `null` is read as absent.

use serde_json::Value;

use super::keywords::{alternatives, is_null_schema};
use super::{for_each_subschema, validate};
use crate::JsonObject;

/// Removes `null` from a schema and from everything inside it: from lists of types, from enumerations and from unions. A
/// union of which one alternative remains becomes that alternative.
pub(super) fn remove_null_types(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|type_name| type_name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(union)) = schema.get_mut(keyword) else { continue };
        union.retain(|schema| !schema.as_object().is_some_and(is_null_schema));
        if let [Value::Object(only)] = union.as_slice() {
            let only = only.clone();
            schema.shift_remove(keyword);
            for (key, value) in only {
                // The description of the argument says more than that of its type.
                schema.entry(key).or_insert(value);
            }
        }
    }
    for_each_subschema(schema, &mut |subschema| {
        if let Value::Object(subschema) = subschema {
            remove_null_types(subschema);
        }
    });
}

/// Removes every member of an object that is `null` and that the schema declares as optional, also inside nested objects
/// and arrays, because models send `null` for what they leave out. Other nulls stay for [`validate()`] to reject.
pub fn remove_optional_nulls(schema: &JsonObject, value: &mut Value) {
    if let Some(alternatives) = alternatives(schema) {
        let without_nulls = alternatives.map(|alternative| {
            let mut candidate = value.clone();
            remove_optional_nulls(alternative, &mut candidate);
            (alternative, candidate)
        });
        let mut valid = without_nulls.filter(|(schema, candidate)| validate(schema, candidate).is_empty());
        if let Some((_, candidate)) = valid.next() {
            *value = candidate;
        }
        return;
    }
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let property = |key: &str| properties.and_then(|properties| properties.get(key)?.as_object());
            let required = schema.get("required").and_then(Value::as_array);
            let is_required = |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
            object.retain(|key, value| !value.is_null() || property(key).is_none() || is_required(key));
            let other = schema.get("additionalProperties").and_then(Value::as_object);
            for (key, value) in object {
                if let Some(schema) = property(key).or(other) {
                    remove_optional_nulls(schema, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items").and_then(Value::as_object) {
                items.iter_mut().for_each(|item| remove_optional_nulls(schema, item));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::super::{contract_violations, of_input, of_settings};
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        query: String,
        #[serde(default)]
        limit: u64,
        /// The mode of the search.
        mode: Option<Mode>,
        budget: Option<Budget>,
        #[serde(default)]
        ranges: Vec<Budget>,
        place: Option<Place>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        /// Quick.
        Fast,
        /// Thorough.
        Slow,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Budget {
        time_ms: u64,
        steps: Option<u64>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Place {
        Path(String),
        Budget(Budget),
    }

    #[test]
    fn the_schema_of_arguments_does_not_mention_null_and_that_of_settings_does() {
        let schema = of_input::<Arguments>();
        assert_eq!(contract_violations(&schema), Vec::<String>::new());
        let text = Value::Object(schema.clone()).to_string();
        assert!(!text.contains("null"), "{text}");
        assert!(Value::Object(of_settings::<Arguments>()).to_string().contains("null"));
        let mode = schema["properties"]["mode"].as_object().unwrap();
        assert_eq!(mode["description"], "The mode of the search.");
        assert_eq!(super::super::describe(mode), "one of fast, slow");
    }

    #[test]
    fn null_means_absent_where_a_value_is_optional() {
        let schema = of_input::<Arguments>();
        let mut value = json!({
            "query": "q", "limit": null, "mode": null, "budget": { "time_ms": 1, "steps": null },
            "ranges": [{ "time_ms": 2, "steps": null }], "place": { "time_ms": 3, "steps": null },
        });
        remove_optional_nulls(&schema, &mut value);
        assert_eq!(
            value,
            json!({
                "query": "q", "budget": { "time_ms": 1 }, "ranges": [{ "time_ms": 2 }], "place": { "time_ms": 3 },
            })
        );
        assert_eq!(validate(&schema, &value), []);
        let arguments: Arguments = serde_json::from_value(value).unwrap();
        assert_eq!((arguments.limit, arguments.mode), (0, None));
    }

    #[test]
    fn other_nulls_are_errors_that_name_the_field() {
        let schema = of_input::<Arguments>();
        for (value, error) in [
            (json!({ "query": null }), "query: expected a string, got null"),
            (
                json!({ "query": "q", "budget": { "time_ms": null } }),
                "budget.time_ms: expected an integer of at least 0, got null",
            ),
            (
                json!({ "query": "q", "ranges": [{ "time_ms": null }] }),
                "ranges[0].time_ms: expected an integer of at least 0, got null",
            ),
            (json!({ "query": "q", "ranges": [null] }), "ranges[0]: expected an object, got null"),
            (
                json!({ "query": "q", "x": null }),
                "x: unknown key; allowed: query, limit, mode, budget, ranges, place",
            ),
        ] {
            let mut value = value.clone();
            remove_optional_nulls(&schema, &mut value);
            let errors: Vec<_> = validate(&schema, &value).iter().map(ToString::to_string).collect();
            assert_eq!(errors, [error]);
        }
    }
}
