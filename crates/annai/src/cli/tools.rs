//! `annai tools`: lists the tools, or shows the arguments of one.

use std::fmt::Write as _;

use annai_core::finding::counted;
use annai_core::{Facts, Identity, JsonObject, Registry, schema};
use serde_json::Value;

use super::terminal::cell;
use super::{Failure, print};
use crate::app::App;
use crate::catalog;
use crate::environment::{self, Language};

/// The width of the text about a tool, which fits every terminal.
const WIDTH: usize = 80;

pub(super) fn run(app: &App, name: Option<&str>, json: bool) -> Result<(), Failure> {
    let registry = catalog::registry(app)?;
    if let Some(name) = name {
        return show(&registry, name, json);
    }
    if json {
        print(&format!("{}\n", String::from_utf8_lossy(&registry.list(&Identity::Owner))))?;
        return Ok(());
    }
    let language = environment::language();
    let rows: Vec<_> =
        registry.tools().map(|tool| (tool.facts.name, tool.toolset, title(tool.facts, language))).collect();
    let width = |of: &dyn Fn(&(&str, &str, String)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (name_width, set_width) = (width(&|row| row.0.len()), width(&|row| row.1.len()));
    let mut table = String::new();
    for (name, toolset, title) in &rows {
        let _ = writeln!(table, "{name:name_width$}  {toolset:set_width$}  {}", cell(title));
    }
    if !app.is_quiet {
        let _ =
            writeln!(table, "{}; `annai tools NAME` shows the arguments of one", counted(rows.len(), "tool"));
    }
    print(&table)?;
    Ok(())
}

/// The title of a tool in one language. Most tools publish it in both, `English / 日本語`; those that publish it in Japanese
/// alone have a name that says the same in English.
fn title(facts: &Facts, language: Language) -> String {
    match (facts.title.split_once(" / "), language) {
        (Some((english, _)), Language::English) => english.to_owned(),
        (Some((_, japanese)), Language::Japanese) => japanese.to_owned(),
        (None, Language::English) if !facts.title.is_ascii() => {
            let words = facts.name.replace('_', " ");
            let (first, rest) = words.split_at_checked(1).unwrap_or((&words, ""));
            first.to_ascii_uppercase() + rest
        }
        (None, _) => facts.title.to_owned(),
    }
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
    let title = title(facts, environment::language());
    let mut text = format!("{}: {title} (toolset {})\n\n", facts.name, tool.toolset);
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
        push_wrapped(text, &format!("{prefix}{name} ({}{mark})", schema::describe(property)), 2);
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

/// Adds a text in lines of at most [`WIDTH`] columns, as far as its words allow. Later lines are indented as the first is.
fn push_wrapped(text: &mut String, paragraph: &str, indentation: usize) {
    let mut column = 0;
    for (word, follows_space) in pieces(paragraph) {
        let width: usize = word.chars().map(columns).sum();
        let gap = usize::from(follows_space);
        if column > 0 && column + gap + width > WIDTH {
            text.push('\n');
            column = 0;
        }
        let space = if column == 0 { indentation } else { gap };
        text.extend(std::iter::repeat_n(' ', space));
        text.push_str(word);
        column += space + width;
    }
    if column > 0 {
        text.push('\n');
    }
}

/// The parts of a text between which a line may break, and whether a space comes before each: words, and single characters
/// of scripts that are written without spaces. A punctuation mark stays with what comes before it.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split_whitespace().flat_map(|word| {
        let breaks = word.char_indices().zip(word.chars().skip(1)).filter_map(|((at, before), after)| {
            let may_break = columns(before) == 2 || columns(after) == 2;
            let keeps = "、。，．」』）】！？・ー:;,.!?)]".contains(after) || "「『（【([".contains(before);
            (may_break && !keeps).then_some(at + before.len_utf8())
        });
        let ends: Vec<_> = breaks.chain([word.len()]).collect();
        let starts = std::iter::once(0).chain(ends.clone());
        let parts: Vec<_> =
            starts.zip(ends).filter_map(|(from, to)| Some((word.get(from..to)?, from == 0))).collect();
        parts
    })
}

/// How many columns of a terminal a character takes: two for those of East Asian scripts.
const fn columns(character: char) -> usize {
    match character {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' => 2,
        '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}' => 2,
        '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}
