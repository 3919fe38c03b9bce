//! What `annai find` prints about what was not found, not searched, or contradicts itself.

use serde_json::Value;

use super::super::Failure;
use super::super::local_session::LocalSession;
use super::super::terminal::cell;
use super::pages::{hits_page, items};

/// The maximum number of conflicts, gaps and unscanned sections that are listed of each kind; the rest is counted.
const MAX_LISTED_NOTES: usize = 5;

/// The notices, the conflicts between sections, the gaps, the sections that were not scanned, and the files that cannot
/// be searched.
pub(super) fn notes(session: &LocalSession, report: &Value) -> Result<String, Failure> {
    let mut text = String::new();
    let notices = report.get("summary").and_then(|summary| summary.get("notices")).and_then(Value::as_array);
    for notice in notices.into_iter().flatten().filter_map(Value::as_str) {
        text.push_str(&format!("  {}\n", cell(notice)));
    }
    for (kind, label) in [
        ("conflicts", "contradiction"),
        ("gaps", "not found"),
        ("unscanned", "not scanned"),
        ("unsearchable", "cannot be searched"),
    ] {
        let page = hits_page(session, report, kind, MAX_LISTED_NOTES)?;
        for item in items(&page) {
            text.push_str(&format!("{}\n", cell(note(label, item).trim_end_matches('\n'))));
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

/// The headings that are nearest to a question for which nothing was found.
pub(super) fn nearest_headings(report: &Value) -> String {
    let summary = report.get("summary").unwrap_or(&Value::Null);
    let headings = summary.get("absence").and_then(|absence| absence.get("nearest_headings"));
    let has_found = summary.get("candidates").and_then(Value::as_u64).unwrap_or_default() > 0;
    let headings = headings.and_then(Value::as_array).filter(|_| !has_found);
    let line = |heading: &Value| {
        let text = |key: &str| heading.get(key).and_then(Value::as_str).unwrap_or_default();
        let titles = heading.get("heading_path").and_then(Value::as_array).into_iter().flatten();
        let titles: Vec<_> = titles.filter_map(Value::as_str).collect();
        let number = heading.get("line").and_then(Value::as_u64).unwrap_or(1);
        let place = format!("{}/{}:{number}", text("manual_id"), text("path"));
        format!("  nearest heading: {place} {}\n", titles.join(" > "))
    };
    headings.into_iter().flatten().map(line).collect()
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
