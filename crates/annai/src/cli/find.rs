//! `annai find`: the sections of the manuals that best match a question, with their location and why they match.

use std::io;

use annai_library::preview;
use serde_json::{Value, json};

use super::local_session::LocalSession;
use super::terminal::{Colors, display_path, plain, truncate};
use super::{Failure, print};
use crate::app::App;

/// The maximum length of a heading in characters, so that location and heading fit on one line; a longer one is cut.
const MAX_TITLE_CHARS: usize = 40;
/// The maximum length of a matching line in characters, so that it fits on one line; a longer one is cut.
const MAX_SNIPPET_CHARS: usize = 96;
/// The maximum number of conflicts, gaps and unscanned sections that are listed of each kind; the rest is counted.
const MAX_LISTED_NOTES: usize = 5;

/// The question and options of the command.
pub(super) struct FindOptions<'a> {
    pub question: &'a str,
    /// The manual to search first.
    pub manual: Option<&'a str>,
    /// The maximum number of sections to show.
    pub limit: usize,
    pub json: bool,
}

pub(super) fn run(app: &App, options: &FindOptions<'_>) -> Result<(), Failure> {
    let text = LocalSession::run(app, |session| {
        let mut arguments = json!({ "query": options.question });
        if let (Some(manual), Some(arguments)) = (options.manual, arguments.as_object_mut()) {
            arguments.insert("manual_id".to_owned(), manual.into());
        }
        let report = session.call("manual_find", &arguments)?;
        let hits = hits_page(session, &report, "integrated_top", options.limit)?;
        if options.json {
            return Ok(format!("{:#}\n", json!({ "find": report, "hits": hits.get("items") })));
        }
        let mut text = String::new();
        let colors = Colors::of(&io::stdout(), app.no_color);
        for (rank, hit) in (1..).zip(items(&hits)) {
            text.push_str(&hit_rows(app, options.question, rank, hit, colors));
        }
        text.push_str(&plain(&summary(&report, &hits, options)));
        text.push_str(&notes(session, &report)?);
        text.push_str(&plain(&next_step(&report, options)));
        Ok(text)
    })?;
    print(&text)?;
    Ok(())
}

/// One page of the results that `manual_find` stored under its trace id.
fn hits_page(session: &LocalSession, report: &Value, kind: &str, limit: usize) -> Result<Value, Failure> {
    let trace_id = report.get("trace_id").cloned().unwrap_or_default();
    session.call("manual_hits", &json!({ "trace_id": trace_id, "kind": kind, "limit": limit }))
}

fn items(page: &Value) -> impl Iterator<Item = &Value> {
    page.get("items").and_then(Value::as_array).into_iter().flatten()
}

/// Three lines about a section: location, heading and score; why it matches; its best line.
fn hit_rows(app: &App, question: &str, rank: usize, hit: &Value, colors: Colors) -> String {
    let reference = hit.get("ref").unwrap_or(&Value::Null);
    let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
    let start_line = reference.get("start_line").and_then(Value::as_u64).unwrap_or(1);
    let start_line = usize::try_from(start_line).unwrap_or(1);
    let signals: Vec<_> = hit
        .get("signals")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let signals = signals.join(" ");
    let score = hit.get("score").and_then(Value::as_f64).unwrap_or_default();
    let (manual_id, path) = (text("manual_id"), text("path"));
    let (location, words, snippet) = match preview(&app.library, question, manual_id, path, start_line) {
        Ok(preview) => {
            let location = format!("{}:{}", display_path(&preview.file), preview.line);
            (location, preview.words.join(", "), preview.snippet)
        }
        // The file was changed or deleted after the search.
        Err(_) => (format!("{manual_id}/{path}:{start_line}"), String::new(), String::new()),
    };
    let reasons = if words.is_empty() { signals } else { format!("{signals}: {words}") };
    format!(
        "{rank:>3}  {}  {}  {score:.1}\n     {}\n     {}\n",
        colors.paint(36, &location),
        colors.paint(1, &truncate(text("title"), MAX_TITLE_CHARS)),
        colors.paint(2, &reasons),
        plain(&truncate(snippet.trim(), MAX_SNIPPET_CHARS))
    )
}

/// One line about how many sections were found and how much was searched.
fn summary(report: &Value, hits: &Value, options: &FindOptions<'_>) -> String {
    let summary = report.get("summary").unwrap_or(&Value::Null);
    let number = |key: &str| summary.get(key).and_then(Value::as_u64).unwrap_or_default();
    let mut text = match number("candidates") {
        0 => format!("Nothing found for \"{}\".\n", options.question),
        total => format!("\nShowing {} of {}. ", items(hits).count(), count(total, "matching section")),
    };
    text.push_str(&format!(
        "Scanned {} with {}; not scanned: {}.",
        count(number("scanned_files"), "file"),
        count(number("scanned_nodes"), "section"),
        number("unscanned_sections_count")
    ));
    if let Some(reason) = summary.get("cutoff_reason").and_then(Value::as_str) {
        text.push_str(&format!(" The search stopped early ({}).", reason.replace('_', " ")));
    }
    if number("warnings") > 0 {
        text.push_str(&format!(" {} could not be read completely.", count(number("warnings"), "file")));
    }
    let status = summary.get("integration_status").and_then(Value::as_str).unwrap_or_default();
    text.push_str(match status {
        "ready" => " The result is complete.\n",
        "needs_followup" => " The result may be incomplete; see the next step below.\n",
        // Nothing was found, which the first line says.
        _ => "\n",
    });
    text
}

/// A number with its noun in the singular or plural.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The conflicts between sections, the gaps, and the sections that were not scanned.
fn notes(session: &LocalSession, report: &Value) -> Result<String, Failure> {
    let mut text = String::new();
    for (kind, label) in [("conflicts", "contradiction"), ("gaps", "not found"), ("unscanned", "not scanned")]
    {
        let page = hits_page(session, report, kind, MAX_LISTED_NOTES)?;
        for item in items(&page) {
            text.push_str(&plain(&note(label, item)));
        }
        let total = page.get("total").and_then(Value::as_u64).unwrap_or_default();
        let more = total.saturating_sub(MAX_LISTED_NOTES as u64);
        if more > 0 {
            text.push_str(&format!("  {label}: and {more} more\n"));
        }
    }
    Ok(text)
}

/// One line about a conflict, a gap or an unscanned section.
fn note(label: &str, item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let location = match item.get("start_line").and_then(Value::as_u64) {
        Some(line) => format!("{}:{line}", text("path")),
        None => text("path").to_owned(),
    };
    let others =
        item.get("conflict_with").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let others = others.collect::<Vec<_>>().join(", ");
    match (text("gap_hint"), others.as_str()) {
        ("", "") => format!("  {label}: {location} ({})\n", text("reason")),
        ("", others) => format!("  {label}: {location} and {others} ({})\n", text("reason")),
        (hint, _) => format!("  {label}: {hint}\n"),
    }
}

/// The command to type next.
fn next_step(report: &Value, options: &FindOptions<'_>) -> String {
    let action = report.get("next_actions").and_then(Value::as_array).and_then(|actions| actions.first());
    let kind = action.and_then(|action| action.get("type")).and_then(Value::as_str).unwrap_or("stop");
    let params = action.and_then(|action| action.get("params")).cloned().unwrap_or_default();
    let scope = params.get("scope").cloned().unwrap_or("section".into());
    match kind {
        "manual_read" => read_command(params.get("ref"), &scope),
        "manual_find" => {
            let question = params.get("query").and_then(Value::as_str).unwrap_or(options.question);
            format!("Next: annai find \"{question}\"\n")
        }
        "manual_hits" => format!("Next: annai find \"{}\" --limit 20\n", options.question),
        _ => match report.get("top").and_then(Value::as_array).and_then(|top| top.first()) {
            Some(best) => read_command(best.get("ref"), &scope),
            None => "Next: try other words, or list the manuals: annai call manual_list\n".to_owned(),
        },
    }
}

/// The command that reads a section.
fn read_command(reference: Option<&Value>, scope: &Value) -> String {
    let reference = reference.cloned().unwrap_or_default();
    let reference: serde_json::Map<_, _> = ["target", "manual_id", "path", "start_line"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), reference.get(key)?.clone())))
        .collect();
    format!("Next: annai call manual_read '{}'\n", json!({ "ref": reference, "scope": scope }))
}
