//! `annai find`: the best sections for a question, where they are, and why.

use std::io;
use std::path::Path;

use annai_library::preview;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::terminal::{Colours, plain};
use super::{Failure, eval, print};
use crate::app::App;

/// Longer headings and lines are cut.
const MOST_TITLE: usize = 40;
const MOST_SNIPPET: usize = 96;

/// What to look for, and how much to show.
pub(super) struct Wanted<'a> {
    pub question: &'a str,
    pub manual: Option<&'a str>,
    pub limit: usize,
    pub json: bool,
}

pub(super) fn run(app: &App, wanted: &Wanted<'_>) -> Result<(), Failure> {
    let registry = app.registry()?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let mut arguments = json!({ "query": wanted.question });
    if let (Some(manual), Some(arguments)) = (wanted.manual, arguments.as_object_mut()) {
        arguments.insert("manual_id".to_owned(), manual.into());
    }
    let found = runtime.block_on(eval::call(&registry, "manual_find", arguments))?;
    let trace = found.get("trace_id").cloned().unwrap_or_default();
    let page = |kind: &str, limit: usize| {
        let arguments = json!({ "trace_id": trace, "kind": kind, "limit": limit });
        runtime.block_on(eval::call(&registry, "manual_hits", arguments))
    };
    let best = page("integrated_top", wanted.limit)?;
    if wanted.json {
        let found = json!({ "find": found, "hits": best.get("items") });
        return Ok(print(&format!("{found:#}\n"))?);
    }
    let colours = Colours::of(&io::stdout(), app.no_color);
    let mut text = String::new();
    for (rank, item) in (1..).zip(items(&best)) {
        text.push_str(&row(app, wanted.question, rank, item, colours));
    }
    text.push_str(&plain(&account(&found, &best, wanted)));
    for (kind, name) in [("conflicts", "disagree"), ("gaps", "missing"), ("unscanned", "not scanned")] {
        let page = page(kind, 5)?;
        for item in items(&page) {
            text.push_str(&plain(&remark(name, item)));
        }
        let more = page.get("total").and_then(Value::as_u64).unwrap_or_default().saturating_sub(5);
        if more > 0 {
            text.push_str(&format!("  {name}: and {more} more\n"));
        }
    }
    text.push_str(&plain(&next_step(&found, wanted)));
    print(&text)?;
    Ok(())
}

fn items(page: &Value) -> impl Iterator<Item = &Value> {
    page.get("items").and_then(Value::as_array).into_iter().flatten()
}

fn row(app: &App, question: &str, rank: usize, item: &Value, colours: Colours) -> String {
    let place = item.get("ref").unwrap_or(&Value::Null);
    let text = |key: &str| place.get(key).and_then(Value::as_str).unwrap_or_default();
    let start = place.get("start_line").and_then(Value::as_u64).unwrap_or(1);
    let start = usize::try_from(start).unwrap_or(1);
    let signals: Vec<_> = item
        .get("signals")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let score = item.get("score").and_then(Value::as_f64).unwrap_or_default();
    let title = cut(text("title"), MOST_TITLE);
    let (place, words, snippet) =
        match preview(&app.library, question, text("manual_id"), text("path"), start) {
            Ok(shown) => {
                (format!("{}:{}", nearby(&shown.file), shown.line), shown.words.join(", "), shown.snippet)
            }
            // It went away or changed since; the find still saw it.
            Err(_) => {
                (format!("{}/{}:{start}", text("manual_id"), text("path")), String::new(), String::new())
            }
        };
    let why = if words.is_empty() { signals.join(" ") } else { format!("{}: {words}", signals.join(" ")) };
    format!(
        "{rank:>3}  {}  {}  {score:.1}\n     {}\n     {}\n",
        colours.paint(36, &place),
        colours.paint(1, &title),
        colours.paint(2, &why),
        plain(&cut(snippet.trim(), MOST_SNIPPET))
    )
}

/// A file's path as a terminal makes it clickable: from here where it is below, else whole.
pub(super) fn nearby(file: &Path) -> String {
    let file = file.strip_prefix(".").unwrap_or(file);
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.strip_prefix(&here).ok());
    short.unwrap_or(file).display().to_string()
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// One line about how far the find went.
fn account(found: &Value, best: &Value, wanted: &Wanted<'_>) -> String {
    let summary = found.get("summary").unwrap_or(&Value::Null);
    let number = |key: &str| summary.get(key).and_then(Value::as_u64).unwrap_or_default();
    let status = summary.get("integration_status").and_then(Value::as_str).unwrap_or_default();
    let shown = items(best).count();
    let mut text = match number("candidates") {
        0 => format!("Nothing found for \"{}\".\n", wanted.question),
        count => format!("\n{shown} of {count} sections that mention it. "),
    };
    text.push_str(&format!(
        "Scanned {} files, {} sections; not scanned: {}.",
        number("scanned_files"),
        number("scanned_nodes"),
        number("unscanned_sections_count")
    ));
    if let Some(reason) = summary.get("cutoff_reason").and_then(Value::as_str) {
        text.push_str(&format!(" Cut by {reason}."));
    }
    if number("warnings") > 0 {
        text.push_str(&format!(" {} files could not be read as what they are.", number("warnings")));
    }
    text.push_str(&format!(" Status: {}.\n", status.replace('_', " ")));
    text
}

/// A conflict, a gap, or something that was not looked at.
fn remark(name: &str, item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let place = match item.get("start_line").and_then(Value::as_u64) {
        Some(line) => format!("{}:{line}", text("path")),
        None => text("path").to_owned(),
    };
    let against =
        item.get("conflict_with").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let against = against.collect::<Vec<_>>().join(", ");
    match (text("gap_hint"), against.as_str()) {
        ("", "") => format!("  {name}: {place} ({})\n", text("reason")),
        ("", against) => format!("  {name}: {place} and {against} ({})\n", text("reason")),
        (hint, _) => format!("  {name}: {hint}\n"),
    }
}

/// What to type next.
fn next_step(found: &Value, wanted: &Wanted<'_>) -> String {
    let action = found.get("next_actions").and_then(Value::as_array).and_then(|actions| actions.first());
    let kind = action.and_then(|action| action.get("type")).and_then(Value::as_str).unwrap_or("stop");
    let params = action.and_then(|action| action.get("params")).cloned().unwrap_or_default();
    let read = |place: Option<&Value>| {
        let place = place.cloned().unwrap_or_default();
        let place: serde_json::Map<_, _> = ["target", "manual_id", "path", "start_line"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), place.get(key)?.clone())))
            .collect();
        format!(
            "annai call manual_read '{}'",
            json!({ "ref": place, "scope": params.get("scope").cloned().unwrap_or("section".into()) })
        )
    };
    match kind {
        "manual_read" => format!("Next: {}\n", read(params.get("ref"))),
        "manual_find" => {
            let question = params.get("query").and_then(Value::as_str).unwrap_or(wanted.question);
            format!("Next: annai find \"{question}\"\n")
        }
        "manual_hits" => format!("Next: annai find \"{}\" --limit 20\n", wanted.question),
        _ => match found.get("top").and_then(Value::as_array).and_then(|top| top.first()) {
            Some(best) => format!("Next: {}\n", read(best.get("ref"))),
            None => "Next: ask with other words, or see what there is: annai call manual_list\n".to_owned(),
        },
    }
}
