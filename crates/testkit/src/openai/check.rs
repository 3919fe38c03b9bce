//! Validates requests as the real API does, with the same errors.

use serde_json::{Value, json};

use super::models::check_model;
use super::refusal::Refusal;
use super::request::REQUEST;
use super::schema::{check_fields, missing};
use super::{KEY, RecordedRequest};

/// The maximum size of a request body; larger ones get status 413. Only tests of that status send so much.
pub(super) const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;

/// Checks the API key.
pub(super) fn check_key(request: &RecordedRequest) -> Result<(), Refusal> {
    let sent = request.header("authorization").unwrap_or_default().trim();
    let key = sent.strip_prefix("Bearer").unwrap_or(sent).trim();
    if key.is_empty() {
        let message = "You didn't provide an API key. Send it in the Authorization header as a bearer token.";
        return Err(Refusal::new(401, message));
    }
    if sent.strip_prefix("Bearer ") != Some(KEY) {
        let message = format!("Incorrect API key provided: {}.", mask_key(key));
        return Err(Refusal::new(401, message).code("invalid_api_key"));
    }
    Ok(())
}

/// Validates a request for a response. Like the real API, it reports only the first error.
pub(super) fn check_request(request: &RecordedRequest, raw: &[u8]) -> Result<(), Refusal> {
    check_key(request)?;
    let content_type = request.header("content-type").unwrap_or_default();
    if content_type.split(';').next().map(str::trim) != Some("application/json") {
        let message =
            format!("Unsupported content type: '{content_type}'. This method takes 'application/json'.");
        return Err(Refusal::bad(message).code("unsupported_content_type"));
    }
    // A body that is not JSON is recorded as a string; only the raw bytes distinguish it from a JSON string.
    if serde_json::from_slice::<serde::de::IgnoredAny>(raw).is_err() {
        return Err(Refusal::bad("The body of the request could not be parsed as JSON."));
    }
    let Value::Object(fields) = &request.body else {
        return Err(Refusal::bad("Invalid type for the body: expected an object.").code("invalid_type"));
    };
    check_fields(REQUEST, fields, "")?;
    check_field_combinations(&request.body)?;
    check_model(&request.body)
}

/// Checks the rules that concern several fields.
fn check_field_combinations(body: &Value) -> Result<(), Refusal> {
    let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
    let has_input = has("input") && body["input"] != json!([]);
    if !has_input && !has("previous_response_id") && !has("prompt") && !has("conversation") {
        return Err(missing("input"));
    }
    if let Some(id) = body["previous_response_id"].as_str() {
        // The fake stores no responses.
        let message = format!("Previous response with id '{id}' not found.");
        return Err(Refusal::bad(message).code("previous_response_not_found").param("previous_response_id"));
    }
    if has("stream_options") && body["stream"] != true {
        let message = "'stream_options' is only allowed when 'stream' is true.";
        return Err(Refusal::bad(message).param("stream_options"));
    }
    let tools = body["tools"].as_array().map_or(0, Vec::len);
    if tools == 0 && (body["tool_choice"] == "required" || body["tool_choice"].is_object()) {
        let message = "'tool_choice' asks for a tool, but 'tools' has none.";
        return Err(Refusal::bad(message).param("tool_choice"));
    }
    Ok(())
}

/// Masks the middle of a key, as the real API does in its error messages.
fn mask_key(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    match characters.as_slice() {
        [first @ .., _, _, _, _] if first.len() >= 16 => {
            let (start, end) = (&characters[..8], &characters[characters.len() - 4..]);
            format!(
                "{}{}{}",
                start.iter().collect::<String>(),
                "*".repeat(12),
                end.iter().collect::<String>()
            )
        }
        _ => "*".repeat(characters.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn request(headers: &[(&str, &str)], body: Value) -> RecordedRequest {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let headers = headers.collect();
        let (method, path) = ("POST".to_owned(), "/v1/responses".to_owned());
        RecordedRequest { method, path, headers, body, at: Instant::now(), connection: 0 }
    }

    fn checked(body: Value) -> Result<(), Refusal> {
        let bearer = format!("Bearer {KEY}");
        let raw = body.to_string();
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        check_request(&request(&headers, body), raw.as_bytes())
    }

    /// Adds fields to a valid request, and returns status, code and parameter of the error.
    fn refused(fields: Value) -> (u16, String, String) {
        let mut body = json!({ "model": "gpt-6.1-terra", "input": "案内" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let refusal = checked(body).expect_err("the request is rejected");
        (refusal.status, refusal.code.unwrap_or_default(), refusal.param.unwrap_or_default())
    }

    #[track_caller]
    fn assert_refused(fields: Value, status: u16, code: &str, param: &str) {
        assert_eq!(refused(fields), (status, code.to_owned(), param.to_owned()));
    }

    #[test]
    fn a_request_with_all_supported_fields_is_valid() {
        checked(json!({
            "model": "gpt-6.1-sol", "instructions": "Be brief.", "store": false, "stream": true,
            "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "案内" }] }],
            "tools": [{
                "type": "web_search", "search_context_size": "high", "external_web_access": true,
                "filters": { "allowed_domains": ["jma.go.jp"] },
                "user_location": { "type": "approximate", "timezone": "Asia/Tokyo", "city": null },
            }],
            "include": ["web_search_call.action.sources"], "tool_choice": "required",
            "text": { "verbosity": "high", "format": { "type": "text" } },
            "reasoning": { "effort": "high", "summary": null }, "max_output_tokens": 16,
            "metadata": { "a": "b" }, "stream_options": { "include_obfuscation": false },
        }))
        .unwrap();
    }

    #[test]
    fn invalid_fields_are_rejected_with_code_and_parameter() {
        assert_refused(json!({ "foo": 1 }), 400, "unknown_parameter", "foo");
        assert_refused(json!({ "text": { "foo": 1 } }), 400, "unknown_parameter", "text.foo");
        assert_refused(json!({ "store": "no" }), 400, "invalid_type", "store");
        assert_refused(json!({ "model": null }), 400, "invalid_type", "model");
        assert_refused(json!({ "input": 5 }), 400, "invalid_type", "input");
        assert_refused(json!({ "input": [] }), 400, "missing_required_parameter", "input");
        assert_refused(
            json!({ "input": [{ "role": "user" }] }),
            400,
            "missing_required_parameter",
            "input[0].content",
        );
        assert_refused(
            json!({ "input": [{ "role": "x", "content": "" }] }),
            400,
            "invalid_value",
            "input[0].role",
        );
        assert_refused(json!({ "include": ["sources"] }), 400, "invalid_value", "include[0]");
        assert_refused(
            json!({ "max_output_tokens": 15 }),
            400,
            "integer_below_min_value",
            "max_output_tokens",
        );
        assert_refused(
            json!({ "reasoning": { "effort": "huge" } }),
            400,
            "invalid_value",
            "reasoning.effort",
        );
        assert_refused(json!({ "stream_options": {} }), 400, "", "stream_options");
        assert_refused(json!({ "tool_choice": "required" }), 400, "", "tool_choice");
        let missing = checked(json!({ "input": "x" })).unwrap_err();
        assert_eq!(missing.param.as_deref(), Some("model"));
    }

    #[test]
    fn invalid_web_search_tools_are_rejected() {
        let tool = |fields: Value, code: &str, param: &str| {
            let mut tool = json!({ "type": "web_search" });
            tool.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            assert_refused(json!({ "tools": [tool] }), 400, code, param);
        };
        tool(json!({ "type": "web" }), "invalid_value", "tools[0].type");
        tool(json!({ "max_results": 3 }), "unknown_parameter", "tools[0].max_results");
        let domains = |domains: Value| json!({ "filters": { "allowed_domains": domains } });
        tool(domains(json!([1])), "invalid_type", "tools[0].filters.allowed_domains[0]");
        tool(
            domains(json!(["a.jp", "https://b.jp"])),
            "invalid_value",
            "tools[0].filters.allowed_domains[1]",
        );
        tool(domains(json!(["a.jp/x"])), "invalid_value", "tools[0].filters.allowed_domains[0]");
        tool(domains(json!(vec!["a.jp"; 101])), "array_above_max_length", "tools[0].filters.allowed_domains");
        tool(json!({ "type": "web_search_preview", "filters": {} }), "unknown_parameter", "tools[0].filters");
        tool(json!({ "user_location": { "type": "exact" } }), "invalid_value", "tools[0].user_location.type");
        tool(json!({ "search_context_size": null }), "invalid_type", "tools[0].search_context_size");
    }

    #[test]
    fn only_the_right_api_key_is_accepted_and_wrong_keys_are_masked() {
        let with = |key: &str| {
            check_key(&request(&[("authorization", key)], Value::Null)).map_err(|error| error.code)
        };
        assert_eq!(with(""), Err(None));
        assert_eq!(with("Bearer "), Err(None));
        assert_eq!(with(KEY), Err(Some("invalid_api_key".to_owned())));
        assert_eq!(with(&format!("Bearer {KEY}x")), Err(Some("invalid_api_key".to_owned())));
        assert_eq!(with(&format!("Bearer {KEY}")), Ok(()));
        assert_eq!(mask_key("sk-proj-0123456789abcdef"), "sk-proj-************cdef");
        assert_eq!(mask_key("short"), "*****");
    }

    #[test]
    fn bodies_that_are_not_json_objects_are_rejected() {
        let bearer = format!("Bearer {KEY}");
        let send = |content_type: &str, raw: &[u8]| {
            let headers = [("authorization", bearer.as_str()), ("content-type", content_type)];
            check_request(&request(&headers, Value::Null), raw).unwrap_err().message
        };
        assert!(send("text/plain", b"{}").contains("content type"));
        assert!(send("application/json", b"{").contains("parsed"));
        assert!(send("application/json; charset=utf-8", b"[]").contains("object"));
    }
}
