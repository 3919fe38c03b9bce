//! How the API looks at the fields of a request: a small language of kinds, and the walk that names what is wrong.

use serde_json::{Map, Value};

use super::check::Refusal;

type Checked = Result<(), Refusal>;

/// What a field may hold.
pub(super) enum Kind {
    /// Anything at all.
    Any,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A string of at most so many characters.
    ShortText(usize),
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A whole number within these limits.
    Integer(i64, i64),
    /// A number within these limits.
    Number(f64, f64),
    /// An array of so many at most.
    List(&'static Kind, usize),
    /// An object with these fields and no others.
    Object(&'static [Field]),
    /// An object with fields of any name.
    Map(&'static Kind),
    /// What only a function can tell: it gets the value and its path.
    By(fn(&Value, &str) -> Checked),
}

/// A field of an object.
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    required: bool,
    nullable: bool,
}

impl Field {
    /// One that may be left out.
    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: false }
    }

    /// One that may be left out or null.
    pub(super) const fn nullable(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: false, nullable: true }
    }

    /// One that must be there.
    pub(super) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, required: true, nullable: false }
    }
}

impl Kind {
    /// Checks `value`, which stands at `path`.
    pub(super) fn check(&self, value: &Value, path: &str) -> Checked {
        match (self, value) {
            (Self::Any, _) | (Self::Flag, Value::Bool(_)) | (Self::Text, Value::String(_)) => Ok(()),
            (Self::ShortText(most), Value::String(text)) => match text.chars().count() {
                count if count > *most => Err(too_long(path, "string", *most, count)),
                _ => Ok(()),
            },
            (Self::OneOf(allowed), Value::String(text)) => one_of(allowed, text, path),
            (Self::Integer(least, most), Value::Number(number)) => {
                let number = number.as_i64().ok_or_else(|| wrong_type(path, self.noun(), value))?;
                in_range(path, "integer", number as f64, *least as f64, *most as f64)
            }
            (Self::Number(least, most), Value::Number(number)) => {
                in_range(path, "decimal", number.as_f64().unwrap_or(f64::NAN), *least, *most)
            }
            (Self::List(_, most), Value::Array(items)) if items.len() > *most => {
                Err(too_long(path, "array", *most, items.len()))
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

/// Checks the fields of an object: the unknown ones first, as the API does.
pub(super) fn check_fields(fields: &[Field], object: &Map<String, Value>, path: &str) -> Checked {
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

/// The text of `value[name]`, which tells objects of several kinds apart.
pub(super) fn tag<'a>(value: &'a Value, name: &str, path: &str) -> Result<&'a str, Refusal> {
    let object = value.as_object().ok_or_else(|| wrong_type(path, "an object", value))?;
    let path = within(path, name);
    let tag = object.get(name).ok_or_else(|| missing(&path))?;
    tag.as_str().ok_or_else(|| wrong_type(&path, "a string", tag))
}

/// Looks into the types of `deep`, and no further than the type of `others`.
pub(super) fn by_type(deep: &[(&str, Kind)], others: &[&str], value: &Value, path: &str) -> Checked {
    let kind = tag(value, "type", path)?;
    if let Some((_, fields)) = deep.iter().find(|(name, _)| *name == kind) {
        return fields.check(value, path);
    }
    let known: Vec<&str> = deep.iter().map(|(name, _)| *name).chain(others.iter().copied()).collect();
    one_of(&known, kind, &format!("{path}.type"))
}

/// Refuses a string that is not among `allowed`.
pub(super) fn one_of(allowed: &[&str], text: &str, path: &str) -> Checked {
    if allowed.contains(&text) {
        return Ok(());
    }
    let message = format!("Invalid value: '{text}'. Supported values are: {}.", listed(allowed));
    Err(Refusal::bad(message).code("invalid_value").param(path))
}

/// A list for people: `'a', 'b', and 'c'`.
pub(super) fn listed(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// Refuses for the lack of a field.
pub(super) fn missing(path: &str) -> Refusal {
    Refusal::bad(format!("Missing required parameter: '{path}'."))
        .code("missing_required_parameter")
        .param(path)
}

/// Refuses a value of another type.
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

fn too_long(path: &str, noun: &str, most: usize, got: usize) -> Refusal {
    let message =
        format!("Invalid '{path}': {noun} too long. Expected at most {most}, but got {got} instead.");
    Refusal::bad(message).code(format!("{noun}_above_max_length")).param(path)
}

fn in_range(path: &str, noun: &str, number: f64, least: f64, most: f64) -> Checked {
    let (side, sign, limit) = match number {
        number if number < least => ("below_min", ">=", least),
        number if number > most => ("above_max", "<=", most),
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
        Field::optional("colour", Kind::OneOf(&["red", "green", "blue"])),
        Field::optional("notes", Kind::Map(&Kind::Text)),
    ]);

    fn refusal(value: &Value) -> (String, String) {
        let refusal = THING.check(value, "thing").expect_err("it is refused");
        (refusal.code.unwrap(), refusal.param.unwrap())
    }

    fn named(code: &str, param: &str) -> (String, String) {
        (code.to_owned(), param.to_owned())
    }

    #[test]
    fn what_fits_passes() {
        THING.check(&json!({ "name": "案内案内案" }), "").unwrap();
        THING
            .check(&json!({ "name": "a", "sizes": null, "colour": "red", "notes": { "a": "b" } }), "")
            .unwrap();
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(refusal(&json!([])), named("invalid_type", "thing"));
        assert_eq!(refusal(&json!({})), named("missing_required_parameter", "thing.name"));
        assert_eq!(refusal(&json!({ "name": null })), named("invalid_type", "thing.name"));
        assert_eq!(refusal(&json!({ "name": "123456" })), named("string_above_max_length", "thing.name"));
        assert_eq!(refusal(&json!({ "nam": "a" })), named("unknown_parameter", "thing.nam"));
        let with = |field: &str, value: Value| refusal(&json!({ "name": "a", field: value }));
        assert_eq!(with("sizes", json!([1, "2"])), named("invalid_type", "thing.sizes[1]"));
        assert_eq!(with("sizes", json!([1.5])), named("invalid_type", "thing.sizes[0]"));
        assert_eq!(with("sizes", json!([0])), named("integer_below_min_value", "thing.sizes[0]"));
        assert_eq!(with("sizes", json!([1, 2, 3])), named("array_above_max_length", "thing.sizes"));
        assert_eq!(with("colour", json!("pink")), named("invalid_value", "thing.colour"));
        assert_eq!(with("notes", json!({ "b": 1 })), named("invalid_type", "thing.notes.b"));
    }

    #[test]
    fn allowed_values_are_listed() {
        let refusal = THING.check(&json!({ "name": "a", "colour": "pink" }), "").unwrap_err();
        assert_eq!(
            refusal.message,
            "Invalid value: 'pink'. Supported values are: 'red', 'green', and 'blue'."
        );
    }
}
