//! The answer tools: the request to the API and the conversion of its reply.

use annai_answers::SYSTEM_POLICY;
use annai_testkit::openai::{self, Step};
use serde_json::{Map, Value, json};

use crate::Asking;

fn replied(text: &str, annotations: Vec<Value>) -> Step {
    Step::Response(openai::response("gpt-6.1-terra", vec![openai::message(text, annotations)]))
}

#[test]
fn a_question_about_stable_facts_is_answered_without_a_search() {
    let mut asking = Asking::new();
    let reply = asking.server.call("answer", json!({ "query": "HTTP 404 の意味", "style": "summary" }));
    let output = &reply["result"]["structuredContent"];
    assert_eq!((&output["used_search"], &output["citations"]), (&json!(false), &json!([])));
    assert_eq!(output["model"], "gpt-6.1-terra-2026-08-01");
    // The first text item has exactly the four members that clients of the original server know, the second one the rest.
    let [first, second] = reply["result"]["content"].as_array().unwrap().as_slice() else {
        panic!("{reply}");
    };
    let parse = |item: &Value| -> Map<_, _> { serde_json::from_str(item["text"].as_str().unwrap()).unwrap() };
    let (first, second) = (parse(first), parse(second));
    assert_eq!(first.keys().collect::<Vec<_>>(), ["answer", "used_search", "citations", "model"]);
    assert_eq!(output, &Value::Object(first.into_iter().chain(second.clone()).collect()));
    assert!(output["usage"]["total_tokens"].as_u64().unwrap() > 0, "{output}");
    let others = second.into_iter().filter(|(key, _)| key != "usage").collect();
    assert_eq!(
        Value::Object(others),
        json!({ "dropped_citations": 0, "unverified_links": 0, "left_out": [], "requeries": 0, "truncated": false })
    );
    let meta = &reply["result"]["_meta"];
    assert_eq!(meta["annai/retries"], 0);
    assert!(meta["annai/latency_ms"].is_u64());
    asking.server.finish();
}

#[test]
fn a_question_about_the_weather_is_answered_with_citations() {
    let mut asking = Asking::new();
    let output = asking.call("answer", json!({ "query": "本日 2026-11-16 の東京の天気は？" }));
    assert_eq!(output["used_search"], true);
    let urls: Vec<_> =
        output["citations"].as_array().unwrap().iter().map(|citation| &citation["url"]).collect();
    assert_eq!(urls, ["https://www.jma.go.jp/bosai/forecast/", "https://tenki.jp/forecast/3/16/"]);
    assert_eq!(output["citations"][0]["title"], "気象庁 天気予報");
    // The API gives no publication date; the list of sources shows the day of access instead.
    assert_eq!(output["citations"][0].get("published_at"), None);
    let answer = output["answer"].as_str().unwrap();
    let list = answer.split("Sources:\n").nth(1).unwrap();
    assert!(list.starts_with("- https://www.jma.go.jp/bosai/forecast/ (accessed 20"), "{answer}");
    assert!(!answer.contains("utm_source"), "{answer}");
}

#[test]
fn the_request_to_the_api_matches_the_arguments() {
    let mut asking = Asking::with("", &[("TZ", "Asia/Tokyo")]);
    asking.call(
        "answer",
        json!({
            "query": " What is new? ", "recency_days": "7", "max_results": 3.0, "domains": ["https://www.jma.go.jp/x", "tenki.jp", "tenki.jp"],
            "style": "bullets", "verbosity": "low", "reasoning_effort": "minimal",
        }),
    );
    let mut body = asking.body(0);
    let input = body["input"].take();
    assert_eq!(
        body,
        json!({
            "model": "gpt-6.1-terra",
            "instructions": SYSTEM_POLICY,
            "input": null,
            "tools": [{
                "type": "web_search",
                "filters": { "allowed_domains": ["www.jma.go.jp", "tenki.jp"] },
                "user_location": { "type": "approximate", "timezone": "Asia/Tokyo" },
            }],
            "include": ["web_search_call.action.sources"],
            "text": { "verbosity": "low" },
            "reasoning": { "effort": "low" },
            "store": false,
        })
    );
    let input = input.as_str().unwrap();
    assert!(input.starts_with("What is new?\n\nHints:\n- Today is 20"), "{input}");
    for hint in [
        "in the time zone Asia/Tokyo",
        "last 7 days",
        "at most 3 sources",
        "www.jma.go.jp, tenki.jp",
        "bullet points",
    ] {
        assert!(input.contains(hint), "{hint} is not in {input}");
    }
    let request = &asking.api.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/responses"));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {}", openai::KEY).as_str()));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(request.header("user-agent").unwrap().starts_with("annai/"));
}

#[test]
fn absent_arguments_get_the_configured_defaults() {
    let mut asking = Asking::new();
    asking.call("answer_quick", json!({ "query": "x" }));
    let input = asking.body(0)["input"].as_str().unwrap().to_owned();
    assert!(input.contains("last 60 days") && input.contains("at most 5 sources"), "{input}");
    asking.call("answer", json!({ "query": "x", "recency_days": 0, "style": null }));
    assert!(!asking.body(1)["input"].as_str().unwrap().contains("days"));
    let error = asking.fail("answer_quick", json!({ "query": "x", "style": "bullets" }));
    assert_eq!(error["data"]["reason"], "style: unknown key; allowed: query");
}

#[test]
fn settings_change_the_request() {
    let yaml = "search:\n  domain_mode: hint\n  context_size: high\n  user_location: null\n  defaults: { domains: [jma.go.jp] }\n\
                openai:\n  extra_body: { metadata: { team: a } }\n  extra_headers: { x-gateway: token-77 }\n  web_search_type: web_search_2025_08_26\n\
                policy: { prefer_search_when_unsure: false }\n";
    let mut asking = Asking::with(yaml, &[("MAX_CITATIONS", "1")]);
    let output = asking.call("answer", json!({ "query": "weather?" }));
    let body = asking.body(0);
    assert_eq!(body["tools"], json!([{ "type": "web_search_2025_08_26", "search_context_size": "high" }]));
    assert_eq!(body["metadata"], json!({ "team": "a" }));
    assert!(body["input"].as_str().unwrap().contains("Prefer these sites and their subdomains: jma.go.jp."));
    assert!(!body["instructions"].as_str().unwrap().contains("unsure"));
    assert_eq!(asking.api.requests()[0].header("x-gateway"), Some("token-77"));
    // In hint mode, citations of other domains stay; MAX_CITATIONS limits them to one.
    assert_eq!(output["citations"].as_array().unwrap().len(), 1);
}

#[test]
fn publication_dates_are_taken_only_from_next_to_the_link() {
    let mut asking = Asking::new();
    let text = "It rains. ([A](https://a.example/x?utm_source=openai))\n\nSources:\n- https://a.example/x?utm_source=openai (2026-01-02)\n- https://b.example/";
    let annotations = vec![
        openai::citation(
            text,
            "([A](https://a.example/x?utm_source=openai))",
            "https://a.example/x?utm_source=openai",
            "A",
        ),
        openai::citation(text, "https://b.example/", "https://b.example/", "B"),
    ];
    asking.api.then(replied(text, annotations));
    let output = asking.call("answer", json!({ "query": "rain?" }));
    assert_eq!(
        output["citations"],
        json!([
            { "url": "https://a.example/x", "title": "A", "published_at": "2026-01-02" },
            { "url": "https://b.example/", "title": "B" },
        ])
    );
    let answer = output["answer"].as_str().unwrap();
    assert_eq!(answer.matches("Sources:").count(), 1);
    assert!(
        answer.contains("- https://a.example/x (2026-01-02)\n- https://b.example/ (accessed 20"),
        "{answer}"
    );
}

#[test]
fn pages_outside_the_domains_are_dropped_and_counted() {
    let mut asking = Asking::new();
    let text = "Yes. ([A](https://a.example/)) ([E](https://evil.example/))";
    let annotations = vec![
        openai::citation(text, "([A](https://a.example/))", "https://a.example/", "A"),
        openai::citation(text, "([E](https://evil.example/))", "https://evil.example/", "E"),
        openai::citation(text, "([A](https://a.example/))", "javascript:alert(1)", "J"),
    ];
    asking.api.then(replied(text, annotations));
    let reply = asking.server.call("answer", json!({ "query": "x", "domains": ["a.example"] }));
    let output = &reply["result"]["structuredContent"];
    assert_eq!(output["citations"], json!([{ "url": "https://a.example/", "title": "A" }]));
    assert_eq!(output["dropped_citations"], 2);
    let answer = output["answer"].as_str().unwrap();
    assert!(
        answer.starts_with("Yes. ([A](https://a.example/))\n\nSources:\n- https://a.example/ (acc"),
        "{answer}"
    );
    assert!(!answer.contains("evil"), "{answer}");
}

#[test]
fn search_sources_become_citations_when_nothing_is_cited() {
    let mut asking = Asking::new();
    let sources = vec![
        json!({ "type": "url", "url": "https://a.example/?utm_source=openai" }),
        json!({ "type": "api", "name": "oai-weather" }),
    ];
    // A message without annotations, a search call without an action, and an unknown item.
    let mut message = openai::message("It rains.", vec![]);
    message["content"][0].as_object_mut().unwrap().remove("annotations");
    let output = vec![
        openai::search_call(&["rain"], sources),
        json!({ "id": "ws_2", "type": "web_search_call", "status": "in_progress" }),
        json!({ "type": "something_new" }),
        message,
    ];
    asking.api.then(Step::Response(openai::response("gpt-6.1-terra", output)));
    let output = asking.call("answer", json!({ "query": "rain?" }));
    assert_eq!(output["used_search"], true);
    assert_eq!(output["citations"], json!([{ "url": "https://a.example/" }, { "url": "oai-weather" }]));
    assert!(output["answer"].as_str().unwrap().contains("- oai-weather (accessed"));
}

#[test]
fn a_question_with_a_search_trigger_is_asked_again_with_search() {
    let mut asking = Asking::new();
    asking.api.then(replied("From memory.", vec![]));
    let reply = asking.server.call("answer", json!({ "query": "latest Rust version?" }));
    let output = &reply["result"]["structuredContent"];
    assert_eq!((&output["used_search"], &output["requeries"]), (&json!(true), &json!(1)));
    let (first, second) = (asking.body(0), asking.body(1));
    assert!(!first["input"].as_str().unwrap().contains("must use web_search"));
    assert!(second["input"].as_str().unwrap().contains("must use web_search"));

    // It is asked again only requery_attempts times, and if that fails, the first answer is returned.
    for step in [replied("1", vec![]), replied("2", vec![])] {
        asking.api.then(step);
    }
    let output = asking.call("answer", json!({ "query": "price?" }));
    assert_eq!((&output["answer"], &output["used_search"]), (&json!("2"), &json!(false)));
    asking.api.then(replied("1", vec![]));
    asking.api.then(Step::Status(400, vec![], "{}".into()));
    assert_eq!(asking.call("answer", json!({ "query": "weather?" }))["answer"], "1");
    assert_eq!(asking.api.requests().len(), 6);
    // Neither for other words, nor for the quick tool.
    for (tool, query) in
        [("answer", "cost of living?"), ("answer", "which version?"), ("answer_quick", "price?")]
    {
        asking.api.then(replied("1", vec![]));
        let output = asking.call(tool, json!({ "query": query }));
        assert_eq!((&output["answer"], &output["requeries"]), (&json!("1"), &json!(0)), "{query}");
    }
    assert_eq!(asking.api.requests().len(), 9);

    let mut never = Asking::with("policy: { requery_attempts: 0 }", &[]);
    never.api.then(replied("1", vec![]));
    assert_eq!(never.call("answer", json!({ "query": "price?" }))["answer"], "1");
    assert_eq!(never.api.requests().len(), 1);
}

#[test]
fn instructions_can_come_from_a_file() {
    let home = crate::Home::new();
    let policy = home.write("own.md", "Answer in rhyme.\n");
    let yaml = format!("policy:\n  system: {{ source: file, path: {policy:?}, merge: append }}\n");
    let mut asking = Asking::with(&yaml, &[]);
    asking.call("answer", json!({ "query": "x" }));
    let instructions = asking.body(0)["instructions"].as_str().unwrap().to_owned();
    assert_eq!(instructions, format!("{}\n\nAnswer in rhyme.\n", SYSTEM_POLICY.trim_end()));
}

#[test]
fn the_example_configuration_and_policy_load() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config");
    let example = std::fs::read_to_string(format!("{root}/config.yaml.example")).unwrap();
    let policy = std::fs::read_to_string(format!("{root}/policy.md.example")).unwrap();
    let home = crate::Home::new();
    home.write("policy.md", &policy);
    let file = home.write("config.yaml", &example);
    let output = crate::annai(&home).arg("--show-config").arg("--config").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", crate::stderr(&output));
    let yaml = format!("policy: {{ system: {{ source: file, path: {:?} }} }}", home.0.join("policy.md"));
    let mut asking = Asking::with(&yaml, &[]);
    asking.call("answer", json!({ "query": "x" }));
    assert_eq!(asking.body(0)["instructions"], policy);
}
