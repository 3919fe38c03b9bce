//! A small schema language for the fields of a request, whose errors have the codes and messages of the real API.

use serde_json::{Map, Value};

use super::refusal::Refusal;

type CheckResult = Result<(), Refusal>;

/// The type of a field.
pub(super) enum Kind {
    /// Anything at all.
    Any,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A string with a maximum number of characters.
    ShortText(usize),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// An integer from a minimum to a maximum.
    Integer(i64, i64),
    /// A number from a minimum to a maximum.
    Number(f64, f64),
    /// An array with a maximum number of items.
    List(&'static Kind, usize),
    /// An object with these fields and no others.
    Object(&'static [Field]),
    /// An object with arbitrary field names.
    Map(&'static Kind),
    /// A type that a function checks, which is called with the value and its path.
    By(fn(&Value, &str) -> CheckResult),
}

/// A field of an object.
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    nullable: bool,
}

impl Field {
    /// A field that may be omitted.
    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: false }
    }

    /// A field that may be omitted or null.
    pub(super) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: true }
    }

    /// A field that must be present.
    pub(super) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: true, nullable: false }
    }
}

impl Kind {
    /// Checks the value at `path`.
    pub(super) fn check(&self, value: &Value, path: &str) -> CheckResult {
        match (self, value) {
            (Self::Any, _) | (Self::Flag, Value::Bool(_)) | (Self::Text, Value::String(_)) => Ok(()),
            (Self::ShortText(max), Value::String(text)) => match text.chars().count() {
                count if count > *max => Err(too_long(path, "string", *max, count)),
                _ => Ok(()),
            },
            (Self::OneOf(allowed), Value::String(text)) => one_of(allowed, text, path),
            (Self::Integer(min, max), Value::Number(number)) => {
                let number = number.as_i64().ok_or_else(|| wrong_type(path, self.noun(), value))?;
                in_range(path, "integer", number as f64, *min as f64, *max as f64)
            }
            (Self::Number(min, max), Value::Number(number)) => {
                in_range(path, "decimal", number.as_f64().unwrap_or(f64::NAN), *min, *max)
            }
            (Self::List(_, max), Value::Array(items)) if items.len() > *max => {
                Err(too_long(path, "array", *max, items.len()))
            }
            (Self::List(kind, _), Value::Array(items)) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| kind.check(item, &format!("{path}[{index}]"))),
            (Self::Object(fields), Value::Object(object)) => check_fields(fields, object, path),
            (Self::Map(kind), Value::Object(object)) => {
                object.iter().try_for_each(|(name, value)| kind.check(value, &within(path, name)))
            }
            (Self::By(check), _) => check(value, path),
            _ => Err(wrong_type(path, self.noun(), value)),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Any | Self::By(_) => "a value",
            Self::Flag => "a boolean",
            Self::Text | Self::ShortText(_) => "a string",
            Self::OneOf(_) => "one of its string values",
            Self::Integer(..) => "an integer",
            Self::Number(..) => "a decimal",
            Self::List(..) => "an array",
            Self::Object(_) | Self::Map(_) => "an object",
        }
    }
}

/// Checks the fields of an object. Unknown fields are reported first, as by the real API.
pub(super) fn check_fields(fields: &[Field], object: &Map<String, Value>, path: &str) -> CheckResult {
    for name in object.keys() {
        if !fields.iter().any(|field| field.name == name) {
            let path = within(path, name);
            let message = format!("Unknown parameter: '{path}'.");
            return Err(Refusal::bad(message).code("unknown_parameter").param(path));
        }
    }
    for field in fields {
        let path = within(path, field.name);
        match object.get(field.name) {
            None if field.required => return Err(missing(&path)),
            None => {}
            Some(Value::Null) if field.nullable => {}
            Some(value) => field.kind.check(value, &path)?,
        }
    }
    Ok(())
}

/// The string `value[name]`, which distinguishes objects of several types.
pub(super) fn tag<'a>(value: &'a Value, name: &str, path: &str) -> Result<&'a str, Refusal> {
    let object = value.as_object().ok_or_else(|| wrong_type(path, "an object", value))?;
    let path = within(path, name);
    let tag = object.get(name).ok_or_else(|| missing(&path))?;
    tag.as_str().ok_or_else(|| wrong_type(&path, "a string", tag))
}

/// Checks an object by its `type`: completely if it is among `checked`, and only the type itself if it is among `others`.
pub(super) fn by_type(checked: &[(&str, Kind)], others: &[&str], value: &Value, path: &str) -> CheckResult {
    let kind = tag(value, "type", path)?;
    if let Some((_, fields)) = checked.iter().find(|(name, _)| *name == kind) {
        return fields.check(value, path);
    }
    let known: Vec<&str> = checked.iter().map(|(name, _)| *name).chain(others.iter().copied()).collect();
    one_of(&known, kind, &format!("{path}.type"))
}

/// Rejects a string that is not among `allowed`.
pub(super) fn one_of(allowed: &[&str], text: &str, path: &str) -> CheckResult {
    if allowed.contains(&text) {
        return Ok(());
    }
    let message = format!("Invalid value: '{text}'. Supported values are: {}.", listed(allowed));
    Err(Refusal::bad(message).code("invalid_value").param(path))
}

/// A list in English: `'a', 'b', and 'c'`.
pub(super) fn listed(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// The error for a missing field.
pub(super) fn missing(path: &str) -> Refusal {
    Refusal::bad(format!("Missing required parameter: '{path}'."))
        .code("missing_required_parameter")
        .param(path)
}

/// The error for a value of the wrong type.
pub(super) fn wrong_type(path: &str, expected: &str, value: &Value) -> Refusal {
    let got = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let message = format!("Invalid type for '{path}': expected {expected}, but got {got} instead.");
    Refusal::bad(message).code("invalid_type").param(path)
}

fn too_long(path: &str, noun: &str, max: usize, got: usize) -> Refusal {
    let message =
        format!("Invalid '{path}': {noun} too long. Expected at most {max}, but got {got} instead.");
    Refusal::bad(message).code(format!("{noun}_above_max_length")).param(path)
}

fn in_range(path: &str, noun: &str, number: f64, min: f64, max: f64) -> CheckResult {
    let (side, sign, limit) = match number {
        number if number < min => ("below_min", ">=", min),
        number if number > max => ("above_max", "<=", max),
        _ => return Ok(()),
    };
    let message = format!("Invalid '{path}': expected a value {sign} {limit}, but got {number} instead.");
    Err(Refusal::bad(message).code(format!("{noun}_{side}_value")).param(path))
}

fn within(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const THING: Kind = Kind::Object(&[
        Field::required("name", Kind::ShortText(5)),
        Field::nullable("sizes", Kind::List(&Kind::Integer(1, 9), 2)),
        Field::optional("color", Kind::OneOf(&["red", "green", "blue"])),
        Field::optional("notes", Kind::Map(&Kind::Text)),
    ]);

    fn refusal(value: &Value) -> (String, String) {
        let refusal = THING.check(value, "thing").expect_err("the value is rejected");
        (refusal.code.unwrap(), refusal.param.unwrap())
    }

    fn error(code: &str, param: &str) -> (String, String) {
        (code.to_owned(), param.to_owned())
    }

    #[test]
    fn valid_values_are_accepted() {
        THING.check(&json!({ "name": "案内案内案" }), "").unwrap();
        THING
            .check(&json!({ "name": "a", "sizes": null, "color": "red", "notes": { "a": "b" } }), "")
            .unwrap();
    }

    #[test]
    fn invalid_values_are_rejected_with_code_and_path() {
        assert_eq!(refusal(&json!([])), error("invalid_type", "thing"));
        assert_eq!(refusal(&json!({})), error("missing_required_parameter", "thing.name"));
        assert_eq!(refusal(&json!({ "name": null })), error("invalid_type", "thing.name"));
        assert_eq!(refusal(&json!({ "name": "123456" })), error("string_above_max_length", "thing.name"));
        assert_eq!(refusal(&json!({ "nam": "a" })), error("unknown_parameter", "thing.nam"));
        let with = |field: &str, value: Value| refusal(&json!({ "name": "a", field: value }));
        assert_eq!(with("sizes", json!([1, "2"])), error("invalid_type", "thing.sizes[1]"));
        assert_eq!(with("sizes", json!([1.5])), error("invalid_type", "thing.sizes[0]"));
        assert_eq!(with("sizes", json!([0])), error("integer_below_min_value", "thing.sizes[0]"));
        assert_eq!(with("sizes", json!([1, 2, 3])), error("array_above_max_length", "thing.sizes"));
        assert_eq!(with("color", json!("pink")), error("invalid_value", "thing.color"));
        assert_eq!(with("notes", json!({ "b": 1 })), error("invalid_type", "thing.notes.b"));
    }

    #[test]
    fn the_error_of_an_enumeration_lists_the_allowed_values() {
        let refusal = THING.check(&json!({ "name": "a", "color": "pink" }), "").unwrap_err();
        assert_eq!(
            refusal.message,
            "Invalid value: 'pink'. Supported values are: 'red', 'green', and 'blue'."
        );
    }
}
