//! Use cases of campaigns and their sponsors.

use jiff::Timestamp;
use rusqlite::{Connection, Row, Transaction, params};

use super::completion_state::{COMPLETION_STATE, COUNTED, completion_state};
use super::failure::Failure;
use super::keys::once;
use super::rows::{cents, from_json, id, time, to_json};
use crate::domain::campaign::{Campaign, CampaignDraft, CampaignPatch};
use crate::domain::ids::CampaignId;
use crate::domain::matching::TargetingCampaign;
use crate::domain::money::Cents;
use crate::domain::roles::UserRoles;
use crate::domain::task_schema::TaskSchema;
use crate::error::ServicesError;
use crate::store::movements::Moved;
use crate::store::shared::SponsorKey;
use crate::store::{Dashboard, Page, PageRequest};

/// The columns of a campaign, in the order that [`campaign`] reads them.
const CAMPAIGN: &str = "c.id, c.name, c.sponsor, c.target_roles, c.target_tools, c.required_task, \
     c.subsidy_per_call_cents, c.budget_total_cents, c.budget_remaining_cents, c.query_urls, c.active, c.created_at, \
     c.sponsor_wallet_address, c.task_schema, c.tags";

/// The campaign in a row that begins with [`CAMPAIGN`].
fn campaign(row: &Row<'_>) -> Result<Campaign, Failure> {
    Ok(Campaign {
        id: id(CampaignId::parse(&row.get::<_, String>(0)?))?,
        name: row.get(1)?,
        sponsor: row.get(2)?,
        target_roles: from_json(&row.get::<_, String>(3)?)?,
        target_tools: from_json(&row.get::<_, String>(4)?)?,
        required_task: row.get(5)?,
        subsidy_per_call_cents: cents(row.get(6)?)?,
        budget_total_cents: cents(row.get(7)?)?,
        budget_remaining_cents: cents(row.get(8)?)?,
        query_urls: from_json(&row.get::<_, String>(9)?)?,
        active: row.get(10)?,
        created_at: time(row.get(11)?)?,
        sponsor_wallet_address: row.get(12)?,
        task_schema: row
            .get::<_, Option<String>>(13)?
            .map(|json| from_json::<TaskSchema>(&json))
            .transpose()?,
        tags: from_json(&row.get::<_, String>(14)?)?,
    })
}

/// The campaign with an id.
pub fn find(connection: &Connection, campaign_id: CampaignId) -> Result<Campaign, Failure> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {CAMPAIGN} FROM campaigns c WHERE c.id = ?1"))?;
    let mut rows = statement.query([campaign_id.to_string()])?;
    match rows.next()? {
        Some(row) => campaign(row),
        None => Err(ServicesError::no_campaign(campaign_id).into()),
    }
}

pub fn create(
    transaction: &Transaction<'_>,
    draft: CampaignDraft,
    key: Option<&SponsorKey>,
    now: Timestamp,
) -> Result<Moved<Campaign>, Failure> {
    let mut added = Cents::ZERO;
    let created = once(transaction, key, now, || {
        let campaign = draft.into_campaign(CampaignId::random(), now);
        save(transaction, &campaign)?;
        added = campaign.budget_total_cents;
        Ok(campaign.id.to_string())
    })?;
    Ok(Moved::added(find(transaction, id(CampaignId::parse(&created))?)?, added))
}

pub fn patch(
    transaction: &Transaction<'_>,
    campaign_id: CampaignId,
    patch: CampaignPatch,
    key: Option<&SponsorKey>,
    now: Timestamp,
) -> Result<Moved<Campaign>, Failure> {
    let mut added = Cents::ZERO;
    once(transaction, key, now, || {
        let mut campaign = find(transaction, campaign_id)?;
        let before = campaign.budget_total_cents;
        patch.apply(&mut campaign)?;
        save(transaction, &campaign)?;
        added = campaign.budget_total_cents.checked_sub(before).unwrap_or_default();
        Ok(campaign_id.to_string())
    })?;
    Ok(Moved::added(find(transaction, campaign_id)?, added))
}

/// Writes a campaign and the list of the services that it names.
fn save(transaction: &Transaction<'_>, campaign: &Campaign) -> Result<(), Failure> {
    let campaign_id = campaign.id.to_string();
    transaction.execute(
        "INSERT INTO campaigns (id, name, sponsor, target_roles, target_tools, required_task, subsidy_per_call_cents,
             budget_total_cents, budget_remaining_cents, query_urls, active, created_at, sponsor_wallet_address,
             task_schema, tags)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, target_roles = excluded.target_roles,
             target_tools = excluded.target_tools, subsidy_per_call_cents = excluded.subsidy_per_call_cents,
             budget_total_cents = excluded.budget_total_cents,
             budget_remaining_cents = excluded.budget_remaining_cents, query_urls = excluded.query_urls,
             active = excluded.active, task_schema = excluded.task_schema, tags = excluded.tags",
        params![
            campaign_id,
            campaign.name,
            campaign.sponsor,
            to_json(&campaign.target_roles)?,
            to_json(&campaign.target_tools)?,
            campaign.required_task,
            campaign.subsidy_per_call_cents.get(),
            campaign.budget_total_cents.get(),
            campaign.budget_remaining_cents.get(),
            to_json(&campaign.query_urls)?,
            campaign.active,
            campaign.created_at.as_microsecond(),
            campaign.sponsor_wallet_address,
            campaign.task_schema.as_ref().map(to_json).transpose()?,
            to_json(&campaign.tags)?
        ],
    )?;
    transaction.execute("DELETE FROM campaign_tools WHERE campaign_id = ?1", [&campaign_id])?;
    let mut insert = transaction
        .prepare_cached("INSERT OR IGNORE INTO campaign_tools (tool, campaign_id) VALUES (?1, ?2)")?;
    for tool in &campaign.target_tools {
        insert.execute([tool, &campaign_id])?;
    }
    Ok(())
}

pub fn page(connection: &Connection, request: &PageRequest) -> Result<Page<Campaign>, Failure> {
    super::keys::page(connection, "campaigns c", CAMPAIGN, request, campaign)
}

/// Which campaigns of a service are of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targeting {
    /// Those whose task the user has completed, whether that counts or not.
    ClaimedByUser,
    /// All that are switched on.
    Active,
}

/// The columns of a [`TargetingCampaign`], in the order that [`targeting_campaign`] reads them, for the user `?2`.
pub const TARGETING: &str = "c.id, c.name, c.sponsor, c.required_task, c.subsidy_per_call_cents, \
     c.budget_remaining_cents, c.active, c.target_roles";
/// How many columns that are, without those of [`COMPLETION_STATE`] behind them.
pub const TARGETING_COLUMNS: usize = 8;

/// The campaign in a row that begins with [`TARGETING`] and [`COMPLETION_STATE`].
pub fn targeting_campaign(row: &Row<'_>, roles: &UserRoles) -> Result<TargetingCampaign, Failure> {
    Ok(TargetingCampaign {
        id: id(CampaignId::parse(&row.get::<_, String>(0)?))?,
        name: row.get(1)?,
        sponsor: row.get(2)?,
        required_task: row.get(3)?,
        subsidy: cents(row.get(4)?)?,
        budget_remaining: cents(row.get(5)?)?,
        active: row.get(6)?,
        means_user: roles.meet(&from_json::<Vec<String>>(&row.get::<_, String>(7)?)?),
        has_completed_task: completion_state(row, TARGETING_COLUMNS)?.counts(),
    })
}

/// The campaigns that name a service, newest first, with the user's standing in each.
pub fn targeting(
    connection: &Connection,
    service: &str,
    user_id: &str,
    roles: &UserRoles,
    which: Targeting,
) -> Result<Vec<TargetingCampaign>, Failure> {
    // The claims of a user are few, so they come first; SQLite keeps the order of a CROSS JOIN.
    let from = match which {
        Targeting::ClaimedByUser => {
            "task_claims k CROSS JOIN campaign_tools t ON t.campaign_id = k.campaign_id AND t.tool = ?1
             CROSS JOIN campaigns c ON c.id = k.campaign_id WHERE k.user_id = ?2 AND c.active"
        }
        Targeting::Active => {
            "campaign_tools t CROSS JOIN campaigns c ON c.id = t.campaign_id WHERE t.tool = ?1 AND c.active"
        }
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {TARGETING}, {COMPLETION_STATE} FROM {from} ORDER BY c.created_at DESC, c.id DESC"
    ))?;
    let mut rows = statement.query([service, user_id])?;
    let mut campaigns = Vec::new();
    while let Some(row) = rows.next()? {
        campaigns.push(targeting_campaign(row, roles)?);
    }
    Ok(campaigns)
}

pub fn dashboard(connection: &Connection, campaign_id: CampaignId) -> Result<Dashboard, Failure> {
    let campaign = find(connection, campaign_id)?;
    let campaign_id = campaign_id.to_string();
    let tasks_completed: i64 = connection.query_row(
        &format!("SELECT count(*) FROM task_claims k WHERE k.campaign_id = ?1 AND {COUNTED}"),
        [&campaign_id],
        |row| row.get(0),
    )?;
    let (calls, spend): (i64, i64) = connection.query_row(
        "SELECT count(*), coalesce(sum(amount_cents), 0) FROM payments
         WHERE campaign_id = ?1 AND source = 'sponsor' AND status = 'settled'",
        [&campaign_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let reserved: i64 = connection.query_row(
        "SELECT coalesce(sum(amount_cents), 0) FROM reservations WHERE campaign_id = ?1 AND state = 'reserved'",
        [&campaign_id],
        |row| row.get(0),
    )?;
    Ok(Dashboard {
        tasks_completed: tasks_completed.unsigned_abs(),
        sponsored_calls: calls.unsigned_abs(),
        spend_cents: cents(spend)?,
        reserved_cents: cents(reserved)?,
        remaining_budget_cents: campaign.budget_remaining_cents,
        campaign,
    })
}
