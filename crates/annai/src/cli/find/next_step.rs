//! The commands that `annai find` suggests.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::find_options::FindOptions;

use crate::options::Options;

/// The maximum time of a search that `manual_find` accepts.
const MAX_TIME_MS: u64 = 600_000;

/// What stands for the words that only the user knows.
const SOME_PHRASING: &str = "the question in other words";
const SOME_PASSAGE: &str = "a sentence that would answer it";

/// The commands to type next: what the find suggests and, where it asks for other wordings and had none, how to give them.
pub(super) fn next_steps(report: &Value, options: &FindOptions<'_>) -> String {
    let actions = report.get("next_actions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = next_step(actions.iter().find(|action| !asks_for_other_words(action)), options);
    if actions.iter().any(asks_for_other_words) && options.other_words.is_empty() {
        let words = json!({ "phrasings": [SOME_PHRASING], "hypothetical": SOME_PASSAGE, "manual_id": options.manual });
        let command = find_command(options.question, &words);
        text.push_str(&format!("Or in other words too: annai {command}{}\n", options.shell_options));
    }
    text
}

/// Whether a suggestion is a find whose words only the caller can supply.
fn asks_for_other_words(action: &Value) -> bool {
    action.get("type").and_then(Value::as_str) == Some("manual_find")
        && action.get("params").is_none_or(Value::is_null)
}

/// The command of a suggestion. A trace belongs to this process, so the command must not need it.
fn next_step(action: Option<&Value>, options: &FindOptions<'_>) -> String {
    let kind = action.and_then(|action| action.get("type")).and_then(Value::as_str).unwrap_or("stop");
    let params = action.and_then(|action| action.get("params")).and_then(Value::as_object);
    let mut params = params.cloned().unwrap_or_default();
    params.shift_remove("trace_id");
    let command = match kind {
        "manual_read" => read_command(&params),
        "manual_find" if params.shift_remove("only_unscanned_from_trace_id").is_some() => {
            // Without the trace, the whole search is repeated, with as much time as allowed.
            params.insert("budget".to_owned(), json!({ "time_ms": MAX_TIME_MS }));
            format!("call manual_find {}", quoted(&Value::Object(params).to_string()))
        }
        "manual_find" => {
            let params = Value::Object(params);
            let question = params.get("query").and_then(Value::as_str).unwrap_or(options.question);
            find_command(question, &params)
        }
        _ => "call manual_list".to_owned(),
    };
    let hint = if kind == "stop" { "Next: try other words, or list the manuals:" } else { "Next:" };
    format!("{hint} annai {command}{}\n", options.shell_options)
}

/// The command that reads a place. A place inside a JSON file or a long line has no short form.
fn read_command(params: &Map<String, Value>) -> String {
    let place = params.get("ref").and_then(Value::as_object);
    let is_inside =
        place.is_some_and(|place| ["json_path", "char"].iter().any(|key| place.contains_key(*key)));
    let text = |key: &str| place.and_then(|place| place.get(key)).and_then(Value::as_str);
    let line = place.and_then(|place| place.get("start_line")).and_then(Value::as_u64);
    match (text("manual_id"), text("path"), line) {
        (Some(manual), Some(path), Some(line)) if !is_inside => {
            format!("read {}", quoted(&format!("{manual}/{path}:{line}")))
        }
        _ => format!("call manual_read {}", quoted(&Value::Object(params.clone()).to_string())),
    }
}

/// The command `find` with the other wordings and the manual among the arguments of `manual_find`.
fn find_command(question: &str, arguments: &Value) -> String {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let phrasings = arguments.get("phrasings").and_then(Value::as_array).into_iter().flatten();
    let also = phrasings.filter_map(Value::as_str).map(|phrasing| ("--also", phrasing));
    let like = text("hypothetical").map(|passage| ("--like", passage));
    let manual = text("manual_id").map(|manual| ("--manual", manual));
    let options = also.chain(like).chain(manual).map(|(option, word)| format!(" {option} {}", quoted(word)));
    format!("find {}{}", quoted(question), options.collect::<String>())
}

/// The options that choose what is searched, as they would be typed, each with a space in front.
pub(in super::super) fn shell_options(options: &Options) -> String {
    let manuals = options.manuals.iter().map(|folder| ("--manuals", folder));
    let config = options.config.iter().map(|file| ("--config", file));
    let word =
        |(option, path): (&str, &PathBuf)| format!(" {option} {}", quoted(&path.display().to_string()));
    let named = options.manual_dir.iter().map(|named| format!(" --manual-dir {}", quoted(named)));
    let words: String = manuals.chain(config).map(word).collect();
    named.chain([words]).collect()
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
#[path = "next_step_tests.rs"]
mod tests;
