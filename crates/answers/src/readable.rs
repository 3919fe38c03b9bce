//! An answer for people at a terminal: the text, numbered sources, what it cost.

use std::fmt::Write as _;

use annai_core::JsonObject;
use serde_json::Value;

use crate::citations::{identity, urls_in};
use crate::sources;

/// The output of an answer tool as text, with what its `_meta` tells.
#[must_use]
pub fn readable(output: &Value, meta: &JsonObject) -> String {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let answer = text(output, "answer");
    let mut out = format!("{}\n", sources::body(&answer));
    let citations = output.get("citations").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let listed = sources::lines(&answer);
    let at = |line: &str, url: &str| {
        line.contains(url)
            && (!url.contains("://") || urls_in(line).iter().any(|found| identity(found) == identity(url)))
    };
    let mut entries: Vec<_> = citations
        .iter()
        .map(|citation| {
            let (title, url) = (text(citation, "title"), text(citation, "url"));
            // The day of publication, or of access, as the list has it.
            let line = listed.iter().find(|line| at(line, &url));
            let date = line
                .and_then(|line| line.rsplit_once(" ("))
                .map(|(_, date)| format!(" ({date}"))
                .unwrap_or_default();
            if title.is_empty() { format!("{url}{date}") } else { format!("{title}{date}\n      {url}") }
        })
        .collect();
    // The answer may list more than it cites.
    let known = |line: &str| citations.iter().any(|citation| at(line, &text(citation, "url")));
    let more = listed.iter().filter(|line| !known(line));
    entries.extend(more.map(|line| line.trim_start_matches([' ', '-', '*', '•']).to_owned()));
    if !entries.is_empty() {
        out.push_str("\nSources\n");
        for (index, entry) in entries.iter().enumerate() {
            let _ = writeln!(out, "  {:>2}  {entry}", index + 1);
        }
    }
    let _ = writeln!(out, "\n{}", cost(&text(output, "model"), meta));
    out
}

fn cost(model: &str, meta: &JsonObject) -> String {
    let usage = meta.get("annai/usage").unwrap_or(&Value::Null);
    let number = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let tokens = format!(
        "{} tokens ({} in, {} out)",
        number("total_tokens"),
        number("input_tokens"),
        number("output_tokens")
    );
    let seconds = meta.get("annai/latency_ms").and_then(Value::as_f64).unwrap_or_default() / 1000.0;
    format!("{model} · {tokens} · {seconds:.1} s")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_numbered_and_the_cost_is_told() {
        let output = json!({
            "answer": "It rains.\n\nSources:\n- https://a.example/ (2026-01-02)\n- oai-weather (accessed 2026-11-16)\n- https://a.example/xyz (accessed 2026-11-16)",
            "used_search": true,
            "citations": [{ "url": "https://a.example/", "title": "A", "published_at": "2026-01-02" }, { "url": "oai-weather" }],
            "model": "gpt-6.1-terra",
        });
        let meta = json!({
            "annai/usage": { "input_tokens": 900, "output_tokens": 100, "total_tokens": 1000 },
            "annai/latency_ms": 1234,
        });
        assert_eq!(
            readable(&output, meta.as_object().unwrap()),
            "It rains.\n\nSources\n   1  A (2026-01-02)\n      https://a.example/\n   2  oai-weather (accessed 2026-11-16)\n   3  https://a.example/xyz (accessed 2026-11-16)\n\n\
             gpt-6.1-terra · 1000 tokens (900 in, 100 out) · 1.2 s\n"
        );
    }
}
