//! Checks a value against a schema and says what is wrong in words: the field, what was wrong, what
//! would be right.

use std::fmt;

use serde_json::Value;

use crate::JsonObject;

/// So many problems are named at once; more would only hide the first.
const MOST_PROBLEMS: usize = 8;
/// A refused word is repeated up to this length.
const MOST_ECHO: usize = 40;

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field, as in `budget.time_ms` or `ranges[2].start_line`; empty for the whole value.
    pub path: String,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with `value`, the most telling problems first; empty when it fits.
#[must_use]
pub fn check(schema: &JsonObject, value: &Value) -> Vec<Problem> {
    let mut checker = Checker { problems: Vec::new() };
    checker.value(schema, value, "");
    checker.problems
}

/// What a schema takes, in words: `an integer from 1 to 10`.
#[must_use]
pub fn describe(schema: &JsonObject) -> String {
    if let Some(words) = choices(schema) {
        return format!("one of {}", words.join(", "));
    }
    if let Some(branches) = branches(schema) {
        let words: Vec<_> = branches.filter(|branch| !is_null(branch)).map(describe).collect();
        return words.join(" or ");
    }
    let kinds: Vec<_> = types(schema).into_iter().filter(|kind| *kind != "null").collect();
    let words: Vec<_> = kinds.iter().map(|kind| describe_kind(kind, schema)).collect();
    if words.is_empty() { "a JSON value".to_owned() } else { words.join(" or ") }
}

fn describe_kind(kind: &str, schema: &JsonObject) -> String {
    let number = |key: &str| schema.get(key).and_then(Value::as_number).map(ToString::to_string);
    let bounds = |low: Option<String>, high: Option<String>, unit: &str| match (low, high) {
        (Some(low), Some(high)) => format!(" from {low} to {high}{unit}"),
        (Some(low), None) => format!(" of at least {low}{unit}"),
        (None, Some(high)) => format!(" of at most {high}{unit}"),
        (None, None) => String::new(),
    };
    match kind {
        "integer" | "number" => {
            let noun = if kind == "integer" { "an integer" } else { "a number" };
            match number("exclusiveMinimum") {
                Some(low) => format!("{noun} greater than {low}"),
                None => format!("{noun}{}", bounds(number("minimum"), number("maximum"), "")),
            }
        }
        "string" => {
            let low = number("minLength").filter(|low| low != "0");
            match (low, number("maxLength")) {
                (Some(low), None) if low == "1" => "a string that is not empty".to_owned(),
                (low, high) => format!("a string{}", bounds(low, high, " characters")),
            }
        }
        "array" => {
            let low = number("minItems").filter(|low| low != "0");
            format!("an array{}", bounds(low, number("maxItems"), " items"))
        }
        "boolean" => "true or false".to_owned(),
        "object" => "an object".to_owned(),
        other => other.to_owned(),
    }
}

struct Checker {
    problems: Vec<Problem>,
}

impl Checker {
    fn say(&mut self, path: &str, message: String) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { path: path.to_owned(), message });
        }
    }

    fn expected(&mut self, schema: &JsonObject, value: &Value, path: &str) {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let secret = schema.get("writeOnly") == Some(&Value::Bool(true));
        let got = if secret { String::new() } else { format!(", got {}", name(schema, value)) };
        self.say(path, format!("{place}expected {}{got}", describe(schema)));
    }

    fn value(&mut self, schema: &JsonObject, value: &Value, path: &str) {
        if let Some(words) = choices(schema) {
            let fits = value.as_str().is_some_and(|value| words.contains(&value))
                || (value.is_null() && takes_null(schema));
            if !fits {
                self.expected(schema, value, path);
            }
            return;
        }
        if let Some(branches) = branches(schema) {
            return self.any_of(schema, &branches.collect::<Vec<_>>(), value, path);
        }
        let kinds = types(schema);
        if !kinds.is_empty() && !kinds.iter().any(|kind| is_kind(kind, value)) {
            return self.expected(schema, value, path);
        }
        match value {
            Value::Number(number) if !in_range(schema, number.as_f64()) => {
                self.expected(schema, value, path);
            }
            Value::String(text) if !has_length(schema, "minLength", "maxLength", || text.chars().count()) => {
                self.expected(schema, value, path);
            }
            Value::Array(items) => {
                if !has_length(schema, "minItems", "maxItems", || items.len()) {
                    self.expected(schema, value, path);
                }
                if let Some(Value::Object(of)) = schema.get("items") {
                    for (index, item) in items.iter().enumerate() {
                        self.value(of, item, &format!("{path}[{index}]"));
                        if self.problems.len() >= MOST_PROBLEMS {
                            return;
                        }
                    }
                }
            }
            Value::Object(object) => self.object(schema, object, path),
            _ => {}
        }
    }

    fn any_of(&mut self, schema: &JsonObject, branches: &[&JsonObject], value: &Value, path: &str) {
        let mut tried = Vec::new();
        for branch in branches {
            let mut checker = Checker { problems: Vec::new() };
            checker.value(branch, value, path);
            if checker.problems.is_empty() {
                return;
            }
            if !is_null(branch) {
                tried.push(checker.problems);
            }
        }
        match tried.as_mut_slice() {
            [only] => self.problems.append(only),
            _ => self.expected(schema, value, path),
        }
    }

    fn object(&mut self, schema: &JsonObject, object: &JsonObject, path: &str) {
        let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let empty = JsonObject::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(key) = key.as_str()
                && !object.contains_key(key)
            {
                self.say(&at(key), format!("{} is required", at(key)));
            }
        }
        for (key, value) in object {
            match (properties.get(key), schema.get("additionalProperties")) {
                (Some(Value::Object(of)), _) | (None, Some(Value::Object(of))) => {
                    self.value(of, value, &at(key));
                }
                (None, Some(Value::Bool(false))) => {
                    let allowed: Vec<_> = properties.keys().map(String::as_str).collect();
                    let allowed = if allowed.is_empty() {
                        "no key is allowed here".to_owned()
                    } else {
                        format!("allowed: {}", allowed.join(", "))
                    };
                    let at = at(key);
                    self.say(&at, format!("{}: unknown key; {allowed}", cut(&at)));
                }
                _ => {}
            }
        }
    }
}

/// The words of an enumeration, whichever way it is written.
fn choices(schema: &JsonObject) -> Option<Vec<&str>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        return Some(vec![word]);
    }
    let mut words = Vec::new();
    for branch in branches(schema)? {
        match choices(branch) {
            Some(more) => words.extend(more),
            None if is_null(branch) => {}
            None => return None,
        }
    }
    Some(words)
}

fn branches(schema: &JsonObject) -> Option<impl Iterator<Item = &JsonObject>> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    Some(branches.iter().filter_map(Value::as_object))
}

fn takes_null(schema: &JsonObject) -> bool {
    types(schema).contains(&"null")
        || schema.get("enum").and_then(Value::as_array).is_some_and(|words| words.contains(&Value::Null))
        || branches(schema).is_some_and(|mut branches| branches.any(takes_null))
}

fn types(schema: &JsonObject) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_null(schema: &JsonObject) -> bool {
    types(schema) == ["null"]
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
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
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    bound("minimum").is_none_or(|low| number >= low)
        && bound("maximum").is_none_or(|high| number <= high)
        && bound("exclusiveMinimum").is_none_or(|low| number > low)
}

fn has_length(schema: &JsonObject, least: &str, most: &str, length: impl Fn() -> usize) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (bound(least), bound(most));
    if least.is_none() && most.is_none() {
        return true;
    }
    let length = length() as u64;
    least.is_none_or(|least| length >= least) && most.is_none_or(|most| length <= most)
}

/// What came, in words. Text is not repeated: it may be a question or a key. A word that misses an
/// enumeration is.
fn name(schema: &JsonObject, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if choices(schema).is_some() => format!("\"{}\"", cut(text)),
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

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_ECHO) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(schema: &Value, value: &Value) -> Vec<String> {
        check(schema.as_object().unwrap(), value).iter().map(ToString::to_string).collect()
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
    fn what_fits_has_no_problems() {
        let value = json!({
            "query": "q", "style": "summary", "mode": null, "budget": { "time_ms": 3 },
            "ranges": [{ "start": 1 }],
        });
        assert_eq!(problems(&schema(), &value), Vec::<String>::new());
    }

    #[test]
    fn every_problem_names_its_field_and_what_is_right() {
        let value = json!({
            "style": "fancy", "mode": "c", "budget": { "time_ms": "3", "x": 1 },
            "ranges": [{ "start": 0 }, 5], "key": "sk-123",
        });
        assert_eq!(
            problems(&schema(), &value),
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
    fn integers_are_integers() {
        for bad in [json!(2.5), json!("3"), json!(0), json!(11), json!(true)] {
            let value = json!({ "query": "q", "budget": { "time_ms": bad } });
            assert_eq!(problems(&schema(), &value).len(), 1, "{bad}");
        }
    }

    #[test]
    fn blank_text_is_refused_without_repeating_other_text() {
        assert_eq!(
            problems(&schema(), &json!({ "query": "" })),
            ["query: expected a string that is not empty, got an empty string"]
        );
        assert_eq!(problems(&schema(), &json!([])), ["expected an object, got an array"]);
    }
}
