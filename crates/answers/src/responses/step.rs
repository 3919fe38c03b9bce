//! What the model is doing, as the event stream tells it.

use reqwest::Url;
use serde_json::Value;

use super::reply::text_of;
use crate::citations::one_line;

/// So much of a search query is shown.
const MOST_CHARS: usize = 80;

/// One thing that happens on the way to an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The request is on its way.
    Asking(String),
    /// The model thinks.
    Thinking,
    /// It searches, for this if that is known.
    Searching(Option<String>),
    /// It reads a page of this host.
    Reading(String),
    /// It writes the answer.
    Writing,
    /// The request failed for this reason, and is made again in so many seconds.
    Waiting(&'static str, u64),
}

impl Step {
    /// What a person is told.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Asking(model) => format!("asking {model}"),
            Self::Thinking => "thinking".to_owned(),
            Self::Searching(None) => "searching the web".to_owned(),
            Self::Searching(Some(query)) => format!("searching for \"{query}\""),
            Self::Reading(host) => format!("reading {host}"),
            Self::Writing => "writing".to_owned(),
            Self::Waiting(why, seconds) => format!("{why}, trying again in {seconds} s"),
        }
    }

    /// What an event tells, if anything.
    pub fn of(kind: &str, event: &Value) -> Option<Self> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => Some(Self::Thinking),
            "response.web_search_call.searching" => Some(Self::Searching(None)),
            "response.output_text.delta" => Some(Self::Writing),
            "response.output_item.added" | "response.output_item.done" => Self::of_item(event.get("item")?),
            _ => None,
        }
    }

    fn of_item(item: &Value) -> Option<Self> {
        if item.get("type")? != "web_search_call" {
            return None;
        }
        let Some(action) = item.get("action").filter(|action| action.is_object()) else {
            return Some(Self::Searching(None));
        };
        if let Some(url) = text_of(action, "url") {
            return Some(Self::Reading(cut(Url::parse(&url).ok()?.host_str()?)));
        }
        let queries = action.get("queries").and_then(Value::as_array);
        let query = queries.and_then(|queries| queries.first()?.as_str().map(str::to_owned));
        let query = query.or_else(|| text_of(action, "query"));
        Some(Self::Searching(query.map(|query| cut(&query))))
    }
}

fn cut(text: &str) -> String {
    let text = one_line(text);
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_become_sentences() {
        let item = |action: Value| json!({ "item": { "type": "web_search_call", "action": action } });
        for (kind, event, message) in [
            ("response.created", json!({}), Some("thinking")),
            (
                "response.output_item.added",
                json!({ "item": { "type": "web_search_call" } }),
                Some("searching the web"),
            ),
            (
                "response.output_item.done",
                item(json!({ "type": "search", "queries": ["東京 天気", "x"] })),
                Some("searching for \"東京 天気\""),
            ),
            (
                "response.output_item.done",
                item(json!({ "type": "open_page", "url": "https://www.jma.go.jp/a" })),
                Some("reading www.jma.go.jp"),
            ),
            ("response.output_item.done", item(json!({ "type": "open_page", "url": "?" })), None),
            ("response.output_text.delta", json!({ "delta": "x" }), Some("writing")),
            ("keepalive", json!({}), None),
        ] {
            assert_eq!(Step::of(kind, &event).map(|step| step.message()).as_deref(), message, "{kind}");
        }
    }
}
