//! `annai find`: the sections of the manuals that best match a question, with their location and why they match.

use std::io;
use std::path::PathBuf;

use annai_library::{Preview, PreviewPlace, preview};
use serde_json::{Value, json};

use super::local_session::LocalSession;
use super::terminal::{Colors, display_path, plain, truncate};
use super::{Failure, Options, print};
use crate::app::App;

/// The maximum length of the headings in characters, so that location and headings fit on one line; the beginning of
/// longer ones is cut.
const MAX_TITLE_CHARS: usize = 60;
/// The maximum time of a search that `manual_find` accepts.
const MAX_TIME_MS: u64 = 600_000;
/// The maximum length of a matching line in characters, so that it fits on one line; a longer one is cut.
const MAX_SNIPPET_CHARS: usize = 96;
/// The color of the words of the question: bold red, as grep uses.
const MATCH_COLOR: &str = "1;31";
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
    /// The options that the suggested commands need, such as `--manuals DIR`.
    pub shell_options: &'a str,
}

pub(super) fn run(app: &App, options: &FindOptions<'_>) -> Result<(), Failure> {
    // As with grep, the exit status tells a script whether anything was found (0), nothing (1), or the search failed (2).
    let (text, has_found) = search(app, options).map_err(|failure| Failure::usage(failure.message))?;
    print(&text)?;
    if has_found { Ok(()) } else { Err(Failure::new("")) }
}

/// The output of the command, and whether anything was found.
fn search(app: &App, options: &FindOptions<'_>) -> Result<(String, bool), Failure> {
    LocalSession::run(app, |session| {
        let mut arguments = json!({ "query": options.question });
        if let (Some(manual), Some(arguments)) = (options.manual, arguments.as_object_mut()) {
            arguments.insert("manual_id".to_owned(), manual.into());
        }
        let report = session.call("manual_find", &arguments)?;
        let hits = hits_page(session, &report, "integrated_top", options.limit)?;
        let has_found = items(&hits).next().is_some();
        if options.json {
            let json = json!({ "find": report, "hits": hits.get("items") });
            return Ok((format!("{json:#}\n"), has_found));
        }
        let mut text = String::new();
        let colors = Colors::of(&io::stdout(), app.no_color);
        for (rank, hit) in (1..).zip(items(&hits)) {
            text.push_str(&hit_rows(app, options.question, rank, hit, colors));
        }
        text.push_str(&plain(&summary(&report, &hits, options)));
        text.push_str(&notes(session, &report)?);
        text.push_str(&plain(&other_words(&report)));
        text.push_str(&plain(&next_step(&report, options)));
        Ok((text, has_found))
    })
}

/// One page of the results that `manual_find` stored under its trace id.
fn hits_page(session: &LocalSession, report: &Value, kind: &str, limit: usize) -> Result<Value, Failure> {
    let trace_id = report.get("trace_id").cloned().unwrap_or_default();
    session.call("manual_hits", &json!({ "trace_id": trace_id, "kind": kind, "limit": limit }))
}

fn items(page: &Value) -> impl Iterator<Item = &Value> {
    page.get("items").and_then(Value::as_array).into_iter().flatten()
}

/// Three lines about a section: location, headings and score; why it matches; its best line.
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
    let char = reference.get("char").and_then(Value::as_u64).unwrap_or_default();
    let place = PreviewPlace { manual_id, path, line: start_line, char: usize::try_from(char).unwrap_or(0) };
    let (location, words, snippet) = match preview(&app.library, question, &place) {
        Ok(preview) => {
            let location = format!("{}:{}", display_path(&preview.file), preview.line);
            (location, preview.words.join(", "), highlighted(&preview, colors))
        }
        // The file was changed or deleted after the search.
        Err(_) => (format!("{manual_id}/{path}:{start_line}"), String::new(), String::new()),
    };
    let kind = hit.get("match").and_then(Value::as_str).unwrap_or_default();
    let outside = if hit.get("outside").is_some() { ", in another manual" } else { "" };
    let reasons = match (words.as_str(), signals.as_str()) {
        ("", signals) => format!("{kind} ({signals}){outside}"),
        (words, signals) => format!("{kind} ({signals}){outside}: {words}"),
    };
    let headings = hit.get("heading_path").and_then(Value::as_array).into_iter().flatten();
    let headings: Vec<_> = headings.filter_map(Value::as_str).collect();
    format!(
        "{rank:>3}  {}  {}  {score:.1}\n     {}\n     {}\n",
        colors.paint(36, &location),
        colors.paint(1, &last_chars(&headings.join(" > "), MAX_TITLE_CHARS)),
        colors.paint(2, &reasons),
        snippet
    )
}

/// The end of a text, with an ellipsis in front if it is cut: the last headings tell sections apart.
fn last_chars(text: &str, max_chars: usize) -> String {
    match text.chars().count().checked_sub(max_chars + 1) {
        Some(surplus) => format!("…{}", text.chars().skip(surplus + 1).collect::<String>()),
        None => text.to_owned(),
    }
}

/// The best line of a section, with the words of the question highlighted.
fn highlighted(preview: &Preview, colors: Colors) -> String {
    let line = truncate(preview.snippet.trim_end(), MAX_SNIPPET_CHARS).replace(['\n', '\r'], " ");
    let (mut text, mut end) = (String::new(), 0);
    for range in &preview.matches {
        let (Some(before), Some(word)) = (line.get(end..range.start), line.get(range.clone())) else { break };
        text.push_str(&plain(before));
        text.push_str(&colors.paint(MATCH_COLOR, word));
        end = range.end;
    }
    text.push_str(&plain(line.get(end..).unwrap_or_default()));
    text.trim_start().to_owned()
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
                if related > 0 { format!(" and {}", count(related, "related one")) } else { String::new() };
            let shown = items(hits).count();
            format!("\n{} found{related}; showing the best {shown}. ", count(total, "matching section"))
        }
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
    text.push('\n');
    text
}

/// A number with its noun in the singular or plural.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The notices, the conflicts between sections, the gaps, the sections that were not scanned, and the files that cannot
/// be searched.
fn notes(session: &LocalSession, report: &Value) -> Result<String, Failure> {
    let mut text = String::new();
    let notices = report.get("summary").and_then(|summary| summary.get("notices")).and_then(Value::as_array);
    for notice in notices.into_iter().flatten().filter_map(Value::as_str) {
        text.push_str(&plain(&format!("  {notice}\n")));
    }
    for (kind, label) in [
        ("conflicts", "contradiction"),
        ("gaps", "not found"),
        ("unscanned", "not scanned"),
        ("unsearchable", "cannot be searched"),
    ] {
        let page = hits_page(session, report, kind, MAX_LISTED_NOTES)?;
        for item in items(&page) {
            text.push_str(&plain(&note(label, item)));
        }
        let total = page.get("total").and_then(Value::as_u64).unwrap_or_default();
        let more = total.saturating_sub(MAX_LISTED_NOTES as u64);
        let all = if kind == "unsearchable" { "; annai doctor lists them" } else { "" };
        if more > 0 {
            text.push_str(&format!("  {label}: and {more} more{all}\n"));
        }
    }
    Ok(text)
}

/// The words of the manuals that could be asked with instead, when something was not found.
fn other_words(report: &Value) -> String {
    let summary = report.get("summary").unwrap_or(&Value::Null);
    let has_gaps = summary.get("gap_count").and_then(Value::as_u64).unwrap_or_default() > 0;
    let words =
        summary.get("absence").and_then(|absence| absence.get("vocabulary")).and_then(Value::as_array);
    let words: Vec<_> = words.into_iter().flatten().filter_map(Value::as_str).collect();
    if words.is_empty() || !has_gaps {
        return String::new();
    }
    format!("  words of the manuals to ask with instead: {}\n", words.join(", "))
}

/// One line about a conflict, a gap or an unscanned section.
fn note(label: &str, item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let manual = item.get("ref").and_then(|place| place.get("manual_id")).and_then(Value::as_str);
    let path = manual.map_or_else(|| text("path").to_owned(), |manual| format!("{manual}/{}", text("path")));
    let location = match item.get("start_line").and_then(Value::as_u64) {
        Some(line) => format!("{path}:{line}"),
        None => path,
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

/// The command to type next. A trace belongs to this process, so the command must not need it.
fn next_step(report: &Value, options: &FindOptions<'_>) -> String {
    let action = report.get("next_actions").and_then(Value::as_array).and_then(|actions| actions.first());
    let kind = action.and_then(|action| action.get("type")).and_then(Value::as_str).unwrap_or("stop");
    let params = action.and_then(|action| action.get("params")).and_then(Value::as_object);
    let mut params = params.cloned().unwrap_or_default();
    params.shift_remove("trace_id");
    let command = match kind {
        "manual_read" => format!("call manual_read {}", quoted(&Value::Object(params).to_string())),
        "manual_find" if params.shift_remove("only_unscanned_from_trace_id").is_some() => {
            // Without the trace, the whole search is repeated, with as much time as allowed.
            params.insert("budget".to_owned(), json!({ "time_ms": MAX_TIME_MS }));
            format!("call manual_find {}", quoted(&Value::Object(params).to_string()))
        }
        "manual_find" => {
            let question = params.get("query").and_then(Value::as_str).unwrap_or(options.question);
            let manual = params.get("manual_id").and_then(Value::as_str);
            let manual = manual.map(|manual| format!(" --manual {}", quoted(manual))).unwrap_or_default();
            format!("find {}{manual}", quoted(question))
        }
        _ => "call manual_list".to_owned(),
    };
    let hint = if kind == "stop" { "Next: try other words, or list the manuals:" } else { "Next:" };
    format!("{hint} annai {command}{}\n", options.shell_options)
}

/// The options that choose what is searched, as they would be typed, each with a space in front.
pub(super) fn shell_options(options: &Options) -> String {
    let manuals = options.manuals.iter().map(|folder| ("--manuals", folder));
    let config = options.config.iter().map(|file| ("--config", file));
    let word =
        |(option, path): (&str, &PathBuf)| format!(" {option} {}", quoted(&path.display().to_string()));
    manuals.chain(config).map(word).collect()
}

/// A word for a shell, in single quotes unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b.md"), "a/b.md");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("返金 期限"), "'返金 期限'");
    }

    #[test]
    fn the_end_of_long_headings_is_kept() {
        assert_eq!(last_chars("abc", 3), "abc");
        assert_eq!(last_chars("abcd", 3), "…bcd");
    }

    #[test]
    fn a_suggested_command_does_not_need_the_trace() {
        let options =
            FindOptions { question: "q", manual: None, limit: 5, json: false, shell_options: " --manuals m" };
        let step = |kind: &str, params: Value| {
            next_step(&json!({ "next_actions": [{ "type": kind, "params": params }] }), &options)
        };
        assert_eq!(
            step("manual_read", json!({ "trace_id": "t", "scope": "section" })),
            "Next: annai call manual_read '{\"scope\":\"section\"}' --manuals m\n"
        );
        assert_eq!(
            step("manual_find", json!({ "query": "q", "only_unscanned_from_trace_id": "t" })),
            "Next: annai call manual_find '{\"query\":\"q\",\"budget\":{\"time_ms\":600000}}' --manuals m\n"
        );
        assert_eq!(
            step("manual_find", json!({ "query": "a b", "manual_id": "x" })),
            "Next: annai find 'a b' --manual x --manuals m\n"
        );
        assert_eq!(
            step("stop", Value::Null),
            "Next: try other words, or list the manuals: annai call manual_list --manuals m\n"
        );
    }
}
