//! The search. What is searched in changes rarely, so it is kept prepared in memory for as long as the database says that
//! nothing has changed; only the budgets are read each time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::try_join;
use jiff::Timestamp;
use uuid::Uuid;

use super::accounts::session_user;
use super::connection::PostgresConnection;
use super::failure::Failure;
use super::preferences::preference_levels;
use super::sponsored_apis;
use super::values::{cents, texts};
use crate::domain::catalog::{Catalog, ListedCampaign};
use crate::domain::ids::SessionToken;
use crate::domain::money::Cents;
use crate::domain::preferences::PreferenceLevels;
use crate::domain::search::{SearchQuery, SearchReport};
use crate::domain::search_index::SearchIndex;
use crate::domain::tool_offers::ToolOffers;

/// How many indexes are kept: requests may see different tools, of which there are few combinations.
const MAX_INDEXES: usize = 4;

/// The services of one version of the catalog, as callers with certain tools see them.
struct PreparedServices {
    version: Uuid,
    tools: Arc<ToolOffers>,
    index: SearchIndex,
    /// The least that must be left of the budget of each campaign. Campaigns are the first services of the index.
    least_budgets: Vec<Cents>,
}

/// The indexes that searches share.
#[derive(Default)]
pub struct SearchIndexes(Mutex<VecDeque<Arc<PreparedServices>>>);

impl SearchIndexes {
    fn find(&self, version: Uuid, tools: &ToolOffers) -> Option<Arc<PreparedServices>> {
        let is_current =
            |services: &&Arc<PreparedServices>| services.version == version && *services.tools == *tools;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().find(is_current).cloned()
    }

    fn add(&self, services: PreparedServices) -> Arc<PreparedServices> {
        let services = Arc::new(services);
        let mut indexes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody asks for an older version again, and an index is as large as the texts of all campaigns.
        indexes.retain(|kept| kept.version == services.version);
        indexes.truncate(MAX_INDEXES - 1);
        indexes.push_front(services.clone());
        services
    }
}

/// What a search reads from the database, on one snapshot.
pub struct SearchInput {
    pub session: Option<SessionToken>,
    pub tools: Arc<ToolOffers>,
    pub indexes: Arc<SearchIndexes>,
}

/// What a search has read from the database.
pub struct Searchable {
    services: Arc<PreparedServices>,
    /// What is left of the budgets of the campaigns, in the order of the index.
    budgets: Vec<i64>,
    preferences: Option<PreferenceLevels>,
}

impl Searchable {
    /// Searches. The database is not needed any more.
    pub fn search(&self, query: &SearchQuery) -> SearchReport {
        self.services.index.search(query, self.preferences.as_ref(), |position| {
            match (self.services.least_budgets.get(position), self.budgets.get(position)) {
                (Some(least), Some(remaining)) => *remaining >= least.get(),
                // The services behind the campaigns are sponsored APIs.
                (None, _) => true,
                (Some(_), None) => false,
            }
        })
    }
}

pub async fn read(
    connection: &PostgresConnection<'_>,
    input: &SearchInput,
    now: Timestamp,
) -> Result<Searchable, Failure> {
    let preferences = async {
        let Some(token) = input.session else { return Ok(None) };
        let user = session_user(connection, token, now).await?;
        preference_levels(connection, user.id).await.map(Some)
    };
    let (preferences, version, budgets) = try_join!(preferences, version(connection), budgets(connection))?;
    let services = match input.indexes.find(version, &input.tools) {
        Some(services) => services,
        None => input.indexes.add(prepare(connection, version, &input.tools).await?),
    };
    Ok(Searchable { services, budgets, preferences })
}

async fn version(connection: &PostgresConnection<'_>) -> Result<Uuid, Failure> {
    Ok(connection.row("SELECT version FROM catalog_version", &[]).await?.try_get(0)?)
}

/// What is left of the budgets of the campaigns that are switched on, newest first.
async fn budgets(connection: &PostgresConnection<'_>) -> Result<Vec<i64>, Failure> {
    let query = "SELECT coalesce(array_agg(budget_remaining_cents ORDER BY created_at DESC, id DESC), '{}')
         FROM campaigns WHERE active";
    Ok(connection.row(query, &[]).await?.try_get(0)?)
}

/// Reads and prepares what is searched in: campaigns and sponsored APIs that are switched on, newest first.
async fn prepare(
    connection: &PostgresConnection<'_>,
    version: Uuid,
    tools: &Arc<ToolOffers>,
) -> Result<PreparedServices, Failure> {
    let campaigns = "SELECT id, name, sponsor, required_task, subsidy_per_call_cents, target_tools,
             coalesce(tags, '{}'), task_schema ->> 'task_type'
         FROM campaigns WHERE active ORDER BY created_at DESC, id DESC";
    let rows = connection.rows(campaigns, &[]).await?;
    let apis = sponsored_apis::active(connection).await?;
    let catalog = Catalog::new(&apis, tools);
    let (mut entries, mut least_budgets) = (Vec::new(), Vec::new());
    for row in &rows {
        let (entry, least) = catalog.listing(ListedCampaign {
            id: row.try_get::<_, Uuid>(0)?.to_string(),
            name: row.try_get(1)?,
            sponsor: row.try_get(2)?,
            required_task: row.try_get(3)?,
            subsidy: cents(row.try_get(4)?),
            target_tools: texts(row, 5)?,
            tags: texts(row, 6)?,
            task_type: row.try_get(7)?,
        });
        entries.push(entry);
        least_budgets.push(least);
    }
    entries.extend(catalog.api_entries());
    Ok(PreparedServices { version, tools: tools.clone(), index: SearchIndex::new(entries), least_budgets })
}
