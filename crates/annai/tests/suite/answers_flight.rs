//! Calls under way: cancelled, watched, shared and kept.

use std::time::{Duration, Instant};

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
fn cancelling_drops_the_request_at_once_and_nothing_is_sent() {
    let mut asking = Asking::with("request: { max_retries: 5 }", &[]);
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
        let waits = matches!(step, Step::Fail { .. });
        let index = asking.api.requests().len();
        asking.api.then(step);
        let id = start(&mut asking, "Who?", token);
        asking.api.wait_for(index + 1);
        std::thread::sleep(Duration::from_millis(100));
        let started = Instant::now();
        asking.server.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        if !waits {
            asking.api.wait_until_dropped(index);
            assert!(started.elapsed() < Duration::from_millis(500), "{:?}", started.elapsed());
        }
        // The next reply is that to the next request.
        let ping = asking.server.start_request("ping", json!({}));
        loop {
            let message = asking.server.receive().message;
            assert_ne!(message.get("id"), Some(&json!(id)), "{message}");
            if message.get("id") == Some(&json!(ping)) {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(asking.api.requests().len(), index + 1, "nothing is asked again");
    }
    asking.server.finish();
}

#[test]
fn progress_tells_what_happens() {
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
    std::thread::sleep(Duration::from_millis(1200));
    asking.server.notify("notifications/cancelled", json!({ "requestId": id }));
    let ping = asking.server.start_request("ping", json!({}));
    let mut steps = Vec::new();
    loop {
        let message = asking.server.receive().message;
        if message.get("id") == Some(&json!(ping)) {
            break;
        }
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("tok"))
        );
        steps.push((
            message["params"]["progress"].as_f64().unwrap(),
            message["params"]["message"].as_str().unwrap().to_owned(),
        ));
    }
    assert_eq!(steps[0].1, "asking gpt-6.1-terra");
    assert!(steps.windows(2).all(|pair| pair[0].0 < pair[1].0), "{steps:?}");
    let told: Vec<_> = steps.iter().map(|(_, message)| message.as_str()).collect();
    assert!(told.contains(&"searching for \"tokyo weather\""), "{told:?}");
    assert!(steps.len() <= 4, "nothing is told twice: {told:?}");
}

#[test]
fn a_watched_call_ends_like_any_other() {
    let mut asking = Asking::new();
    let id = start(&mut asking, "weather in Tokyo", Some("tok"));
    let reply = asking.server.reply_to(&id.into());
    assert_eq!(reply["result"]["structuredContent"]["used_search"], true);
    assert_eq!(reply["result"]["structuredContent"]["citations"].as_array().unwrap().len(), 2);
}

#[test]
fn the_same_question_is_asked_once() {
    let mut asking = Asking::new();
    let slow = || Step::Delay(Duration::from_millis(300), Box::new(Step::Answer));
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
    // Later it is a new question.
    asking.call("answer", json!({ "query": "Who?" }));
    assert_eq!(asking.api.requests().len(), 3);

    // One who leaves does not take it from the other; the last one does.
    asking.api.then(slow());
    let (first, second) = (start(&mut asking, "Why?", None), start(&mut asking, "Why?", None));
    asking.api.wait_for(4);
    asking.server.notify("notifications/cancelled", json!({ "requestId": first }));
    assert!(asking.server.reply_to(&second.into())["result"].is_object());
    asking.api.then(Step::Silence);
    let (first, second) = (start(&mut asking, "Where?", None), start(&mut asking, "Where?", None));
    asking.api.wait_for(5);
    std::thread::sleep(Duration::from_millis(50));
    for id in [first, second] {
        asking.server.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    asking.api.wait_until_dropped(4);
}

#[test]
fn answers_are_kept_only_where_that_is_wanted() {
    let mut asking = Asking::with("cache: { ttl_s: 60 }", &[]);
    let mut ask = |arguments: Value| {
        let reply = asking.server.call("answer", arguments);
        (reply["result"]["structuredContent"].clone(), reply["result"]["_meta"]["annai/cached"].clone())
    };
    let (first, cached) = ask(json!({ "query": "Who?" }));
    assert_eq!(cached, Value::Null);
    assert_eq!(ask(json!({ "query": "Who?" })), (first, json!(true)));
    assert_eq!(ask(json!({ "query": "Who?", "style": "bullets" })).1, Value::Null);
    assert_eq!(asking.api.requests().len(), 2);
    // Failures are not kept.
    asking.api.then(Step::Status(400, vec![], String::new()));
    asking.fail("answer", json!({ "query": "Bad?" }));
    asking.call("answer", json!({ "query": "Bad?" }));
    assert_eq!(asking.api.requests().len(), 4);
}

#[test]
fn connections_are_used_again() {
    let mut asking = Asking::new();
    for number in 0..5 {
        asking.call("answer", json!({ "query": format!("question {number}") }));
    }
    let connections: Vec<_> = asking.api.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0; 5]);
}

#[test]
fn the_end_of_input_is_not_a_cancellation() {
    let mut asking = Asking::new();
    asking.api.then(Step::Delay(Duration::from_millis(400), Box::new(Step::Answer)));
    let id = start(&mut asking, "Who?", None);
    asking.api.wait_for(1);
    asking.server.end_input();
    assert!(asking.server.reply_to(&id.into())["result"].is_object());
}
