//! The output of the tools for people at a terminal: the answer with numbered sources, or numbered search results, and the
//! cost.

use std::fmt::Write as _;

use annai_core::JsonObject;
use serde_json::Value;

use crate::citations::page_identity;
use crate::plain_text::urls_in;
use crate::source_list;

/// Formats the output of a tool, with the latency from the result's `_meta`.
#[must_use]
pub fn readable(output: &Value, meta: &JsonObject) -> String {
    match output.get("results").and_then(Value::as_array) {
        Some(results) => format!("{}\n\n{}\n", search_results(results), cost(output, meta)),
        None => readable_answer(output, meta),
    }
}

/// The results of a search, numbered.
fn search_results(results: &[Value]) -> String {
    let numbered = results.iter().enumerate().map(|(index, result)| {
        let lines = [text_of(result, "url"), text_of(result, "snippet")];
        let lines = lines.iter().filter(|line| !line.is_empty()).map(|line| format!("\n   {line}"));
        let date = Some(text_of(result, "publishedDate")).filter(|date| !date.is_empty());
        let date = date.map(|date| format!(" ({date})")).unwrap_or_default();
        format!("{}. {}{date}{}", index + 1, text_of(result, "title"), lines.collect::<String>())
    });
    let numbered: Vec<_> = numbered.collect();
    if numbered.is_empty() { "No results.".to_owned() } else { numbered.join("\n") }
}

fn readable_answer(output: &Value, meta: &JsonObject) -> String {
    let answer = source_list::split(text_of(output, "answer"));
    let mut out = format!("{}\n", answer.body);
    let entries = source_entries(output, &answer.entries);
    if !entries.is_empty() {
        out.push_str("\nSources\n");
        for (index, entry) in entries.iter().enumerate() {
            let _ = writeln!(out, "  {:>2}  {entry}", index + 1);
        }
    }
    let _ = writeln!(out, "\n{}", cost(output, meta));
    out
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The citations. The list in the answer names the same pages, with their dates.
fn source_entries(output: &Value, listed: &[&str]) -> Vec<String> {
    let citations = output.get("citations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    citations.iter().map(|citation| citation_entry(citation, listed)).collect()
}

/// A citation with the date that the list of sources shows for it: the publication date or the access date.
fn citation_entry(citation: &Value, listed: &[&str]) -> String {
    let (title, url) = (text_of(citation, "title"), text_of(citation, "url"));
    let line = listed.iter().find(|line| names_url(line, url));
    let date = line.and_then(|line| line.rsplit_once(" (")).map(|(_, date)| format!(" ({date}"));
    let date = date.unwrap_or_default();
    if title.is_empty() { format!("{url}{date}") } else { format!("{title}{date}\n      {url}") }
}

/// Whether a line of the list of sources is about this URL, or about the service of this name.
fn names_url(line: &str, url: &str) -> bool {
    let is_same_page = || urls_in(line).iter().any(|found| page_identity(found) == page_identity(url));
    line.contains(url) && (!url.contains("://") || is_same_page())
}

/// The model, if the output names it, the tokens and the duration.
fn cost(output: &Value, meta: &JsonObject) -> String {
    let usage = output.get("usage").unwrap_or(&Value::Null);
    let number = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let tokens = format!(
        "{} tokens ({} in, {} out)",
        number("total_tokens"),
        number("input_tokens"),
        number("output_tokens")
    );
    let seconds = meta.get("annai/latency_ms").and_then(Value::as_f64).unwrap_or_default() / 1000.0;
    let model = Some(text_of(output, "model")).filter(|model| !model.is_empty());
    let model = model.map(|model| format!("{model} · ")).unwrap_or_default();
    format!("{model}{tokens} · {seconds:.1} s")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_numbered_and_the_cost_is_shown() {
        let output = json!({
            "answer": "It rains.\n\nSources:\n- https://a.example/ (2026-01-02)\n- oai-weather (accessed 2026-11-16)",
            "used_search": true,
            "citations": [{ "url": "https://a.example/", "title": "A", "published_at": "2026-01-02" }, { "url": "oai-weather" }],
            "model": "gpt-6.1-terra",
            "usage": { "input_tokens": 900, "output_tokens": 100, "total_tokens": 1000 },
        });
        let meta = json!({ "annai/latency_ms": 1234 });
        assert_eq!(
            readable(&output, meta.as_object().unwrap()),
            "It rains.\n\nSources\n   1  A (2026-01-02)\n      https://a.example/\n   2  oai-weather (accessed 2026-11-16)\n\n\
             gpt-6.1-terra · 1000 tokens (900 in, 100 out) · 1.2 s\n"
        );
    }
    #[test]
    fn search_results_are_numbered() {
        let meta = JsonObject::new();
        let usage = json!({ "input_tokens": 9, "output_tokens": 1, "total_tokens": 10 });
        let output = json!({
            "results": [
                { "title": "A", "url": "https://a.example/", "snippet": "Rust is out.", "publishedDate": "2026-11-10" },
                { "title": "B", "url": "https://b.example/", "snippet": "" },
            ],
            "usage": usage,
        });
        let text = readable(&output, &meta);
        assert_eq!(
            text,
            "1. A (2026-11-10)\n   https://a.example/\n   Rust is out.\n2. B\n   https://b.example/\n\n\
             10 tokens (9 in, 1 out) · 0.0 s\n"
        );
        assert!(readable(&json!({ "results": [] }), &meta).starts_with("No results.\n"));
    }
}
