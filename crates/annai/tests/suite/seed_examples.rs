//! The examples of the specifications of the servers that `answers` and `search` replace: openai-responses-mcp, its
//! transports, and mcp-o3-search. Each row is an example with what it must give.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use annai_testkit::openai::{self, FakeOpenai, Step};
use serde_json::{Value, json};

use crate::{Home, annai, stderr};

/// One example: a request, what the API does meanwhile, and what the reply must contain.
struct Example {
    /// The specification and its section.
    place: &'static str,
    /// What the API does; nothing for a request that must not reach it.
    steps: Vec<Step>,
    method: &'static str,
    params: Value,
    /// A part of the reply. A string that begins with `^` is the beginning of a string, and `*` is anything.
    expected: Value,
}

/// The places where a value does not contain what is expected.
fn differences(path: &str, actual: &Value, expected: &Value, found: &mut Vec<String>) {
    match (actual, expected) {
        (_, Value::String(any)) if any == "*" && !actual.is_null() => {}
        (Value::String(text), Value::String(start))
            if start.starts_with('^') && text.starts_with(&start[1..]) => {}
        (Value::Object(_), Value::Object(members)) => {
            for (key, expected) in members {
                differences(&format!("{path}.{key}"), &actual[key], expected, found);
            }
        }
        (Value::Array(items), Value::Array(wanted)) if items.len() == wanted.len() => {
            for (index, (actual, expected)) in items.iter().zip(wanted).enumerate() {
                differences(&format!("{path}[{index}]"), actual, expected, found);
            }
        }
        _ if actual == expected => {}
        _ => found.push(format!("{path}: {actual} instead of {expected}")),
    }
}

/// Runs examples in one conversation with a server of one toolset.
fn run(toolset: &str, env: &[(&str, &str)], framing: Framing, examples: Vec<Example>) {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let mut command = annai(&home);
    command.args(["--stdio", "--toolset", toolset]).env("OPENAI_BASE_URL", api.base_url());
    command.env("OPENAI_API_KEY", openai::KEY).envs(env.iter().copied());
    let mut server = StdioServer::start(&mut command, framing);
    for Example { place, steps, method, params, expected } in examples {
        let before = api.requests().len();
        let count = steps.len();
        steps.into_iter().for_each(|step| api.then(step));
        let mut reply = server.request(method, params);
        // The text of an answer is JSON: it is compared as such, and it has nothing but the four members.
        if let Some(text) = reply["result"]["content"][0]["text"].as_str().map(str::to_owned)
            && toolset == "answers"
        {
            let answer: Value = serde_json::from_str(&text).unwrap();
            let members: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
            assert_eq!(members, ["answer", "used_search", "citations", "model"], "{place}");
            reply["result"]["content"][0]["json"] = answer;
        }
        let mut found = Vec::new();
        differences("reply", &reply, &expected, &mut found);
        assert_eq!(found, Vec::<String>::new(), "{place}: {reply}");
        assert_eq!(api.requests().len() - before, count, "{place}: requests to the API");
    }
    server.finish();
}

fn example(place: &'static str, method: &'static str, params: Value, expected: Value) -> Example {
    Example { place, steps: vec![], method, params, expected }
}

/// A call of a tool.
fn call(place: &'static str, tool: &str, arguments: Value, steps: Vec<Step>, expected: Value) -> Example {
    let params = Value::from_iter([("name", Value::from(tool)), ("arguments", arguments)]);
    Example { place, steps, method: "tools/call", params, expected }
}

fn text_item(answer: Value) -> Value {
    let item = Value::from_iter([("type", Value::from("text")), ("json", answer)]);
    json!({ "result": { "content": [item, { "type": "text" }] } })
}

fn error(code: i32, message: &str, data: Value) -> Value {
    let error = [("code", Value::from(code)), ("message", Value::from(message)), ("data", data)];
    json!({ "error": Value::from_iter(error) })
}

fn status(status: u16) -> Step {
    Step::Status(status, vec![("retry-after-ms".into(), "1".into())], String::new())
}

fn initialize(place: &'static str, name: &str) -> Example {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
    let expected = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": name, "version": "*" } });
    example(place, "initialize", params, json!({ "jsonrpc": "2.0", "id": 1, "result": expected }))
}

#[test]
fn the_examples_of_openai_responses_mcp() {
    let search_arguments = json!({ "type": "object", "required": ["query"], "properties": {
        "query": { "type": "string" }, "recency_days": { "type": "integer" }, "max_results": { "type": "integer" },
        "domains": { "type": "array", "items": { "type": "string" } },
        "style": { "enum": ["summary", "bullets", "citations-only"] },
    } });
    let tools = json!({ "result": { "tools": [
        { "name": "answer", "inputSchema": search_arguments,
          "description": "^Search the web when needed and provide balanced, well-sourced answers. This is the standard general-purpose tool. " },
        { "name": "answer_detailed", "inputSchema": search_arguments,
          "description": "^Perform comprehensive analysis with thorough research and detailed explanations. Best for complex questions requiring deep investigation. " },
        { "name": "answer_quick", "inputSchema": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] },
          "description": "^Provide fast, concise answers optimized for speed. Best for simple lookups or urgent questions. " },
    ] } });
    let forecast = "2025-08-09（JST）の東京都の天気は晴れです。\n\nSources:\n- https://www.jma.go.jp/bosai/ (2025-08-09)";
    let weather = openai::response(
        "gpt-5",
        vec![
            openai::search_call(&["東京の天気"], vec![]),
            openai::message(
                forecast,
                vec![openai::citation(
                    forecast,
                    "https://www.jma.go.jp/bosai/",
                    "https://www.jma.go.jp/bosai/?utm_source=openai",
                    "気象庁｜天気予報",
                )],
            ),
        ],
    );
    let from_memory = json!({ "answer": "*", "used_search": false, "citations": [], "model": "^gpt-5" });
    for framing in FRAMINGS {
        run(
            "answers",
            &[("MODEL_ANSWER", "gpt-5")],
            framing,
            vec![
                initialize("000 2.3, 001 1.3", "openai-responses-mcp"),
                example("000 2.4 and 3.1, 001 1.4", "tools/list", json!({}), tools.clone()),
                call(
                    "000 2.5",
                    "answer",
                    json!({ "query": "What does HTTP 404 mean?", "style": "summary" }),
                    vec![Step::Answer],
                    text_item(from_memory.clone()),
                ),
                call(
                    "001 1.5",
                    "answer",
                    json!({ "query": "HTTP 404 の意味は？", "style": "summary" }),
                    vec![Step::Answer],
                    text_item(from_memory.clone()),
                ),
                call(
                    "000 10",
                    "answer",
                    json!({ "query": "HTTP 404 の意味" }),
                    vec![Step::Answer],
                    text_item(from_memory.clone()),
                ),
                example("000 2.6, 001 1.6", "ping", json!({}), json!({ "result": {} })),
                call(
                    "000 A.1 and A.2",
                    "answer",
                    json!({
                        "query": "本日 2025-08-09 の東京の天気は？", "recency_days": 60, "max_results": 5, "domains": ["jma.go.jp", "tenki.jp"],
                        "style": "summary", "verbosity": "medium", "reasoning_effort": "minimal",
                    }),
                    vec![Step::Response(weather.clone())],
                    text_item(json!({
                        "answer": forecast, "used_search": true, "model": "gpt-5",
                        "citations": [{ "url": "https://www.jma.go.jp/bosai/", "title": "気象庁｜天気予報", "published_at": "2025-08-09" }],
                    })),
                ),
                call(
                    "000 B, 001 1.5: no query",
                    "answer",
                    json!({}),
                    vec![],
                    error(-32001, "answer: invalid arguments", json!({ "reason": "query is required" })),
                ),
                call(
                    "000 B: a wrong style",
                    "answer_detailed",
                    json!({ "query": "x", "style": "poem" }),
                    vec![],
                    error(-32001, "answer_detailed: invalid arguments", json!({ "reason": "^style" })),
                ),
                call(
                    "000 B and 7: 429",
                    "answer",
                    json!({ "query": "x" }),
                    vec![status(429), status(429), status(429), status(429)],
                    error(-32050, "openai responses failed", json!({ "retries": 3, "status": 429 })),
                ),
                call(
                    "000 B and 7: 5xx",
                    "answer_quick",
                    json!({ "query": "x" }),
                    vec![status(500), status(503), status(502), status(500)],
                    error(-32050, "openai responses failed", json!({ "retries": 3, "status": 500 })),
                ),
            ],
        );
    }
}

#[test]
fn the_settings_of_openai_responses_mcp() {
    let home = Home::new();
    let show = |arguments: &[&str], env: &[(&str, &str)]| {
        let output =
            annai(&home).arg("--show-config").args(arguments).envs(env.iter().copied()).output().unwrap();
        let text = stderr(&output);
        let shown: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        (shown["effective"].clone(), shown["sources"].clone())
    };
    // 000 5.3, without the models, which are shut down, and the triggers, which are fewer.
    let (defaults, sources) = show(&[], &[]);
    let mut found = Vec::new();
    differences(
        "settings",
        &defaults,
        &json!({
            "openai": { "api_key_env": "OPENAI_API_KEY", "base_url": "https://api.openai.com/v1" },
            "request": { "timeout_ms": 120_000, "max_retries": 3 },
            "responses": { "stream": false, "json_mode": false },
            "policy": {
                "prefer_search_when_unsure": true, "max_citations": 3, "requery_attempts": 1, "require_dates_iso": true,
                "search_triggers": ["today", "now", "latest", "breaking", "price", "weather", "exchange", "news"],
            },
            "search": { "defaults": { "recency_days": 60, "max_results": 5, "domains": [] } },
            "server": { "transport": "stdio", "debug": false, "debug_file": null, "show_config_on_start": false },
        }),
        &mut found,
    );
    assert_eq!(found, Vec::<String>::new());
    assert_eq!(sources, json!({ "defaults": true, "yaml": null, "env": [], "cli": [] }));
    // 000 5.4.
    for (variable, value, key, expected) in [
        ("OPENAI_API_TIMEOUT", "5", "/request/timeout_ms", json!(5)),
        ("OPENAI_MAX_RETRIES", "2", "/request/max_retries", json!(2)),
        ("SEARCH_RECENCY_DAYS", "7", "/search/defaults/recency_days", json!(7)),
        ("SEARCH_MAX_RESULTS", "4", "/search/defaults/max_results", json!(4)),
        ("MAX_CITATIONS", "9", "/policy/max_citations", json!(9)),
        ("REQUERY_ATTEMPTS", "0", "/policy/requery_attempts", json!(0)),
        ("MODEL_ANSWER", "m", "/model_profiles/answer/model", json!("m")),
        ("MODEL_DETAILED", "m", "/model_profiles/answer_detailed/model", json!("m")),
        ("MODEL_QUICK", "m", "/model_profiles/answer_quick/model", json!("m")),
        ("DEBUG", "1", "/server/debug", json!(true)),
        ("DEBUG", "logs/x.log", "/server/debug_file", json!("logs/x.log")),
    ] {
        let (settings, sources) = show(&[], &[(variable, value)]);
        assert_eq!(settings.pointer(key), Some(&expected), "{variable}");
        assert_eq!(sources["env"], json!([variable]));
    }
    // 000 5.5.
    let (settings, sources) = show(&["--model", "m"], &[("MODEL_ANSWER", "n")]);
    assert_eq!(
        (&settings["model_profiles"]["answer"]["model"], &sources["cli"]),
        (&json!("m"), &json!(["--model"]))
    );
    for option in ["--help", "--version"] {
        assert_eq!(annai(&home).arg(option).output().unwrap().status.code(), Some(0), "{option}");
    }
}

#[test]
fn the_examples_of_mcp_o3_search() {
    const TOOL: &str = "chatgpt_o3_search";
    let tools = json!({ "result": { "tools": [{ "name": TOOL, "inputSchema": { "type": "object", "required": ["query"], "properties": {
        "query": { "type": "string" },
        "limit": { "type": "integer", "default": 10, "minimum": 1, "maximum": 50 },
        "language": { "type": "string", "default": "auto" },
        "timeframe": { "enum": ["recent", "past_week", "past_month", "past_year"] },
    } } }] } });
    let arguments = json!({ "query": "Rust", "limit": 1, "language": "ja", "timeframe": "past_year" });
    let result = json!({ "title": "*", "url": "^https://", "snippet": "*" });
    let limited = Step::Status(429, vec![("retry-after".into(), "121".into())], String::new());
    let unsearched = Step::Response(openai::response("m", vec![openai::message("I know.", vec![])]));
    run(
        "search",
        &[],
        Framing::Lines,
        vec![
            initialize("003 1", "mcp-o3-search"),
            example("003 2", "tools/list", json!({}), tools),
            call(
                "003 3: results",
                TOOL,
                arguments,
                vec![Step::Answer],
                json!({ "result": { "structuredContent": { "results": [result] } } }),
            ),
            call(
                "003 3: defaults",
                TOOL,
                json!({ "query": "Rust" }),
                vec![Step::Answer],
                json!({ "result": { "structuredContent": { "results": "*" } } }),
            ),
            call(
                "003 4: no search",
                TOOL,
                json!({ "query": "q" }),
                vec![unsearched],
                error(-32002, "Search Error", json!({ "details": "*" })),
            ),
            call(
                "003 6: key refused",
                TOOL,
                json!({ "query": "q" }),
                vec![Step::Status(401, vec![], String::new())],
                error(-32001, "Authentication Error", json!({ "details": "*" })),
            ),
            call(
                "003 6: rate limit",
                TOOL,
                json!({ "query": "q" }),
                vec![limited],
                error(-32003, "Rate Limit Exceeded", json!({ "details": "*", "retryAfter": 121 })),
            ),
            call(
                "003 7: three attempts",
                TOOL,
                json!({ "query": "q" }),
                vec![status(500), status(500), status(500)],
                error(-32002, "Search Error", json!({ "details": "*", "retries": 2 })),
            ),
            call(
                "003, errors: an empty query",
                TOOL,
                json!({ "query": "" }),
                vec![],
                error(-32602, "Invalid params", json!({ "details": "^query" })),
            ),
        ],
    );
    run(
        "search",
        &[("OPENAI_API_KEY", "")],
        Framing::Headers,
        vec![
            initialize("003 1", "mcp-o3-search"),
            call(
                "003 5: no key",
                TOOL,
                json!({ "query": "q" }),
                vec![],
                error(-32001, "Authentication Error", json!({ "details": "^OPENAI_API_KEY is not set" })),
            ),
        ],
    );
}
