//! JSON Schemas that are generated from types, and validation against them. Tool arguments, settings and command-line
//! arguments are all validated against the schema that is published, so the documentation cannot promise anything else.

mod contract;
mod describe;
mod keywords;
mod nulls;
mod validate;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

pub use contract::contract_violations;
pub use describe::describe;
pub use keywords::accepts_null;
pub use nulls::remove_optional_nulls;
pub use validate::{ValidationError, validate};

use crate::JsonObject;

/// The schema of the arguments of a tool. It never mentions `null`, because several MCP clients refuse a tool whose
/// arguments may be null; [`remove_optional_nulls`] makes `null` mean the same as an absent argument.
#[must_use]
pub fn of_input<T: JsonSchema>() -> JsonObject {
    let mut schema = of_settings::<T>();
    nulls::remove_null_types(&mut schema);
    schema
}

/// The schema of the settings of a crate, where `null` is a value of its own: it unsets a default.
#[must_use]
pub fn of_settings<T: JsonSchema>() -> JsonObject {
    generate::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of the values that a type serializes to.
#[must_use]
pub fn of_output<T: JsonSchema>() -> JsonObject {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    // Subschemas are inlined because several MCP clients do not resolve `$ref`.
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    remove_noise(&mut schema);
    match schema {
        Value::Object(mut object) => {
            // This is the doc comment of the Rust type; the tool or the key has a description for its callers.
            object.shift_remove("description");
            object
        }
        // A type that accepts any value has the schema `true`, which means the same as `{}`.
        _ => JsonObject::new(),
    }
}

/// The schema of the property with this dotted path.
#[must_use]
pub fn property_schema<'a>(schema: &'a JsonObject, path: &str) -> Option<&'a JsonObject> {
    path.split('.').try_fold(schema, |schema, key| schema.get("properties")?.get(key)?.as_object())
}

/// Integers up to 2^53 are exact as 64-bit floats; a larger float is not converted, because it may have been rounded.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Converts members of an object that are declared as numbers: strings such as `"3"` become numbers unless the member also
/// accepts strings, and floats without a fraction become integers. Everything else is left for [`validate()`] to reject.
pub fn coerce_numbers(schema: &JsonObject, value: &mut Value) {
    let Value::Object(object) = value else { return };
    for (key, value) in object {
        let Some(schema) = property_schema(schema, key) else { continue };
        let types = keywords::types(schema);
        let number = match value {
            Value::String(text) if !types.contains(&"string") => {
                serde_json::from_str(text.trim()).unwrap_or_default()
            }
            ref other => (*other).clone(),
        };
        let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < MAX_EXACT_INTEGER);
        match whole {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            Some(whole) if types.contains(&"integer") => *value = (whole as i64).into(),
            _ if number.is_number() && types.contains(&"number") => *value = number,
            _ => {}
        }
    }
}

/// Removes keywords that cost a model tokens and tell it nothing: Rust type names, integer widths and null defaults.
fn remove_noise(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    object.shift_remove("$schema");
    object.shift_remove("title");
    // The lines of a doc comment are one sentence after another, not lines of their own.
    if let Some(Value::String(description)) = object.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if object.get("format").and_then(Value::as_str).is_some_and(is_number_width) {
        object.shift_remove("format");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    for_each_subschema(object, &mut remove_noise);
}

/// Whether a `format` is that of a Rust number type, such as `uint32`.
fn is_number_width(format: &str) -> bool {
    let digits = format.trim_start_matches('u').trim_start_matches("int");
    matches!(format, "double" | "float") || matches!(digits, "" | "8" | "16" | "32" | "64" | "size")
}

/// Calls `visit` with every schema directly below this one.
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

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Input {
        /// What to look
        /// for.
        title: String,
        #[schemars(range(min = 1, max = 10))]
        limit: Option<u32>,
    }

    #[test]
    fn a_generated_schema_rejects_unknown_keys_and_has_no_noise() {
        assert_eq!(
            Value::Object(of_input::<Input>()),
            json!({
                "type": "object",
                "properties": {
                    "title": { "description": "What to look for.", "type": "string" },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 10 },
                },
                "required": ["title"],
                "additionalProperties": false,
            })
        );
        assert_eq!(contract_violations(&of_input::<Input>()), Vec::<String>::new());
    }

    #[test]
    fn numbers_are_coerced_only_where_nothing_is_lost() {
        let coerce = |value: Value| {
            let mut value = json!({ "limit": value, "title": "3" });
            coerce_numbers(&of_input::<Input>(), &mut value);
            value["limit"].take()
        };
        for (value, coerced) in [
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
            assert_eq!(coerce(value.clone()), coerced, "{value}");
        }
    }

    #[test]
    fn formats_of_rust_number_types_are_noise_and_others_are_not() {
        for format in ["int8", "uint", "uint32", "int64", "double", "float"] {
            assert!(is_number_width(format), "{format}");
        }
        for format in ["date-time", "uri", "int128x"] {
            assert!(!is_number_width(format), "{format}");
        }
    }

    #[test]
    fn a_property_is_looked_up_by_its_dotted_path() {
        let schema = json!({ "properties": { "a": { "properties": { "b": { "type": "string" } } } } });
        let schema = schema.as_object().unwrap();
        assert_eq!(property_schema(schema, "a.b"), json!({ "type": "string" }).as_object());
        assert_eq!(property_schema(schema, "a.c"), None);
    }
}
