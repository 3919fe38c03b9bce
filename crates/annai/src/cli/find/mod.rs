//! `annai find`: the sections of the manuals that best match a question, with their location and why they match.

mod find_options;
mod hit_rows;
mod next_step;
mod notes;
mod pages;

use std::io;
use std::sync::Arc;

use annai_core::Progress;
use annai_core::finding::counted;
use serde_json::{Value, json};

use self::hit_rows::hit_rows;
use self::next_step::next_steps;
use self::notes::{nearest_headings, notes};
use self::pages::{hits_page, items};
use super::local_session::LocalSession;
use super::terminal::{Colors, ProgressLine, plain};
use super::{Failure, print};
use crate::app::App;

pub(super) use self::find_options::FindOptions;
pub(super) use self::next_step::shell_options;

pub(super) fn run(app: &App, options: &FindOptions<'_>) -> Result<(), Failure> {
    let (text, has_found) = search(app, options)?;
    print(&text)?;
    // As with grep, the exit status tells a script whether anything was found.
    if has_found { Ok(()) } else { Err(Failure::new("")) }
}

/// The output of the command, and whether anything was found.
fn search(app: &App, options: &FindOptions<'_>) -> Result<(String, bool), Failure> {
    LocalSession::run(app, |session| {
        let progress = ProgressLine::on_terminal(app).map(|line| Progress::to(Arc::new(line)));
        let mut report = session.call_with_progress("manual_find", &options.arguments()?, progress)?;
        let hits = hits_page(session, &report, "integrated_top", options.limit)?;
        let has_found = items(&hits).next().is_some();
        if options.json {
            // The hits are those of `top` with more about each, as many as were asked for.
            report.as_object_mut().and_then(|report| report.shift_remove("top"));
            let json = json!({ "find": report, "hits": hits.get("items") });
            return Ok((format!("{json:#}\n"), has_found));
        }
        let mut text = String::new();
        let colors = Colors::of(&io::stdout(), app.color);
        for (rank, hit) in (1..).zip(items(&hits)) {
            text.push_str(&hit_rows(app, options, rank, hit, colors));
        }
        if app.is_quiet {
            return Ok((text, has_found));
        }
        text.push_str(&plain(&summary(&report, &hits, options)));
        text.push_str(&notes(session, &report)?);
        text.push_str(&plain(&nearest_headings(&report)));
        text.push_str(&plain(&next_steps(&report, options)));
        Ok((text, has_found))
    })
}

/// One line about how many sections were found and how much was searched.
fn summary(report: &Value, hits: &Value, options: &FindOptions<'_>) -> String {
    let summary = report.get("summary").unwrap_or(&Value::Null);
    let number = |key: &str| summary.get(key).and_then(Value::as_u64).unwrap_or_default();
    let mut text = match number("candidates") {
        0 => format!("Nothing found for \"{}\".\n", options.question),
        total => {
            let related = number("related");
            let related =
                if related > 0 { format!(" and {}", counted(related, "related one")) } else { String::new() };
            let shown = items(hits).count();
            format!("\n{} found{related}; showing the best {shown}. ", counted(total, "matching section"))
        }
    };
    text.push_str(&format!(
        "Scanned {} with {}; not scanned: {}.",
        counted(number("scanned_files"), "file"),
        counted(number("scanned_nodes"), "section"),
        number("unscanned_sections_count")
    ));
    if let Some(reason) = summary.get("cutoff_reason").and_then(Value::as_str) {
        text.push_str(&format!(" The search stopped early ({}).", reason.replace('_', " ")));
    }
    text.push('\n');
    text
}
