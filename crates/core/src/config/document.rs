//! The configuration as a table for people, from the same schema that checks it.

use std::fmt::Write as _;

use serde_json::Value;

use super::Env;
use crate::{JsonObject, schema};

pub(super) fn table(schema: &JsonObject, defaults: &JsonObject, env: &[Env]) -> String {
    let mut out =
        String::from("| key | takes | default | environment | what it does |\n|---|---|---|---|---|\n");
    rows(schema, &Value::Object(defaults.clone()), "", env, &mut out);
    out
}

fn rows(schema: &JsonObject, defaults: &Value, path: &str, env: &[Env], out: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (key, of) in properties {
        let (Some(of), path) = (of.as_object(), super::join(path, key)) else { continue };
        let default = defaults.get(key).unwrap_or(&Value::Null);
        if of.contains_key("properties") && !default.is_null() {
            rows(of, default, &path, env, out);
            continue;
        }
        let about = of.get("description").and_then(Value::as_str).unwrap_or_default();
        let default = if default.is_null() { String::new() } else { format!("`{default}`") };
        let names: Vec<_> = env
            .iter()
            .filter(|variable| variable.key == path)
            .map(|variable| format!("`{}`", variable.name))
            .collect();
        let takes = schema::describe(of).replace('|', "\\|");
        let about = about.replace(['\n', '|'], " ");
        let _ = writeln!(out, "| `{path}` | {takes} | {default} | {} | {about} |", names.join(", "));
    }
}
