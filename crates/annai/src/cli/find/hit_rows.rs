//! The lines that `annai find` prints about a section: where it is, why it matches, and its best line.

use annai_library::{Preview, PreviewPlace, preview};
use serde_json::Value;

use super::super::terminal::{Colors, cell, display_path, truncate};
use super::find_options::FindOptions;
use crate::app::App;

/// The maximum length of the headings in characters, so that location and headings fit on one line; the beginning of
/// longer ones is cut.
const MAX_TITLE_CHARS: usize = 60;
/// The maximum length of a matching line in characters, so that it fits on one line; a longer one is cut.
const MAX_SNIPPET_CHARS: usize = 96;
/// The color of the words of the question: bold red, as grep uses.
const MATCH_COLOR: &str = "1;31";

/// Three lines about a section: location, headings and score; why it matches; its best line.
pub(super) fn hit_rows(
    app: &App,
    options: &FindOptions<'_>,
    rank: usize,
    hit: &Value,
    colors: Colors,
) -> String {
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
    let (location, words, snippet) =
        match preview(&app.library, options.question, options.other_words, &place) {
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

/// The best line of a section, with the words of the question, or else of its other wordings, highlighted.
fn highlighted(preview: &Preview, colors: Colors) -> String {
    let line = truncate(preview.snippet.trim_end(), MAX_SNIPPET_CHARS).replace(['\n', '\r', '\t'], " ");
    let (mut text, mut end) = (String::new(), 0);
    for range in &preview.matches {
        let (Some(before), Some(word)) = (line.get(end..range.start), line.get(range.clone())) else { break };
        text.push_str(&cell(before));
        text.push_str(&colors.paint(MATCH_COLOR, word));
        end = range.end;
    }
    text.push_str(&cell(line.get(end..).unwrap_or_default()));
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_long_headings_is_kept() {
        assert_eq!(last_chars("abc", 3), "abc");
        assert_eq!(last_chars("abcd", 3), "…bcd");
    }
}
