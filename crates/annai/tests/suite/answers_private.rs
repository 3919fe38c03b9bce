//! Secrets and questions appear neither in the log, nor in errors, nor in the printed configuration.

use annai_testkit::openai::{self, Step};
use serde_json::{Value, json};

use crate::{Asking, Home, annai, stderr};

const QUESTION: &str = "Why did the purple zebra of 渋谷 never sleep?";
const HEADER: &str = "gateway-token-4711";

fn echo(status: u16, message: String) -> Step {
    Step::Fail { status, kind: "invalid_request_error", code: Some("odd"), message, headers: vec![] }
}

#[test]
fn logs_and_errors_contain_no_secrets() {
    let home = Home::new();
    let copy = home.0.join("debug.log");
    let yaml = format!(
        "openai: {{ extra_headers: {{ x-gateway: {HEADER} }} }}\nrequest: {{ max_retries: 0 }}\nserver: {{ debug: true, debug_file: {copy:?}, show_config_on_start: true }}\n"
    );
    let mut asking = Asking::with(&yaml, &[]);
    let mut errors = Vec::new();
    let body = json!({ "input": QUESTION, "instructions": annai_answers::SYSTEM_POLICY }).to_string();
    for step in [
        echo(400, format!("Cannot read {QUESTION}")),
        echo(500, format!("You sent {body} with Bearer {} and {HEADER}", openai::KEY)),
        echo(401, format!("Incorrect API key provided: {}.", openai::KEY)),
        echo(400, format!("Key {} or header {HEADER}?", openai::KEY)),
        Step::Status(502, vec![], format!("<html>{QUESTION} {} {HEADER}</html>", openai::KEY)),
        Step::Status(400, vec![], json!({ "error": QUESTION }).to_string()),
        Step::Bytes { content_type: "application/json", body: QUESTION.into(), piece: 99 },
        Step::Events(vec![json!({ "type": "error", "message": format!("{QUESTION} {}", openai::KEY) })]),
        Step::HangUp,
    ] {
        asking.api.then(step);
        errors.push(asking.fail("answer", json!({ "query": QUESTION })));
        asking.fail("chatgpt_o3_search", json!({ "query": QUESTION, "limit": 99 }));
    }
    asking.call("answer", json!({ "query": format!("{QUESTION} weather"), "domains": ["a.example"] }));
    let id = asking.server.start_request(
        "tools/call",
        json!({ "name": "answer", "arguments": { "query": QUESTION, "x": QUESTION } }),
    );
    asking.server.notify("notifications/cancelled", json!({ "requestId": id, "reason": "done" }));
    asking.server.end_input();
    let (_, log) = asking.server.process.log_at_exit();

    let file = std::fs::read_to_string(copy).unwrap();
    let errors = json!(errors).to_string();
    for (place, text) in [("log", &log), ("file", &file), ("errors", &errors)] {
        for private in [
            openai::KEY,
            HEADER,
            QUESTION,
            "purple zebra",
            "渋谷",
            "You answer questions for",
            "When you are unsure",
        ] {
            assert!(!text.contains(private), "{private} is in the {place}: {text}");
        }
    }
    // The log still contains what is needed to find a problem.
    for line in [
        "tools/call name=answer argsKeys=[query] queryLen=43",
        "profile=answer model=gpt-6.1-terra supports={verbosity:true, reasoning:true}",
        "request summary tools=web_search(on) reasoning=on text.verbosity=on",
        "error attempt=1 status=401 name=AuthenticationError code=odd msg=",
        "body=\\\"(withheld)\\\"",
        "\"effective\"",
    ] {
        assert!(log.contains(line), "{line} is not in the log: {log}");
    }
}

#[test]
fn the_debug_line_of_a_failed_request_shows_the_beginning_of_the_body() {
    let mut asking = Asking::with("request: { max_retries: 0 }", &[("DEBUG", "1")]);
    let body = format!(
        "<html>Bad gateway, see https://status.example/x key {} {}</html>",
        "aB3".repeat(12),
        "long ".repeat(200)
    );
    asking.api.then(Step::Status(502, vec![], body));
    asking.fail("answer", json!({ "query": QUESTION }));
    let log = asking.server.process.wait_for_log("body=");
    let shown = log.split("body=").nth(1).unwrap();
    let shown = shown.split("\\\"").nth(1).unwrap();
    assert!(shown.starts_with("<html>Bad gateway, see *** key *** long long"), "{shown}");
    assert!(shown.ends_with('…') && shown.chars().count() == 300, "{shown}");
}

#[test]
fn debugging_adds_details_to_errors() {
    let mut asking = Asking::with("request: { max_retries: 0 }", &[("DEBUG", "1")]);
    asking.api.then(echo(400, "x".repeat(1000)));
    let error = asking.fail("answer", json!({ "query": QUESTION }));
    let data = &error["data"];
    assert_eq!(
        (&data["status"], &data["type"], &data["name"]),
        (&json!(400), &json!("invalid_request_error"), &json!("BadRequestError"))
    );
    assert_eq!(data["message"].as_str().unwrap().chars().count(), 400, "with the mark of a cut");
}

#[test]
fn the_configuration_shows_no_secret() {
    let home = Home::new();
    let file = home.write(
        "c.yaml",
        &format!("openai:\n  extra_headers:\n    x-gateway: {HEADER}\n    api-key: {HEADER}\n"),
    );
    let output = annai(&home)
        .arg("--show-config")
        .arg("--config")
        .arg(&file)
        .env("OPENAI_API_KEY", openai::KEY)
        .output()
        .unwrap();
    let text = stderr(&output);
    let shown: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    assert_eq!(
        shown["effective"]["openai"]["extra_headers"],
        json!({ "x-gateway": "***", "api-key": "***" })
    );
    assert!(!text.contains(openai::KEY) && !text.contains(HEADER), "{text}");
    let file = home.write("c.yaml", &format!("openai:\n  extra_headers:\n    x-gateway: [{HEADER}]\n"));
    let output = annai(&home).arg("--show-config").arg("--config").arg(&file).output().unwrap();
    assert!(!stderr(&output).contains(HEADER) && output.status.code() == Some(2), "{}", stderr(&output));
}

#[test]
fn a_key_in_the_wrong_place_is_refused_and_not_repeated() {
    let home = Home::new();
    for (yaml, key) in [
        (format!("openai:\n  api_key_env: {}\n", openai::KEY), "openai.api_key_env: expected the name"),
        (
            "openai:\n  base_url: https://me:hunter2@gateway.example/v1\n".to_owned(),
            "openai.base_url: no user or password",
        ),
        (
            "openai:\n  base_url: https://gateway.example/v1?api_key=hunter2\n".to_owned(),
            "openai.base_url: no key belongs",
        ),
        (
            "openai:\n  extra_headers: { content-length: hunter2 }\n".to_owned(),
            "openai.extra_headers.content-length: expected",
        ),
        ("openai:\n  extra_body: { input: hunter2 }\n".to_owned(), "openai.extra_body.input: is made from"),
        (
            "search:\n  defaults: { domains: [\"hunter2\"] }\n".to_owned(),
            "search.defaults.domains[0]: expected a site",
        ),
    ] {
        let file = home.write("c.yaml", &yaml);
        for arguments in [&["--show-config"][..], &["--stdio"], &["doctor", "--toolset", "library"]] {
            let output = annai(&home).args(arguments).arg("--config").arg(&file).output().unwrap();
            let text = stderr(&output) + &crate::stdout(&output);
            assert_ne!(output.status.code(), Some(0), "{yaml}");
            assert!(text.contains(&format!("c.yaml:2: {key}")), "{yaml}: {text}");
            assert!(!text.contains("hunter2") && !text.contains(openai::KEY), "{text}");
        }
    }
    let file = home.write("c.yaml", "openai:\n  extra_body: { metadata: { token: hunter2 } }\n");
    let output = annai(&home).arg("--show-config").arg("--config").arg(&file).output().unwrap();
    assert!(stderr(&output).contains("\"extra_body\": \"***\"") && !stderr(&output).contains("hunter2"));
}

#[test]
fn requests_to_this_machine_bypass_the_proxy() {
    let proxy = openai::FakeOpenai::start();
    let address = format!("http://{}", proxy.address());
    let variables =
        ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"].map(|name| (name, address.as_str()));
    let mut asking = Asking::with("", &variables);
    asking.call("answer", json!({ "query": QUESTION }));
    assert_eq!(proxy.requests().len(), 0);
}

#[test]
fn an_implausible_model_name_in_a_reply_is_neither_returned_nor_logged() {
    let mut asking = Asking::with("", &[]);
    for model in [
        format!("{} {QUESTION}", openai::KEY),
        openai::KEY.to_owned(),
        "x".repeat(100_000),
        "a\u{1b}[2J".to_owned(),
    ] {
        let mut response = openai::response("m", vec![openai::message("Yes.", vec![])]);
        response["model"] = model.into();
        asking.api.then(Step::Bytes {
            content_type: "application/json",
            body: response.to_string().into_bytes(),
            piece: 1 << 16,
        });
        assert_eq!(asking.call("answer", json!({ "query": QUESTION }))["model"], "gpt-6.1-terra");
    }
    let log = asking.server.finish();
    assert!(!log.contains(openai::KEY) && !log.contains("zebra") && log.len() < 5_000, "{log}");
}

#[test]
fn a_key_that_the_api_repeats_in_an_answer_is_masked_in_every_channel() {
    let key = openai::KEY;
    let yaml = format!("openai: {{ extra_headers: {{ x-gateway: {HEADER} }} }}\nserver: {{ debug: true }}\n");
    let mut asking = Asking::with(&yaml, &[]);
    let upper = key.to_uppercase();
    let text = format!("Your key is {key}, in capitals {upper}, the header {HEADER}. 鍵は{key}です。");
    let url = format!("https://a.example/?k={key}");
    let title = format!("{} {key}", "long ".repeat(56));
    let cited = vec![openai::citation(&text, "Your key", &url, &title)];
    let search =
        openai::search_call(&[&format!("who has {key}")], vec![json!({ "type": "url", "url": url })]);
    let response = openai::response("m", vec![search, openai::message(&text, cited)]);
    for (tool, token) in [
        ("answer", None),
        ("answer", Some("tok")),
        ("chatgpt_o3_search", None),
        ("chatgpt_o3_search", Some("tok")),
    ] {
        asking.api.then(Step::Response(response.clone()));
        let mut params = json!({ "name": tool, "arguments": { "query": "q" } });
        if let Some(token) = token {
            params["_meta"] = json!({ "progressToken": token });
        }
        let id = asking.server.start_request("tools/call", params);
        let mut received = Vec::new();
        while received.last().is_none_or(|message: &Value| message["id"] != json!(id)) {
            received.push(asking.server.receive().message);
        }
        let all = json!(received).to_string();
        for secret in [key, &upper, HEADER, &key[..16]] {
            assert!(!all.contains(secret), "{tool} {token:?}: {secret} is in {all}");
        }
        let output = &received.last().unwrap()["result"]["structuredContent"];
        if tool == "answer" {
            let answer = output["answer"].as_str().unwrap();
            let expected = "Your key is ***, in capitals ***, the header ***. 鍵は***です。\n\nSources:\n- https://a.example/?k=*** (accessed ";
            assert!(answer.starts_with(expected), "{answer}");
            assert_eq!(output["citations"][0]["url"], "https://a.example/?k=***");
            assert!(output["citations"][0]["title"].as_str().unwrap().ends_with("long ***…"), "{output}");
        } else {
            assert_eq!(output["results"][0]["url"], "https://a.example/?k=***", "{output}");
        }
    }
    let log = asking.server.finish();
    assert!(!log.contains(key) && !log.contains(&upper) && !log.contains(HEADER), "{log}");
}

#[test]
fn a_header_with_an_ordinary_word_does_not_damage_answers() {
    let mut asking = Asking::with("openai: { extra_headers: { x-team: docs } }", &[]);
    let text = "The docs of the team say so.";
    asking.api.then(Step::Response(openai::response("m", vec![openai::message(text, vec![])])));
    assert_eq!(asking.call("answer", json!({ "query": "q" }))["answer"], text);
}
