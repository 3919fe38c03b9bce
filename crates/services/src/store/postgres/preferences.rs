//! Use cases of task preferences.

use jiff::Timestamp;

use super::accounts::session_user;
use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::domain::ids::{SessionToken, UserId};
use crate::domain::preferences::{
    NewPreferences, PreferenceLevel, PreferenceLevels, PreferencesReport, PreferencesSaved, TaskPreference,
};
use crate::domain::text::Name;

pub async fn preferences(
    connection: &PostgresConnection<'_>,
    token: SessionToken,
    now: Timestamp,
) -> Result<PreferencesReport, Failure> {
    let user = session_user(connection, token, now).await?;
    let query = "SELECT task_type, level, updated_at FROM user_task_preferences WHERE user_id = $1
         ORDER BY task_type COLLATE \"C\"";
    let (mut preferences, mut updated_at) = (Vec::new(), None);
    for row in connection.rows(query, &[&user.id]).await? {
        // The system before this one knew no limits; what is beyond them is replaced with the next setting.
        let Ok(task_type) = Name::parse(row.try_get::<_, String>(0)?) else { continue };
        preferences.push(TaskPreference { task_type, level: level(row.try_get(1)?)? });
        updated_at = updated_at.max(Some(row.try_get(2)?));
    }
    Ok(PreferencesReport::new(user.id, preferences, updated_at))
}

fn level(name: &str) -> Result<PreferenceLevel, Failure> {
    PreferenceLevel::stored(name).ok_or_else(|| Failure::unreadable("a preference"))
}

/// The preferences of a person for looking up.
pub async fn preference_levels(
    connection: &PostgresConnection<'_>,
    user: UserId,
) -> Result<PreferenceLevels, Failure> {
    let query = "SELECT task_type, level FROM user_task_preferences WHERE user_id = $1";
    let rows = connection.rows(query, &[&user]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, level(row.try_get(1)?)?))).collect()
}

pub async fn set_preferences(
    connection: &PostgresConnection<'_>,
    (token, preferences): &(SessionToken, NewPreferences),
    now: Timestamp,
) -> Result<PreferencesSaved, Failure> {
    let user = session_user(connection, *token, now).await?;
    // Two settings at once come one after the other, so that the later one replaces the earlier.
    connection.lock(&["preferences", &user.id.to_string()]).await?;
    connection.execute("DELETE FROM user_task_preferences WHERE user_id = $1", &[&user.id]).await?;
    let entries = preferences.entries();
    let types: Vec<&str> = entries.iter().map(|entry| &*entry.task_type).collect();
    let levels: Vec<&str> = entries.iter().map(|entry| entry.level.as_str()).collect();
    connection
        .execute(
            "INSERT INTO user_task_preferences (user_id, task_type, level, created_at, updated_at)
             SELECT $1, task_type, level, $2, $2 FROM unnest($3::text[], $4::text[]) AS new (task_type, level)",
            &[&user.id, &now, &types, &levels],
        )
        .await?;
    Ok(PreferencesSaved::new(user.id, entries.len(), now))
}
