//! JSON bodies of requests, read strictly: an error names the field.

use annai_core::json::has_too_many_values;
use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::objects_only::ObjectsOnly;
use crate::domain::text::{FieldError, Problem};

/// The maximum size of a body in bytes. The longest request that is valid, a run whose input consists of escaped characters,
/// has about 2.4 MB. The server's own limit may be lower.
const MAX_BODY_BYTES: usize = 4 << 20;
/// The maximum number of characters of a problem. Beyond it, it is cut off: it may quote what the caller sent.
const MAX_PROBLEM_CHARS: usize = 300;

/// The JSON body of a request.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        if !is_json(request.headers()) {
            let message = "the body must be JSON, with the header Content-Type: application/json";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message));
        }
        let body = to_bytes(request.into_body(), MAX_BODY_BYTES).await.map_err(|_| {
            let message = format!("the body is longer than {MAX_BODY_BYTES} bytes, or did not arrive");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
        })?;
        Ok(Self(parse(&body)?))
    }
}

/// Whether the content type is JSON. A charset is ignored: JSON is UTF-8.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json")
}

/// Parses a JSON text, all of it.
pub(super) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, FieldError> {
    if has_too_many_values(json) {
        return Err(Problem::new("must not have so many values").of("body"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(ObjectsOnly(&mut deserializer))
        .map_err(|error| field_error(&error.path().to_string(), error.inner()))?;
    deserializer.end().map_err(|error| field_error(".", &error))?;
    Ok(value)
}

fn field_error(path: &str, error: &serde_json::Error) -> FieldError {
    let text = error.to_string();
    if !error.is_data() {
        return Problem::new(format!("is not valid JSON: {}", shorten(&text))).of("body");
    }
    // The position in the text says nothing that the path does not say better.
    let position = format!(" at line {} column {}", error.line(), error.column());
    let problem = text.strip_suffix(&position).unwrap_or(&text);
    let parent = if path == "." { "" } else { path };
    name_field(parent, problem)
}

/// The error of a field. The parser reports a missing or unknown one at its parent.
pub fn name_field(parent: &str, problem: &str) -> FieldError {
    let quoted = |start: &str| {
        let (name, rest) = problem.strip_prefix(start)?.split_once('`')?;
        Some((name, rest))
    };
    let below = |name: &str| {
        // The path includes an unknown or repeated field already, and a missing one not.
        let has_name = parent == name || parent.ends_with(&format!(".{name}"));
        shorten(&match parent {
            "" if name.is_empty() => r#""""#.to_owned(),
            "" => name.to_owned(),
            parent if has_name => parent.to_owned(),
            parent => format!("{parent}.{name}"),
        })
    };
    if let Some((name, _)) = quoted("missing field `") {
        return Problem::new("is required").of(below(name));
    }
    if let Some((name, rest)) = quoted("unknown field `") {
        let expected = rest.trim_start_matches(',').trim();
        let expected = if expected.is_empty() { "there are no fields here" } else { expected };
        return Problem::new(format!("is not known; {}", shorten(expected))).of(below(name));
    }
    if let Some((name, _)) = quoted("duplicate field `") {
        return Problem::new("must not be given twice").of(below(name));
    }
    let field = if parent.is_empty() { "body".to_owned() } else { shorten(parent) };
    Problem::new(shorten(problem)).of(field)
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_PROBLEM_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::domain::consent::ConsentAnswers;
    use crate::domain::text::{List, Name};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors are looked at")]
    struct Sample {
        name: Name,
        #[serde(default)]
        tags: List<Name>,
        consent: Option<ConsentAnswers>,
    }

    #[test]
    fn an_error_names_the_field_and_what_is_wrong() {
        for (json, error) in [
            ("{}", "name: is required"),
            (r#"{"name":5}"#, "name: invalid type: integer `5`, expected a string"),
            (r#"{"name":""}"#, "name: must not be empty"),
            (r#"{"name":"a\u0000"}"#, "name: must not contain NUL characters"),
            (r#"{"name":"a","name":"b"}"#, "name: must not be given twice"),
            (r#"{"name":"a","x":1}"#, "x: is not known; expected one of `name`, `tags`, `consent`"),
            (r#"{"name":"a","":1}"#, r#""": is not known; expected one of `name`, `tags`, `consent`"#),
            (r#"{"name":"a","tags":["b",""]}"#, "tags[1]: must not be empty"),
            (r#"{"name":"a","consent":{}}"#, "consent.data_sharing_agreed: is required"),
            (
                r#"{"name":"a","consent":{"y":true}}"#,
                "consent.y: is not known; expected one of `data_sharing_agreed`, `purpose_acknowledged`, `contact_permission`",
            ),
            (r#"["a"]"#, "body: invalid type: sequence, expected struct Sample"),
            (
                r#"{"name":"a","consent":[true,true,true]}"#,
                "consent: invalid type: sequence, expected struct ConsentAnswers",
            ),
            ("", "body: is not valid JSON: EOF while parsing a value at line 1 column 0"),
            (r#"{"name":"a"} x"#, "body: is not valid JSON: trailing characters at line 1 column 14"),
            (
                r#"{"name":"\ud800"}"#,
                "body: is not valid JSON: unexpected end of hex escape at line 1 column 16",
            ),
        ] {
            assert_eq!(parse::<Sample>(json.as_bytes()).unwrap_err().to_string(), error, "{json}");
        }
        let long = format!(r#"{{"name":"a","consent":"{}"}}"#, "x".repeat(1 << 20));
        assert!(parse::<Sample>(long.as_bytes()).unwrap_err().to_string().len() < 400);
        let unknown = format!(r#"{{"{}":1}}"#, "x".repeat(1 << 20));
        assert!(parse::<Sample>(unknown.as_bytes()).unwrap_err().to_string().len() < 1000);
        let deep = format!(r#"{{"name":{}"#, "[".repeat(100_000));
        assert_eq!(parse::<Sample>(deep.as_bytes()).unwrap_err().field, "name");
        assert_eq!(parse::<Sample>(b"{\"name\":\"\xff\"}").unwrap_err().field, "body");
    }
}
