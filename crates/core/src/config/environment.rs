//! Environment variables that set configuration keys, and how their text becomes values.

use serde_json::Value;

use crate::{JsonObject, schema};

/// An environment variable and the key that it sets.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentVariable {
    /// The name of the variable.
    pub name: &'static str,
    /// The dotted path of the key, such as `request.max_retries`.
    pub key: &'static str,
    /// How the text of the variable becomes values.
    pub parser: VariableParser,
}

/// How the text of an environment variable becomes values.
#[derive(Debug, Clone, Copy)]
pub enum VariableParser {
    /// By the declared type of the key: a string, a number, a boolean, or a list separated by commas.
    ByKeyType,
    /// By a function of its own, which may set several keys.
    Custom(fn(&str) -> Vec<(&'static str, Value)>),
}

impl EnvironmentVariable {
    /// A variable that sets one key and is parsed by the type of that key.
    #[must_use]
    pub const fn new(name: &'static str, key: &'static str) -> Self {
        Self { name, key, parser: VariableParser::ByKeyType }
    }

    /// The keys and values that the text of the variable sets.
    ///
    /// # Errors
    ///
    /// A description of what was expected, such as `an integer from 0 to 10`.
    pub(super) fn parse(
        &self,
        text: &str,
        config_schema: &JsonObject,
    ) -> Result<Vec<(&'static str, Value)>, String> {
        match self.parser {
            VariableParser::Custom(parse) => Ok(parse(text)),
            VariableParser::ByKeyType => {
                let no_constraints = JsonObject::new();
                let key_schema = schema::property_schema(config_schema, self.key).unwrap_or(&no_constraints);
                Ok(vec![(self.key, parse_by_schema(text, key_schema)?)])
            }
        }
    }
}

/// Interprets text as the first type that fits the schema.
fn parse_by_schema(text: &str, schema: &JsonObject) -> Result<Value, String> {
    let text = text.trim();
    let boolean = match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    };
    let list: Vec<Value> =
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect();
    // A key of type string keeps its text even where that looks like a number, so strings come first.
    let candidates = [
        Some(Value::from(text)),
        text.parse::<i64>().ok().map(Value::from),
        text.parse::<f64>().ok().map(Value::from),
        boolean.map(Value::from),
        Some(Value::from(list)),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|candidate| schema::validate(schema, candidate).is_empty())
        .ok_or_else(|| schema::describe(schema))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str, schema: &Value) -> Result<Value, String> {
        parse_by_schema(text, schema.as_object().unwrap())
    }

    #[test]
    fn text_is_parsed_by_the_type_of_the_key() {
        for (text, schema, value) in [
            (" 7 ", json!({ "type": "string" }), json!("7")),
            ("7", json!({ "type": "integer" }), json!(7)),
            ("0.5", json!({ "type": "number" }), json!(0.5)),
            ("Yes", json!({ "type": "boolean" }), json!(true)),
            ("0", json!({ "type": "boolean" }), json!(false)),
            ("a, b,,", json!({ "type": "array", "items": { "type": "string" } }), json!(["a", "b"])),
        ] {
            assert_eq!(parse(text, &schema), Ok(value), "{text:?} as {schema}");
        }
    }

    #[test]
    fn text_that_does_not_fit_is_an_error_that_describes_what_would() {
        assert_eq!(parse("many", &json!({ "type": "integer" })), Err("an integer".to_owned()));
        assert_eq!(parse("perhaps", &json!({ "type": "boolean" })), Err("true or false".to_owned()));
    }
}
