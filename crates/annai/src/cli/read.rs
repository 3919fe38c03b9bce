//! `annai read`: prints the section of a manual around a line, or the lines of a vault file from a line on.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use super::call::Format;
use super::file_place::FilePlace;
use super::local_session::LocalSession;
use super::terminal::{Colors, plain};
use super::{Failure, print};
use crate::app::App;

/// The type of files that have no sections.
const JSON_ENDING: &str = ".json";

/// Reads `FILE`, `FILE:LINE` or `FILE:LINE-LINE`. `shell_options` are those that the suggested command needs.
pub(super) fn run(app: &App, place: &str, format: Format, shell_options: &str) -> Result<(), Failure> {
    let (file, lines) = split(place)?;
    let found = FilePlace::of(&app.library, file)?;
    let found = found.ok_or_else(|| {
        Failure::new(format!(
            "`{file}` is neither a file of a manual or of the vault, nor MANUAL/PATH; `annai call manual_list` lists the manuals"
        ))
    })?;
    let (name, tool, arguments) = match &found {
        FilePlace::Manual { manual_id, path } => {
            (format!("{manual_id}/{path}"), "manual_read", manual_arguments(manual_id, path, lines))
        }
        FilePlace::Vault(path) => {
            let range = json!({ "start_line": lines.first, "end_line": lines.last });
            (format!("vault/{path}"), "vault_read", json!({ "path": path, "range": range }))
        }
    };
    let reply = LocalSession::run(app, |session| session.call(tool, &arguments))?;
    if format == Format::Json {
        return Ok(print(&format!("{reply:#}\n"))?);
    }
    let text = plain(reply.get("text").and_then(Value::as_str).unwrap_or_default());
    let text = text.trim_end_matches('\n');
    if app.is_quiet {
        return Ok(print(&format!("{text}\n"))?);
    }
    let colors = Colors::of(&io::stdout(), app.color);
    let next = next_line(&reply).map_or_else(String::new, |line| {
        let place = super::init::shell_word(&format!("{name}:{line}"));
        format!("\nNext: annai read {place}{shell_options}\n")
    });
    Ok(print(&format!("{}\n\n{text}\n{next}", heading(&name, &reply, colors)))?)
}

/// The first and the last line to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lines {
    first: u64,
    /// `None` for the section around the first line.
    last: Option<u64>,
}

/// Splits a place into its file and its lines. A text that names a file as a whole has no lines.
fn split(place: &str) -> Result<(&str, Lines), Failure> {
    let whole = Lines { first: 1, last: None };
    let Some((file, position)) = place.rsplit_once(':').filter(|_| !Path::new(place).is_file()) else {
        return Ok((place, whole));
    };
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    let (first, last) = match position.split_once('-') {
        Some((first, last)) => (number(first), Some(number(last))),
        None => (number(position), None),
    };
    match (first, last) {
        (Some(first), None) => Ok((file, Lines { first, last: None })),
        (Some(first), Some(Some(last))) if first <= last => Ok((file, Lines { first, last: Some(last) })),
        _ => Err(Failure::usage(format!(
            "FILE:LINE: expected a line or a range such as 12 or 9-20 after the colon, got `{position}`"
        ))),
    }
}

/// The arguments of `manual_read`.
fn manual_arguments(manual_id: &str, path: &str, lines: Lines) -> Value {
    let mut arguments = json!({ "manual_id": manual_id, "path": path });
    if let Some(arguments) = arguments.as_object_mut() {
        match lines {
            Lines { first, last: Some(last) } => {
                arguments.insert("lines".to_owned(), json!({ "start": first, "end": last }));
            }
            Lines { first, last: None } => {
                arguments.insert("start_line".to_owned(), first.into());
                if !path.to_ascii_lowercase().ends_with(JSON_ENDING) {
                    arguments.insert("scope".to_owned(), "section".into());
                }
            }
        }
    }
    arguments
}

/// Where the text is from: the file, its lines and the headings above it.
fn heading(name: &str, reply: &Value, colors: Colors) -> String {
    let range = reply.get("applied_range").unwrap_or(reply);
    let number = |key: &str| range.get(key).and_then(Value::as_u64).unwrap_or(1);
    let headings = reply.get("heading_path").and_then(Value::as_array).into_iter().flatten();
    let headings: Vec<_> = headings.filter_map(Value::as_str).collect();
    let place = format!("{name}:{}-{}", number("start_line"), number("end_line"));
    let place = colors.paint(36, &place);
    if headings.is_empty() { place } else { format!("{place}  {}", colors.paint(1, &headings.join(" > "))) }
}

/// The line from which the text goes on, if a limit cut it.
fn next_line(reply: &Value) -> Option<u64> {
    let cursor = match reply.get("truncated")?.as_bool()? {
        true => reply.get("next_cursor").or_else(|| reply.get("next_offset"))?,
        false => return None,
    };
    cursor.get("line").or_else(|| cursor.get("start_line"))?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_with_an_optional_line_or_range() {
        let lines = |first, last| Lines { first, last };
        assert_eq!(split("a/b.md").unwrap(), ("a/b.md", lines(1, None)));
        assert_eq!(split("a/b.md:12").unwrap(), ("a/b.md", lines(12, None)));
        assert_eq!(split("a/b: c.md:12-25").unwrap(), ("a/b: c.md", lines(12, Some(25))));
        for wrong in ["a.md:", "a.md:0", "a.md:x", "a.md:5-", "a.md:5-4", "a.md:-5"] {
            assert!(split(wrong).is_err_and(|failure| failure.exit_code == 2), "{wrong}");
        }
    }
}
