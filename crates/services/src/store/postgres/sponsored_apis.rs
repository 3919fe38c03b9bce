//! Use cases of sponsored APIs.

use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Json;

use super::connection::{Parameter, PostgresConnection};
use super::failure::Failure;
use super::keys::{find_sponsored, remember_sponsored};
use super::values::{cents, headers};
use crate::domain::ids::SponsoredApiId;
use crate::domain::sponsored_api::{SponsoredApi, SponsoredApiDraft, SponsoredApiPatch, UpstreamMethod};
use crate::domain::tool_offers::ToolOffers;
use crate::store::movements::Moved;
use crate::store::shared::{SponsorKey, no_sponsored_api, service_key_taken};
use crate::store::{Page, PageRequest};

/// The columns of a sponsored API, in the order that [`api`] reads them, of those that can be called: the system before
/// this one also had other methods.
const API: &str = "a.id, a.name, a.sponsor, a.description, a.upstream_url, a.upstream_method, a.upstream_headers, \
     a.price_cents, a.budget_total_cents, a.budget_remaining_cents, a.active, a.service_key, a.created_at \
     FROM sponsored_apis a WHERE upper(a.upstream_method) IN ('POST', 'PUT', 'PATCH')";

fn api(row: &Row) -> Result<SponsoredApi, Failure> {
    Ok(SponsoredApi {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        sponsor: row.try_get(2)?,
        description: row.try_get(3)?,
        upstream_url: row.try_get(4)?,
        upstream_method: method(row.try_get(5)?)?,
        upstream_headers: headers(row.try_get(6)?),
        price_cents: cents(row.try_get(7)?),
        budget_total_cents: cents(row.try_get(8)?),
        budget_remaining_cents: cents(row.try_get(9)?),
        active: row.try_get(10)?,
        service_key: row.try_get(11)?,
        created_at: row.try_get(12)?,
    })
}

fn method(name: &str) -> Result<UpstreamMethod, Failure> {
    let methods = [UpstreamMethod::Post, UpstreamMethod::Put, UpstreamMethod::Patch];
    let method = methods.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(name));
    method.ok_or_else(|| Failure::unreadable("a method"))
}

pub async fn find(connection: &PostgresConnection<'_>, id: SponsoredApiId) -> Result<SponsoredApi, Failure> {
    let found = find_where(connection, "a.id = $1", &id).await?;
    found.ok_or_else(|| no_sponsored_api(id).into())
}

/// The sponsored API with a service key, switched on or off.
pub async fn find_by_key(
    connection: &PostgresConnection<'_>,
    service_key: &str,
) -> Result<Option<SponsoredApi>, Failure> {
    find_where(connection, "a.service_key = $1", &service_key).await
}

async fn find_where(
    connection: &PostgresConnection<'_>,
    condition: &str,
    value: Parameter<'_>,
) -> Result<Option<SponsoredApi>, Failure> {
    connection.find(&format!("SELECT {API} AND {condition}"), &[value]).await?.as_ref().map(api).transpose()
}

/// All sponsored APIs that are switched on, newest first.
pub async fn active(connection: &PostgresConnection<'_>) -> Result<Vec<SponsoredApi>, Failure> {
    let query = format!("SELECT {API} AND a.active ORDER BY a.created_at DESC, a.id DESC");
    connection.rows(&query, &[]).await?.iter().map(api).collect()
}

pub async fn create(
    connection: &PostgresConnection<'_>,
    (draft, tools, key): &(SponsoredApiDraft, std::sync::Arc<ToolOffers>, Option<SponsorKey>),
    now: Timestamp,
) -> Result<Moved<SponsoredApi>, Failure> {
    if let Some(created) = find_sponsored(connection, key.as_ref(), now).await? {
        return Ok(Moved::nothing(find(connection, created).await?));
    }
    let api = draft.clone().into_api(tools, SponsoredApiId::random(), now)?;
    let taken = "SELECT 1 FROM sponsored_apis WHERE service_key = $1";
    if connection.find(taken, &[&api.service_key]).await?.is_some() {
        return Err(service_key_taken(&api.service_key).into());
    }
    // Where another transaction takes the key at this moment, this one fails, and the next try finds the key taken.
    connection
        .execute(
            "INSERT INTO sponsored_apis (id, name, sponsor, description, upstream_url, upstream_method,
                 upstream_headers, price_cents, budget_total_cents, budget_remaining_cents, active, service_key,
                 created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            &[
                &api.id,
                &api.name,
                &api.sponsor,
                &api.description,
                &api.upstream_url,
                &api.upstream_method.as_str(),
                &Json(&api.upstream_headers),
                &api.price_cents.get(),
                &api.budget_total_cents.get(),
                &api.budget_remaining_cents.get(),
                &api.active,
                &api.service_key,
                &api.created_at,
            ],
        )
        .await?;
    remember_sponsored(connection, key.as_ref(), &api.id, now).await?;
    Ok(Moved::added(find(connection, api.id).await?, api.budget_total_cents))
}

/// What a change of a sponsored API consists of.
pub type PatchInput = (SponsoredApiId, SponsoredApiPatch, std::sync::Arc<ToolOffers>, Option<SponsorKey>);

pub async fn patch(
    connection: &PostgresConnection<'_>,
    (id, patch, tools, key): &PatchInput,
    now: Timestamp,
) -> Result<Moved<SponsoredApi>, Failure> {
    if find_sponsored::<SponsoredApiId>(connection, key.as_ref(), now).await?.is_some() {
        return Ok(Moved::nothing(find(connection, *id).await?));
    }
    let before = find_where(connection, "a.id = $1 FOR NO KEY UPDATE", id).await?;
    let before = before.ok_or_else(|| no_sponsored_api(*id))?;
    let mut api = before.clone();
    patch.clone().apply(&mut api, tools)?;
    let added = api.budget_total_cents.get() - before.budget_total_cents.get();
    connection
        .execute(
            "UPDATE sponsored_apis SET description = $2, upstream_headers = $3, price_cents = $4,
                 budget_total_cents = budget_total_cents + $5, budget_remaining_cents = budget_remaining_cents + $5,
                 active = $6
             WHERE id = $1",
            &[id, &api.description, &Json(&api.upstream_headers), &api.price_cents.get(), &added, &api.active],
        )
        .await?;
    remember_sponsored(connection, key.as_ref(), id, now).await?;
    Ok(Moved::added(find(connection, *id).await?, cents(added)))
}

pub async fn page(
    connection: &PostgresConnection<'_>,
    request: &PageRequest,
) -> Result<Page<SponsoredApi>, Failure> {
    super::keys::page(connection, API, request, api).await
}
