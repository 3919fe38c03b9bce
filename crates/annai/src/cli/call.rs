//! `annai call` and `annai ask`: call one tool from the shell.

use std::sync::Arc;

use annai_answers::{Answers, Search};
use annai_core::{JsonObject, Progress, Toolset, schema};
use serde_json::Value;

use super::local_session::{LocalSession, failed_call};
use super::terminal::{ProgressLine, plain};
use super::tools::unknown_tool;
use super::{Failure, print};
use crate::app::App;
use crate::library::{self, Library};

/// The form in which a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Text for people.
    Text,
    /// The structured result as JSON.
    Json,
}

impl Format {
    pub(super) const fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

pub(super) fn run(app: &App, tool: &str, words: &[String], format: Format) -> Result<(), Failure> {
    let progress = ProgressLine::on_terminal(app).map(|line| Progress::to(Arc::new(line)));
    let text = LocalSession::run(app, |session| execute(session, tool, words, format, progress))?;
    Ok(print(&if format == Format::Text { plain(&text) } else { text })?)
}

/// Calls the tool and returns the text to print.
fn execute(
    session: &LocalSession,
    tool: &str,
    words: &[String],
    format: Format,
    progress: Option<Progress>,
) -> Result<String, Failure> {
    let unknown_tool = || unknown_tool(session.registry(), tool);
    let declared = session.registry().get(tool).ok_or_else(unknown_tool)?;
    let arguments = parse_arguments(declared.input_schema(), words)?;
    let reply = session.try_call(tool, arguments, progress).ok_or_else(unknown_tool)?;
    let reply = reply.map_err(|failed| failed_call(tool, &failed.error))?;
    let tool_text = || reply.text().join("\n\n");
    Ok(match format {
        Format::Json => format!("{:#}\n", reply.output),
        // The text of these tools is JSON, by contract; people get the answer or the results themselves.
        Format::Text if [Answers::NAME, Search::NAME].contains(&declared.toolset) => {
            annai_answers::readable(&reply.output, &reply.meta)
        }
        // The text of these tools is a summary for models; people want to see what was read or found.
        Format::Text if declared.toolset == Library::NAME => {
            let readable = library::readable(&reply.output).filter(|text| !text.is_empty());
            format!("{}\n", readable.unwrap_or_else(tool_text))
        }
        Format::Text => format!("{}\n", tool_text()),
    })
}

/// Parses one JSON object, or `key=value` pairs whose values have the types of the schema.
fn parse_arguments(schema: &JsonObject, words: &[String]) -> Result<JsonObject, Failure> {
    if let [only] = words
        && only.trim_start().starts_with('{')
    {
        let parsed = serde_json::from_str(only);
        return parsed
            .map_err(|error| Failure::usage(format!("the arguments are not a JSON object: {error}")));
    }
    let mut arguments = JsonObject::new();
    for word in words {
        let Some((key, text)) = word.split_once('=') else {
            let message = format!("expected key=value or one JSON object, got `{word}`");
            return Err(Failure::usage(message));
        };
        let value = parse_value(schema::property_schema(schema, key), text);
        insert(&mut arguments, key, value)?;
    }
    Ok(arguments)
}

/// Parses a value by the type of its key. A value of another type stays a string, so that the schema check names the key.
fn parse_value(schema: Option<&JsonObject>, text: &str) -> Value {
    let kinds = match schema.and_then(|schema| schema.get("type")) {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    let is = |kind| kinds.contains(&kind);
    let json = serde_json::from_str::<Value>(text).ok();
    match json {
        Some(value) if value.is_number() && (is("integer") || is("number")) => value,
        Some(value) if value.is_boolean() && is("boolean") => value,
        Some(value) if value.is_array() && is("array") => value,
        Some(value) if value.is_object() && is("object") => value,
        Some(Value::Null) if !kinds.is_empty() && !is("string") => Value::Null,
        _ if is("array") && !is("string") => {
            let item = schema.and_then(|schema| schema.get("items")).and_then(Value::as_object);
            text.split(',').map(|text| parse_value(item, text.trim())).collect()
        }
        _ => text.into(),
    }
}

/// Inserts a value; dots in the path separate nested keys.
fn insert(object: &mut JsonObject, path: &str, value: Value) -> Result<(), Failure> {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
            Ok(())
        }
        Some((key, rest)) => match object.entry(key).or_insert_with(|| Value::Object(JsonObject::new())) {
            Value::Object(inner) => insert(inner, rest, value),
            _ => Err(Failure::usage(format!(
                "`{key}` is given both as a value and as an object with nested keys"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use annai_testkit::fixture;

    use super::*;

    fn call(tool: &str, words: &[&str], format: Format) -> Result<String, (String, u8)> {
        let registry = fixture::registry(Duration::from_secs(5));
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let outcome =
            LocalSession::run_with(registry, |session| execute(session, tool, &words, format, None));
        outcome.map_err(|failure| (failure.message, failure.exit_code))
    }

    #[test]
    fn arguments_are_parsed_by_the_types_of_the_schema() {
        let expected =
            "{\n  \"query\": \"3\",\n  \"limit\": 3,\n  \"mode\": \"fast\",\n  \"time_ms\": 7\n}\n";
        let words = ["query=3", "limit=3", "mode=fast", "budget.time_ms=7"];
        assert_eq!(call("strict", &words, Format::Json).unwrap(), expected);
        let json = r#"{"query":"3","limit":3,"mode":"fast","budget":{"time_ms":7}}"#;
        assert_eq!(call("strict", &[json], Format::Json).unwrap(), expected);
        let words = ["query=a=b", "limit=null"];
        assert!(call("strict", &words, Format::Text).unwrap().contains("a=b"));
    }

    #[test]
    fn errors_say_what_is_expected() {
        for (tool, words, message) in [
            ("none", &[][..], "there is no tool named `none`; `annai tools` lists the tools"),
            ("strict", &["query"], "expected key=value or one JSON object, got `query`"),
            (
                "strict",
                &["{oops"],
                "the arguments are not a JSON object: key must be a string at line 1 column 2",
            ),
            (
                "strict",
                &["query=q", "limit=many"],
                "strict: limit: expected an integer from 1 to 10, got a string",
            ),
            ("strict", &["query=q", "x=1"], "strict: x: unknown key; allowed: query, limit, mode, budget"),
            (
                "strict",
                &["query=q", "query.x=1"],
                "`query` is given both as a value and as an object with nested keys",
            ),
        ] {
            assert_eq!(call(tool, words, Format::Text).unwrap_err(), (message.to_owned(), 2), "{words:?}");
        }
        let (message, exit_code) = call("test_error_handling", &[], Format::Text).unwrap_err();
        assert_eq!(exit_code, 1);
        assert!(message.starts_with("test_error_handling: This tool intentionally"), "{message}");
        let (message, _) = call("panics", &[], Format::Text).unwrap_err();
        assert_eq!(message, "panics: internal error: the toolset panicked");
    }

    #[test]
    fn lists_may_be_separated_by_commas_or_be_json() {
        let schema = serde_json::json!({ "type": "array", "items": { "type": "integer" } });
        let schema = schema.as_object();
        assert_eq!(parse_value(schema, "1, 2"), serde_json::json!([1, 2]));
        assert_eq!(parse_value(schema, "[1]"), serde_json::json!([1]));
        assert_eq!(parse_value(None, "true"), Value::from("true"));
    }
}
