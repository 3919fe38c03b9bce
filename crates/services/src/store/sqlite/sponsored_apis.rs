//! Use cases of sponsored APIs.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::failure::Failure;
use super::keys::once;
use super::rows::{cents, from_json, id, time, to_json};
use crate::domain::ids::SponsoredApiId;
use crate::domain::money::Cents;
use crate::domain::sponsored_api::{SponsoredApi, SponsoredApiDraft, SponsoredApiPatch, UpstreamMethod};
use crate::domain::tool_offers::ToolOffers;
use crate::store::movements::Moved;
use crate::store::shared::{SponsorKey, no_sponsored_api, service_key_taken};
use crate::store::{Page, PageRequest};

/// The columns of a sponsored API, in the order that [`api`] reads them.
const API: &str = "a.id, a.name, a.sponsor, a.description, a.upstream_url, a.upstream_method, a.upstream_headers, \
     a.price_cents, a.budget_total_cents, a.budget_remaining_cents, a.active, a.service_key, a.created_at";

fn api(row: &Row<'_>) -> Result<SponsoredApi, Failure> {
    Ok(SponsoredApi {
        id: id(SponsoredApiId::parse(&row.get::<_, String>(0)?))?,
        name: row.get(1)?,
        sponsor: row.get(2)?,
        description: row.get(3)?,
        upstream_url: row.get(4)?,
        upstream_method: method(&row.get::<_, String>(5)?)?,
        upstream_headers: from_json(&row.get::<_, String>(6)?)?,
        price_cents: cents(row.get(7)?)?,
        budget_total_cents: cents(row.get(8)?)?,
        budget_remaining_cents: cents(row.get(9)?)?,
        active: row.get(10)?,
        service_key: row.get(11)?,
        created_at: time(row.get(12)?)?,
    })
}

fn method(name: &str) -> Result<UpstreamMethod, Failure> {
    let methods = [UpstreamMethod::Post, UpstreamMethod::Put, UpstreamMethod::Patch];
    let method = methods.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(name));
    method.ok_or_else(|| Failure::unreadable("a method"))
}

pub fn find(connection: &Connection, api_id: SponsoredApiId) -> Result<SponsoredApi, Failure> {
    let found = find_where(connection, "a.id = ?1", &api_id.to_string())?;
    found.ok_or_else(|| no_sponsored_api(api_id).into())
}

/// The sponsored API with a service key, switched on or off.
pub fn find_by_key(connection: &Connection, service_key: &str) -> Result<Option<SponsoredApi>, Failure> {
    find_where(connection, "a.service_key = ?1", service_key)
}

fn find_where(
    connection: &Connection,
    condition: &str,
    value: &str,
) -> Result<Option<SponsoredApi>, Failure> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {API} FROM sponsored_apis a WHERE {condition}"))?;
    let mut rows = statement.query([value])?;
    rows.next()?.map(api).transpose()
}

/// All sponsored APIs that are switched on, newest first.
pub fn active(connection: &Connection) -> Result<Vec<SponsoredApi>, Failure> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {API} FROM sponsored_apis a WHERE a.active ORDER BY a.created_at DESC, a.id DESC"
    ))?;
    let mut rows = statement.query([])?;
    let mut apis = Vec::new();
    while let Some(row) = rows.next()? {
        apis.push(api(row)?);
    }
    Ok(apis)
}

pub fn create(
    transaction: &Transaction<'_>,
    draft: SponsoredApiDraft,
    tools: &ToolOffers,
    key: Option<&SponsorKey>,
    now: Timestamp,
) -> Result<Moved<SponsoredApi>, Failure> {
    let mut added = Cents::ZERO;
    let created = once(transaction, key, now, || {
        let api = draft.into_api(tools, SponsoredApiId::random(), now)?;
        let taken: Option<i64> = transaction
            .query_row("SELECT 1 FROM sponsored_apis WHERE service_key = ?1", [&api.service_key], |row| {
                row.get(0)
            })
            .optional()?;
        if taken.is_some() {
            return Err(service_key_taken(&api.service_key).into());
        }
        save(transaction, &api)?;
        added = api.budget_total_cents;
        Ok(api.id.to_string())
    })?;
    Ok(Moved::added(find(transaction, id(SponsoredApiId::parse(&created))?)?, added))
}

pub fn patch(
    transaction: &Transaction<'_>,
    api_id: SponsoredApiId,
    patch: SponsoredApiPatch,
    tools: &ToolOffers,
    key: Option<&SponsorKey>,
    now: Timestamp,
) -> Result<Moved<SponsoredApi>, Failure> {
    let mut added = Cents::ZERO;
    once(transaction, key, now, || {
        let mut api = find(transaction, api_id)?;
        let before = api.budget_total_cents;
        patch.apply(&mut api, tools)?;
        save(transaction, &api)?;
        added = api.budget_total_cents.checked_sub(before).unwrap_or_default();
        Ok(api_id.to_string())
    })?;
    Ok(Moved::added(find(transaction, api_id)?, added))
}

fn save(transaction: &Transaction<'_>, api: &SponsoredApi) -> Result<(), Failure> {
    transaction.execute(
        "INSERT INTO sponsored_apis (id, name, sponsor, description, upstream_url, upstream_method, upstream_headers,
             price_cents, budget_total_cents, budget_remaining_cents, active, service_key, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO UPDATE SET description = excluded.description,
             upstream_headers = excluded.upstream_headers, price_cents = excluded.price_cents,
             budget_total_cents = excluded.budget_total_cents,
             budget_remaining_cents = excluded.budget_remaining_cents, active = excluded.active",
        params![
            api.id.to_string(),
            api.name,
            api.sponsor,
            api.description,
            api.upstream_url,
            api.upstream_method.as_str(),
            to_json(&api.upstream_headers)?,
            api.price_cents.get(),
            api.budget_total_cents.get(),
            api.budget_remaining_cents.get(),
            api.active,
            api.service_key,
            api.created_at.as_microsecond()
        ],
    )?;
    Ok(())
}

pub fn page(connection: &Connection, request: &PageRequest) -> Result<Page<SponsoredApi>, Failure> {
    super::keys::page(connection, "sponsored_apis a", API, request, api)
}
