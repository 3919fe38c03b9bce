//! Documents the configuration as a Markdown table, from the same schema that validates it.

use std::fmt::Write as _;

use serde_json::Value;

use super::EnvironmentVariable;
use crate::{JsonObject, schema};

/// The table of all keys: `docs/config.md` is made from it.
pub(super) fn table(schema: &JsonObject, defaults: &JsonObject, env: &[EnvironmentVariable]) -> String {
    let mut out = String::from(
        "| key | type | default | environment variable | description |\n|---|---|---|---|---|\n",
    );
    rows(schema, &Value::Object(defaults.clone()), "", env, &mut out);
    out
}

/// Writes one row for each key below `path`. An object with declared properties becomes the rows of its members, unless
/// it is unset by default.
fn rows(schema: &JsonObject, defaults: &Value, path: &str, env: &[EnvironmentVariable], out: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, schema) in properties {
        let (Some(schema), path) = (schema.as_object(), super::join(path, key)) else { continue };
        let default = defaults.get(key).unwrap_or(&Value::Null);
        if schema.contains_key("properties") && !default.is_null() {
            rows(schema, default, &path, env, out);
            continue;
        }
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let default = if default.is_null() { String::new() } else { format!("`{default}`") };
        let variables: Vec<_> = env
            .iter()
            .filter(|variable| variable.key == path)
            .map(|variable| format!("`{}`", variable.name))
            .collect();
        let takes = schema::describe(schema).replace('|', "\\|");
        let description = description.replace(['\n', '|'], " ");
        let _ =
            writeln!(out, "| `{path}` | {takes} | {default} | {} | {description} |", variables.join(", "));
    }
}
