//! The event stream of a response.

use serde_json::{Value, json};

/// The events of a streamed response, including a keep-alive and an event of an unknown type, which clients must ignore.
pub fn events(response: &Value) -> Vec<Value> {
    all_events(response, true)
}

/// The events of a streamed response. `with_unknown` adds what the strict mode of the official client rejects.
pub(super) fn all_events(response: &Value, with_unknown: bool) -> Vec<Value> {
    let mut started = response.clone();
    for (name, value) in [("status", json!("in_progress")), ("output", json!([]))] {
        started[name] = value;
    }
    for name in ["completed_at", "error", "incomplete_details", "usage"] {
        started[name] = Value::Null;
    }
    let mut events = vec![
        json!({ "type": "response.created", "response": started }),
        json!({ "type": "response.in_progress", "response": started }),
    ];
    for (index, item) in response["output"].as_array().into_iter().flatten().enumerate() {
        match item["type"].as_str() {
            Some("web_search_call") => search_events(&mut events, index, item, with_unknown),
            Some("message") => message_events(&mut events, index, item),
            _ => {
                events.push(item_event("added", index, item));
                events.push(item_event("done", index, item));
            }
        }
    }
    if with_unknown {
        // They come early, so that a client that fails on them has not received the answer yet.
        events.insert(2, json!({ "type": "keepalive" }));
        events.insert(3, json!({ "type": "response.something_new", "note": "not in any client yet" }));
    }
    // Other states, such as `queued`, have no final event.
    if let Some(status) = response["status"].as_str()
        && ["completed", "failed", "incomplete"].contains(&status)
    {
        events.push(json!({ "type": format!("response.{status}"), "response": response }));
    }
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}

fn search_events(events: &mut Vec<Value>, index: usize, item: &Value, with_unknown: bool) {
    let mut started = item.clone();
    started["status"] = "in_progress".into();
    if let Some(started) = started.as_object_mut().filter(|_| with_unknown) {
        // The real API omits the action at this point, although its schema requires it.
        started.remove("action");
    }
    events.push(item_event("added", index, &started));
    for state in ["in_progress", "searching", "completed"] {
        events.push(json!({
            "type": format!("response.web_search_call.{state}"),
            "output_index": index,
            "item_id": item["id"],
        }));
    }
    events.push(item_event("done", index, item));
}

fn message_events(events: &mut Vec<Value>, index: usize, item: &Value) {
    let mut started = item.clone();
    started["status"] = "in_progress".into();
    started["content"] = json!([]);
    events.push(item_event("added", index, &started));
    for (part_index, part) in item["content"].as_array().into_iter().flatten().enumerate() {
        let event = |kind: &str, fields: Value| {
            let kind = format!("response.{kind}");
            let mut event = json!({
                "type": kind, "item_id": item["id"], "output_index": index, "content_index": part_index,
            });
            for (name, value) in fields.as_object().into_iter().flatten() {
                event[name] = value.clone();
            }
            event
        };
        let text = part["text"].as_str().unwrap_or_default();
        let empty = json!({ "type": "output_text", "text": "", "annotations": [], "logprobs": [] });
        events.push(event("content_part.added", json!({ "part": empty })));
        let characters: Vec<char> = text.chars().collect();
        for delta in characters.chunks(9) {
            let delta: String = delta.iter().collect();
            events.push(event("output_text.delta", json!({ "delta": delta, "logprobs": [] })));
        }
        for (number, annotation) in part["annotations"].as_array().into_iter().flatten().enumerate() {
            let fields = json!({ "annotation_index": number, "annotation": annotation });
            events.push(event("output_text.annotation.added", fields));
        }
        events.push(event("output_text.done", json!({ "text": text, "logprobs": [] })));
        events.push(event("content_part.done", json!({ "part": part })));
    }
    events.push(item_event("done", index, item));
}

fn item_event(what: &str, index: usize, item: &Value) -> Value {
    json!({ "type": format!("response.output_item.{what}"), "output_index": index, "item": item })
}

/// The events in the text/event-stream format.
pub(super) fn encode(events: &[Value]) -> Vec<u8> {
    let mut text = String::new();
    for event in events {
        if let Some(kind) = event["type"].as_str() {
            text.push_str(&format!("event: {kind}\n"));
        }
        text.push_str(&format!("data: {event}\n\n"));
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai::{message, response, search_call};

    fn kinds(events: &[Value]) -> Vec<&str> {
        events.iter().map(|event| event["type"].as_str().unwrap()).collect()
    }

    #[test]
    fn events_come_in_the_order_of_the_real_api() {
        let output = vec![search_call(&["a"], Vec::new()), message("案内する", vec![json!({})])];
        let events = all_events(&response("gpt-5", output), true);
        let expected = [
            "response.created",
            "response.in_progress",
            "keepalive",
            "response.something_new",
            "response.output_item.added",
            "response.web_search_call.in_progress",
            "response.web_search_call.searching",
            "response.web_search_call.completed",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.annotation.added",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ];
        assert_eq!(kinds(&events), expected);
        assert_eq!(events[4]["item"].get("action"), None);
        assert_eq!(events[8]["item"]["action"]["type"], "search");
        assert!(events.iter().enumerate().all(|(number, event)| event["sequence_number"] == number));
    }

    #[test]
    fn the_final_event_has_the_status_of_the_response() {
        let mut failed = response("gpt-5", Vec::new());
        failed["status"] = "failed".into();
        failed["error"] = json!({ "code": "server_error", "message": "x" });
        let events = all_events(&failed, false);
        assert_eq!(kinds(&events), ["response.created", "response.in_progress", "response.failed"]);
        assert_eq!(events[0]["response"]["error"], Value::Null);
        failed["status"] = "queued".into();
        assert_eq!(all_events(&failed, false).len(), 2);
    }
}
