//! The steps of a request, as the events of a streamed response report them.

use reqwest::Url;
use serde_json::Value;

use super::parsed_response::text_of;
use crate::plain_text::{one_line, truncate};

/// The maximum length of a query or host in a progress message, in characters: it fits on one line of a client. Longer
/// text is cut and ends with an ellipsis.
const MAX_DETAIL_CHARS: usize = 80;

/// A step on the way to an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressStep {
    /// The request was sent to this model.
    Asking(String),
    /// The model is thinking.
    Thinking,
    /// The model is searching the web, for this query if it is known.
    Searching(Option<String>),
    /// The model is reading a page of this host.
    Reading(String),
    /// The model is writing the answer.
    Writing,
    /// The request failed, and a retry follows.
    WaitingForRetry {
        /// Why the request failed, in a few words.
        reason: &'static str,
        /// The time until the retry.
        seconds: u64,
    },
}

impl ProgressStep {
    /// The message that the client shows.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Asking(model) => format!("asking {model}"),
            Self::Thinking => "thinking".to_owned(),
            Self::Searching(None) => "searching the web".to_owned(),
            Self::Searching(Some(query)) => format!("searching for \"{query}\""),
            Self::Reading(host) => format!("reading {host}"),
            Self::Writing => "writing".to_owned(),
            Self::WaitingForRetry { reason, seconds } => format!("{reason}, trying again in {seconds} s"),
        }
    }

    /// The step that an event of this type reports, if any.
    pub fn from_event(kind: &str, event: &Value) -> Option<Self> {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => Some(Self::Thinking),
            "response.web_search_call.searching" => Some(Self::Searching(None)),
            "response.output_text.delta" => Some(Self::Writing),
            "response.output_item.added" | "response.output_item.done" => {
                Self::from_output_item(event.get("item")?)
            }
            _ => None,
        }
    }

    fn from_output_item(item: &Value) -> Option<Self> {
        if item.get("type")? != "web_search_call" {
            return None;
        }
        let Some(action) = item.get("action").filter(|action| action.is_object()) else {
            return Some(Self::Searching(None));
        };
        if let Some(url) = text_of(action, "url") {
            return Some(Self::Reading(shorten(Url::parse(&url).ok()?.host_str()?)));
        }
        let queries = action.get("queries").and_then(Value::as_array);
        let query = queries.and_then(|queries| queries.first()?.as_str().map(str::to_owned));
        let query = query.or_else(|| text_of(action, "query"));
        Some(Self::Searching(query.map(|query| shorten(&query))))
    }
}

fn shorten(text: &str) -> String {
    truncate(&one_line(text), MAX_DETAIL_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_become_messages() {
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
            assert_eq!(
                ProgressStep::from_event(kind, &event).map(|step| step.message()).as_deref(),
                message,
                "{kind}"
            );
        }
    }
}
