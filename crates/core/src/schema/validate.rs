//! Validates a value against a schema. Every error names the field, what was wrong and what would be right.

use std::fmt;

use serde_json::Value;

use super::describe;
use super::keywords::{accepts_null, alternatives, enum_values, is_null_schema, types};
use crate::JsonObject;

/// Validation stops after this many errors: a message with more of them hides the first, and a hostile value could make
/// it arbitrarily long.
const MAX_ERRORS: usize = 8;
/// The maximum number of characters of a rejected value or key that an error quotes: enough to recognise a typing
/// mistake. The rest is replaced by `…`.
const MAX_QUOTED_CHARS: usize = 40;

/// One reason why a value does not fit a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// The field, as in `budget.time_ms` or `ranges[2].start_line`; empty for the whole value.
    pub path: String,
    message: String,
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The first eight errors of `value`; empty when it is valid.
#[must_use]
pub fn validate(schema: &JsonObject, value: &Value) -> Vec<ValidationError> {
    let mut validator = Validator { errors: Vec::new() };
    validator.value(schema, value, "");
    validator.errors
}

/// Collects errors on the way through a value.
struct Validator {
    errors: Vec<ValidationError>,
}

impl Validator {
    fn add(&mut self, path: &str, message: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(ValidationError { path: path.to_owned(), message });
        }
    }

    /// Adds `field: expected …, got …`. What a secret field got is not shown.
    fn add_mismatch(&mut self, schema: &JsonObject, value: &Value, path: &str) {
        let field = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let is_secret = schema.get("writeOnly") == Some(&Value::Bool(true));
        let got = if is_secret { String::new() } else { format!(", got {}", describe_value(schema, value)) };
        self.add(path, format!("{field}expected {}{got}", describe(schema)));
    }

    fn value(&mut self, schema: &JsonObject, value: &Value, path: &str) {
        if let Some(allowed) = enum_values(schema) {
            let is_allowed = value.as_str().is_some_and(|value| allowed.contains(&value))
                || (value.is_null() && accepts_null(schema));
            if !is_allowed {
                self.add_mismatch(schema, value, path);
            }
            return;
        }
        if let Some(alternatives) = alternatives(schema) {
            return self.any_of(schema, &alternatives.collect::<Vec<_>>(), value, path);
        }
        let types = types(schema);
        if !types.is_empty() && !types.iter().any(|type_name| has_type(value, type_name)) {
            return self.add_mismatch(schema, value, path);
        }
        match value {
            Value::Number(number) if !in_range(schema, number.as_f64()) => {
                self.add_mismatch(schema, value, path);
            }
            Value::String(text)
                if !length_in_range(schema, "minLength", "maxLength", || text.chars().count()) =>
            {
                self.add_mismatch(schema, value, path);
            }
            Value::Array(items) => {
                if !length_in_range(schema, "minItems", "maxItems", || items.len()) {
                    self.add_mismatch(schema, value, path);
                }
                self.items(schema, items, path);
            }
            Value::Object(object) => self.object(schema, object, path),
            _ => {}
        }
    }

    fn items(&mut self, schema: &JsonObject, items: &[Value], path: &str) {
        let Some(Value::Object(item_schema)) = schema.get("items") else { return };
        for (index, item) in items.iter().enumerate() {
            self.value(item_schema, item, &format!("{path}[{index}]"));
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
        }
    }

    fn any_of(&mut self, schema: &JsonObject, alternatives: &[&JsonObject], value: &Value, path: &str) {
        let mut failed = Vec::new();
        for alternative in alternatives {
            let mut validator = Self { errors: Vec::new() };
            validator.value(alternative, value, path);
            if validator.errors.is_empty() {
                return;
            }
            if !is_null_schema(alternative) {
                failed.push(validator.errors);
            }
        }
        match failed.as_mut_slice() {
            // An optional value: the errors of the only real alternative say more than "expected …" of the whole.
            [only] => self.errors.append(only),
            _ => self.add_mismatch(schema, value, path),
        }
    }

    fn object(&mut self, schema: &JsonObject, object: &JsonObject, path: &str) {
        let path_of = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let empty = JsonObject::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(key) = key.as_str()
                && !object.contains_key(key)
            {
                self.add(&path_of(key), format!("{} is required", path_of(key)));
            }
        }
        for (key, value) in object {
            match (properties.get(key), schema.get("additionalProperties")) {
                (Some(Value::Object(value_schema)), _) | (None, Some(Value::Object(value_schema))) => {
                    self.value(value_schema, value, &path_of(key));
                }
                (None, Some(Value::Bool(false))) => self.add_unknown_key(&path_of(key), properties),
                _ => {}
            }
        }
    }

    fn add_unknown_key(&mut self, path: &str, properties: &JsonObject) {
        let allowed: Vec<_> = properties.keys().map(String::as_str).collect();
        let allowed = if allowed.is_empty() {
            "no key is allowed here".to_owned()
        } else {
            format!("allowed: {}", allowed.join(", "))
        };
        self.add(path, format!("{}: unknown key; {allowed}", truncate(path)));
    }
}

fn has_type(value: &Value, type_name: &str) -> bool {
    match type_name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn in_range(schema: &JsonObject, number: Option<f64>) -> bool {
    let Some(number) = number else { return false };
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    limit("minimum").is_none_or(|min| number >= min)
        && limit("maximum").is_none_or(|max| number <= max)
        && limit("exclusiveMinimum").is_none_or(|min| number > min)
}

/// Compares a length with two keywords of the schema. The length is computed only if there is a limit, because counting
/// the characters of a long string takes time.
fn length_in_range(
    schema: &JsonObject,
    min_keyword: &str,
    max_keyword: &str,
    length: impl Fn() -> usize,
) -> bool {
    let limit = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let (min, max) = (limit(min_keyword), limit(max_keyword));
    if min.is_none() && max.is_none() {
        return true;
    }
    let length = length() as u64;
    min.is_none_or(|min| length >= min) && max.is_none_or(|max| length <= max)
}

/// A rejected value in words. Strings are not quoted, because they may be private text or a secret, except where the
/// field is an enumeration.
fn describe_value(schema: &JsonObject, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if enum_values(schema).is_some() => format!("\"{}\"", truncate(text)),
        Value::String(text) if text.is_empty() => "an empty string".to_owned(),
        Value::String(text) if types(schema).contains(&"string") => {
            format!("{} characters", text.chars().count())
        }
        Value::String(_) => "a string".to_owned(),
        Value::Array(items) if types(schema).contains(&"array") => format!("{} items", items.len()),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn truncate(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(schema: &Value, value: &Value) -> Vec<String> {
        validate(schema.as_object().unwrap(), value).iter().map(ToString::to_string).collect()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["query"],
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "style": { "type": "string", "enum": ["summary", "bullets"] },
                "mode": { "anyOf": [{ "oneOf": [{ "const": "a" }, { "const": "b" }] }, { "type": "null" }] },
                "budget": {
                    "type": ["object", "null"],
                    "additionalProperties": false,
                    "properties": { "time_ms": { "type": ["integer", "null"], "minimum": 1, "maximum": 10 } },
                },
                "ranges": {
                    "type": "array",
                    "maxItems": 3,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["start"],
                        "properties": { "start": { "type": "integer", "exclusiveMinimum": 0 } },
                    },
                },
                "key": { "type": "string", "maxLength": 3, "writeOnly": true },
            },
        })
    }

    #[test]
    fn a_valid_value_has_no_errors() {
        let value = json!({
            "query": "q", "style": "summary", "mode": null, "budget": { "time_ms": 3 },
            "ranges": [{ "start": 1 }],
        });
        assert_eq!(errors(&schema(), &value), Vec::<String>::new());
    }

    #[test]
    fn every_error_names_its_field_and_what_is_allowed() {
        let value = json!({
            "style": "fancy", "mode": "c", "budget": { "time_ms": "3", "x": 1 },
            "ranges": [{ "start": 0 }, 5], "key": "sk-123",
        });
        assert_eq!(
            errors(&schema(), &value),
            [
                "query is required",
                "style: expected one of summary, bullets, got \"fancy\"",
                "mode: expected one of a, b, got \"c\"",
                "budget.time_ms: expected an integer from 1 to 10, got a string",
                "budget.x: unknown key; allowed: time_ms",
                "ranges[0].start: expected an integer greater than 0, got 0",
                "ranges[1]: expected an object, got 5",
                "key: expected a string of at most 3 characters",
            ]
        );
    }

    #[test]
    fn an_integer_field_rejects_fractions_strings_booleans_and_numbers_out_of_range() {
        for bad in [json!(2.5), json!("3"), json!(0), json!(11), json!(true)] {
            let value = json!({ "query": "q", "budget": { "time_ms": bad } });
            assert_eq!(errors(&schema(), &value).len(), 1, "{bad}");
        }
    }

    #[test]
    fn an_empty_string_is_rejected_where_a_minimum_length_is_declared() {
        assert_eq!(
            errors(&schema(), &json!({ "query": "" })),
            ["query: expected a string that is not empty, got an empty string"]
        );
    }

    #[test]
    fn an_error_of_the_whole_value_names_no_field() {
        assert_eq!(errors(&schema(), &json!([])), ["expected an object, got an array"]);
    }

    #[test]
    fn errors_are_limited_in_number_and_quote_only_the_beginning_of_a_long_key() {
        let unknown = |number: usize| (format!("{number:02}{}", "x".repeat(60)), Value::Null);
        let value = Value::Object((0..20).map(unknown).collect());
        let schema = json!({ "type": "object", "additionalProperties": false });
        let errors = errors(&schema, &value);
        assert_eq!(errors.len(), MAX_ERRORS);
        assert_eq!(errors[0], format!("00{}…: unknown key; no key is allowed here", "x".repeat(38)));
    }
}
