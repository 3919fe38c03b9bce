//! Values in the columns of PostgreSQL: ids, amounts, and JSON that the system before this one may have written.

use std::collections::BTreeMap;
use std::error::Error;

use bytes::BytesMut;
use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

use crate::domain::ids::{CampaignId, CompletionId, ReservationId, SessionToken, SponsoredApiId, UserId};
use crate::domain::money::Cents;
use crate::domain::task_schema::TaskSchema;

macro_rules! uuid_column {
    ($($id:ty),*) => {$(
        impl ToSql for $id {
            fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
                Uuid::try_parse(&String::from(*self))?.to_sql(ty, out)
            }

            fn accepts(ty: &Type) -> bool {
                <Uuid as ToSql>::accepts(ty)
            }

            to_sql_checked!();
        }

        impl<'a> FromSql<'a> for $id {
            fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
                Ok(Self::parse(&Uuid::from_sql(ty, raw)?.to_string())?)
            }

            fn accepts(ty: &Type) -> bool {
                <Uuid as FromSql>::accepts(ty)
            }
        }
    )*};
}

uuid_column!(CampaignId, CompletionId, ReservationId, SessionToken, SponsoredApiId, UserId);

/// An amount from its column. The system before this one had no limits: what is outside of them becomes the nearest one, so
/// that a budget that was overdrawn pays for nothing.
pub fn cents(cents: i64) -> Cents {
    Cents::parse(cents.clamp(0, Cents::MAX.get())).unwrap_or_default()
}

/// The texts of an array. Those that are NULL, which only the system before this one could write, are left out.
pub fn texts(row: &Row, column: usize) -> Result<Vec<String>, tokio_postgres::Error> {
    Ok(row.try_get::<_, Vec<Option<String>>>(column)?.into_iter().flatten().collect())
}

/// A time as the database keeps it: in microseconds.
pub fn stored_time(time: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(time.as_microsecond()).unwrap_or(time)
}

/// The form of a task from its column; one that this program cannot read stands for the general form.
pub fn task_schema(json: Option<Value>) -> Option<TaskSchema> {
    json.and_then(|json| serde_json::from_value(json).ok())
}

/// The headers of an upstream from their column.
pub fn headers(json: Value) -> BTreeMap<String, String> {
    let Value::Object(headers) = json else { return BTreeMap::new() };
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    headers.into_iter().map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_is_read_as_well_as_possible() {
        assert_eq!([-5, 7, i64::MAX].map(|amount| cents(amount).get()), [0, 7, 1_000_000_000_000]);
        assert_eq!(task_schema(Some(json!({ "fields": [] }))), None);
        let read = headers(json!({ "a": "b", "c": 1 }));
        assert_eq!(read, BTreeMap::from([("a".into(), "b".into()), ("c".into(), "1".into())]));
        assert_eq!(headers(json!([])), BTreeMap::new());
    }
}
