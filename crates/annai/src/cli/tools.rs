//! `annai tools`: lists the tools, or shows the arguments of one.

use std::fmt::Write as _;

use annai_core::{Identity, JsonObject, Registry, schema};
use serde_json::Value;

use super::{Failure, print};
use crate::app::App;

/// The width of the text about a tool, which fits every terminal.
const WIDTH: usize = 80;

pub(super) fn run(app: &App, name: Option<&str>, json: bool) -> Result<(), Failure> {
    let registry = app.registry()?;
    if let Some(name) = name {
        return show(&registry, name, json);
    }
    if json {
        print(&format!("{}\n", String::from_utf8_lossy(&registry.list(&Identity::Owner))))?;
        return Ok(());
    }
    let rows: Vec<_> =
        registry.tools().map(|tool| (tool.facts.name, tool.toolset, tool.facts.title)).collect();
    let width = |of: &dyn Fn(&(&str, &str, &str)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (name_width, set_width) = (width(&|row| row.0.len()), width(&|row| row.1.len()));
    let mut table = String::new();
    for (name, toolset, title) in &rows {
        let _ = writeln!(table, "{name:name_width$}  {toolset:set_width$}  {title}");
    }
    let _ = writeln!(table, "{} tools; `annai tools NAME` shows the arguments of one", rows.len());
    print(&table)?;
    Ok(())
}

/// The error about a tool that does not exist, with the name that was probably meant.
pub(super) fn unknown_tool(registry: &Registry, name: &str) -> Failure {
    let meant = registry.closest_tool(name).map(|tool| format!("; did you mean `{tool}`?"));
    let meant = meant.unwrap_or_else(|| "; `annai tools` lists the tools".to_owned());
    Failure::usage(format!("there is no tool named `{name}`{meant}"))
}

/// Shows a tool: what it does, and its arguments with those inside objects.
fn show(registry: &Registry, name: &str, json: bool) -> Result<(), Failure> {
    let tool = registry.get(name).ok_or_else(|| unknown_tool(registry, name))?;
    if json {
        let list = registry.list(&Identity::Owner);
        let entries: Vec<Value> =
            serde_json::from_slice(&list).map_err(|error| Failure::new(error.to_string()))?;
        let entry = entries.iter().find(|entry| entry.get("name").and_then(Value::as_str) == Some(name));
        return Ok(print(&format!("{:#}\n", entry.unwrap_or(&Value::Null)))?);
    }
    let facts = tool.facts;
    let mut text = format!("{}: {} (toolset {})\n\n", facts.name, facts.title, tool.toolset);
    push_wrapped(&mut text, facts.description, 0);
    text.push_str("\nArguments:\n");
    let before = text.len();
    push_arguments(&mut text, tool.input_schema(), "");
    if text.len() == before {
        text.push_str("  none\n");
    }
    print(&text)?;
    Ok(())
}

/// Adds each property of an object, and the properties inside it with the names that `annai call` takes.
fn push_arguments(text: &mut String, object: &JsonObject, prefix: &str) {
    let required = object.get("required").and_then(Value::as_array);
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let Some(property) = property.as_object() else { continue };
        let is_required = required.is_some_and(|names| names.iter().any(|each| each == name));
        let mark = if is_required { ", required" } else { "" };
        let _ = writeln!(text, "  {prefix}{name} ({}{mark})", schema::describe(property));
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        push_wrapped(text, description, 6);
        push_arguments(text, property, &format!("{prefix}{name}."));
        for branch in property.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
            branch
                .as_object()
                .into_iter()
                .for_each(|of| push_arguments(text, of, &format!("{prefix}{name}.")));
        }
        if let Some(items) = property.get("items").and_then(Value::as_object) {
            push_arguments(text, items, &format!("{prefix}{name}[]."));
        }
    }
}

/// Adds a text in lines of at most [`WIDTH`] characters, as far as its words allow.
fn push_wrapped(text: &mut String, paragraph: &str, indentation: usize) {
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text.push('\n');
            column = 0;
        }
        let space = if column == 0 { indentation } else { 1 };
        text.extend(std::iter::repeat_n(' ', space));
        text.push_str(word);
        column += space + length;
    }
    if column > 0 {
        text.push('\n');
    }
}
