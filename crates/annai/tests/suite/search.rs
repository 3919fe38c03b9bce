//! `chatgpt_o3_search`: results come from the search and are never invented.

use std::time::Duration;

use annai_testkit::openai::{self, Step};
use serde_json::{Value, json};

use crate::Asking;

const TOOL: &str = "chatgpt_o3_search";

#[test]
fn results_are_cited_pages_then_sources() {
    let mut asking = Asking::new();
    let reply = asking.server.call(TOOL, json!({ "query": "東京の天気" }));
    let output = &reply["result"]["structuredContent"];
    assert_eq!(
        output["results"],
        json!([
            { "title": "気象庁 天気予報", "url": "https://www.jma.go.jp/bosai/forecast/", "snippet": "東京は晴れ🌤、最高気温は31度の見込みです。" },
            { "title": "tenki.jp", "url": "https://tenki.jp/forecast/3/16/", "snippet": "降水確率は10パーセントです。" },
        ])
    );
    assert!(output["usage"]["total_tokens"].as_u64().unwrap() > 0, "{output}");
    assert_eq!(reply["result"]["content"], json!([{ "type": "text", "text": output.to_string() }]));
    let body = asking.body(0);
    assert_eq!(
        (&body["model"], &body["tool_choice"], &body["store"]),
        (&json!("gpt-6.1-sol"), &json!("required"), &json!(false))
    );
    assert!(body.get("text").is_none(), "no JSON schema beside a search: {body}");
}

#[test]
fn arguments_shape_the_request_and_the_results() {
    let mut asking = Asking::with("", &[("O3_SEARCH_MODEL", "o3")]);
    let today = annai_core::Date::in_utc(std::time::SystemTime::now()).to_string();
    let text = &format!(
        "New. ([A](https://a.example/)) ({today})\nOld ([B](https://b.example/)) (2001-01-01)\nUndated ([C](https://c.example/?utm_source=x))"
    );
    let cite = |part: &str, url: &str, title: &str| openai::citation(text, part, url, title);
    let annotations = vec![
        cite("([A](https://a.example/))", "https://a.example/", "A"),
        cite("([B](https://b.example/))", "https://b.example/", "B"),
        cite("([C](https://c.example/?utm_source=x))", "https://c.example/?utm_source=x", " C\n"),
    ];
    let sources = vec![
        json!({ "type": "url", "url": "https://a.example/#again" }),
        json!({ "type": "url", "url": "https://d.example/path", "relevance_score": 0.25 }),
        json!({ "type": "api", "name": "oai-weather" }),
        json!({ "type": "url", "url": "javascript:alert(1)" }),
    ];
    let output = vec![openai::search_call(&["x"], sources), openai::message(text, annotations)];
    let step = Step::Response(openai::response("o3", output));
    asking.api.then(step.clone());
    let arguments = json!({ "query": "x", "limit": "20", "language": "en-US", "timeframe": "past_week" });
    let results = asking.call(TOOL, arguments)["results"].take();
    assert_eq!(
        results,
        json!([
            { "title": "A", "url": "https://a.example/", "snippet": "New.", "publishedDate": today },
            { "title": "C", "url": "https://c.example/", "snippet": "Undated" },
            { "title": "d.example", "url": "https://d.example/path", "snippet": "", "relevanceScore": 0.25 },
        ])
    );
    let body = asking.body(0);
    assert_eq!((&body["model"], body.get("text")), (&json!("o3"), None));
    let input = body["input"].as_str().unwrap();
    for hint in ["up to 20", "en-US", "last 7 days"] {
        assert!(input.contains(hint), "{hint} is not in {input}");
    }
    asking.api.then(step);
    assert_eq!(
        asking.call(TOOL, json!({ "query": "x", "limit": 2 }))["results"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn failures_keep_the_codes_of_the_former_server() {
    let mut asking = Asking::new();
    for (arguments, details) in [
        (json!({}), "query is required"),
        (json!({ "query": "" }), "query: expected a string from 1 to 500 characters, got an empty string"),
        (json!({ "query": " " }), "query: expected text, got only white space"),
        (
            json!({ "query": "x".repeat(501) }),
            "query: expected a string from 1 to 500 characters, got 501 characters",
        ),
        (json!({ "query": "q", "limit": 0 }), "limit: expected an integer from 1 to 50, got 0"),
        (json!({ "query": "q", "limit": 51 }), "limit: expected an integer from 1 to 50, got 51"),
        (
            json!({ "query": "q", "language": "日本語" }),
            "language: expected auto or a BCP-47 tag such as ja or en-US",
        ),
        (
            json!({ "query": "q", "timeframe": "today" }),
            "timeframe: expected one of recent, past_week, past_month, past_year, got \"today\"",
        ),
        (json!({ "query": "q", "page": 2 }), "page: unknown key; allowed: query, limit, language, timeframe"),
    ] {
        let error = asking.fail(TOOL, arguments);
        assert_eq!((&error["code"], &error["data"]["details"]), (&json!(-32602), &json!(details)));
    }
    assert_eq!(asking.api.requests().len(), 0);

    let fail = |status, kind, headers: &[(&str, &str)]| Step::Fail {
        status,
        kind,
        code: None,
        message: "No.".into(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    };
    let unsearched = openai::response("gpt-6.1-sol", vec![openai::message("I know.", vec![])]);
    for (step, code, message, details) in [
        (
            fail(401, "invalid_request_error", &[]),
            -32001,
            "Authentication Error",
            "the key was refused (401)",
        ),
        (
            fail(400, "invalid_request_error", &[]),
            -32002,
            "Search Error",
            "the API refused the request (400)",
        ),
        (fail(429, "insufficient_quota", &[]), -32002, "Search Error", "no quota left"),
        (
            fail(429, "requests", &[("retry-after", "300")]),
            -32003,
            "Rate Limit Exceeded",
            "try again in 300 s",
        ),
        (Step::Response(unsearched), -32002, "Search Error", "without a search"),
    ] {
        asking.api.then(step);
        let error = asking.fail(TOOL, json!({ "query": "q" }));
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
        assert!(error["data"]["details"].as_str().unwrap().contains(details), "{error}");
        if code == -32003 {
            assert_eq!(error["data"]["retryAfter"], 300);
        }
    }
    let mut keyless = Asking::with("", &[("OPENAI_API_KEY", "")]);
    let error = keyless.fail(TOOL, json!({ "query": "q" }));
    assert_eq!((&error["code"], &error["message"]), (&json!(-32001), &json!("Authentication Error")));
    assert!(error["data"]["details"].as_str().unwrap().contains("OPENAI_API_KEY is not set"), "{error}");
}

#[test]
fn the_search_timeout_applies_only_without_progress() {
    let mut asking = Asking::with(
        "request: { timeout_ms: 20000, retry_timeouts: false }",
        &[("O3_SEARCH_TIMEOUT_MS", "150")],
    );
    asking.api.then(Step::Silence);
    let error = asking.fail(TOOL, json!({ "query": "q" }));
    assert!(error["data"]["details"].as_str().unwrap().contains("did not answer within 0.15 s"), "{error}");
    asking.api.then(Step::Delay(Duration::from_millis(400), Box::new(Step::Answer)));
    let params = json!({ "name": TOOL, "arguments": { "query": "q" }, "_meta": { "progressToken": 1 } });
    let reply = asking.server.request("tools/call", params);
    assert_eq!(reply["result"]["structuredContent"]["results"].as_array().map(Vec::len), Some(2), "{reply}");
}

#[test]
fn a_search_is_attempted_three_times_in_all_unless_it_is_configured_otherwise() {
    for (env, attempts) in [(&[][..], 3), (&[("O3_SEARCH_MAX_ATTEMPTS", "1")][..], 1)] {
        let mut asking = Asking::with("", env);
        let headers = vec![("retry-after-ms".to_owned(), "5".to_owned())];
        let fail = || asking.api.then(Step::Status(500, headers.clone(), String::new()));
        (0..attempts).for_each(|_| fail());
        let error = asking.fail(TOOL, json!({ "query": "q" }));
        assert_eq!((&error["code"], &error["data"]["retries"]), (&json!(-32002), &json!(attempts - 1)));
        assert_eq!(asking.api.requests().len(), attempts);
        (1..attempts).for_each(|_| asking.api.then(Step::Status(500, headers.clone(), String::new())));
        let reply = asking.server.call(TOOL, json!({ "query": "q" }));
        assert_eq!(reply["result"]["_meta"]["annai/retries"], attempts - 1);
    }
}

#[test]
fn a_single_toolset_keeps_the_name_and_tools_of_its_former_server() {
    let home = crate::Home::new();
    for (toolset, name, tools) in [
        ("search", "mcp-o3-search", vec![TOOL]),
        ("answers", "openai-responses-mcp", vec!["answer", "answer_detailed", "answer_quick"]),
    ] {
        let mut command = crate::annai(&home);
        let mut server = annai_testkit::mcp::StdioServer::start(
            command.args(["--stdio", "--toolset", toolset]),
            annai_testkit::mcp::Framing::Headers,
        );
        assert_eq!(server.initialize("2025-06-18")["result"]["serverInfo"]["name"], name);
        let list = server.request("tools/list", json!({}));
        let names: Vec<_> =
            list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(
            names,
            tools.iter().map(|name| Value::from(*name)).collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
        server.finish();
    }
}
