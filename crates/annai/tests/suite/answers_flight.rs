//! Calls in progress: cancellation, progress notifications, shared requests and the answer cache.

use std::time::Duration;

use annai_testkit::openai::Step;
use serde_json::{Value, json};

use crate::Asking;

fn start(asking: &mut Asking, query: &str, token: Option<&str>) -> i64 {
    let mut params = json!({ "name": "answer", "arguments": { "query": query } });
    if let Some(token) = token {
        params["_meta"] = json!({ "progressToken": token });
    }
    asking.server.start_request("tools/call", params)
}

#[test]
fn a_cancelled_call_drops_its_request_and_is_not_answered() {
    let mut asking = Asking::with("request: { max_retries: 5 }", &[("DEBUG", "1")]);
    for (step, token) in [
        (Step::Silence, None),
        (Step::StallAfter(9_000, Box::new(Step::Answer)), Some("t")),
        (
            Step::Fail {
                status: 500,
                kind: "e",
                code: None,
                message: String::new(),
                headers: vec![("retry-after".into(), "60".into())],
            },
            None,
        ),
    ] {
        let fails = matches!(step, Step::Fail { .. });
        let index = asking.api.requests().len();
        asking.api.then(step);
        let id = start(&mut asking, "Who?", token);
        asking.api.wait_for(index + 1);
        if fails {
            // The call now waits for its next attempt.
            asking.server.process.wait_for_log("status=500");
        }
        asking.server.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        if !fails {
            asking.api.wait_until_dropped(index);
        }
        // The cancelled call gets no reply: the next one is that to the ping.
        let ping = asking.server.start_request("ping", json!({}));
        loop {
            let message = asking.server.receive().message;
            assert_ne!(message.get("id"), Some(&json!(id)), "{message}");
            if message.get("id") == Some(&json!(ping)) {
                break;
            }
        }
    }
    // The process ends only when no call is left, so none of them can be retried after this.
    asking.server.finish();
    assert_eq!(asking.api.requests().len(), 3, "cancelled calls are not retried");
}

#[test]
fn progress_notifications_name_each_step_once() {
    let mut asking = Asking::new();
    let item =
        json!({ "type": "web_search_call", "action": { "type": "search", "queries": ["tokyo weather"] } });
    let events = vec![
        json!({ "type": "response.created", "response": {} }),
        json!({ "type": "keepalive" }),
        json!({ "type": "response.output_item.done", "item": item }),
    ];
    let stalled = Step::StallAfter(usize::MAX, Box::new(Step::Events(events)));
    asking.api.then(Step::Delay(Duration::from_millis(300), Box::new(stalled)));
    let id = start(&mut asking, "weather in Tokyo", Some("tok"));
    asking.api.wait_for(1);
    assert_eq!(asking.body(0)["stream"], true);
    let mut steps: Vec<(f64, String)> = Vec::new();
    let mut ping = None;
    loop {
        let message = asking.server.receive().message;
        if ping.is_some_and(|ping: i64| message.get("id") == Some(&json!(ping))) {
            break;
        }
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("tok"))
        );
        let text = message["params"]["message"].as_str().unwrap().to_owned();
        if text.starts_with("searching for") && ping.is_none() {
            // The last step of the stream has been reported; the call would wait forever for more.
            asking.server.notify("notifications/cancelled", json!({ "requestId": id }));
            ping = Some(asking.server.start_request("ping", json!({})));
        }
        steps.push((message["params"]["progress"].as_f64().unwrap(), text));
    }
    assert_eq!(steps[0].1, "asking gpt-6.1-terra");
    assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "{steps:?}");
    let reported: Vec<_> = steps.iter().map(|(_, message)| message.as_str()).collect();
    assert!(reported.contains(&"searching for \"tokyo weather\""), "{reported:?}");
    assert!(steps.len() <= 4, "no step is reported twice: {reported:?}");
}

#[test]
fn a_call_with_progress_has_the_same_result() {
    let mut asking = Asking::new();
    let id = start(&mut asking, "weather in Tokyo", Some("tok"));
    let reply = asking.server.reply_to(&id.into());
    assert_eq!(reply["result"]["structuredContent"]["used_search"], true);
    assert_eq!(reply["result"]["structuredContent"]["citations"].as_array().unwrap().len(), 2);
}

#[test]
fn concurrent_calls_with_the_same_question_share_one_request() {
    let mut asking = Asking::new();
    // All calls have started long before the answer, even on a busy machine.
    let slow = || Step::Delay(Duration::from_secs(2), Box::new(Step::Answer));
    asking.api.then(slow());
    let ids: Vec<_> = (0..5).map(|_| start(&mut asking, "Who?", None)).collect();
    let other = start(&mut asking, "What?", None);
    let mut waited: Vec<_> = ids.iter().chain([&other]).map(|id| json!(id)).collect();
    while !waited.is_empty() {
        let message = asking.server.receive().message;
        assert!(message["result"]["structuredContent"]["answer"].is_string(), "{message}");
        waited.retain(|id| *id != message["id"]);
    }
    assert_eq!(asking.api.requests().len(), 2);
    // After the answer, the same question is a new request.
    asking.call("answer", json!({ "query": "Who?" }));
    assert_eq!(asking.api.requests().len(), 3);

    // Cancelling one of two calls leaves the shared request running; cancelling the last one drops it.
    asking.api.then(slow());
    let (first, second) = (start(&mut asking, "Why?", None), start(&mut asking, "Why?", None));
    asking.api.wait_for(4);
    asking.server.notify("notifications/cancelled", json!({ "requestId": first }));
    assert!(asking.server.reply_to(&second.into())["result"].is_object());
    asking.api.then(Step::Silence);
    let (first, second) = (start(&mut asking, "Where?", None), start(&mut asking, "Where?", None));
    asking.api.wait_for(5);
    // A reply to a later request shows that both calls have started.
    asking.server.request("ping", json!({}));
    for id in [first, second] {
        asking.server.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    asking.api.wait_until_dropped(4);
}

#[test]
fn answers_are_cached_only_when_the_cache_is_on() {
    let mut asking = Asking::with("cache: { ttl_s: 60 }", &[]);
    let mut ask = |arguments: Value| {
        let reply = asking.server.call("answer", arguments);
        (reply["result"]["structuredContent"].clone(), reply["result"]["_meta"]["annai/cached"].clone())
    };
    let (first, cached) = ask(json!({ "query": "Who?" }));
    assert_eq!(cached, Value::Null);
    // A cached answer is the same, but it used no tokens.
    let (mut second, cached) = ask(json!({ "query": "Who?" }));
    assert_eq!((&second["usage"]["total_tokens"], cached), (&json!(0), json!(true)));
    second["usage"] = first["usage"].clone();
    assert_eq!(second, first);
    assert_eq!(ask(json!({ "query": "Who?", "style": "bullets" })).1, Value::Null);
    assert_eq!(asking.api.requests().len(), 2);
    // Failures are not cached.
    asking.api.then(Step::Status(400, vec![], String::new()));
    asking.fail("answer", json!({ "query": "Bad?" }));
    asking.call("answer", json!({ "query": "Bad?" }));
    assert_eq!(asking.api.requests().len(), 4);
}

#[test]
fn connections_are_reused() {
    let mut asking = Asking::new();
    for number in 0..5 {
        asking.call("answer", json!({ "query": format!("question {number}") }));
    }
    let connections: Vec<_> = asking.api.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0; 5]);
}

#[test]
fn the_end_of_input_does_not_cancel_a_call() {
    let mut asking = Asking::new();
    asking.api.then(Step::Delay(Duration::from_millis(400), Box::new(Step::Answer)));
    let id = start(&mut asking, "Who?", None);
    asking.api.wait_for(1);
    asking.server.end_input();
    assert!(asking.server.reply_to(&id.into())["result"].is_object());
}
