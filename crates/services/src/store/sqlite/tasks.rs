//! Use cases of tasks: what they ask for, and completing them.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, params};

use super::accounts::session_user;
use super::failure::Failure;
use super::rows::{id, time};
use super::{campaigns, completion_state};
use crate::domain::consent::ConsentType;
use crate::domain::ids::{CampaignId, CompletionId, SessionToken, UserId};
use crate::domain::limits::{MAX_CONSENTS, RETENTION_DAYS};
use crate::domain::task::{CompletionReport, TaskCompletion, TaskDetails, TaskSubmission};
use crate::store::Completion;

pub fn details(
    connection: &Connection,
    session: SessionToken,
    campaign_id: CampaignId,
    now: Timestamp,
) -> Result<TaskDetails, Failure> {
    let user = session_user(connection, session, now)?;
    let campaign = campaigns::find(connection, campaign_id)?;
    let standing = completion_state::find(connection, &campaign_id.to_string(), &user.id.to_string())?;
    Ok(TaskDetails::new(&campaign, &standing))
}

pub fn complete(
    transaction: &Transaction<'_>,
    session: SessionToken,
    campaign_id: CampaignId,
    submission: &TaskSubmission,
    now: Timestamp,
) -> Result<Completion, Failure> {
    let user = session_user(transaction, session, now)?;
    let campaign = campaigns::find(transaction, campaign_id)?;
    submission.check(&campaign)?;
    record_consents(transaction, user.id, campaign_id, submission, now)?;
    let completion = match find_completion(transaction, campaign_id, user.id)? {
        Some(first) => add_details(transaction, first, submission)?,
        None => record_completion(transaction, campaign_id, user.id, submission, now)?,
    };
    let standing = completion_state::find(transaction, &campaign_id.to_string(), &user.id.to_string())?;
    Ok(Completion { report: CompletionReport::new(&campaign, completion.id, &standing), completion })
}

fn record_consents(
    transaction: &Transaction<'_>,
    user_id: UserId,
    campaign_id: CampaignId,
    submission: &TaskSubmission,
    now: Timestamp,
) -> Result<(), Failure> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO consents (id, user_id, campaign_id, consent_type, granted, purpose, retention_days, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let mut delete_old = transaction.prepare_cached(
        "DELETE FROM consents WHERE seq IN (SELECT seq FROM consents WHERE user_id = ?1 AND campaign_id = ?2
         AND consent_type = ?3 ORDER BY seq DESC LIMIT -1 OFFSET ?4)",
    )?;
    for (consent, granted) in submission.consent.consents() {
        let retention_days = (consent == ConsentType::Retention).then_some(RETENTION_DAYS);
        insert.execute(params![
            CompletionId::random().to_string(),
            user_id.to_string(),
            campaign_id.to_string(),
            consent.as_str(),
            granted,
            consent.purpose(),
            retention_days,
            now.as_microsecond()
        ])?;
        delete_old.execute(params![
            user_id.to_string(),
            campaign_id.to_string(),
            consent.as_str(),
            MAX_CONSENTS as i64
        ])?;
    }
    Ok(())
}

/// The details of a completion whose own were deleted, or that had none.
fn add_details(
    transaction: &Transaction<'_>,
    completion: TaskCompletion,
    submission: &TaskSubmission,
) -> Result<TaskCompletion, Failure> {
    let (None, Some(details)) = (&completion.details, &submission.details) else { return Ok(completion) };
    let details = details.to_string();
    transaction.execute(
        "UPDATE task_completions SET details = ?2 WHERE id = ?1",
        [&completion.id.to_string(), &details],
    )?;
    Ok(TaskCompletion { details: Some(details), ..completion })
}

fn find_completion(
    connection: &Connection,
    campaign_id: CampaignId,
    user_id: UserId,
) -> Result<Option<TaskCompletion>, Failure> {
    let mut statement = connection.prepare_cached(
        "SELECT f.id, f.task_name, f.details, f.created_at FROM task_claims m
         JOIN task_completions f ON f.id = m.task_completion_id WHERE m.campaign_id = ?1 AND m.user_id = ?2",
    )?;
    let mut rows = statement.query([campaign_id.to_string(), user_id.to_string()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(TaskCompletion {
        id: id(CompletionId::parse(&row.get::<_, String>(0)?))?,
        campaign_id,
        user_id,
        task_name: row.get(1)?,
        details: row.get(2)?,
        created_at: time(row.get(3)?)?,
    }))
}

fn record_completion(
    transaction: &Transaction<'_>,
    campaign_id: CampaignId,
    user_id: UserId,
    submission: &TaskSubmission,
    now: Timestamp,
) -> Result<TaskCompletion, Failure> {
    let completion = TaskCompletion::new(campaign_id, user_id, submission, now);
    transaction.execute(
        "INSERT INTO task_completions (id, campaign_id, user_id, task_name, details, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            completion.id.to_string(),
            campaign_id.to_string(),
            user_id.to_string(),
            completion.task_name,
            completion.details,
            now.as_microsecond()
        ],
    )?;
    transaction.execute(
        "INSERT INTO task_claims (campaign_id, user_id, task_completion_id) VALUES (?1, ?2, ?3)",
        [campaign_id.to_string(), user_id.to_string(), completion.id.to_string()],
    )?;
    Ok(completion)
}
