//! Pages of lists: the parameters `limit` and `cursor`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::query::Query;
use crate::domain::search::PageLimit;
use crate::domain::text::FieldError;
use crate::store::{PageCursor, PageRequest};

/// The parameters of a list.
#[derive(Deserialize, Default, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageParameters {
    /// The maximum number of entries.
    limit: PageLimit,
    /// Where the page begins: `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The page that a query asks for.
pub fn page_request(query: Query) -> Result<PageRequest, FieldError> {
    let PageParameters { limit, cursor } = query.read()?;
    let cursor = cursor.filter(|cursor| !cursor.is_empty());
    Ok(PageRequest { limit, cursor: cursor.as_deref().map(PageCursor::parse).transpose()? })
}
