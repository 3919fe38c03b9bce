//! Adopts rows of the system before this one: users and completions that the added tables do not know yet. Of duplicates the
//! oldest stands for all. It happens whenever the database is opened, so that the old system may be used in between.

use tokio_postgres::Row;
use uuid::Uuid;

use super::connection::PostgresConnection;
use super::failure::Failure;

/// How many users are adopted with one statement: few enough for its parameters, many enough that round trips do not count.
const BATCH: i32 = 5_000;

/// What was adopted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AdoptionReport {
    /// Users that now own their e-mail address.
    pub users: u64,
    /// Younger users with an address that another one owns.
    pub duplicate_users: u64,
    /// Completions that now stand for their user and campaign.
    pub completions: u64,
    /// Younger completions of the same task by the same person.
    pub duplicate_completions: u64,
    /// Sponsored APIs with a method that cannot be called; they are not offered.
    pub unusable_apis: u64,
}

pub async fn adopt(connection: &PostgresConnection<'_>) -> Result<AdoptionReport, Failure> {
    let mut report = AdoptionReport::default();
    adopt_users(connection, &mut report).await?;
    adopt_completions(connection, &mut report).await?;
    let client = connection.client();
    if report != AdoptionReport::default() {
        let unusable = "SELECT count(*) FROM sponsored_apis
             WHERE upper(upstream_method) NOT IN ('POST', 'PUT', 'PATCH')";
        report.unusable_apis = client.query_one(unusable, &[]).await?.try_get::<_, i64>(0)?.unsigned_abs();
    }
    Ok(report)
}

/// Gives every e-mail address to the oldest user that has it. The database's own lower case depends on its locale, so that
/// addresses are compared in this program's form.
async fn adopt_users(
    connection: &PostgresConnection<'_>,
    report: &mut AdoptionReport,
) -> Result<(), Failure> {
    let client = connection.client();
    client
        .batch_execute(
            "DECLARE new_users NO SCROLL CURSOR FOR SELECT u.id, u.email FROM users u
             WHERE u.adopted_by IS NULL AND NOT EXISTS (SELECT 1 FROM user_emails e WHERE e.user_id = u.id)
             -- Longer ones are no addresses, nobody can sign in with them, and an index has no room for them.
             AND octet_length(u.email) <= 1000
             ORDER BY u.created_at, u.id",
        )
        .await?;
    loop {
        let rows = client.query(&format!("FETCH {BATCH} FROM new_users"), &[]).await?;
        if rows.is_empty() {
            break;
        }
        adopt_batch(connection, &rows, report).await?;
    }
    client.batch_execute("CLOSE new_users").await?;
    Ok(())
}

async fn adopt_batch(
    connection: &PostgresConnection<'_>,
    rows: &[Row],
    report: &mut AdoptionReport,
) -> Result<(), Failure> {
    let (mut ids, mut emails) = (Vec::new(), Vec::new());
    for row in rows {
        ids.push(row.try_get::<_, Uuid>(0)?);
        emails.push(compared_form(row.try_get(1)?));
    }
    let client = connection.client();
    let owners = client
        .execute(
            "INSERT INTO user_emails (email_lower, user_id)
             SELECT email, id FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS new (email, id, position)
             ORDER BY position ON CONFLICT DO NOTHING",
            &[&emails, &ids],
        )
        .await?;
    let duplicates = client
        .execute(
            "UPDATE users u SET adopted_by = e.user_id
             FROM unnest($1::text[], $2::uuid[]) AS new (email, id) JOIN user_emails e ON e.email_lower = new.email
             WHERE u.id = new.id AND e.user_id <> new.id",
            &[&emails, &ids],
        )
        .await?;
    // Nobody enters the account of a verified person by a session that was made without verification.
    client
        .execute(
            "DELETE FROM gpt_sessions s USING users u, identities i
             WHERE s.user_id = u.id AND u.id = ANY ($1) AND i.user_id = u.adopted_by",
            &[&ids],
        )
        .await?;
    report.users += owners;
    report.duplicate_users += duplicates;
    Ok(())
}

/// The form in which addresses are compared, also of texts that are no addresses.
fn compared_form(email: &str) -> String {
    email.trim().to_ascii_lowercase()
}

/// Lets the oldest completion of the required task stand for the person and the campaign. Completions of other tasks are
/// kept and count for nothing, as before.
async fn adopt_completions(
    connection: &PostgresConnection<'_>,
    report: &mut AdoptionReport,
) -> Result<(), Failure> {
    let client = connection.client();
    let candidates = "task_completions f JOIN users u ON u.id = f.user_id
         JOIN campaigns c ON c.id = f.campaign_id AND c.required_task = f.task_name
         WHERE NOT EXISTS (SELECT 1 FROM task_claims k WHERE k.task_completion_id = f.id)";
    let found = client.query_one(&format!("SELECT count(*) FROM {candidates}"), &[]).await?;
    let found = found.try_get::<_, i64>(0)?.unsigned_abs();
    let adopted = client
        .execute(
            &format!(
                "INSERT INTO task_claims (campaign_id, user_id, task_completion_id)
                 SELECT DISTINCT ON (f.campaign_id, coalesce(u.adopted_by, u.id))
                     f.campaign_id, coalesce(u.adopted_by, u.id), f.id
                 FROM {candidates}
                 ORDER BY f.campaign_id, coalesce(u.adopted_by, u.id), f.created_at, f.id
                 ON CONFLICT DO NOTHING"
            ),
            &[],
        )
        .await?;
    // Duplicates stay without a claim and are found again with every start; they are news only beside adopted ones.
    if adopted > 0 {
        report.completions += adopted;
        report.duplicate_completions += found - adopted;
    }
    Ok(())
}
