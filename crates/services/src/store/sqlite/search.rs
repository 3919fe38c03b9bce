//! The search. What is searched in changes rarely, so it is kept prepared in memory for as long as the database says that
//! nothing has changed; only the budgets are read each time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use rusqlite::Connection;

use super::accounts::{preference_levels, session_user};
use super::failure::Failure;
use super::rows::{cents, from_json};
use super::sponsored_apis;
use crate::domain::catalog::{Catalog, ListedCampaign};
use crate::domain::ids::SessionToken;
use crate::domain::money::Cents;
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::search_index::SearchIndex;
use crate::domain::tool_offers::ToolOffers;

/// How many indexes are kept: requests may see different tools, of which there are few combinations.
const MAX_INDEXES: usize = 4;

/// The services of one version of the catalog, as callers with certain tools see them.
struct PreparedServices {
    version: i64,
    tools: Arc<ToolOffers>,
    index: SearchIndex,
    /// For each service its row and the least that must be left of its budget; `None` for a sponsored API.
    campaigns: Vec<Option<(i64, Cents)>>,
}

/// The indexes that searches share.
#[derive(Default)]
pub struct SearchIndexes(Mutex<VecDeque<Arc<PreparedServices>>>);

impl SearchIndexes {
    /// The index of the catalog as a connection sees it.
    fn get(
        &self,
        connection: &Connection,
        tools: &Arc<ToolOffers>,
    ) -> Result<Arc<PreparedServices>, Failure> {
        let version = connection
            .prepare_cached("SELECT version FROM catalog_version")?
            .query_row([], |row| row.get(0))?;
        let is_current =
            |services: &&Arc<PreparedServices>| services.version == version && services.tools == *tools;
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().find(is_current).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let services = Arc::new(prepare(connection, version, tools)?);
        let mut indexes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks for an older version again, and an index is as large as the texts of all campaigns.
        indexes.retain(|kept| kept.version == services.version);
        indexes.truncate(MAX_INDEXES - 1);
        indexes.push_front(services.clone());
        Ok(services)
    }
}

pub fn search(
    connection: &Connection,
    indexes: &SearchIndexes,
    query: &SearchQuery,
    session: Option<SessionToken>,
    tools: &Arc<ToolOffers>,
    now: Timestamp,
) -> Result<SearchReport, Failure> {
    let user = session.map(|session| session_user(connection, session, now)).transpose()?;
    let preferences = user.map(|user| preference_levels(connection, user.id)).transpose()?;
    let services = indexes.get(connection, tools)?;
    let budgets = budgets(connection)?;
    Ok(services.index.search(query, preferences.as_ref(), |position| {
        match services.campaigns.get(position) {
            Some(Some((row, least))) => {
                let budget =
                    budgets.binary_search_by_key(row, |(row, _)| *row).ok().and_then(|at| budgets.get(at));
                budget.is_some_and(|(_, remaining)| remaining >= least)
            }
            _ => true,
        }
    }))
}

/// What is left of the budgets of all campaigns, by row.
fn budgets(connection: &Connection) -> Result<Vec<(i64, Cents)>, Failure> {
    let mut statement = connection
        .prepare_cached("SELECT rowid, budget_remaining_cents FROM campaigns WHERE active ORDER BY rowid")?;
    let mut rows = statement.query([])?;
    let mut budgets = Vec::new();
    while let Some(row) = rows.next()? {
        budgets.push((row.get(0)?, cents(row.get(1)?)?));
    }
    Ok(budgets)
}

/// Reads and prepares what is searched in: campaigns and sponsored APIs that are switched on, newest first.
fn prepare(
    connection: &Connection,
    version: i64,
    tools: &Arc<ToolOffers>,
) -> Result<PreparedServices, Failure> {
    let apis = sponsored_apis::active(connection)?;
    let catalog = Catalog::new(&apis, tools);
    let mut statement = connection.prepare_cached(
        "SELECT id, name, sponsor, required_task, subsidy_per_call_cents, target_tools, tags,
             task_schema ->> '$.task_type', rowid
         FROM campaigns WHERE active ORDER BY created_at DESC, id DESC",
    )?;
    let mut rows = statement.query([])?;
    let (mut entries, mut campaigns) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let (entry, least) = catalog.listing(ListedCampaign {
            id: row.get(0)?,
            name: row.get(1)?,
            sponsor: row.get(2)?,
            required_task: row.get(3)?,
            subsidy: cents(row.get(4)?)?,
            target_tools: from_json(&row.get::<_, String>(5)?)?,
            tags: from_json(&row.get::<_, String>(6)?)?,
            task_type: row.get(7)?,
        });
        entries.push(entry);
        campaigns.push(Some((row.get(8)?, least)));
    }
    entries.extend(catalog.api_entries());
    campaigns.resize(entries.len(), None);
    Ok(PreparedServices { version, tools: tools.clone(), index: SearchIndex::new(entries), campaigns })
}
