//! Reads a response object tolerantly: every field may be missing, and unknown items and fields are ignored.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The parts of a response that the tools use.
#[derive(Debug, Default, PartialEq)]
pub struct ParsedResponse {
    /// The model that answered.
    pub model: Option<String>,
    /// The text of the answer.
    pub text: String,
    /// Whether the text is longer than [`MAX_TEXT_BYTES`] and was cut off.
    pub truncated: bool,
    /// The links in the text, in order.
    pub citations: Vec<Link>,
    /// The pages and services that the searches used.
    pub sources: Vec<Link>,
    /// Whether the model searched the web.
    pub used_search: bool,
    /// The number of tokens.
    pub usage: TokenUsage,
}

/// A page that the answer cites or that a search used.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Link {
    /// The URL; for a service of the API, its name.
    pub url: String,
    /// Whether it is a service of the API, which has no URL.
    pub is_service: bool,
    /// The page's title.
    pub title: Option<String>,
    /// The publication date as the API gives it.
    pub published: Option<String>,
    /// The relevance score, if the API gives one.
    pub score: Option<f64>,
    /// The range of the citation in the text, in bytes; empty for a source.
    pub range: Range<usize>,
}

/// The number of tokens of one or more requests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenUsage {
    /// The number of input tokens.
    pub input_tokens: u64,
    /// The number of input tokens that came from the API's cache.
    pub cached_tokens: u64,
    /// The number of output tokens.
    pub output_tokens: u64,
    /// The number of output tokens that were used for reasoning.
    pub reasoning_tokens: u64,
    /// The number of input and output tokens together.
    pub total_tokens: u64,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.reasoning_tokens, other.reasoning_tokens),
            (&mut self.total_tokens, other.total_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// The maximum number of citations and of sources that are read. Real answers have far fewer; the rest is ignored.
const MAX_LINKS: usize = 1000;
/// The maximum length of an answer, in bytes: several times what models can write. The rest is cut off.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Reads a completed response.
pub fn parse_response(response: &Value) -> ParsedResponse {
    let mut parsed = ParsedResponse {
        model: text_of(response, "model"),
        usage: parse_usage(response.get("usage").unwrap_or(&Value::Null)),
        ..ParsedResponse::default()
    };
    let items = || response.get("output").and_then(Value::as_array).into_iter().flatten();
    // Newer models also announce what they will do; if a message is marked as the final answer, only that one counts.
    let is_final = |item: &Value| item.get("phase").is_some_and(|phase| phase == "final_answer");
    let has_final_answer = items().any(is_final);
    for item in items() {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                parsed.used_search |= annotations(item).any(is_citation);
                if !has_final_answer || is_final(item) {
                    parsed.add_message(item);
                }
            }
            Some("web_search_call") => parsed.add_search(item),
            _ => {}
        }
    }
    parsed
}

fn content_parts(item: &Value) -> impl Iterator<Item = &Value> {
    item.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn annotations(item: &Value) -> impl Iterator<Item = &Value> {
    content_parts(item)
        .flat_map(|part| part.get("annotations").and_then(Value::as_array).into_iter().flatten())
}

fn is_citation(annotation: &Value) -> bool {
    annotation.get("type").is_some_and(|kind| kind == "url_citation")
}

impl ParsedResponse {
    fn add_message(&mut self, item: &Value) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        for part in content_parts(item) {
            let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
            let Some(whole) = text else { continue };
            let text = truncate_bytes(whole, MAX_TEXT_BYTES.saturating_sub(self.text.len()));
            self.truncated |= text.len() < whole.len();
            let offset = self.text.len();
            self.text.push_str(text);
            let citations = part.get("annotations").and_then(Value::as_array).into_iter().flatten();
            let citations = citations.filter(|annotation| is_citation(annotation));
            let citations: Vec<_> = citations.take(MAX_LINKS.saturating_sub(self.citations.len())).collect();
            if citations.is_empty() {
                continue;
            }
            let char_starts: Vec<_> = text.char_indices().map(|(byte, _)| byte).collect();
            for annotation in citations {
                // Some servers nest the fields that OpenAI puts into the annotation itself.
                let citation = annotation.get("url_citation").unwrap_or(annotation);
                let range = byte_range(citation, &char_starts, text.len());
                let range = range.start + offset..range.end + offset;
                self.citations.extend(parse_link(citation).map(|link| Link { range, ..link }));
            }
        }
    }

    fn add_search(&mut self, item: &Value) {
        self.used_search = true;
        let sources = item.pointer("/action/sources").or_else(|| item.get("sources"));
        let sources = sources.and_then(Value::as_array).into_iter().flatten().filter_map(parse_link);
        self.sources.extend(sources.take(MAX_LINKS.saturating_sub(self.sources.len())));
    }
}

fn parse_link(value: &Value) -> Option<Link> {
    let url = text_of(value, "url");
    let is_service = url.is_none();
    let url = url.or_else(|| text_of(value, "name"))?;
    let published = ["published_at", "published_date", "publishedDate", "date"];
    let score = ["relevance_score", "relevanceScore", "score"];
    Some(Link {
        url,
        is_service,
        title: text_of(value, "title"),
        published: published.iter().find_map(|key| text_of(value, key)),
        score: score.iter().find_map(|key| value.get(key)?.as_f64()),
        range: 0..0,
    })
}

/// The range of an annotation in bytes. The API counts characters; `char_starts` are the byte offsets of all characters.
fn byte_range(annotation: &Value, char_starts: &[usize], length: usize) -> Range<usize> {
    let byte_offset = |key: &str| {
        let index = usize::try_from(annotation.get(key)?.as_u64()?).ok()?;
        Some(char_starts.get(index).copied().unwrap_or(length))
    };
    let end = byte_offset("end_index").unwrap_or(length);
    byte_offset("start_index").unwrap_or(end).min(end)..end
}

/// The start of a text, at most `max_bytes` bytes, in whole characters.
fn truncate_bytes(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn parse_usage(usage: &Value) -> TokenUsage {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let (input_tokens, output_tokens) = (number("/input_tokens"), number("/output_tokens"));
    TokenUsage {
        input_tokens,
        cached_tokens: number("/input_tokens_details/cached_tokens"),
        output_tokens,
        reasoning_tokens: number("/output_tokens_details/reasoning_tokens"),
        total_tokens: number("/total_tokens").max(input_tokens.saturating_add(output_tokens)),
    }
}

/// The string under a key, trimmed; `None` if it is missing or blank.
pub fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_response_has_no_content() {
        for odd in [json!(null), json!([]), json!({}), json!({ "output": 3 }), json!({ "output": [3, {}] })] {
            assert_eq!(parse_response(&odd), ParsedResponse::default(), "{odd}");
        }
    }

    #[test]
    fn ranges_count_characters_and_messages_are_joined() {
        let annotation = json!({
            "type": "url_citation", "url": "https://a.example/", "title": " T ", "start_index": 2, "end_index": 4,
        });
        let parsed = parse_response(&json!({
            "model": "m",
            "output": [
                { "type": "reasoning", "summary": [] },
                { "type": "message", "content": [{ "type": "output_text", "text": "一" }] },
                { "type": "message", "content": [
                    { "type": "output_text", "text": "東京は[a]", "annotations": [annotation, { "type": "file_citation" }] },
                    { "type": "refusal", "refusal": "no" },
                    { "type": "unknown" },
                ] },
                { "type": "web_search_call", "status": "in_progress" },
                { "type": "web_search_call", "action": { "type": "search", "sources": [
                    { "type": "url", "url": "https://b.example/", "published_at": "2026-01-02", "score": 0.5 },
                    { "type": "api", "name": "oai-weather" },
                    { "type": "?" },
                ] } },
            ],
            "usage": { "input_tokens": 3, "output_tokens": 4, "input_tokens_details": { "cached_tokens": 1 } },
        }));
        assert_eq!(parsed.text, "一\n\n東京は[a]no");
        let start = "一\n\n東京".len();
        assert_eq!(
            parsed.citations,
            [Link {
                url: "https://a.example/".into(),
                title: Some("T".into()),
                range: start..start + "は[".len(),
                ..Link::default()
            }]
        );
        assert_eq!(
            parsed.sources,
            [
                Link {
                    url: "https://b.example/".into(),
                    published: Some("2026-01-02".into()),
                    score: Some(0.5),
                    ..Link::default()
                },
                Link { url: "oai-weather".into(), is_service: true, ..Link::default() },
            ]
        );
        assert!(parsed.used_search);
        assert_eq!((parsed.usage.total_tokens, parsed.usage.cached_tokens), (7, 1));
    }

    #[test]
    fn only_the_final_answer_counts_where_it_is_marked() {
        let message = |phase: &str, text: &str| json!({ "type": "message", "phase": phase, "content": [{ "text": text }] });
        let response =
            json!({ "output": [message("commentary", "I will look."), message("final_answer", "42")] });
        assert_eq!(parse_response(&response).text, "42");
    }

    #[test]
    fn any_citation_is_a_search_and_too_much_is_not_read() {
        let bare = json!({ "type": "url_citation" });
        let response =
            json!({ "output": [{ "type": "message", "content": [{ "text": "x", "annotations": [bare] }] }] });
        assert!(parse_response(&response).used_search);
        let many = vec![
            json!({ "type": "url_citation", "url": "https://a.example/", "start_index": 9, "end_index": 3 });
            5000
        ];
        let text = "あ".repeat(500_000);
        let response =
            json!({ "output": [{ "type": "message", "content": [{ "text": text, "annotations": many }] }] });
        let parsed = parse_response(&response);
        assert_eq!((parsed.citations.len(), parsed.text.len()), (MAX_LINKS, MAX_TEXT_BYTES - 1));
        assert!(parsed.truncated);
    }
}
