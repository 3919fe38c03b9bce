//! Use cases of people: signing in, sessions and preferences.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::failure::Failure;
use super::rows::{from_json, id, time, to_json};
use crate::domain::consent::UNVERIFIED_CONSENT;
use crate::domain::ids::{CompletionId, SessionToken, UserId};
use crate::domain::limits::{MAX_SESSIONS, MAX_SIGN_INS, SESSION_LIFETIME, SIGN_IN_WINDOW};
use crate::domain::preferences::{
    NewPreferences, PreferenceLevel, PreferenceLevels, PreferencesReport, PreferencesSaved, TaskPreference,
};
use crate::domain::text::Name;
use crate::domain::user::{
    Entrance, KnownUser, SignIn, SignInReport, User, VerifiedSubject, entrance, region_after,
};
use crate::error::ServicesError;
use crate::store::shared::{earlier, later};

pub fn sign_in(
    transaction: &Transaction<'_>,
    sign_in: &SignIn,
    subject: Option<&VerifiedSubject>,
    now: Timestamp,
) -> Result<SignInReport, Failure> {
    let by_subject = match subject {
        Some(VerifiedSubject { issuer, subject }) => {
            let mut found = transaction
                .prepare_cached("SELECT user_id FROM identities WHERE issuer = ?1 AND subject = ?2")?;
            let user: Option<String> =
                found.query_row(params![&**issuer, &**subject], |row| row.get(0)).optional()?;
            user.map(|user| id(UserId::parse(&user))).transpose()?
        }
        None => None,
    };
    let (user_id, is_new_user) = match entrance(subject, by_subject, find_by_email(transaction, sign_in)?) {
        Entrance::Refused => return Err(ServicesError::AccountBound.into()),
        Entrance::Enter(user) => {
            update(transaction, user, sign_in)?;
            (user, false)
        }
        Entrance::Bind(user) => {
            update(transaction, user, sign_in)?;
            bind(transaction, user, subject, now)?;
            // Whoever signed in before was not verified.
            transaction.execute("DELETE FROM gpt_sessions WHERE user_id = ?1", [user.to_string()])?;
            forget_unverified_answers(transaction, user, now)?;
            (user, false)
        }
        Entrance::Register => {
            let user = register(transaction, sign_in, now)?;
            bind(transaction, user, subject, now)?;
            (user, true)
        }
    };
    if subject.is_none() {
        limit_sign_ins(transaction, user_id, now)?;
    }
    let token = SessionToken::random();
    transaction
        .prepare_cached(
            "INSERT INTO gpt_sessions (token, user_id, created_at, expires_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![
            token.expose(),
            user_id.to_string(),
            now.as_microsecond(),
            later(now, SESSION_LIFETIME).as_microsecond()
        ])?;
    if subject.is_some() {
        transaction
            .prepare_cached(
                "DELETE FROM gpt_sessions WHERE token IN (SELECT token FROM gpt_sessions WHERE user_id = ?1
                 ORDER BY token = ?2 DESC, created_at DESC LIMIT -1 OFFSET ?3)",
            )?
            .execute(params![user_id.to_string(), token.expose(), MAX_SESSIONS as i64])?;
    }
    let email =
        transaction
            .query_row("SELECT email FROM users WHERE id = ?1", [user_id.to_string()], |row| row.get(0))?;
    Ok(SignInReport::new(token, user_id, email, is_new_user))
}

fn find_by_email(connection: &Connection, sign_in: &SignIn) -> Result<Option<KnownUser>, Failure> {
    let mut known = connection.prepare_cached(
        "SELECT e.user_id, i.user_id IS NOT NULL FROM user_emails e LEFT JOIN identities i ON i.user_id = e.user_id
         WHERE e.email_lower = ?1",
    )?;
    let known: Option<(String, bool)> =
        known.query_row([sign_in.email.lower()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    known.map(|(user, is_bound)| Ok(KnownUser { id: id(UserId::parse(&user))?, is_bound })).transpose()
}

fn register(transaction: &Transaction<'_>, sign_in: &SignIn, now: Timestamp) -> Result<UserId, Failure> {
    let user = UserId::random();
    transaction
        .prepare_cached(
            "INSERT INTO users (id, email, region, roles, tools_used, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            user.to_string(),
            sign_in.email.as_str(),
            &*sign_in.region,
            to_json(&sign_in.roles.texts())?,
            to_json(&sign_in.tools_used.texts())?,
            now.as_microsecond()
        ])?;
    transaction
        .prepare_cached("INSERT INTO user_emails (email_lower, user_id) VALUES (?1, ?2)")?
        .execute(params![sign_in.email.lower(), user.to_string()])?;
    Ok(user)
}

/// What a later sign-in says about a person: the first region that is named stays, and lists that are not empty replace.
fn update(transaction: &Transaction<'_>, user: UserId, sign_in: &SignIn) -> Result<(), Failure> {
    let user = user.to_string();
    let region: String =
        transaction.query_row("SELECT region FROM users WHERE id = ?1", [&user], |row| row.get(0))?;
    let new_region = region_after(&region, &sign_in.region);
    if new_region != region {
        transaction.execute("UPDATE users SET region = ?2 WHERE id = ?1", [&user, new_region])?;
    }
    for (column, list) in [("roles", &sign_in.roles), ("tools_used", &sign_in.tools_used)] {
        if !list.is_empty() {
            let statement = format!("UPDATE users SET {column} = ?2 WHERE id = ?1");
            transaction.execute(&statement, [&user, &to_json(&list.texts())?])?;
        }
    }
    Ok(())
}

fn bind(
    transaction: &Transaction<'_>,
    user: UserId,
    subject: Option<&VerifiedSubject>,
    now: Timestamp,
) -> Result<(), Failure> {
    let Some(VerifiedSubject { issuer, subject }) = subject else { return Ok(()) };
    transaction.execute(
        "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?1, ?2, ?3, ?4)",
        params![&**issuer, &**subject, user.to_string(), now.as_microsecond()],
    )?;
    Ok(())
}

/// Refuses a sign-in to an account that was entered too often of late.
fn limit_sign_ins(transaction: &Transaction<'_>, user: UserId, now: Timestamp) -> Result<(), Failure> {
    let mut recent = transaction
        .prepare_cached("SELECT count(*) FROM gpt_sessions WHERE user_id = ?1 AND created_at > ?2")?;
    let since = earlier(now, SIGN_IN_WINDOW).as_microsecond();
    let sign_ins: i64 = recent.query_row(params![user.to_string(), since], |row| row.get(0))?;
    if sign_ins < MAX_SIGN_INS as i64 { Ok(()) } else { Err(ServicesError::TooManySignIns.into()) }
}

/// Withdraws the consents of a person who is verified for the first time, and deletes the details that came with them:
/// anybody who knew the address may have given them. The person is asked again.
fn forget_unverified_answers(
    transaction: &Transaction<'_>,
    user: UserId,
    now: Timestamp,
) -> Result<(), Failure> {
    let user = user.to_string();
    let mut granted = transaction.prepare(
        "SELECT campaign_id, consent_type FROM consents c WHERE user_id = ?1 AND granted AND seq =
             (SELECT max(seq) FROM consents n WHERE n.user_id = c.user_id AND n.campaign_id = c.campaign_id
              AND n.consent_type = c.consent_type)",
    )?;
    let granted =
        granted.query_map([&user], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for (campaign, consent) in granted.collect::<Result<Vec<_>, _>>()? {
        transaction.execute(
            "INSERT INTO consents (id, user_id, campaign_id, consent_type, granted, purpose, created_at)
             VALUES (?1, ?2, ?3, ?4, FALSE, ?5, ?6)",
            params![
                CompletionId::random().to_string(),
                user,
                campaign,
                consent,
                UNVERIFIED_CONSENT,
                now.as_microsecond()
            ],
        )?;
    }
    transaction.execute(
        "UPDATE task_completions SET details = NULL WHERE user_id = ?1 AND NOT taken_over",
        [&user],
    )?;
    Ok(())
}

/// The person of a session that has not expired.
pub fn session_user(connection: &Connection, session: SessionToken, now: Timestamp) -> Result<User, Failure> {
    let mut found = connection.prepare_cached(
        "SELECT u.id, u.email, u.region, u.roles, u.created_at FROM gpt_sessions s JOIN users u ON u.id = s.user_id
         WHERE s.token = ?1 AND s.expires_at > ?2",
    )?;
    let mut rows = found.query(params![session.expose(), now.as_microsecond()])?;
    match rows.next()? {
        Some(row) => user(row),
        None => Err(ServicesError::SessionExpired.into()),
    }
}

fn user(row: &Row<'_>) -> Result<User, Failure> {
    Ok(User {
        id: id(UserId::parse(row.get_ref(0)?.as_str().map_err(|_| Failure::unreadable("an id"))?))?,
        email: row.get(1)?,
        region: row.get(2)?,
        roles: from_json(&row.get::<_, String>(3)?)?,
        registered_at: time(row.get(4)?)?,
    })
}

pub fn preferences(
    connection: &Connection,
    session: SessionToken,
    now: Timestamp,
) -> Result<PreferencesReport, Failure> {
    let user = session_user(connection, session, now)?;
    let mut statement = connection.prepare_cached(
        "SELECT task_type, level, updated_at FROM user_task_preferences WHERE user_id = ?1 ORDER BY task_type",
    )?;
    let mut rows = statement.query([user.id.to_string()])?;
    let (mut preferences, mut updated_at) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        let task_type =
            Name::parse(row.get::<_, String>(0)?).map_err(|_| Failure::unreadable("a task type"))?;
        preferences.push(TaskPreference { task_type, level: level(&row.get::<_, String>(1)?)? });
        updated_at = updated_at.max(Some(time(row.get(2)?)?));
    }
    Ok(PreferencesReport::new(user.id, preferences, updated_at))
}

fn level(name: &str) -> Result<PreferenceLevel, Failure> {
    PreferenceLevel::stored(name).ok_or_else(|| Failure::unreadable("a preference"))
}

/// The preferences of a person for looking up.
pub fn preference_levels(connection: &Connection, user: UserId) -> Result<PreferenceLevels, Failure> {
    let mut statement =
        connection.prepare_cached("SELECT task_type, level FROM user_task_preferences WHERE user_id = ?1")?;
    let mut rows = statement.query([user.to_string()])?;
    let mut levels = Vec::new();
    while let Some(row) = rows.next()? {
        levels.push((row.get(0)?, level(&row.get::<_, String>(1)?)?));
    }
    Ok(levels.into_iter().collect())
}

pub fn set_preferences(
    transaction: &Transaction<'_>,
    session: SessionToken,
    preferences: &NewPreferences,
    now: Timestamp,
) -> Result<PreferencesSaved, Failure> {
    let user = session_user(transaction, session, now)?;
    transaction.execute("DELETE FROM user_task_preferences WHERE user_id = ?1", [user.id.to_string()])?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO user_task_preferences (id, user_id, task_type, level, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
    )?;
    for TaskPreference { task_type, level } in preferences.entries() {
        insert.execute(params![
            UserId::random().to_string(),
            user.id.to_string(),
            &**task_type,
            level.as_str(),
            now.as_microsecond()
        ])?;
    }
    Ok(PreferencesSaved::new(user.id, preferences.entries().len(), now))
}
