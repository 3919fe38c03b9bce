//! Invents an answer to a valid request: with web search items and citations, or from memory.

use serde_json::{Value, json};

use super::models::SNAPSHOT;
use super::reply::{citation, message, new_id, open_page_call, response, search_call};

/// A question with one of these words is answered with a web search.
const TRIGGERS: [&str; 8] = ["weather", "天気", "latest", "news", "search", "最新", "検索", "today's price"];

/// A question with this word is answered without the unknown items and events that the strict mode of the official client
/// rejects.
const PLAIN_TRIGGER: &str = "plainly";

/// Answers a valid request.
pub(super) fn answer(request: &Value) -> Value {
    let question = question(request);
    let output = match needs_search(request, &question) {
        true => search_output(request, &question),
        false => vec![message(&from_memory(&question), Vec::new())],
    };
    let mut response = response(&snapshot(request["model"].as_str().unwrap_or_default()), output);
    for (name, value) in request.as_object().into_iter().flatten() {
        match (response.get_mut(name), value) {
            (_, Value::Null) => {}
            (Some(Value::Object(default)), Value::Object(requested)) => default.extend(requested.clone()),
            // The response repeats the parameters, except the input and those about the transport.
            (Some(default), requested) if name != "model" && name != "service_tier" => {
                *default = requested.clone();
            }
            _ => {}
        }
    }
    response
}

/// Whether the answer must have no unknown items and events.
pub(super) fn is_plain(request: &Value) -> bool {
    question(request).contains(PLAIN_TRIGGER)
}

/// The first line of the user's input. The lines after it are hints, which must not trigger a search.
fn question(request: &Value) -> String {
    let text = match &request["input"] {
        Value::Array(items) => {
            let messages =
                items.iter().filter(|item| item["role"] == "user").map(|item| match &item["content"] {
                    Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
                    content => content.as_str().unwrap_or_default().to_owned(),
                });
            messages.collect::<Vec<String>>().join("\n")
        }
        input => input.as_str().unwrap_or_default().to_owned(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

fn needs_search(request: &Value, question: &str) -> bool {
    let is_search = |tool: &Value| tool["type"].as_str().is_some_and(|kind| kind.starts_with("web_search"));
    let can_search = request["tools"].as_array().is_some_and(|tools| tools.iter().any(is_search));
    let choice = &request["tool_choice"];
    let is_forced = *choice == "required" || is_search(choice);
    let question = question.to_lowercase();
    let has_trigger = TRIGGERS.iter().any(|trigger| question.contains(trigger));
    can_search && *choice != "none" && (is_forced || has_trigger)
}

fn search_output(request: &Value, question: &str) -> Vec<Value> {
    let [first, second] = pages(request);
    let links = [&first, &second].map(|(url, title)| format!("([{title}]({url}?utm_source=openai))"));
    let topic = truncate_question(question);
    // The emoji before the links makes positions in bytes, UTF-16 code units and characters differ.
    let text = match is_japanese(question) {
        true => format!(
            "「{topic}」について調べました。東京は晴れ🌤、最高気温は31度の見込みです。{} 降水確率は10パーセントです。{}",
            links[0], links[1]
        ),
        false => format!(
            "I looked up “{topic}”. Tokyo will be sunny 🌤 with a high of 31 °C. {} The chance of rain is 10 percent. {}",
            links[0], links[1]
        ),
    };
    let citations = [&first, &second]
        .into_iter()
        .zip(&links)
        .map(|((url, title), link)| citation(&text, link, &format!("{url}?utm_source=openai"), title));
    let citations = citations.collect();

    let is_plain = question.contains(PLAIN_TRIGGER);
    let has_sources = request["include"]
        .as_array()
        .is_some_and(|list| list.contains(&json!("web_search_call.action.sources")));
    let mut sources = Vec::new();
    if has_sources {
        sources.extend([&first, &second].map(|(url, _)| json!({ "type": "url", "url": url })));
        sources.extend((!is_plain).then(|| json!({ "type": "api", "name": "oai-weather" })));
    }
    let mut output = vec![
        search_call(&[&topic, "Tokyo forecast"], sources),
        open_page_call(&first.0),
        json!({ "id": new_id("rs"), "type": "reasoning", "summary": [] }),
    ];
    if !is_plain {
        output.push(json!({ "id": new_id("odd"), "type": "something_new", "note": "not in any client yet" }));
    }
    output.push(message(&text, citations));
    output
}

/// The URLs and titles of the two cited pages; within the allowed domains, if the request limits them.
fn pages(request: &Value) -> [(String, String); 2] {
    let tools = request["tools"].as_array().into_iter().flatten();
    let mut domains = tools.filter_map(|tool| tool["filters"]["allowed_domains"].as_array()).flatten();
    let page = |domain: &Value, path: &str| {
        let domain = domain.as_str().unwrap_or_default();
        (format!("https://www.{domain}/{path}"), domain.to_owned())
    };
    match (domains.next(), domains.next()) {
        (None, _) => [
            ("https://www.jma.go.jp/bosai/forecast/".to_owned(), "気象庁 天気予報".to_owned()),
            ("https://tenki.jp/forecast/3/16/".to_owned(), "tenki.jp".to_owned()),
        ],
        (Some(only), None) => [page(only, "page"), page(only, "page/2")],
        (Some(first), Some(second)) => [page(first, "page"), page(second, "page")],
    }
}

fn from_memory(question: &str) -> String {
    let topic = truncate_question(question);
    match is_japanese(question) {
        true => format!("「{topic}」には、調べずに知っていることから答えます。"),
        false => format!("This answers “{topic}” from what I know, without looking it up."),
    }
}

fn snapshot(model: &str) -> String {
    let is_dated = model.ends_with(SNAPSHOT);
    if is_dated { model.to_owned() } else { format!("{model}{SNAPSHOT}") }
}

fn truncate_question(question: &str) -> String {
    question.chars().take(60).collect()
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(|character| matches!(character, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(input: Value, fields: Value) -> Value {
        let mut request =
            json!({ "model": "gpt-6.1-terra", "input": input, "tools": [{ "type": "web_search" }] });
        request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        answer(&request)
    }

    fn kinds(response: &Value) -> Vec<&str> {
        response["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect()
    }

    #[test]
    fn only_the_first_line_decides_whether_to_search() {
        assert_eq!(kinds(&ask(json!("HTTP 404 の意味\nlatest news"), json!({}))), ["message"]);
        let response = ask(json!("What is the WEATHER?"), json!({}));
        assert_eq!(
            kinds(&response),
            ["web_search_call", "web_search_call", "reasoning", "something_new", "message"]
        );
        assert_eq!(kinds(&ask(json!("x"), json!({ "tool_choice": "required" }))).len(), 5);
        assert_eq!(kinds(&ask(json!("weather"), json!({ "tool_choice": "none" }))), ["message"]);
        assert_eq!(kinds(&ask(json!("weather"), json!({ "tools": [] }))), ["message"]);
        let messages = json!([
            { "role": "developer", "content": "search" },
            { "role": "user", "content": [{ "type": "input_text", "text": "天気は？" }] },
        ]);
        assert_eq!(kinds(&ask(messages, json!({}))).len(), 5);
        assert_eq!(kinds(&ask(json!("weather, plainly"), json!({}))).len(), 4);
    }

    #[test]
    fn citation_positions_count_characters() {
        let response = ask(json!("東京の天気"), json!({}));
        let content = &response["output"][4]["content"][0];
        let text: Vec<char> = content["text"].as_str().unwrap().chars().collect();
        assert_eq!(content["annotations"].as_array().unwrap().len(), 2);
        for citation in content["annotations"].as_array().unwrap() {
            let index = |name: &str| citation[name].as_u64().unwrap() as usize;
            let part: String = text[index("start_index")..index("end_index")].iter().collect();
            let expected =
                format!("([{}]({}))", citation["title"].as_str().unwrap(), citation["url"].as_str().unwrap());
            assert_eq!(part, expected);
        }
    }

    #[test]
    fn sources_are_included_on_request_and_lie_within_the_allowed_domains() {
        let response = ask(json!("news"), json!({}));
        assert_eq!(response["output"][0]["action"].get("sources"), None);
        let fields = json!({
            "include": ["web_search_call.action.sources"],
            "tools": [{ "type": "web_search", "filters": { "allowed_domains": ["a.jp", "b.jp"] } }],
        });
        let response = ask(json!("news"), fields);
        let sources = response["output"][0]["action"]["sources"].as_array().unwrap();
        assert_eq!(sources[1], json!({ "type": "url", "url": "https://www.b.jp/page" }));
        assert_eq!(sources[2], json!({ "type": "api", "name": "oai-weather" }));
        let annotations = &response["output"][4]["content"][0]["annotations"];
        assert_eq!(annotations[0]["url"], "https://www.a.jp/page?utm_source=openai");
    }

    #[test]
    fn the_response_repeats_the_parameters_of_the_request() {
        let fields = json!({ "reasoning": { "effort": "low" }, "store": false, "instructions": "x" });
        let response = ask(json!("x"), fields);
        assert_eq!(response["model"], "gpt-6.1-terra-2026-08-01");
        assert_eq!(response["reasoning"], json!({ "effort": "low", "summary": null }));
        assert_eq!(response["store"], false);
        assert_eq!(response["instructions"], "x");
        assert_eq!(response.get("input"), None);
    }
}
