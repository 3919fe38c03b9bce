//! Failures of the answer tools: each has its code and message, and the server keeps working.

use std::time::{Duration, Instant};

use annai_testkit::openai::{self, Step};
use serde_json::{Value, json};

use crate::Asking;

const SOON: &[(&str, &str)] = &[("retry-after-ms", "1")];

fn refuse(status: u16, kind: &'static str, code: Option<&'static str>, headers: &[(&str, &str)]) -> Step {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Step::Fail { status, kind, code, message: "Something is wrong.".into(), headers }
}

fn ask(asking: &mut Asking) -> Value {
    asking.fail("answer", json!({ "query": "Who was the first?" }))
}

/// Checks that the next question is answered normally.
fn goes_on(asking: &mut Asking) {
    assert_eq!(asking.call("answer", json!({ "query": "What is 2 + 2?" }))["used_search"], false);
}

#[test]
fn bad_arguments_name_the_field() {
    let mut asking = Asking::new();
    for (arguments, reason) in [
        (json!({}), "query is required"),
        (json!({ "query": "" }), "query: expected a string from 1 to 100000 characters, got an empty string"),
        (json!({ "query": " \n\u{3000} " }), "query: expected text, got only white space"),
        (json!({ "query": null }), "query: expected a string from 1 to 100000 characters, got null"),
        (json!({ "query": 5 }), "query: expected a string from 1 to 100000 characters, got 5"),
        (
            json!({ "query": "q", "recency_days": -1 }),
            "recency_days: expected an integer of at least 0, got -1",
        ),
        (
            json!({ "query": "q", "recency_days": 1.5 }),
            "recency_days: expected an integer of at least 0, got 1.5",
        ),
        (json!({ "query": "q", "max_results": 11 }), "max_results: expected an integer from 1 to 10, got 11"),
        (
            json!({ "query": "q", "max_results": "many" }),
            "max_results: expected an integer from 1 to 10, got a string",
        ),
        (
            json!({ "query": "q", "domains": "a.jp" }),
            "domains: expected an array of at most 100 items, got a string",
        ),
        (
            json!({ "query": "q", "domains": ["a.jp", "not a site"] }),
            "domains[1]: expected a site such as jma.go.jp",
        ),
        (
            json!({ "query": "q", "style": "long" }),
            "style: expected one of summary, bullets, citations-only, got \"long\"",
        ),
        (json!({ "query": "q", "limit": 3 }), "limit: unknown key; allowed: query, recency_days"),
    ] {
        let error = asking.fail("answer", arguments.clone());
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32001), &json!("answer: invalid arguments"))
        );
        assert!(error["data"]["reason"].as_str().unwrap().starts_with(reason), "{arguments} gave {error}");
    }
    assert_eq!(asking.api.requests().len(), 0, "nothing of it reaches the API");
    goes_on(&mut asking);
}

#[test]
fn a_missing_or_malformed_key_is_reported_with_the_fix() {
    for key in ["", "sk-with space", "sk-\u{7}", "sk-a\nb"] {
        let mut asking = Asking::with("", &[("OPENAI_API_KEY", key)]);
        let error = ask(&mut asking);
        assert_eq!(error["code"], -32051, "{error}");
        assert_eq!(error["data"]["env"], "OPENAI_API_KEY");
        assert!(error["data"]["fix"].as_str().unwrap().contains("set OPENAI_API_KEY"), "{error}");
        assert_eq!(asking.api.requests().len(), 0);
    }
    // White space around the key is removed.
    goes_on(&mut Asking::with("", &[("OPENAI_API_KEY", &format!("{}\n", openai::KEY))]));
}

#[test]
fn api_errors_are_reported_with_the_next_step() {
    let mut asking = Asking::new();
    for (step, status, part) in [
        (
            refuse(400, "invalid_request_error", None, &[]),
            400,
            "the API refused the request (400): Something is wrong.",
        ),
        (refuse(403, "invalid_request_error", None, &[]), 403, "the key is not allowed"),
        (
            refuse(404, "invalid_request_error", Some("model_not_found"), &[]),
            404,
            "the model gpt-6.1-terra does not exist",
        ),
        (refuse(404, "invalid_request_error", None, &[]), 404, "check openai.base_url"),
        (refuse(413, "invalid_request_error", None, &[]), 413, "ask a shorter question"),
        (refuse(429, "insufficient_quota", Some("insufficient_quota"), SOON), 429, "no quota left"),
        (
            refuse(429, "requests", Some("rate_limit_exceeded"), &[("retry-after", "600")]),
            429,
            "try again in 600 s",
        ),
        (
            Step::Status(
                302,
                vec![("location".into(), "https://elsewhere.example/v1".into())],
                String::new(),
            ),
            302,
            "redirects to elsewhere.example",
        ),
        (Step::Status(418, vec![], "<html>".into()), 418, "the API refused the request (418)"),
    ] {
        asking.api.then(step.clone());
        let before = asking.api.requests().len();
        let error = ask(&mut asking);
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32050), &json!("openai responses failed")),
            "{step:?}"
        );
        assert_eq!(error["data"]["status"], status, "{error}");
        assert_eq!(error["data"]["retries"], 0, "{error}");
        assert!(error["data"]["reason"].as_str().unwrap().contains(part), "{error}");
        assert_eq!(asking.api.requests().len(), before + 1, "{step:?} is not tried again");
        // Further details appear only while debug is on.
        assert!(error["data"].get("message").is_none() && error["data"].get("name").is_none(), "{error}");
    }
    goes_on(&mut asking);
    let mut wrong = Asking::with("", &[("OPENAI_API_KEY", "sk-wrong-key-0123456789")]);
    let error = ask(&mut wrong);
    assert!(
        error["data"]["reason"].as_str().unwrap().contains("the key was refused (401); check OPENAI_API_KEY"),
        "{error}"
    );
    assert!(!error.to_string().contains("sk-wrong"), "{error}");
}

#[test]
fn transient_errors_are_retried_up_to_max_retries() {
    let mut asking = Asking::new();
    for step in [
        refuse(500, "server_error", None, SOON),
        refuse(429, "requests", Some("rate_limit_exceeded"), SOON),
        refuse(503, "server_error", None, SOON),
    ] {
        asking.api.then(step);
    }
    let reply = asking.server.call("answer", json!({ "query": "one" }));
    assert_eq!(reply["result"]["_meta"]["annai/retries"], 3);
    for _ in 0..4 {
        asking.api.then(refuse(500, "server_error", None, SOON));
    }
    let error = ask(&mut asking);
    assert_eq!((&error["data"]["retries"], &error["data"]["status"]), (&json!(3), &json!(500)));
    assert_eq!(asking.api.requests().len(), 8, "four for each question, not twelve");
    // The server can say in a header whether a retry makes sense.
    asking.api.then(refuse(503, "server_error", None, &[("x-should-retry", "false")]));
    assert_eq!(ask(&mut asking)["data"]["retries"], 0);
    asking.api.then(refuse(400, "e", None, &[("x-should-retry", "true"), ("retry-after-ms", "1")]));
    goes_on(&mut asking);

    let mut never = Asking::with("", &[("OPENAI_MAX_RETRIES", "0")]);
    never.api.then(Step::HangUp);
    let error = ask(&mut never);
    assert!(error["data"]["reason"].as_str().unwrap().starts_with("127.0.0.1 cannot be reached"), "{error}");
    assert_eq!(error["data"]["retries"], 0);
}

#[test]
fn retry_delays_grow_and_respect_retry_after() {
    // Elapsed time is what is tested: the delays of a separate process cannot be observed otherwise.
    let mut asking = Asking::new();
    asking.api.then(refuse(500, "server_error", None, &[]));
    asking.api.then(Step::HangUp);
    asking.api.then(refuse(429, "requests", None, &[("retry-after", "1")]));
    asking.call("answer", json!({ "query": "x" }));
    let at: Vec<_> = asking.api.requests().iter().map(|request| request.at).collect();
    let waits: Vec<_> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The upper bound allows for a slow machine; a delay that is not a matter of milliseconds would exceed it.
    for (wait, least) in [(waits[0], 370), (waits[1], 740), (waits[2], 990)] {
        assert!((Duration::from_millis(least)..Duration::from_secs(30)).contains(&wait), "{waits:?}");
    }
}

#[test]
fn the_timeout_applies_to_each_attempt() {
    // Elapsed time is what is tested; the bound is far below the 300 s of a timeout that was not set.
    let mut asking = Asking::with("request: { timeout_ms: 200, max_retries: 1 }", &[]);
    asking.api.then(Step::Silence);
    asking.api.then(Step::StallAfter(10, Box::new(Step::Answer)));
    let started = Instant::now();
    let error = ask(&mut asking);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(error["data"]["reason"], "127.0.0.1 did not answer within 0.2 s");
    assert_eq!((&error["data"]["retries"], error["data"].get("status")), (&json!(1), None));
    asking.api.wait_until_dropped(0);
    asking.api.wait_until_dropped(1);
    goes_on(&mut asking);
    let mut once = Asking::with("request: { timeout_ms: 200, retry_timeouts: false }", &[]);
    once.api.then(Step::Silence);
    assert_eq!(ask(&mut once)["data"]["retries"], 0);
}

#[test]
fn malformed_replies_are_errors() {
    let mut asking = Asking::with("request: { max_retries: 0 }", &[]);
    let bytes = |content_type, body: &[u8]| Step::Bytes { content_type, body: body.to_vec(), piece: 1 << 16 };
    let unfinished = |status: &str, details: Value| {
        let mut response = openai::response("gpt-6.1-terra", vec![openai::message("Half an ans", vec![])]);
        response["status"] = status.into();
        response.as_object_mut().unwrap().extend(details.as_object().unwrap().clone());
        Step::Response(response)
    };
    for (step, part) in [
        (bytes("application/json", b"{\"output\":"), "the API's reply is not JSON (line 1"),
        (bytes("application/json", b"{\"output\":\"\xff\"}"), "the API's reply is not JSON nor even UTF-8"),
        (bytes("application/json", b"[]"), "not a response object"),
        (bytes("application/json", b"{}"), "without any text"),
        (bytes("text/html", b"<h1>Login</h1>"), "the API's reply is not JSON"),
        (bytes("application/json", &vec![b' '; 50 << 20]), "larger than 8 MiB"),
        (bytes("text/event-stream", &vec![b' '; 50 << 20]), "larger than 8 MiB"),
        (Step::CutAfter(100, Box::new(Step::Answer)), "the reply broke off"),
        (
            unfinished("failed", json!({ "error": { "code": "server_error", "message": "Overheated." } })),
            "the API gave up (server_error): Overheated.",
        ),
        (
            unfinished("incomplete", json!({ "incomplete_details": { "reason": "max_output_tokens" } })),
            "the answer is incomplete: max_output_tokens",
        ),
        (unfinished("cancelled", json!({})), "did not finish (status cancelled)"),
    ] {
        asking.api.then(step);
        let error = ask(&mut asking);
        assert_eq!(error["code"], -32050);
        assert!(error["data"]["reason"].as_str().unwrap().contains(part), "{part}: {error}");
    }
    goes_on(&mut asking);
}

#[test]
fn streams_are_decoded_at_any_chunk_boundary_and_their_errors_reported() {
    let mut asking = Asking::with("responses: { stream: true }", &[]);
    let output = asking.call("answer", json!({ "query": "weather in 東京" }));
    assert_eq!((&output["used_search"], output["citations"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(asking.body(0)["stream"], true);
    let events = openai::events(&openai::response("m", vec![openai::message("Whole.", vec![])]));
    let mut without_output = events.clone();
    without_output.last_mut().unwrap()["response"]["output"] = json!([]);
    asking.api.then(Step::Events(without_output));
    assert_eq!(asking.call("answer", json!({ "query": "x" }))["answer"], "Whole.");

    let sofar: Vec<_> = events.iter().take(4).cloned().collect();
    let with = |event: Value| Step::Events(sofar.iter().cloned().chain([event]).collect());
    for (step, part) in [
        (Step::Events(sofar.clone()), "the stream ended before the answer was complete"),
        (Step::CutAfter(9_000, Box::new(Step::Answer)), "the stream ended before the answer was complete ("),
        (
            with(
                json!({ "type": "error", "code": "overloaded", "message": "Flat.", "param": null, "sequence_number": 9 }),
            ),
            "reported an error while it answered (overloaded): Flat.",
        ),
        (
            with(
                json!({ "type": "error", "error": { "type": "server_error", "code": null, "message": "Nested." } }),
            ),
            "reported an error while it answered (server_error): Nested.",
        ),
        (
            with(
                json!({ "type": "response.failed", "response": { "status": "failed", "error": { "code": "server_error", "message": "Gone." } } }),
            ),
            "the API gave up (server_error): Gone.",
        ),
    ] {
        asking.api.then(step);
        let before = asking.api.requests().len();
        let error = ask(&mut asking);
        assert!(error["data"]["reason"].as_str().unwrap().contains(part), "{part}: {error}");
        assert_eq!(asking.api.requests().len(), before + 1, "nothing is asked again once events have come");
    }
    // A connection that is lost before the first event is retried.
    asking.api.then(Step::CutAfter(0, Box::new(Step::Answer)));
    goes_on(&mut asking);
}

#[test]
fn fields_that_a_model_rejects_are_omitted_from_then_on() {
    let mut asking = Asking::with("", &[("MODEL_ANSWER", "plain-7b"), ("MODEL_QUICK", "azure-mine")]);
    let reply = asking.server.call("answer", json!({ "query": "one" }));
    assert_eq!(reply["result"]["_meta"]["annai/retries"], 2, "{reply}");
    asking.call("answer", json!({ "query": "two" }));
    asking.call("answer_quick", json!({ "query": "three" }));
    let sent: Vec<_> = asking
        .api
        .requests()
        .iter()
        .map(|request| (request.body.get("reasoning").is_some(), request.body.get("text").is_some()))
        .collect();
    assert_eq!(
        sent,
        [(true, true), (false, true), (false, false), (false, false), (true, true), (false, true)]
    );
    // For a model that does not exist, no fields are omitted.
    let mut unknown = Asking::with("", &[("MODEL_ANSWER", "gpt-99-moon")]);
    let error = ask(&mut unknown);
    assert!(
        error["data"]["reason"].as_str().unwrap().contains("the model gpt-99-moon does not exist"),
        "{error}"
    );
    assert_eq!(unknown.api.requests().len(), 1);
}

#[test]
fn keys_are_not_sent_unencrypted_or_to_other_hosts() {
    for (url, reason) in [
        ("http://gateway.example/v1", "openai.base_url: http:// would send the key in the clear"),
        ("ftp://gateway.example", "openai.base_url: expected a URL such as"),
        ("nonsense", "openai.base_url: expected a URL such as"),
    ] {
        let mut asking = Asking::with("", &[("OPENAI_BASE_URL", url)]);
        let error = ask(&mut asking);
        assert_eq!((&error["code"], &error["data"]["key"]), (&json!(-32052), &json!("openai.base_url")));
        assert!(error["message"].as_str().unwrap().contains(reason), "{error}");
    }
    let elsewhere = openai::FakeOpenai::start();
    let mut asking = Asking::with("openai: { extra_headers: { x-token: t-1 } }", &[]);
    for status in [301, 302, 303, 307, 308] {
        let location = (
            "location".to_owned(),
            format!("{}/responses", elsewhere.base_url().replace("127.0.0.1", "localhost")),
        );
        asking.api.then(Step::Status(status, vec![location], String::new()));
        assert_eq!(ask(&mut asking)["data"]["status"], status);
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn an_unreachable_server_is_reported() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{gone}/v1");
    let mut asking = Asking::with("request: { max_retries: 1 }", &[("OPENAI_BASE_URL", &url)]);
    let error = ask(&mut asking);
    let reason = error["data"]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot be reached") && reason.contains("refused"), "{error}");
    assert_eq!(error["data"]["retries"], 1);
}

#[test]
fn a_policy_file_that_cannot_be_read_is_found_at_the_start_in_the_doctor_and_in_calls() {
    let yaml = "policy: { system: { source: file, path: none.md } }";
    let mut asking = Asking::with(yaml, &[]);
    let error = ask(&mut asking);
    assert_eq!((&error["code"], &error["data"]["key"]), (&json!(-32052), &json!("policy.system.path")));
    let problem = "policy.system.path: none.md cannot be read";
    assert!(error["message"].as_str().unwrap().contains(problem), "{error}");
    asking.server.process.wait_for_log(problem);
    assert_eq!(asking.api.requests().len(), 0);
    let config = asking.home.0.join("config.yaml");
    let output = crate::annai(&asking.home).args(["doctor", "--config"]).arg(config).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::stdout(&output).contains(problem), "{}", crate::stdout(&output));
}

#[test]
fn clients_of_2026_07_28_get_failures_as_results() {
    let mut asking = Asking::new();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "answer", "arguments": {}, "_meta": meta });
    let reply = asking.server.request("tools/call", params);
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let error = &reply["result"]["_meta"]["annai/error"];
    assert_eq!((&error["code"], &error["details"]["code"]), (&json!("invalid_parameter"), &json!(-32001)));
    assert_eq!(error["details"]["reason"], "query is required");
}

#[test]
fn error_codes_are_recognized_even_if_the_question_contains_them() {
    let mut asking = Asking::with("request: { max_retries: 2 }", &[("MODEL_ANSWER", "azure-mine")]);
    let quota = || refuse(429, "insufficient_quota", Some("insufficient_quota"), SOON);
    asking.api.then(quota());
    let error = asking.fail("answer", json!({ "query": "What does insufficient_quota mean?" }));
    assert!(error["data"]["reason"].as_str().unwrap().contains("no quota left"), "{error}");
    assert_eq!(asking.api.requests().len(), 1, "never tried again");
    // The question is the name of the field that the API rejects.
    asking.call("answer", json!({ "query": "reasoning.effort" }));
}

#[test]
fn only_the_rejected_value_of_a_field_is_omitted() {
    let mut asking = Asking::with("", &[("MODEL_ANSWER", "o4-mini")]);
    asking.call("answer", json!({ "query": "one" }));
    let reply = asking.server.call("answer", json!({ "query": "two", "reasoning_effort": "max" }));
    assert_eq!(reply["result"]["structuredContent"]["left_out"], json!(["reasoning"]), "{reply}");
    asking.call("answer", json!({ "query": "three" }));
    asking.call("answer", json!({ "query": "four", "reasoning_effort": "max" }));
    let efforts: Vec<_> =
        asking.api.requests().iter().map(|request| request.body["reasoning"]["effort"].clone()).collect();
    assert_eq!(json!(efforts), json!(["medium", "max", null, "medium", null]));
}

#[test]
fn the_retry_limit_covers_all_requests_of_a_call() {
    let mut asking = Asking::with("request: { max_retries: 1 }", &[]);
    let memory = openai::response("gpt-6.1-terra", vec![openai::message("From memory.", vec![])]);
    asking.api.then(refuse(500, "server_error", None, SOON));
    asking.api.then(Step::Response(memory));
    asking.api.then(refuse(500, "server_error", None, SOON));
    // The question is asked again because the first answer came without a search; that fails, so the first answer is kept.
    assert_eq!(asking.call("answer", json!({ "query": "latest news?" }))["answer"], "From memory.");
    assert_eq!(asking.api.requests().len(), 3);
}

#[test]
fn huge_replies_do_not_stall_the_server() {
    let mut asking = Asking::with("request: { max_retries: 0 }", &[]);
    let link = |url: &str| json!({ "type": "url_citation", "url": url, "title": "t", "start_index": 399_990, "end_index": 399_999 });
    let many: Vec<_> = (0..20_000).map(|number| link(&format!("https://a.example/{number}"))).collect();
    let sources: Vec<_> =
        (0..20_000).map(|number| json!({ "type": "api", "name": format!("a{}", number % 7) })).collect();
    let odd = json!({ "output": [
        openai::search_call(&["q"], sources),
        openai::message(&"a https://a.example/1 ".repeat(20_000), many),
    ] });
    // A guard against quadratic work on hostile replies, which would take far longer than the limit below. Processor time is
    // compared, because elapsed time depends on what else the machine does.
    let before = asking.server.process.cpu_time();
    let body = odd.to_string().into_bytes();
    asking.api.then(Step::Bytes { content_type: "application/json", body, piece: 1 << 16 });
    asking.call("answer", json!({ "query": "x" }));
    let nested = format!("{{\"output\":[{}]}}", "[0],".repeat(1_000_000) + "0");
    asking.api.then(Step::Bytes {
        content_type: "application/json",
        body: nested.into_bytes(),
        piece: 1 << 16,
    });
    assert!(ask(&mut asking)["data"]["reason"].as_str().unwrap().contains("200000 values"));
    let long = format!("x{}", "now ".repeat(24_000));
    asking.call("answer", json!({ "query": long }));
    let used = asking.server.process.cpu_time() - before;
    assert!(used < Duration::from_secs(15), "{used:?}");
}

#[test]
fn proxies_are_used_for_other_machines() {
    let proxy = openai::FakeOpenai::start();
    let address = format!("http://{}", proxy.address());
    let yaml = "openai: { base_url: \"http://api.example/v1\", allow_insecure: true }\nrequest: { max_retries: 0 }\n";
    let mut asking = Asking::with(yaml, &[("OPENAI_BASE_URL", ""), ("HTTP_PROXY", &address)]);
    let error = ask(&mut asking);
    assert_eq!(error["data"]["status"], 404, "{error}");
    assert_eq!(proxy.requests()[0].path, "http://api.example/v1/responses");
    let mut direct =
        Asking::with(yaml, &[("OPENAI_BASE_URL", ""), ("HTTP_PROXY", &address), ("NO_PROXY", "api.example")]);
    assert!(ask(&mut direct)["data"]["reason"].as_str().unwrap().contains("api.example cannot be reached"));
    assert_eq!(proxy.requests().len(), 1);
}
