//! JSON Schemas from types, and the one check of values against them: tool arguments, settings and
//! command-line arguments are all read by the schema that is published.

mod check;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use check::{Problem, check, describe};

use crate::JsonObject;

/// The schema of what a type reads.
#[must_use]
pub fn of_input<T: JsonSchema>() -> JsonObject {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of what a type writes.
#[must_use]
pub fn of_output<T: JsonSchema>() -> JsonObject {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    // Inlined, because several clients do not follow `$ref`.
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    match schema {
        Value::Object(mut object) => {
            // The type's own words; the tool or the key has better ones.
            object.shift_remove("description");
            object
        }
        _ => JsonObject::new(),
    }
}

/// The schema of the key with this dotted path.
#[must_use]
pub fn at<'a>(schema: &'a JsonObject, path: &str) -> Option<&'a JsonObject> {
    path.split('.').try_fold(schema, |schema, key| schema.get("properties")?.get(key)?.as_object())
}

/// Reads the numbers that came as text, or as floats without a fraction, where the schema of an object's key
/// takes a number and no text.
pub fn read_numbers(schema: &JsonObject, value: &mut Value) {
    let Value::Object(object) = value else { return };
    for (key, value) in object {
        let Some(of) = at(schema, key) else { continue };
        let takes = |kind: &str| match of.get("type") {
            Some(Value::String(only)) => only == kind,
            Some(Value::Array(kinds)) => kinds.iter().any(|each| each == kind),
            _ => false,
        };
        let number = match value {
            Value::String(text) if !takes("string") => serde_json::from_str(text.trim()).unwrap_or_default(),
            ref other => (*other).clone(),
        };
        // Up to 2^53 every whole float is an integer.
        let whole =
            number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0);
        match whole {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            Some(whole) if takes("integer") => *value = (whole as i64).into(),
            _ if number.is_number() && takes("number") => *value = number,
            _ => {}
        }
    }
}

/// Removes what costs a model tokens and tells it nothing: type names and machine widths.
fn tidy(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.shift_remove("$schema");
    object.shift_remove("title");
    if object.get("format").and_then(Value::as_str).is_some_and(is_width) {
        object.shift_remove("format");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    for_each_subschema(object, &mut tidy);
}

fn is_width(format: &str) -> bool {
    let digits = format.trim_start_matches('u').trim_start_matches("int");
    matches!(format, "double" | "float") || matches!(digits, "" | "8" | "16" | "32" | "64" | "size")
}

fn for_each_subschema(object: &mut JsonObject, visit: &mut dyn FnMut(&mut Value)) {
    for (key, value) in object.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "patternProperties", Value::Object(children)) => {
                children.values_mut().for_each(&mut *visit);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(children)) => {
                children.iter_mut().for_each(&mut *visit);
            }
            ("items" | "additionalProperties" | "not", child) => visit(child),
            _ => {}
        }
    }
}

/// What keeps a schema from being a contract that [`check`] can hold callers to: an object that
/// takes unknown keys, or a keyword that is not checked.
#[must_use]
pub fn faults(schema: &JsonObject) -> Vec<String> {
    const CHECKED: &[&str] = &[
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
    const REMARKS: &[&str] = &["description", "default", "examples", "writeOnly", "deprecated", "format"];
    let mut found = Vec::new();
    let mut schema = schema.clone();
    look(&mut schema, &mut found);

    fn look(object: &mut JsonObject, found: &mut Vec<String>) {
        for key in object.keys() {
            if !CHECKED.contains(&key.as_str()) && !REMARKS.contains(&key.as_str()) {
                found.push(format!("keyword `{key}` is not checked"));
            }
        }
        let is_object = object.get("type").is_some_and(|of| {
            of == "object" || of.as_array().is_some_and(|of| of.contains(&"object".into()))
        });
        if is_object && !object.contains_key("additionalProperties") {
            let keys: Vec<_> = object
                .get("properties")
                .and_then(Value::as_object)
                .map(|properties| properties.keys().cloned().collect())
                .unwrap_or_default();
            found.push(format!("an object with keys {keys:?} takes unknown keys"));
        }
        for_each_subschema(object, &mut |child| {
            if let Value::Object(child) = child {
                look(child, found);
            }
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Input {
        /// What to look for.
        title: String,
        #[schemars(range(min = 1, max = 10))]
        limit: Option<u32>,
    }

    #[test]
    fn schemas_are_closed_and_short() {
        assert_eq!(
            Value::Object(of_input::<Input>()),
            json!({
                "type": "object",
                "properties": {
                    "title": { "description": "What to look for.", "type": "string" },
                    "limit": { "type": ["integer", "null"], "minimum": 1, "maximum": 10 },
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
        assert_eq!(faults(&of_input::<Input>()), Vec::<String>::new());
    }

    #[test]
    fn numbers_may_come_as_text_where_that_is_harmless() {
        let read = |value: Value| {
            let mut value = json!({ "limit": value, "title": "3" });
            read_numbers(&of_input::<Input>(), &mut value);
            value["limit"].take()
        };
        for (came, becomes) in [
            (json!("3"), json!(3)),
            (json!(" 3.0 "), json!(3)),
            (json!(3.0), json!(3)),
            (json!("many"), json!("many")),
            (json!("3.5"), json!("3.5")),
            (json!(""), json!("")),
            (json!("[3]"), json!("[3]")),
            (json!(null), json!(null)),
            (json!(true), json!(true)),
        ] {
            assert_eq!(read(came.clone()), becomes, "{came}");
        }
    }

    #[test]
    fn an_open_or_unchecked_schema_is_a_fault() {
        let open = json!({ "type": "object", "properties": { "a": { "pattern": "x" } } });
        assert_eq!(
            faults(open.as_object().unwrap()),
            ["an object with keys [\"a\"] takes unknown keys", "keyword `pattern` is not checked"]
        );
    }
}
