//! Reads a response object as a stranger would: every field may be missing, what is unknown is passed over.

use serde::Serialize;
use serde_json::Value;

/// What is of use in a response.
#[derive(Debug, Default, PartialEq)]
pub struct Reading {
    /// The model that answered.
    pub model: Option<String>,
    /// What it wrote.
    pub text: String,
    /// The links in its text, in order.
    pub citations: Vec<Link>,
    /// The pages and services that its searches used.
    pub sources: Vec<Link>,
    /// Whether it searched.
    pub searched: bool,
    /// What it cost.
    pub usage: Usage,
}

/// A page that is cited, or that a search used.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Link {
    /// Its address; of a service, its name.
    pub url: String,
    /// Whether it is a service of the API's own, without a page.
    pub service: bool,
    /// Its title.
    pub title: Option<String>,
    /// When it was published, if the API says so.
    pub published: Option<String>,
    /// How well it fits, if the API says so.
    pub score: Option<f64>,
    /// Where it stands in the text, in bytes; empty for a source.
    pub place: std::ops::Range<usize>,
}

/// Tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Read.
    pub input_tokens: u64,
    /// Read from a cache, of those.
    pub cached_tokens: u64,
    /// Written.
    pub output_tokens: u64,
    /// Thought, of those.
    pub reasoning_tokens: u64,
    /// All of them.
    pub total_tokens: u64,
}

impl std::ops::AddAssign for Usage {
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

/// So many links of a kind are read; no answer has more.
const MOST_LINKS: usize = 1000;
/// So much text is read, in bytes; no model writes more.
const MOST_TEXT: usize = 1 << 20;

/// Reads a response that has ended well.
pub fn read(response: &Value) -> Reading {
    let mut reading = Reading {
        model: text_of(response, "model"),
        usage: usage(response.get("usage").unwrap_or(&Value::Null)),
        ..Reading::default()
    };
    let items = || response.get("output").and_then(Value::as_array).into_iter().flatten();
    // Newer models also say what they are about to do; where a final answer is marked, only that counts.
    let is_final = |item: &Value| item.get("phase").is_some_and(|phase| phase == "final_answer");
    let marked = items().any(is_final);
    for item in items() {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                reading.searched |= annotations(item).any(is_citation);
                if !marked || is_final(item) {
                    reading.add_message(item);
                }
            }
            Some("web_search_call") => reading.add_search(item),
            _ => {}
        }
    }
    reading
}

fn parts(item: &Value) -> impl Iterator<Item = &Value> {
    item.get("content").and_then(Value::as_array).into_iter().flatten()
}

fn annotations(item: &Value) -> impl Iterator<Item = &Value> {
    parts(item).flat_map(|part| part.get("annotations").and_then(Value::as_array).into_iter().flatten())
}

fn is_citation(annotation: &Value) -> bool {
    annotation.get("type").is_some_and(|kind| kind == "url_citation")
}

impl Reading {
    fn add_message(&mut self, item: &Value) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        for part in parts(item) {
            let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
            let Some(text) = text else { continue };
            let text = up_to(text, MOST_TEXT.saturating_sub(self.text.len()));
            let offset = self.text.len();
            self.text.push_str(text);
            let citations = part.get("annotations").and_then(Value::as_array).into_iter().flatten();
            let citations = citations.filter(|annotation| is_citation(annotation));
            let citations: Vec<_> = citations.take(MOST_LINKS.saturating_sub(self.citations.len())).collect();
            if citations.is_empty() {
                continue;
            }
            let starts: Vec<_> = text.char_indices().map(|(byte, _)| byte).collect();
            for annotation in citations {
                // Some servers nest what OpenAI writes flat.
                let body = annotation.get("url_citation").unwrap_or(annotation);
                let place = place(body, &starts, text.len());
                let place = place.start + offset..place.end + offset;
                self.citations.extend(link(body).map(|link| Link { place, ..link }));
            }
        }
    }

    fn add_search(&mut self, item: &Value) {
        self.searched = true;
        let sources = item.pointer("/action/sources").or_else(|| item.get("sources"));
        let sources = sources.and_then(Value::as_array).into_iter().flatten().filter_map(link);
        self.sources.extend(sources.take(MOST_LINKS.saturating_sub(self.sources.len())));
    }
}

fn link(value: &Value) -> Option<Link> {
    let address = text_of(value, "url");
    let service = address.is_none();
    let url = address.or_else(|| text_of(value, "name"))?;
    let published = ["published_at", "published_date", "publishedDate", "date"];
    let score = ["relevance_score", "relevanceScore", "score"];
    Some(Link {
        url,
        service,
        title: text_of(value, "title"),
        published: published.iter().find_map(|key| text_of(value, key)),
        score: score.iter().find_map(|key| value.get(key)?.as_f64()),
        place: 0..0,
    })
}

/// The place of an annotation in bytes; the API counts characters, and `starts` says where each begins.
fn place(annotation: &Value, starts: &[usize], length: usize) -> std::ops::Range<usize> {
    let at = |key: &str| {
        let index = usize::try_from(annotation.get(key)?.as_u64()?).ok()?;
        Some(starts.get(index).copied().unwrap_or(length))
    };
    let end = at("end_index").unwrap_or(length);
    at("start_index").unwrap_or(end).min(end)..end
}

/// The text's beginning, in whole characters.
fn up_to(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn usage(usage: &Value) -> Usage {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    let (input_tokens, output_tokens) = (number("/input_tokens"), number("/output_tokens"));
    Usage {
        input_tokens,
        cached_tokens: number("/input_tokens_details/cached_tokens"),
        output_tokens,
        reasoning_tokens: number("/output_tokens_details/reasoning_tokens"),
        total_tokens: number("/total_tokens").max(input_tokens.saturating_add(output_tokens)),
    }
}

/// A key's text, if it has one that is not blank.
pub fn text_of(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_read_from_nothing() {
        for odd in [json!(null), json!([]), json!({}), json!({ "output": 3 }), json!({ "output": [3, {}] })] {
            assert_eq!(read(&odd), Reading::default(), "{odd}");
        }
    }

    #[test]
    fn places_count_characters_and_messages_are_joined() {
        let annotation = json!({
            "type": "url_citation", "url": "https://a.example/", "title": " T ", "start_index": 2, "end_index": 4,
        });
        let reading = read(&json!({
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
        assert_eq!(reading.text, "一\n\n東京は[a]no");
        let start = "一\n\n東京".len();
        assert_eq!(
            reading.citations,
            [Link {
                url: "https://a.example/".into(),
                title: Some("T".into()),
                place: start..start + "は[".len(),
                ..Link::default()
            }]
        );
        assert_eq!(
            reading.sources,
            [
                Link {
                    url: "https://b.example/".into(),
                    published: Some("2026-01-02".into()),
                    score: Some(0.5),
                    ..Link::default()
                },
                Link { url: "oai-weather".into(), service: true, ..Link::default() },
            ]
        );
        assert!(reading.searched);
        assert_eq!((reading.usage.total_tokens, reading.usage.cached_tokens), (7, 1));
    }

    #[test]
    fn only_the_final_answer_counts_where_it_is_marked() {
        let message = |phase: &str, text: &str| json!({ "type": "message", "phase": phase, "content": [{ "text": text }] });
        let response =
            json!({ "output": [message("commentary", "I will look."), message("final_answer", "42")] });
        assert_eq!(read(&response).text, "42");
    }

    #[test]
    fn any_citation_is_a_search_and_too_much_is_not_read() {
        let bare = json!({ "type": "url_citation" });
        let response =
            json!({ "output": [{ "type": "message", "content": [{ "text": "x", "annotations": [bare] }] }] });
        assert!(read(&response).searched);
        let many = vec![
            json!({ "type": "url_citation", "url": "https://a.example/", "start_index": 9, "end_index": 3 });
            5000
        ];
        let text = "あ".repeat(500_000);
        let response =
            json!({ "output": [{ "type": "message", "content": [{ "text": text, "annotations": many }] }] });
        let reading = read(&response);
        assert_eq!((reading.citations.len(), reading.text.len()), (MOST_LINKS, MOST_TEXT - 1));
    }
}
