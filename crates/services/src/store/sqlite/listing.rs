//! What a user has completed and can run.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::accounts::session_user;
use super::campaigns::{TARGETING, TARGETING_COLUMNS, targeting_campaign};
use super::completion_state::{COMPLETION_STATE, COMPLETION_STATE_COLUMNS};
use super::failure::Failure;
use super::rows::{from_json, id, time};
use super::sponsored_apis;
use crate::domain::catalog::Catalog;
use crate::domain::ids::{CampaignId, SessionToken};
use crate::domain::limits::MAX_PAGE;
use crate::domain::roles::UserRoles;
use crate::domain::tool_offers::ToolOffers;
use crate::domain::user::{AvailableService, CompletedTask, UserStatus};

pub fn user_status(
    connection: &Connection,
    session: SessionToken,
    tools: &ToolOffers,
    now: Timestamp,
) -> Result<UserStatus, Failure> {
    let user = session_user(connection, session, now)?;
    let user_id = user.id.to_string();
    let completed = completed_tasks(connection, &user_id)?;
    let available = available_services(connection, &user_id, &user.roles, tools)?;
    Ok(UserStatus::new(user, completed, available))
}

fn completed_tasks(connection: &Connection, user_id: &str) -> Result<Vec<CompletedTask>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT c.id, c.name, f.task_name, f.created_at FROM task_claims m
         JOIN task_completions f ON f.id = m.task_completion_id JOIN campaigns c ON c.id = m.campaign_id
         WHERE m.user_id = ?1 ORDER BY f.created_at DESC, f.id DESC LIMIT ?2",
    )?;
    let mut rows = statement.query(params![user_id, MAX_PAGE as i64])?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        tasks.push(CompletedTask {
            campaign_id: id(CampaignId::parse(&row.get::<_, String>(0)?))?,
            campaign_name: row.get(1)?,
            task_name: row.get(2)?,
            completed_at: time(row.get(3)?)?,
        });
    }
    Ok(tasks)
}

fn available_services(
    connection: &Connection,
    user_id: &str,
    roles: &[String],
    tools: &ToolOffers,
) -> Result<Vec<AvailableService>, Failure> {
    let apis = sponsored_apis::active(connection)?;
    let (catalog, roles) = (Catalog::new(&apis, tools), UserRoles::new(roles));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {TARGETING}, {COMPLETION_STATE}, c.target_tools FROM campaigns c WHERE c.active AND ?1
         ORDER BY c.created_at DESC, c.id DESC"
    ))?;
    let mut rows = statement.query(params![true, user_id])?;
    let mut campaigns = Vec::new();
    while let Some(row) = rows.next()? {
        let mut services: Vec<String> =
            from_json(&row.get::<_, String>(TARGETING_COLUMNS + COMPLETION_STATE_COLUMNS)?)?;
        services.retain(|key| catalog.is_service(key));
        campaigns.push((targeting_campaign(row, &roles)?, services));
    }
    Ok(catalog.available_services(&campaigns))
}
