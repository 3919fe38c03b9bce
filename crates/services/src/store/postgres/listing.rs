//! What a user has completed and can run.

use std::sync::Arc;

use futures_util::try_join;
use jiff::Timestamp;

use super::accounts::session_user;
use super::campaigns::{TARGETING, TARGETING_COLUMNS, targeting_campaign};
use super::completion_state::{CLAIM, COMPLETION_STATE, COMPLETION_STATE_COLUMNS};
use super::connection::PostgresConnection;
use super::failure::Failure;
use super::sponsored_apis;
use super::values::texts;
use crate::domain::catalog::Catalog;
use crate::domain::ids::{SessionToken, UserId};
use crate::domain::limits::MAX_PAGE;
use crate::domain::roles::UserRoles;
use crate::domain::tool_offers::ToolOffers;
use crate::domain::user::{AvailableService, CompletedTask, UserStatus};

pub async fn user_status(
    connection: &PostgresConnection<'_>,
    (token, tools): &(SessionToken, Arc<ToolOffers>),
    now: Timestamp,
) -> Result<UserStatus, Failure> {
    let user = session_user(connection, *token, now).await?;
    let (completed, available) = try_join!(
        completed_tasks(connection, user.id),
        available_services(connection, user.id, &user.roles, tools)
    )?;
    Ok(UserStatus::new(user, completed, available))
}

async fn completed_tasks(
    connection: &PostgresConnection<'_>,
    user_id: UserId,
) -> Result<Vec<CompletedTask>, Failure> {
    let query = "SELECT c.id, c.name, f.task_name, f.created_at FROM task_claims m
         JOIN task_completions f ON f.id = m.task_completion_id JOIN campaigns c ON c.id = m.campaign_id
         WHERE m.user_id = $1 ORDER BY f.created_at DESC, f.id DESC LIMIT $2";
    let rows = connection.rows(query, &[&user_id, &(MAX_PAGE as i64)]).await?;
    rows.iter()
        .map(|row| {
            Ok(CompletedTask {
                campaign_id: row.try_get(0)?,
                campaign_name: row.try_get(1)?,
                task_name: row.try_get(2)?,
                completed_at: row.try_get(3)?,
            })
        })
        .collect()
}

async fn available_services(
    connection: &PostgresConnection<'_>,
    user_id: UserId,
    roles: &[String],
    tools: &ToolOffers,
) -> Result<Vec<AvailableService>, Failure> {
    let query = format!(
        "SELECT {TARGETING}, {COMPLETION_STATE}, c.target_tools FROM campaigns c {CLAIM} WHERE c.active AND $1
         ORDER BY c.created_at DESC, c.id DESC"
    );
    let apis = sponsored_apis::active(connection).await?;
    let rows = connection.rows(&query, &[&true, &user_id]).await?;
    let (catalog, roles) = (Catalog::new(&apis, tools), UserRoles::new(roles));
    let mut campaigns = Vec::new();
    for row in &rows {
        let mut services = texts(row, TARGETING_COLUMNS + COMPLETION_STATE_COLUMNS)?;
        services.retain(|key| catalog.is_service(key));
        campaigns.push((targeting_campaign(row, &roles)?, services));
    }
    Ok(catalog.available_services(&campaigns))
}
