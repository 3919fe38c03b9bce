//! Values in the columns of SQLite: JSON, times and amounts.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::Failure;
use crate::domain::money::Cents;
use crate::domain::text::Problem;
use crate::error::ServicesError;

/// A value as JSON in text.
pub fn to_json<T: Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| ServicesError::internal(error.to_string()).into())
}

/// A value from JSON in text.
pub fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|_| Failure::unreadable("JSON"))
}

/// A time from its column.
pub fn time(micros: i64) -> Result<Timestamp, Failure> {
    Timestamp::from_microsecond(micros).map_err(|_| Failure::unreadable("a time"))
}

/// An amount from its column.
pub fn cents(cents: i64) -> Result<Cents, Failure> {
    Cents::parse(cents).map_err(|_| Failure::unreadable("an amount"))
}

/// An id from its column.
pub fn id<T>(parsed: Result<T, Problem>) -> Result<T, Failure> {
    parsed.map_err(|_| Failure::unreadable("an id"))
}
