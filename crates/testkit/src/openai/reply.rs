//! The JSON objects of the API's responses.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::models::MODELS;

/// A completed response of `model` with these output items.
pub fn response(model: &str, output: Vec<Value>) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let length: usize = output.iter().map(|item| item.to_string().len()).sum();
    let (input_tokens, output_tokens) = (328, 8 + length / 4);
    json!({
        "id": new_id("resp"),
        "object": "response",
        "created_at": now,
        "status": "completed",
        "background": false,
        "completed_at": now + 0.25,
        "conversation": null,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "max_tool_calls": null,
        "metadata": {},
        "model": model,
        "moderation": null,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "prompt_cache_key": null,
        "prompt_cache_retention": null,
        "reasoning": { "effort": null, "summary": null },
        "safety_identifier": null,
        "service_tier": "default",
        "store": true,
        "temperature": 1.0,
        "text": { "format": { "type": "text" }, "verbosity": "medium" },
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": input_tokens,
            "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": output_tokens,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": input_tokens + output_tokens,
        },
        "user": null,
    })
}

/// A message item with this text.
pub fn message(text: &str, annotations: Vec<Value>) -> Value {
    json!({
        "id": new_id("msg"),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": text, "annotations": annotations, "logprobs": [] }],
    })
}

/// An annotation that says that `part` of `text` cites `url`. Positions count Unicode characters, as in the real API.
pub fn citation(text: &str, part: &str, url: &str, title: &str) -> Value {
    let at = text.find(part).unwrap_or_else(|| panic!("{part:?} is not in {text:?}"));
    let start = text[..at].chars().count();
    json!({
        "type": "url_citation",
        "start_index": start,
        "end_index": start + part.chars().count(),
        "title": title,
        "url": url,
    })
}

/// An item for a web search. Without sources the field is missing, as when the request does not include sources.
pub fn search_call(queries: &[&str], sources: Vec<Value>) -> Value {
    let mut action = json!({ "type": "search", "query": queries.first(), "queries": queries });
    if !sources.is_empty() {
        action["sources"] = sources.into();
    }
    web_search_call(action)
}

/// An item for a page that the model opened.
pub fn open_page_call(url: &str) -> Value {
    web_search_call(json!({ "type": "open_page", "url": url }))
}

fn web_search_call(action: Value) -> Value {
    json!({ "id": new_id("ws"), "type": "web_search_call", "status": "completed", "action": action })
}

/// The response of `GET /v1/models`.
pub(super) fn models() -> Value {
    let models = MODELS.iter().map(|(id, shutdown)| {
        let mut model =
            json!({ "id": id, "object": "model", "created": 1_785_542_400, "owned_by": "system" });
        if let Some(date) = shutdown {
            model["shutdown_date"] = (*date).into();
        }
        model
    });
    json!({ "object": "list", "data": models.collect::<Vec<_>>() })
}

/// A unique id.
pub(super) fn new_id(prefix: &str) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}_{:048x}", LAST.fetch_add(1, Ordering::Relaxed) + 1)
}
