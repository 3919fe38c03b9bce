//! Use cases of campaigns and their sponsors.

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::Row;
use tokio_postgres::types::Json;

use super::completion_state::{CLAIM, COMPLETION_STATE, COUNTED, completion_state};
use super::connection::PostgresConnection;
use super::failure::Failure;
use super::keys::{find_sponsored, remember_sponsored};
use super::values::{cents, task_schema, texts};
use crate::domain::campaign::{Campaign, CampaignDraft, CampaignPatch};
use crate::domain::ids::{CampaignId, UserId};
use crate::domain::matching::TargetingCampaign;
use crate::domain::roles::UserRoles;
use crate::error::ServicesError;
use crate::store::movements::Moved;
use crate::store::shared::SponsorKey;
use crate::store::{Dashboard, Page, PageRequest};

/// The columns of a campaign, in the order that [`campaign`] reads them.
const CAMPAIGN: &str = "c.id, c.name, c.sponsor, c.target_roles, c.target_tools, c.required_task, \
     c.subsidy_per_call_cents, c.budget_total_cents, c.budget_remaining_cents, c.query_urls, c.active, c.created_at, \
     c.sponsor_wallet_address, c.task_schema, coalesce(c.tags, '{}')";

/// The campaign in a row that begins with [`CAMPAIGN`].
fn campaign(row: &Row) -> Result<Campaign, Failure> {
    Ok(Campaign {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        sponsor: row.try_get(2)?,
        target_roles: texts(row, 3)?,
        target_tools: texts(row, 4)?,
        required_task: row.try_get(5)?,
        subsidy_per_call_cents: cents(row.try_get(6)?),
        budget_total_cents: cents(row.try_get(7)?),
        budget_remaining_cents: cents(row.try_get(8)?),
        query_urls: texts(row, 9)?,
        active: row.try_get(10)?,
        created_at: row.try_get(11)?,
        sponsor_wallet_address: row.try_get(12)?,
        task_schema: task_schema(row.try_get::<_, Option<Value>>(13)?),
        tags: texts(row, 14)?,
    })
}

/// The campaign with an id.
pub async fn find(connection: &PostgresConnection<'_>, id: CampaignId) -> Result<Campaign, Failure> {
    find_locking(connection, id, "").await
}

async fn find_locking(
    connection: &PostgresConnection<'_>,
    id: CampaignId,
    lock: &str,
) -> Result<Campaign, Failure> {
    let query = format!("SELECT {CAMPAIGN} FROM campaigns c WHERE c.id = $1 {lock}");
    match connection.find(&query, &[&id]).await? {
        Some(row) => campaign(&row),
        None => Err(ServicesError::no_campaign(id).into()),
    }
}

pub async fn create(
    connection: &PostgresConnection<'_>,
    (draft, key): &(CampaignDraft, Option<SponsorKey>),
    now: Timestamp,
) -> Result<Moved<Campaign>, Failure> {
    if let Some(created) = find_sponsored(connection, key.as_ref(), now).await? {
        return Ok(Moved::nothing(find(connection, created).await?));
    }
    let campaign = draft.clone().into_campaign(CampaignId::random(), now);
    connection
        .execute(
            "INSERT INTO campaigns (id, name, sponsor, target_roles, target_tools, required_task,
                 subsidy_per_call_cents, budget_total_cents, budget_remaining_cents, query_urls, active, created_at,
                 sponsor_wallet_address, task_schema, tags)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            &[
                &campaign.id,
                &campaign.name,
                &campaign.sponsor,
                &campaign.target_roles,
                &campaign.target_tools,
                &campaign.required_task,
                &campaign.subsidy_per_call_cents.get(),
                &campaign.budget_total_cents.get(),
                &campaign.budget_remaining_cents.get(),
                &campaign.query_urls,
                &campaign.active,
                &campaign.created_at,
                &campaign.sponsor_wallet_address,
                &campaign.task_schema.as_ref().map(Json),
                &campaign.tags,
            ],
        )
        .await?;
    remember_sponsored(connection, key.as_ref(), &campaign.id, now).await?;
    Ok(Moved::added(find(connection, campaign.id).await?, campaign.budget_total_cents))
}

pub async fn patch(
    connection: &PostgresConnection<'_>,
    (id, patch, key): &(CampaignId, CampaignPatch, Option<SponsorKey>),
    now: Timestamp,
) -> Result<Moved<Campaign>, Failure> {
    if find_sponsored::<CampaignId>(connection, key.as_ref(), now).await?.is_some() {
        return Ok(Moved::nothing(find(connection, *id).await?));
    }
    let before = find_locking(connection, *id, "FOR NO KEY UPDATE").await?;
    let mut campaign = before.clone();
    patch.clone().apply(&mut campaign)?;
    // The budget rises by what was added, so that amounts which the domain cannot express keep their difference. A form
    // that cannot be read stays as it is.
    let added = campaign.budget_total_cents.get() - before.budget_total_cents.get();
    connection
        .execute(
            "UPDATE campaigns SET name = $2, target_roles = $3, target_tools = $4, subsidy_per_call_cents = $5,
                 budget_total_cents = budget_total_cents + $6, budget_remaining_cents = budget_remaining_cents + $6,
                 query_urls = $7, active = $8, task_schema = coalesce($9, task_schema), tags = $10
             WHERE id = $1",
            &[
                id,
                &campaign.name,
                &campaign.target_roles,
                &campaign.target_tools,
                &campaign.subsidy_per_call_cents.get(),
                &added,
                &campaign.query_urls,
                &campaign.active,
                &campaign.task_schema.as_ref().map(Json),
                &campaign.tags,
            ],
        )
        .await?;
    remember_sponsored(connection, key.as_ref(), id, now).await?;
    Ok(Moved::added(find(connection, *id).await?, cents(added)))
}

pub async fn page(
    connection: &PostgresConnection<'_>,
    request: &PageRequest,
) -> Result<Page<Campaign>, Failure> {
    let source = format!("{CAMPAIGN} FROM campaigns c WHERE true");
    super::keys::page(connection, &source, request, campaign).await
}

/// Which campaigns of a service are of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targeting {
    /// Those whose task the user has completed, whether that counts or not.
    ClaimedByUser,
    /// All that are switched on.
    Active,
}

/// The columns of a [`TargetingCampaign`], in the order that [`targeting_campaign`] reads them.
pub const TARGETING: &str = "c.id, c.name, c.sponsor, c.required_task, c.subsidy_per_call_cents, \
     c.budget_remaining_cents, c.active, c.target_roles";
/// How many columns that are, without those of [`COMPLETION_STATE`] behind them.
pub const TARGETING_COLUMNS: usize = 8;

/// The campaign in a row that begins with [`TARGETING`] and [`COMPLETION_STATE`].
pub fn targeting_campaign(row: &Row, roles: &UserRoles) -> Result<TargetingCampaign, Failure> {
    Ok(TargetingCampaign {
        id: row.try_get(0)?,
        name: row.try_get(1)?,
        sponsor: row.try_get(2)?,
        required_task: row.try_get(3)?,
        subsidy: cents(row.try_get(4)?),
        budget_remaining: cents(row.try_get(5)?),
        active: row.try_get(6)?,
        means_user: roles.meet(&texts(row, 7)?),
        has_completed_task: completion_state(row, TARGETING_COLUMNS)?.counts(),
    })
}

/// The campaigns that name a service, newest first, with the user's standing in each.
pub async fn targeting(
    connection: &PostgresConnection<'_>,
    service: &str,
    user_id: UserId,
    roles: &UserRoles,
    which: Targeting,
) -> Result<Vec<TargetingCampaign>, Failure> {
    let condition = match which {
        Targeting::ClaimedByUser => "WHERE k.user_id = $2 AND c.active AND $1::text = ANY (c.target_tools)",
        Targeting::Active => "WHERE c.target_tools @> ARRAY[$1::text] AND c.active",
    };
    let query = format!(
        "SELECT {TARGETING}, {COMPLETION_STATE} FROM campaigns c {CLAIM} {condition} ORDER BY c.created_at DESC, c.id DESC"
    );
    let rows = connection.rows(&query, &[&service, &user_id]).await?;
    rows.iter().map(|row| targeting_campaign(row, roles)).collect()
}

pub async fn dashboard(
    connection: &PostgresConnection<'_>,
    campaign_id: CampaignId,
) -> Result<Dashboard, Failure> {
    let campaign = find(connection, campaign_id).await?;
    let row = connection
        .row(
            &format!(
                "SELECT (SELECT count(*) FROM task_claims k WHERE k.campaign_id = $1 AND {COUNTED}),
                     count(*), coalesce(sum(amount_cents), 0)::bigint,
                     (SELECT coalesce(sum(r.amount_cents), 0)::bigint FROM reservations r
                      WHERE r.campaign_id = $1 AND r.state = 'reserved')
                 FROM payments WHERE campaign_id = $1 AND source = 'sponsor' AND status = 'settled'"
            ),
            &[&campaign_id],
        )
        .await?;
    Ok(Dashboard {
        tasks_completed: row.try_get::<_, i64>(0)?.unsigned_abs(),
        sponsored_calls: row.try_get::<_, i64>(1)?.unsigned_abs(),
        spend_cents: cents(row.try_get(2)?),
        reserved_cents: cents(row.try_get(3)?),
        remaining_budget_cents: campaign.budget_remaining_cents,
        campaign,
    })
}
