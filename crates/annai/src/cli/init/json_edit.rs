//! Changes single values of a JSON text with comments, and leaves every other byte as it is.

use serde::Serialize as _;
use serde_json::{Map, Value};

use super::json_tree::{Item, Node, NodeKind, parse};
use super::{EditError, line_break, line_of};

/// Sets the member at the end of a path; objects on the way are created where they are missing.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let Some(root) = parse(text)? else {
        let whole = path
            .iter()
            .rev()
            .fold(value.clone(), |value, key| Value::Object(Map::from_iter([((*key).to_owned(), value)])));
        return Ok(append_document(text, &whole));
    };
    let (mut node, mut keys) = (&root, path);
    while let [key, rest @ ..] = keys {
        require_object(text, node)?;
        match node.member(key) {
            Some(item) => (node, keys) = (&item.value, rest),
            None => {
                let value = rest.iter().rev().fold(value.clone(), |value, key| {
                    Value::Object(Map::from_iter([((*key).to_owned(), value)]))
                });
                return Ok(insert(text, node, &format!("{}: ", Value::from(*key)), &value));
            }
        }
    }
    if node.to_value() == *value {
        return Ok(text.to_owned());
    }
    let rendered = render(text, value, &indentation_at(text, node.span.start));
    Ok(replace(text, node.span.start, node.span.end, &rendered))
}

/// Adds an element to the array at the end of a path, which is created where it is missing.
pub(super) fn push(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let root = parse(text)?;
    match root.as_ref().and_then(|root| root.at(path)) {
        None => set(text, path, &Value::from(vec![value.clone()])),
        Some(node @ Node { kind: NodeKind::Array(_), .. }) => Ok(insert(text, node, "", value)),
        Some(node) => {
            let problem = format!("{} is not an array", path.join("."));
            Err(EditError { line: line_of(text, node.span.start), problem })
        }
    }
}

/// Removes the member at the end of a path, if it exists.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, EditError> {
    let (Some(root), Some((key, parents))) = (parse(text)?, path.split_last()) else {
        return Ok(text.to_owned());
    };
    let Some(parent) = root.at(parents) else { return Ok(text.to_owned()) };
    Ok(remove_items(text, parent, |item| item.key == *key))
}

/// Removes the elements of an array whose member `id` has this value.
pub(super) fn remove_by_id(text: &str, path: &[&str], id: &str) -> Result<String, EditError> {
    let root = parse(text)?;
    let Some(array) = root.as_ref().and_then(|root| root.at(path)) else { return Ok(text.to_owned()) };
    Ok(remove_items(text, array, |item| has_id(item, id)))
}

/// Whether an element of an array is an object whose member `id` has this value.
pub(super) fn has_id(item: &Item, id: &str) -> bool {
    item.value.at(&["id"]).is_some_and(|value| value.to_value() == *id)
}

/// Removes an object or array that is empty and has no comments.
pub(super) fn remove_if_empty(text: &str, path: &[&str]) -> Result<String, EditError> {
    let root = parse(text)?;
    let node = root.as_ref().and_then(|root| root.at(path));
    let inside = node.and_then(|node| text.get(node.span.start + 1..node.span.end - 1));
    let is_container = node.is_some_and(|node| !matches!(node.kind, NodeKind::Scalar(_)));
    if is_container && inside.is_some_and(|inside| inside.trim().is_empty()) {
        return remove(text, path);
    }
    Ok(text.to_owned())
}

fn require_object(text: &str, node: &Node) -> Result<(), EditError> {
    match node.kind {
        NodeKind::Object(_) => Ok(()),
        _ => {
            let problem = "expected an object in braces here".to_owned();
            Err(EditError { line: line_of(text, node.span.start), problem })
        }
    }
}

/// The text with a document at its end; it contained nothing but white space and comments.
fn append_document(text: &str, value: &Value) -> String {
    let end = line_break(text);
    let start = if text.trim_start_matches('\u{feff}').is_empty() || text.ends_with('\n') { "" } else { end };
    format!("{text}{start}{}{end}", render(text, value, ""))
}

/// The text with another member or element at the end of an object or array.
fn insert(text: &str, node: &Node, key: &str, value: &Value) -> String {
    let end = line_break(text);
    let outer = indentation_at(text, node.span.start);
    let items = node.items();
    let own_indentation = items.first().and_then(|item| own_line_indentation(text, item.start));
    let close = node.span.end - 1;
    let mut changed = text.to_owned();
    // Comments behind the last item stay where they are; the new one follows them.
    let content_end = text.get(..close).unwrap_or_default().trim_end().len();
    let is_on_new_line = text.get(content_end..close).is_some_and(|blank| blank.contains('\n'));
    let last = items.last();
    let trailing_comma = if last.is_some_and(|item| item.comma.is_some()) { "," } else { "" };
    if own_indentation.is_none() && last.is_some() && !is_on_new_line {
        // The items are on one line, and so is the new one.
        changed.insert_str(content_end, &format!(" {key}{value}{trailing_comma}"));
    } else {
        let inner = own_indentation.unwrap_or_else(|| format!("{outer}{}", unit_of(text)));
        let rendered = render(text, value, &inner);
        let closing = if is_on_new_line { String::new() } else { format!("{end}{outer}") };
        let added = format!("{end}{inner}{key}{rendered}{trailing_comma}{closing}");
        let blank_end = if is_on_new_line { content_end } else { close };
        changed.replace_range(content_end..blank_end, &added);
    }
    if let Some(Item { comma: None, value: last, .. }) = last {
        changed.insert(last.span.end, ',');
    }
    changed
}

/// The text without the items that a condition holds for, from the last to the first.
fn remove_items(text: &str, node: &Node, is_removed: impl Fn(&Item) -> bool) -> String {
    let mut changed = text.to_owned();
    let items = node.items();
    let mut kept_behind = false;
    for (index, item) in items.iter().enumerate().rev() {
        if !is_removed(item) {
            kept_behind = true;
            continue;
        }
        let end = item.comma.map_or(item.value.span.end, |comma| comma + 1);
        // The white space in front goes too; comments in front stay.
        let start = text.get(..item.start).unwrap_or_default().trim_end().len();
        changed.replace_range(start..end, "");
        // Without a comma behind it, it was the last, and the comma in front separated it from the one before.
        let separator = index.checked_sub(1).and_then(|before| items.get(before)).and_then(|item| item.comma);
        if let (None, false, Some(separator)) = (item.comma, kept_behind, separator) {
            changed.replace_range(separator..=separator, "");
        }
    }
    if changed == text { changed } else { collapse(&changed, node.span.start) }
}

/// The text with `{}` or `[]` instead of an object or array that contains only white space.
fn collapse(text: &str, open: usize) -> String {
    let inside = text.get(open + 1..).unwrap_or_default();
    let blank = inside.len() - inside.trim_start().len();
    match inside.trim_start().chars().next() {
        Some('}' | ']') => replace(text, open + 1, open + 1 + blank, ""),
        _ => text.to_owned(),
    }
}

fn replace(text: &str, start: usize, end: usize, by: &str) -> String {
    let mut changed = text.to_owned();
    changed.replace_range(start..end, by);
    changed
}

/// A value over several lines, as the file is indented.
fn render(text: &str, value: &Value, indentation: &str) -> String {
    let unit = unit_of(text);
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Writing to memory cannot fail, and every key is a string.
    let _ = value.serialize(&mut serializer);
    let rendered = String::from_utf8_lossy(&bytes).into_owned();
    rendered.replace('\n', &format!("{}{indentation}", line_break(text)))
}

/// One level of indentation: that of the first indented line, or two spaces.
fn unit_of(text: &str) -> String {
    let indented = text.lines().filter(|line| !line.trim().is_empty()).map(blank_start);
    indented.into_iter().find(|blank| !blank.is_empty()).unwrap_or("  ").to_owned()
}

/// The indentation of the line that a position is in.
fn indentation_at(text: &str, position: usize) -> String {
    blank_start(line_start(text, position)).to_owned()
}

/// The indentation in front of a position, if nothing else is on its line before it.
fn own_line_indentation(text: &str, position: usize) -> Option<String> {
    let before = line_start(text, position);
    (text.get(..position).is_some_and(|text| text.contains('\n')) && before.trim().is_empty())
        .then(|| before.to_owned())
}

/// The part of a line in front of a position.
fn line_start(text: &str, position: usize) -> &str {
    let before = text.get(..position).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}')
}

fn blank_start(line: &str) -> &str {
    let end = line.find(|letter| letter != ' ' && letter != '\t').unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}
