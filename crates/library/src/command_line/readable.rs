//! The results of the tools as plain text, for the command line.

use serde_json::Value;

/// The output of a tool as plain text: the text that was read and how to read on, one line for each item, starting with `path:line`, or a
/// sentence about what was written. `None` when the output has none of them; the text of the reply is shown then.
#[must_use]
pub fn readable(output: &Value) -> Option<String> {
    if let Some(text) = output.get("text").and_then(Value::as_str) {
        return Some(format!("{text}{}", rest_of_text(output)));
    }
    let list = ["results", "items", "entries"].iter().find_map(|key| output.get(key)?.as_array());
    match list {
        Some(list) if list.is_empty() => Some("nothing found".to_owned()),
        Some(list) => {
            Some(list.iter().map(line).chain(next_page(output, list.len())).collect::<Vec<_>>().join("\n"))
        }
        None => written(output),
    }
}

/// How to read on, when a text was cut short; nothing when it was not.
fn rest_of_text(output: &Value) -> String {
    if output.get("truncated") != Some(&Value::Bool(true)) {
        return String::new();
    }
    let cursor = output.get("next_cursor").or_else(|| output.get("next_offset"));
    match cursor.filter(|cursor| cursor.get("start_line").is_some_and(|line| !line.is_null())) {
        Some(cursor) => format!("\n… the text goes on: 'cursor={cursor}'"),
        None => "\n… the section has more text before this".to_owned(),
    }
}

/// How to get the next page of a list.
fn next_page(output: &Value, shown: usize) -> Option<String> {
    let cursor = output.get("next_cursor")?.as_str()?;
    let total = output.get("total").and_then(Value::as_u64).unwrap_or_default();
    Some(format!("… {shown} of {total}; the next page: 'cursor={cursor}'"))
}

/// What a call has written.
fn written(output: &Value) -> Option<String> {
    let path = output.get("written_path")?.as_str()?;
    let number = |key: &str| output.get(key).and_then(Value::as_u64);
    match (number("replacements"), number("written_bytes")) {
        (Some(replacements), _) => Some(format!("{replacements} replacements in {path}")),
        (None, Some(bytes)) => Some(format!("wrote {bytes} bytes to {path}")),
        (None, None) => None,
    }
}

fn line(item: &Value) -> String {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let number = |key: &str| item.get(key).and_then(Value::as_u64);
    let manual = text("manual_id").unwrap_or_default();
    let path = text("path").unwrap_or_default();
    let place = match (manual, path) {
        (manual, "") => manual.to_owned(),
        ("", path) => path.to_owned(),
        (manual, path) => format!("{manual}/{path}"),
    };
    let place = match number("start_line").or_else(|| number("line_start")) {
        Some(line) => format!("{place}:{line}"),
        None => place,
    };
    let slash = if text("type") == Some("dir") { "/" } else { "" };
    let indent =
        number("level").map(|level| "  ".repeat(usize::try_from(level).unwrap_or(1).saturating_sub(1)));
    match text("snippet").or_else(|| text("title")) {
        Some(words) => format!("{place}: {}{words}", indent.unwrap_or_default()),
        None => match number("size_bytes") {
            Some(bytes) => format!("{place}{slash}  {bytes} bytes"),
            None => format!("{place}{slash}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_shown_as_it_is_and_each_item_of_a_list_as_one_line() {
        for (output, expected) in [
            (json!({ "text": "a\nb", "truncated": false }), Some("a\nb")),
            (
                json!({ "text": "a", "truncated": true, "next_cursor": { "start_line": 3, "char": 0 } }),
                Some("a\n… the text goes on: 'cursor={\"start_line\":3,\"char\":0}'"),
            ),
            (
                json!({ "text": "a", "truncated": true, "next_cursor": null }),
                Some("a\n… the section has more text before this"),
            ),
            (
                json!({ "results": [{ "path": "n.md", "start_line": 3, "snippet": "hello" }] }),
                Some("n.md:3: hello"),
            ),
            (
                json!({ "items": [{ "manual_id": "m" }, { "manual_id": "m", "path": "a.md", "file_type": "md" }] }),
                Some("m\nm/a.md"),
            ),
            (
                json!({ "items": [{ "path": "a.md", "title": "B", "level": 2, "line_start": 7 }] }),
                Some("a.md:7:   B"),
            ),
            (
                json!({ "entries": [{ "path": "d", "type": "dir" }, { "path": "f", "type": "file", "size_bytes": 5 }] }),
                Some("d/\nf  5 bytes"),
            ),
            (
                json!({ "items": [{ "manual_id": "m" }], "total": 3, "next_cursor": "0a:m" }),
                Some("m\n… 1 of 3; the next page: 'cursor=0a:m'"),
            ),
            (json!({ "results": [], "next_cursor": null }), Some("nothing found")),
            (json!({ "written_path": "x", "written_bytes": 3 }), Some("wrote 3 bytes to x")),
            (json!({ "written_path": "x", "replacements": 2 }), Some("2 replacements in x")),
            (json!({ "written_path": "x" }), None),
        ] {
            assert_eq!(readable(&output).as_deref(), expected, "{output}");
        }
    }
}
