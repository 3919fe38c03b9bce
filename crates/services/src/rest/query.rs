//! Query strings, read strictly: an error names the parameter.

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::body::name_field;
use super::error::ApiError;
use crate::domain::text::{FieldError, Problem};

/// The error of the generic value deserializers, which is only a text.
type ValueError = serde::de::value::Error;

/// The parameters of a query string.
pub struct Query(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default())?)
    }
}

impl Query {
    /// Reads a query string.
    pub(super) fn parse(text: &str) -> Result<Self, FieldError> {
        let decode = |part: &str| {
            percent_decode(part).ok_or_else(|| {
                Problem::new("must be percent-encoded UTF-8, such as ?q=web%20search").of("query string")
            })
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        Ok(Self(pairs.collect::<Result<_, FieldError>>()?))
    }

    /// Takes a parameter out, so that the rest can be [`Self::read`] as a type that does not have it.
    ///
    /// # Errors
    ///
    /// It is there twice.
    pub fn take(&mut self, name: &str) -> Result<Option<String>, FieldError> {
        let (mut taken, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|(key, _)| key == name);
        self.0 = rest;
        match taken.len() {
            0 | 1 => Ok(taken.pop().map(|(_, value)| value)),
            _ => Err(Problem::new("must not be given twice").of(name)),
        }
    }

    /// The parameters as a type.
    ///
    /// # Errors
    ///
    /// The first parameter that does not fit.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, FieldError> {
        let pairs = self.0.into_iter().map(|(name, value)| (name, QueryValue(value)));
        let deserializer = MapDeserializer::<_, ValueError>::new(pairs);
        serde_path_to_error::deserialize(deserializer).map_err(|error| {
            let path = error.path().to_string();
            name_field(if path == "." { "" } else { &path }, &error.inner().to_string())
        })
    }
}

/// Decodes a part of a query string; `None` when it is not one.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

/// The value of a parameter, which is a text, and a number where one is expected.
struct QueryValue(String);

impl IntoDeserializer<'_, ValueError> for QueryValue {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for QueryValue {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0.parse() {
            Ok(number) => visitor.visit_i64(number),
            Err(_) => visitor.visit_string(self.0),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0.parse() {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => visitor.visit_string(self.0),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i128 u8 u16 u32 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::search::SearchQuery;

    fn search(text: &str) -> Result<SearchQuery, FieldError> {
        Query::parse(text)?.read()
    }

    #[test]
    fn texts_and_numbers_are_read() {
        let query =
            search("q=web%20search+%E6%A1%88%E5%86%85&max_budget_cents=50&limit=3&intent=&&").unwrap();
        assert_eq!(query.q.unwrap().to_string(), "web search 案内");
        assert_eq!((query.max_budget_cents.unwrap().get(), query.limit.get()), (50, 3));
        assert_eq!((query.intent, query.category), (None, None));
        assert_eq!(search("").unwrap().limit.get(), 50);
    }

    #[test]
    fn an_error_names_the_parameter() {
        for (text, error) in [
            ("limit=0", "limit: must be an integer from 1 to 200"),
            ("limit=many", "limit: invalid type: string \"many\", expected u64"),
            (
                "max_budget_cents=-1",
                "max_budget_cents: must be an integer from 0 to 1000000000000 (US cents)",
            ),
            ("q=a&q=b", "q: must not be given twice"),
            (
                "sql=1",
                "sql: is not known; expected one of `q`, `category`, `max_budget_cents`, `intent`, `limit`",
            ),
            ("q=a%00", "q: must not contain NUL characters"),
            ("q=%ff", "query string: must be percent-encoded UTF-8, such as ?q=web%20search"),
            ("q=%zz", "query string: must be percent-encoded UTF-8, such as ?q=web%20search"),
            ("q=%4", "query string: must be percent-encoded UTF-8, such as ?q=web%20search"),
        ] {
            assert_eq!(search(text).unwrap_err().to_string(), error, "{text}");
        }
        let long = format!("q={}", "x".repeat(501));
        assert_eq!(search(&long).unwrap_err().to_string(), "q: must have at most 500 characters");
    }

    #[test]
    fn a_parameter_can_be_taken_out() {
        let mut query = Query::parse("session_token=1&q=a").unwrap();
        assert_eq!(query.take("session_token"), Ok(Some("1".to_owned())));
        assert_eq!(query.take("session_token"), Ok(None));
        assert_eq!(Query::parse("a=1&a=2").unwrap().take("a").unwrap_err().field, "a");
    }
}
