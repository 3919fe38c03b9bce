//! A request to a target.

use std::str::FromStr;

use serde_json::Value;

use crate::error::EgressError;
use crate::headers::RequestHeaders;
use crate::target::Target;

/// The method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PUT`.
    Put,
    /// `PATCH`.
    Patch,
}

impl Method {
    /// The name of the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
        }
    }
}

impl FromStr for Method {
    type Err = EgressError;

    /// Parses a name in any case.
    fn from_str(name: &str) -> Result<Self, EgressError> {
        let mut methods = [Self::Get, Self::Post, Self::Put, Self::Patch].into_iter();
        methods.find(|method| method.as_str().eq_ignore_ascii_case(name)).ok_or(EgressError::Method)
    }
}

impl From<Method> for reqwest::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::GET,
            Method::Post => Self::POST,
            Method::Put => Self::PUT,
            Method::Patch => Self::PATCH,
        }
    }
}

/// A request to a target.
#[derive(Debug, Clone, Copy)]
pub struct OutboundRequest<'a> {
    /// Where the request goes.
    pub target: &'a Target,
    /// The method.
    pub method: Method,
    /// The headers that the owner of the target chose.
    pub headers: &'a RequestHeaders,
    /// The value of the header `Idempotency-Key`: 1 to 255 printable ASCII characters.
    pub idempotency_key: Option<&'a str>,
    /// The JSON body. Its content type is `application/json`, unless `headers` has another one.
    pub body: Option<&'a Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_parsed_in_any_case() {
        for (name, method) in
            [("POST", Method::Post), ("put", Method::Put), ("Patch", Method::Patch), ("GET", Method::Get)]
        {
            assert_eq!(name.parse::<Method>().ok(), Some(method), "{name}");
            assert_eq!(reqwest::Method::from(method).as_str(), method.as_str());
        }
        for name in ["", "DELETE", "CONNECT", "POST ", "POST / HTTP/1.1\r\n"] {
            assert!(matches!(name.parse::<Method>(), Err(EgressError::Method)), "{name}");
        }
    }
}
