//! `annai call`: one tool, from the shell.

use std::io::{self, Write};
use std::sync::Arc;

use annai_answers::Answers;
use annai_core::{Call, ErrorKind, Identity, JsonObject, Progress, Registry, Toolset, schema};
use annai_library::Library;
use serde_json::Value;
use tokio::runtime::Builder;

use super::terminal::{Colours, ProgressLine, plain};
use super::{Failure, USAGE, print};
use crate::app::App;

/// What is printed of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// What a person reads.
    Text,
    /// The structured result.
    Json,
}

impl Format {
    pub(super) const fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

pub(super) fn run(app: &App, tool: &str, words: &[String], format: Format) -> Result<(), Failure> {
    let registry = app.registry()?;
    let mut call = Call::new("cli");
    if let Some(line) = ProgressLine::on_terminal() {
        call.progress = Progress::to(Arc::new(line));
    }
    let colours = Colours::of(&io::stderr(), app.no_color);
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(execute(&registry, tool, words, format, call));
    runtime.shutdown_background();
    match outcome {
        Ok(text) => Ok(print(&if format == Format::Text { plain(&text) } else { text })?),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{} {}", colours.paint(31, "✗"), plain(&failure.message));
            Err(Failure { message: String::new(), exit_code: failure.exit_code })
        }
    }
}

/// Runs the tool and gives what to print.
async fn execute(
    registry: &Arc<Registry>,
    tool: &str,
    words: &[String],
    format: Format,
    call: Call,
) -> Result<String, Failure> {
    let Some(declared) = registry.get(tool) else {
        return Err(unknown(tool));
    };
    let arguments = read_arguments(declared.input_schema(), words)?;
    let admitted = registry.admit(tool, &Identity::Owner).map_err(|_| unknown(tool))?;
    let reply = match admitted.call(arguments, call).await {
        Ok(reply) => reply,
        Err(failed) => {
            let exit_code = match failed.error.kind() {
                ErrorKind::InvalidParameter | ErrorKind::NotConfigured => USAGE,
                _ => 1,
            };
            return Err(Failure { message: format!("{tool}: {}", failed.error.message()), exit_code });
        }
    };
    Ok(match format {
        Format::Json => format!("{:#}\n", reply.output),
        // Their text is JSON, by contract; people get the answer itself.
        Format::Text if declared.toolset == Answers::NAME => {
            annai_answers::readable(&reply.output, &reply.meta)
        }
        Format::Text if declared.toolset == Library::NAME => {
            // Their text is one sentence, for models; people want to see what was read or found.
            let said = reply.text.join("\n\n");
            format!(
                "{}\n",
                annai_library::readable(&reply.output).filter(|text| !text.is_empty()).unwrap_or(said)
            )
        }
        Format::Text => format!("{}\n", reply.text.join("\n\n")),
    })
}

fn unknown(tool: &str) -> Failure {
    Failure::usage(format!("no tool is named `{tool}`; `annai tools` lists them"))
}

/// One JSON object, or `key=value` pairs read by the types of the schema.
fn read_arguments(schema: &JsonObject, words: &[String]) -> Result<JsonObject, Failure> {
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
        let value = read_value(schema::at(schema, key), text);
        insert(&mut arguments, key, value)?;
    }
    Ok(arguments)
}

/// The text as its key's type reads it; what fits no type stays text, and the schema refuses it by name.
fn read_value(schema: Option<&JsonObject>, text: &str) -> Value {
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
        Some(Value::Null) if is("null") => Value::Null,
        _ if is("array") && !is("string") => {
            let item = schema.and_then(|schema| schema.get("items")).and_then(Value::as_object);
            text.split(',').map(|text| read_value(item, text.trim())).collect()
        }
        _ => text.into(),
    }
}

fn insert(object: &mut JsonObject, path: &str, value: Value) -> Result<(), Failure> {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
            Ok(())
        }
        Some((key, rest)) => match object.entry(key).or_insert_with(|| Value::Object(JsonObject::new())) {
            Value::Object(inner) => insert(inner, rest, value),
            _ => Err(Failure::usage(format!("`{key}` is given both a value and keys of its own"))),
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
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let call = Call::new("test");
        let outcome = runtime.block_on(execute(&registry, tool, &words, format, call));
        outcome.map_err(|failure| (failure.message, failure.exit_code))
    }

    #[test]
    fn arguments_are_read_by_their_types() {
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
    fn mistakes_say_what_to_type_instead() {
        for (tool, words, message) in [
            ("none", &[][..], "no tool is named `none`; `annai tools` lists them"),
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
            ("strict", &["query=q", "query.x=1"], "`query` is given both a value and keys of its own"),
        ] {
            assert_eq!(call(tool, words, Format::Text).unwrap_err(), (message.to_owned(), 2), "{words:?}");
        }
        let (message, exit_code) = call("test_error_handling", &[], Format::Text).unwrap_err();
        assert_eq!(exit_code, 1);
        assert!(message.starts_with("test_error_handling: This tool intentionally"), "{message}");
    }

    #[test]
    fn lists_are_written_with_commas_or_as_json() {
        let schema = serde_json::json!({ "type": "array", "items": { "type": "integer" } });
        let schema = schema.as_object();
        assert_eq!(read_value(schema, "1, 2"), serde_json::json!([1, 2]));
        assert_eq!(read_value(schema, "[1]"), serde_json::json!([1]));
        assert_eq!(read_value(None, "true"), Value::from("true"));
    }
}
