//! Use cases of tasks: what they ask for, and completing them.

use jiff::Timestamp;

use super::accounts::session_user;
use super::connection::PostgresConnection;
use super::failure::Failure;
use super::{campaigns, completion_state};
use crate::domain::consent::ConsentType;
use crate::domain::ids::{CampaignId, SessionToken, UserId};
use crate::domain::limits::{MAX_CONSENTS, RETENTION_DAYS};
use crate::domain::task::{CompletionReport, TaskCompletion, TaskDetails, TaskSubmission};
use crate::store::Completion;

pub async fn details(
    connection: &PostgresConnection<'_>,
    (token, campaign_id): &(SessionToken, CampaignId),
    now: Timestamp,
) -> Result<TaskDetails, Failure> {
    let user = session_user(connection, *token, now).await?;
    let campaign = campaigns::find(connection, *campaign_id).await?;
    let standing = completion_state::find(connection, *campaign_id, user.id).await?;
    Ok(TaskDetails::new(&campaign, &standing))
}

pub async fn complete(
    connection: &PostgresConnection<'_>,
    (token, campaign_id, submission): &(SessionToken, CampaignId, TaskSubmission),
    now: Timestamp,
) -> Result<Completion, Failure> {
    // Verifying a person ends the sessions of others and then their consents: it waits for this one, or ends it before.
    connection.find("SELECT 1 FROM gpt_sessions WHERE token = $1 FOR SHARE", &[token]).await?;
    let user = session_user(connection, *token, now).await?;
    let campaign = campaigns::find(connection, *campaign_id).await?;
    submission.check(&campaign)?;
    // Submissions of one person come one after the other, so that consents of two are never mixed.
    connection.lock(&["task", &campaign_id.to_string(), &user.id.to_string()]).await?;
    record_consents(connection, user.id, *campaign_id, submission, now).await?;
    let completion = match find_completion(connection, *campaign_id, user.id).await? {
        Some(first) => add_details(connection, first, submission).await?,
        None => record_completion(connection, *campaign_id, user.id, submission, now).await?,
    };
    let standing = completion_state::find(connection, *campaign_id, user.id).await?;
    Ok(Completion { report: CompletionReport::new(&campaign, completion.id, &standing), completion })
}

async fn record_consents(
    connection: &PostgresConnection<'_>,
    user_id: UserId,
    campaign_id: CampaignId,
    submission: &TaskSubmission,
    now: Timestamp,
) -> Result<(), Failure> {
    for (consent, granted) in submission.consent.consents() {
        let days =
            (consent == ConsentType::Retention).then(|| i32::try_from(RETENTION_DAYS).unwrap_or(i32::MAX));
        connection
            .execute(
                "INSERT INTO consents (id, user_id, campaign_id, consent_type, granted, purpose, retention_days,
                     created_at)
                 VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7)",
                &[&user_id, &campaign_id, &consent.as_str(), &granted, &consent.purpose(), &days, &now],
            )
            .await?;
        connection
            .execute(
                "DELETE FROM consents WHERE id IN (SELECT id FROM consents WHERE user_id = $1 AND campaign_id = $2
                 AND consent_type = $3 ORDER BY seq DESC OFFSET $4)",
                &[&user_id, &campaign_id, &consent.as_str(), &(MAX_CONSENTS as i64)],
            )
            .await?;
    }
    Ok(())
}

/// The details of a completion whose own were deleted, or that had none.
async fn add_details(
    connection: &PostgresConnection<'_>,
    completion: TaskCompletion,
    submission: &TaskSubmission,
) -> Result<TaskCompletion, Failure> {
    let (None, Some(details)) = (&completion.details, &submission.details) else { return Ok(completion) };
    let details = details.to_string();
    connection
        .execute("UPDATE task_completions SET details = $2 WHERE id = $1", &[&completion.id, &details])
        .await?;
    Ok(TaskCompletion { details: Some(details), ..completion })
}

async fn find_completion(
    connection: &PostgresConnection<'_>,
    campaign_id: CampaignId,
    user_id: UserId,
) -> Result<Option<TaskCompletion>, Failure> {
    let query = "SELECT f.id, f.task_name, f.details, f.created_at FROM task_claims m
         JOIN task_completions f ON f.id = m.task_completion_id WHERE m.campaign_id = $1 AND m.user_id = $2";
    let Some(row) = connection.find(query, &[&campaign_id, &user_id]).await? else { return Ok(None) };
    Ok(Some(TaskCompletion {
        id: row.try_get(0)?,
        campaign_id,
        user_id,
        task_name: row.try_get(1)?,
        details: row.try_get(2)?,
        created_at: row.try_get(3)?,
    }))
}

async fn record_completion(
    connection: &PostgresConnection<'_>,
    campaign_id: CampaignId,
    user_id: UserId,
    submission: &TaskSubmission,
    now: Timestamp,
) -> Result<TaskCompletion, Failure> {
    let completion = TaskCompletion::new(campaign_id, user_id, submission, now);
    connection
        .execute(
            "INSERT INTO task_completions (id, campaign_id, user_id, task_name, details, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[&completion.id, &campaign_id, &user_id, &completion.task_name, &completion.details, &now],
        )
        .await?;
    connection
        .execute(
            "INSERT INTO task_claims (campaign_id, user_id, task_completion_id) VALUES ($1, $2, $3)",
            &[&campaign_id, &user_id, &completion.id],
        )
        .await?;
    Ok(completion)
}
