//! The headers with which a request asks to see fewer tools than the server serves. They can only narrow the choice: what
//! they leave out does not exist for the request.

use std::sync::Arc;

use annai_core::{Registry, ToolSelection};
use http::HeaderMap;

/// The toolsets that the request wants to see, separated by commas.
const TOOLSETS_HEADER: &str = "x-annai-toolsets";
/// Whether the request wants to see only tools that change nothing.
const READ_ONLY_HEADER: &str = "x-annai-readonly";

/// The registry with the tools that a request wants to see; the error says which header is wrong.
pub fn select(registry: &Arc<Registry>, headers: &HeaderMap) -> Result<Arc<Registry>, String> {
    let toolsets = toolsets(headers)?;
    let selection = ToolSelection { toolsets, tools: Vec::new(), read_only: is_read_only(headers)? };
    registry.select(&selection).map_err(|error| format!("X-Annai-Toolsets: {error}"))
}

/// The names in the header. As usual in HTTP, a repeated header continues the list.
fn toolsets(headers: &HeaderMap) -> Result<Option<Vec<String>>, String> {
    let mut names = Vec::new();
    for value in headers.get_all(TOOLSETS_HEADER) {
        let value = value.to_str().unwrap_or_default();
        names.extend(value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    }
    match (headers.contains_key(TOOLSETS_HEADER), names.is_empty()) {
        (false, _) => Ok(None),
        (true, false) => Ok(Some(names)),
        (true, true) => Err("X-Annai-Toolsets: expected names of toolsets, separated by commas".to_owned()),
    }
}

/// Whether any of the headers asks for tools that change nothing.
fn is_read_only(headers: &HeaderMap) -> Result<bool, String> {
    let mut read_only = false;
    for value in headers.get_all(READ_ONLY_HEADER) {
        match value.to_str().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "true" | "1" => read_only = true,
            "false" | "0" => {}
            _ => return Err("X-Annai-Readonly: expected true or false".to_owned()),
        }
    }
    Ok(read_only)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: &'static str, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn names_are_separated_by_commas_or_in_headers_of_their_own() {
        let names = |values: &[&'static str]| {
            let all = headers(TOOLSETS_HEADER, values);
            toolsets(&all).map(|names| names.map(|names| names.join("+")))
        };
        assert_eq!(names(&[]), Ok(None));
        assert_eq!(names(&["library, answers,"]), Ok(Some("library+answers".to_owned())));
        assert_eq!(names(&["library", "answers"]), Ok(Some("library+answers".to_owned())));
        assert!(names(&[" , "]).is_err(), "an empty list is a mistake, not a wish for all toolsets");
    }

    #[test]
    fn read_only_is_true_or_false_in_words_or_digits() {
        for (value, expected) in [("true", Ok(true)), ("1", Ok(true)), ("False", Ok(false)), ("0", Ok(false))]
        {
            assert_eq!(is_read_only(&headers(READ_ONLY_HEADER, &[value])), expected, "{value}");
        }
        assert_eq!(is_read_only(&headers(READ_ONLY_HEADER, &[])), Ok(false));
        assert!(is_read_only(&headers(READ_ONLY_HEADER, &["yes"])).is_err());
    }
}
