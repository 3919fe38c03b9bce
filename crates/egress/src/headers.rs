//! The headers that the owner of a target chose, such as its API key.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::error::{EgressError, HeaderProblem};
use crate::limits::{MAX_HEADER_BYTES, MAX_HEADERS};

/// The maximum length of a header's name in an error. The rest is cut off.
const MAX_NAME_CHARS: usize = 100;

/// Headers that cannot be chosen: those that say where a message begins and ends, those of the connection, those that
/// announce an encoding which is not used here, and the key that this program sends. `proxy-*` is refused too.
const RESERVED: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "idempotency-key",
    "keep-alive",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
];

/// Headers that are safe to send. `Debug` does not show their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHeaders(HeaderMap);

impl RequestHeaders {
    /// Parses names and values. The error names the first header that cannot be used, never a value.
    pub fn parse<'a>(headers: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, EgressError> {
        let mut map = HeaderMap::new();
        let mut bytes = 0_usize;
        for (raw_name, raw_value) in headers {
            let refused = |problem| EgressError::Header {
                name: raw_name.chars().take(MAX_NAME_CHARS).collect(),
                problem,
            };
            bytes = bytes.saturating_add(raw_name.len()).saturating_add(raw_value.len());
            if map.len() == MAX_HEADERS || bytes > MAX_HEADER_BYTES {
                return Err(EgressError::HeadersTooLarge);
            }
            let name: HeaderName = raw_name.parse().map_err(|_| refused(HeaderProblem::InvalidName))?;
            if RESERVED.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
                return Err(refused(HeaderProblem::Reserved));
            }
            let mut value: HeaderValue =
                raw_value.parse().map_err(|_| refused(HeaderProblem::InvalidValue))?;
            value.set_sensitive(true);
            if map.insert(name, value).is_some() {
                return Err(refused(HeaderProblem::Duplicate));
            }
        }
        Ok(Self(map))
    }

    /// The headers for the HTTP client.
    pub(crate) fn to_map(&self) -> HeaderMap {
        self.0.clone()
    }

    /// Whether there is a content type.
    pub(crate) fn has_content_type(&self) -> bool {
        self.0.contains_key(CONTENT_TYPE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(name: &str, value: &str) -> Option<HeaderProblem> {
        match RequestHeaders::parse([(name, value)]) {
            Ok(_) => None,
            Err(EgressError::Header { problem, .. }) => Some(problem),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn ordinary_headers_are_accepted_and_hidden() {
        for name in
            ["Authorization", "x-api-key", "Content-Type", "Accept", "User-Agent", "Cookie", "X-Proxy-Key"]
        {
            assert_eq!(problem(name, "Bearer abc"), None, "{name}");
        }
        let headers = RequestHeaders::parse([("Authorization", "Bearer s3cret")]).unwrap();
        assert!(!format!("{headers:?}").contains("s3cret"), "{headers:?}");
    }

    #[test]
    fn headers_of_the_message_and_the_connection_are_refused() {
        for name in RESERVED.into_iter().chain(["proxy-authorization", "Proxy-Connection", "proxy-"]) {
            for name in [name.to_owned(), name.to_ascii_uppercase()] {
                assert_eq!(problem(&name, "1"), Some(HeaderProblem::Reserved), "{name}");
            }
        }
    }

    #[test]
    fn nothing_can_be_injected() {
        for name in ["", " ", "a b", "a:b", ":authority", "a\r\nhost", "host ", "\u{0}", "名前", "a\n"] {
            assert_eq!(problem(name, "1"), Some(HeaderProblem::InvalidName), "{name:?}");
        }
        for value in ["a\r\nHost: b", "a\n", "\r", "a\u{0}b", "\u{7f}", "\u{1b}[0m"] {
            assert_eq!(problem("x-a", value), Some(HeaderProblem::InvalidValue), "{value:?}");
        }
    }

    #[test]
    fn headers_are_limited_and_unique() {
        let parse = |headers: &[(String, String)]| {
            RequestHeaders::parse(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
                .map_err(|error| error.to_string())
        };
        let many: Vec<_> = (0..=MAX_HEADERS).map(|n| (format!("x-{n}"), String::new())).collect();
        assert!(parse(&many[1..]).is_ok());
        assert_eq!(parse(&many), Err(EgressError::HeadersTooLarge.to_string()));
        let value = |len: usize| [("x-a".to_owned(), "v".repeat(len))];
        assert!(parse(&value(MAX_HEADER_BYTES - 3)).is_ok());
        assert_eq!(parse(&value(MAX_HEADER_BYTES - 2)), Err(EgressError::HeadersTooLarge.to_string()));
        let twice = [("X-A".to_owned(), "1".to_owned()), ("x-a".to_owned(), "2".to_owned())];
        assert_eq!(parse(&twice), Err("the header \"x-a\" is given twice".to_owned()));
        let long = RequestHeaders::parse([("名".repeat(1000).as_str(), "")]).unwrap_err().to_string();
        assert!(long.chars().count() < 200, "{long}");
    }
}
