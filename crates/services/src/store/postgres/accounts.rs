//! Use cases of people: signing in and sessions.

use jiff::Timestamp;

use super::connection::PostgresConnection;
use super::failure::Failure;
use super::values::texts;
use crate::domain::consent::UNVERIFIED_CONSENT;
use crate::domain::ids::{SessionToken, UserId};
use crate::domain::limits::{MAX_SESSIONS, MAX_SIGN_INS, SESSION_LIFETIME, SIGN_IN_WINDOW};
use crate::domain::user::{
    Entrance, KnownUser, SignIn, SignInReport, User, VerifiedSubject, entrance, region_after,
};
use crate::error::ServicesError;
use crate::store::shared::{earlier, later};

/// Of several first sign-ins at once all but one fail by the unique address or subject, and the next try finds the user.
pub async fn sign_in(
    connection: &PostgresConnection<'_>,
    (sign_in, subject): &(SignIn, Option<VerifiedSubject>),
    now: Timestamp,
) -> Result<SignInReport, Failure> {
    // The lock on the address keeps others from binding the account meanwhile; what is bound is read under it.
    let owner = "SELECT user_id FROM user_emails WHERE email_lower = $1 FOR UPDATE";
    let owner = connection.find(owner, &[&sign_in.email.lower()]).await?;
    let owner: Option<UserId> = owner.map(|row| row.try_get(0)).transpose()?;
    let by_email = match owner {
        Some(id) => {
            let bound = connection.find("SELECT 1 FROM identities WHERE user_id = $1", &[&id]).await?;
            Some(KnownUser { id, is_bound: bound.is_some() })
        }
        None => None,
    };
    let by_subject = match subject {
        Some(VerifiedSubject { issuer, subject }) => {
            let query = "SELECT user_id FROM identities WHERE issuer = $1 AND subject = $2";
            let row = connection.find(query, &[&&**issuer, &&**subject]).await?;
            row.map(|row| row.try_get(0)).transpose()?
        }
        None => None,
    };
    let (user_id, is_new_user) = match entrance(subject.as_ref(), by_subject, by_email) {
        Entrance::Refused => return Err(ServicesError::AccountBound.into()),
        Entrance::Enter(user) => {
            update(connection, user, sign_in).await?;
            (user, false)
        }
        Entrance::Bind(user) => {
            update(connection, user, sign_in).await?;
            bind(connection, user, subject.as_ref(), now).await?;
            end_sessions(connection, user).await?;
            forget_unverified_answers(connection, user, now).await?;
            (user, false)
        }
        Entrance::Register => {
            let user = register(connection, sign_in, now).await?;
            bind(connection, user, subject.as_ref(), now).await?;
            (user, true)
        }
    };
    if subject.is_none() {
        limit_sign_ins(connection, user_id, now).await?;
    }
    let token = SessionToken::random();
    connection
        .execute(
            "INSERT INTO gpt_sessions (token, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
            &[&token, &user_id, &now, &later(now, SESSION_LIFETIME)],
        )
        .await?;
    if subject.is_some() {
        connection
            .execute(
                "DELETE FROM gpt_sessions WHERE token IN (SELECT token FROM gpt_sessions WHERE user_id = $1
                 ORDER BY token = $2 DESC, created_at DESC OFFSET $3)",
                &[&user_id, &token, &(MAX_SESSIONS as i64)],
            )
            .await?;
    }
    let email = connection.row("SELECT email FROM users WHERE id = $1", &[&user_id]).await?.try_get(0)?;
    Ok(SignInReport::new(token, user_id, email, is_new_user))
}

async fn register(
    connection: &PostgresConnection<'_>,
    sign_in: &SignIn,
    now: Timestamp,
) -> Result<UserId, Failure> {
    let user = UserId::random();
    connection
        .execute(
            "INSERT INTO users (id, email, region, roles, tools_used, attributes, created_at)
             VALUES ($1, $2, $3, $4, $5, '{}', $6)",
            &[
                &user,
                &sign_in.email.as_str(),
                &&*sign_in.region,
                &sign_in.roles.texts(),
                &sign_in.tools_used.texts(),
                &now,
            ],
        )
        .await?;
    let owner = "INSERT INTO user_emails (email_lower, user_id) VALUES ($1, $2)";
    connection.execute(owner, &[&sign_in.email.lower(), &user]).await?;
    Ok(user)
}

/// What a later sign-in says about a person: the first region that is named stays, and lists that are not empty replace.
async fn update(connection: &PostgresConnection<'_>, user: UserId, sign_in: &SignIn) -> Result<(), Failure> {
    let row = connection.row("SELECT region FROM users WHERE id = $1", &[&user]).await?;
    let region: &str = row.try_get(0)?;
    let new_region = region_after(region, &sign_in.region);
    if new_region == region && sign_in.roles.is_empty() && sign_in.tools_used.is_empty() {
        return Ok(());
    }
    let unless_empty = |texts: Vec<String>| Some(texts).filter(|texts| !texts.is_empty());
    connection
        .execute(
            "UPDATE users SET region = $2, roles = coalesce($3, roles), tools_used = coalesce($4, tools_used)
             WHERE id = $1",
            &[
                &user,
                &new_region,
                &unless_empty(sign_in.roles.texts()),
                &unless_empty(sign_in.tools_used.texts()),
            ],
        )
        .await?;
    Ok(())
}

async fn bind(
    connection: &PostgresConnection<'_>,
    user: UserId,
    subject: Option<&VerifiedSubject>,
    now: Timestamp,
) -> Result<(), Failure> {
    let Some(VerifiedSubject { issuer, subject }) = subject else { return Ok(()) };
    connection
        .execute(
            "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4)",
            &[&&**issuer, &&**subject, &user, &now],
        )
        .await?;
    Ok(())
}

/// Ends all sessions of a person: whoever signed in before was not verified.
async fn end_sessions(connection: &PostgresConnection<'_>, user: UserId) -> Result<(), Failure> {
    connection
        .execute(
            "DELETE FROM gpt_sessions WHERE user_id IN (SELECT id FROM users WHERE id = $1 OR adopted_by = $1)",
            &[&user],
        )
        .await?;
    Ok(())
}

/// Refuses a sign-in to an account that was entered too often of late.
async fn limit_sign_ins(
    connection: &PostgresConnection<'_>,
    user: UserId,
    now: Timestamp,
) -> Result<(), Failure> {
    let recent = "SELECT count(*) FROM gpt_sessions WHERE user_id = $1 AND created_at > $2";
    let row = connection.row(recent, &[&user, &earlier(now, SIGN_IN_WINDOW)]).await?;
    let sign_ins: i64 = row.try_get(0)?;
    if sign_ins < MAX_SIGN_INS as i64 { Ok(()) } else { Err(ServicesError::TooManySignIns.into()) }
}

/// Withdraws the consents of a person who is verified for the first time, and deletes the details that came with them:
/// anybody who knew the address may have given them. The person is asked again.
async fn forget_unverified_answers(
    connection: &PostgresConnection<'_>,
    user: UserId,
    now: Timestamp,
) -> Result<(), Failure> {
    // The consents of the duplicates that the user stands for are theirs.
    connection
        .execute(
            "INSERT INTO consents (id, user_id, campaign_id, consent_type, granted, purpose, created_at)
             SELECT gen_random_uuid(), $1, campaign_id, consent_type, false, $2, $3 FROM (
                 SELECT DISTINCT ON (campaign_id, consent_type) campaign_id, consent_type, granted FROM consents
                 WHERE user_id IN (SELECT id FROM users WHERE id = $1 OR adopted_by = $1)
                 ORDER BY campaign_id, consent_type, seq DESC) AS newest
             WHERE granted",
            &[&user, &UNVERIFIED_CONSENT, &now],
        )
        .await?;
    connection
        .execute(
            "UPDATE task_completions SET details = NULL WHERE NOT taken_over
             AND user_id IN (SELECT id FROM users WHERE id = $1 OR adopted_by = $1)",
            &[&user],
        )
        .await?;
    Ok(())
}

/// The person of a session that has not expired. The session of a younger duplicate is one of the user that adopted it.
pub async fn session_user(
    connection: &PostgresConnection<'_>,
    token: SessionToken,
    now: Timestamp,
) -> Result<User, Failure> {
    let query = "SELECT u.id, u.email, u.region, u.roles, u.created_at FROM gpt_sessions s
         JOIN users d ON d.id = s.user_id JOIN users u ON u.id = coalesce(d.adopted_by, d.id)
         WHERE s.token = $1 AND s.expires_at > $2";
    let Some(row) = connection.find(query, &[&token, &now]).await? else {
        return Err(ServicesError::SessionExpired.into());
    };
    Ok(User {
        id: row.try_get(0)?,
        email: row.try_get(1)?,
        region: row.try_get(2)?,
        roles: texts(&row, 3)?,
        registered_at: row.try_get(4)?,
    })
}
