//! The bare statements on SQLite, on a connection as the store opens them.

use std::path::Path;

use annai_services::domain::ids::CampaignId;
use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::value::RawValue;

use crate::bare::{Bare, BareReservation, BareRow};

/// A connection of its own to the store's file.
pub struct BareSqlite(Connection);

impl BareSqlite {
    pub fn connect(database: &Path) -> Self {
        let connection = Connection::open(database).expect("the database");
        connection
            .execute_batch("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;")
            .expect("pragmas");
        Self(connection)
    }
}

// The store works on threads of its own; the bare statements do too.
impl Bare for BareSqlite {
    async fn select(&mut self, shown: usize) -> Vec<u8> {
        tokio::task::block_in_place(|| select_rows(&self.0, shown))
    }

    async fn reserve(&mut self, session: &str, service: &str) -> BareReservation {
        tokio::task::block_in_place(|| bare_reserve(&mut self.0, session, service))
    }

    async fn settle(&mut self, reservation: &BareReservation) {
        tokio::task::block_in_place(|| bare_settle(&mut self.0, reservation));
    }

    async fn commits(&mut self, count: usize) {
        tokio::task::block_in_place(|| {
            for number in 0..count {
                let transaction =
                    self.0.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
                // SQLite writes nothing where the value stays the same.
                transaction
                    .prepare_cached("UPDATE users SET source = ?1")
                    .expect("a statement")
                    .execute([format!("bench {number}")])
                    .expect("an update");
                transaction.commit().expect("a commit");
            }
        });
    }
}

/// The rows of a search.
fn select_rows(connection: &Connection, shown: usize) -> Vec<u8> {
    let raw = |json: String| RawValue::from_string(json).expect("JSON");
    let mut rows = Vec::new();
    let mut apis = connection
        .prepare_cached(
            "SELECT id, name, sponsor, description, upstream_url, upstream_method, upstream_headers, price_cents,
                 budget_total_cents, budget_remaining_cents, active, service_key, created_at
             FROM sponsored_apis WHERE active ORDER BY created_at DESC, id DESC",
        )
        .expect("a statement");
    let mut found = apis.query([]).expect("rows");
    while let Some(row) = found.next().expect("a row") {
        for column in [4, 5, 6, 11] {
            std::hint::black_box(row.get::<_, String>(column).expect("a text"));
        }
        rows.push(BareRow {
            id: row.get(0).expect("a value"),
            name: row.get(1).expect("a value"),
            sponsor: row.get(2).expect("a value"),
            required_task: row.get(3).expect("a value"),
            subsidy: row.get(7).expect("a value"),
            remaining: row.get(9).expect("a value"),
            target_tools: raw("[]".into()),
            tags: raw("[]".into()),
            task_type: None,
        });
    }
    let mut campaigns = connection
        .prepare_cached(
            "SELECT id, name, sponsor, required_task, subsidy_per_call_cents, budget_remaining_cents, target_tools, tags,
                 task_schema ->> '$.task_type'
             FROM campaigns WHERE active ORDER BY created_at DESC, id DESC",
        )
        .expect("a statement");
    let mut found = campaigns.query([]).expect("rows");
    while let Some(row) = found.next().expect("a row") {
        rows.push(BareRow {
            id: row.get(0).expect("a value"),
            name: row.get(1).expect("a value"),
            sponsor: row.get(2).expect("a value"),
            required_task: row.get(3).expect("a value"),
            subsidy: row.get(4).expect("a value"),
            remaining: row.get(5).expect("a value"),
            target_tools: raw(row.get(6).expect("a value")),
            tags: raw(row.get(7).expect("a value")),
            task_type: row.get(8).expect("a value"),
        });
    }
    serde_json::to_vec(&rows[..shown.min(rows.len())]).expect("JSON")
}

const COMPLETION_STATE: &str =
    "(SELECT f.taken_over FROM task_claims m JOIN task_completions f ON f.id = m.task_completion_id
         WHERE m.campaign_id = c.id AND m.user_id = ?2),
     (SELECT granted FROM consents WHERE user_id = ?2 AND campaign_id = c.id AND consent_type = 'data_sharing'
         ORDER BY seq DESC LIMIT 1),
     (SELECT granted FROM consents WHERE user_id = ?2 AND campaign_id = c.id AND consent_type = 'retention'
         ORDER BY seq DESC LIMIT 1)";

/// The statements of a reservation, and of the mark before the dispatch.
fn bare_reserve(connection: &mut Connection, session: &str, service: &str) -> BareReservation {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
    let user: String = transaction
        .prepare_cached(
            "SELECT u.id, u.email, u.region, u.roles, u.created_at FROM gpt_sessions s JOIN users u ON u.id = s.user_id
             WHERE s.token = ?1 AND s.expires_at > ?2",
        )
        .expect("a statement")
        .query_row(params![session, 0], |row| row.get(0))
        .expect("a user");
    let price: i64 = transaction
        .prepare_cached("SELECT * FROM sponsored_apis WHERE service_key = ?1")
        .expect("a statement")
        .query_row([service], |row| row.get("price_cents"))
        .expect("a price");
    let campaign: String = transaction
        .prepare_cached(&format!(
            "SELECT c.*, {COMPLETION_STATE} FROM task_claims k
             CROSS JOIN campaign_tools t ON t.campaign_id = k.campaign_id AND t.tool = ?1
             CROSS JOIN campaigns c ON c.id = k.campaign_id WHERE k.user_id = ?2 AND c.active
             ORDER BY c.created_at DESC, c.id DESC"
        ))
        .expect("a statement")
        .query_row([service, &user], |row| row.get(0))
        .expect("a campaign");
    let taken = transaction
        .prepare_cached(
            "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents - ?1
             WHERE id = ?2 AND budget_remaining_cents >= ?1",
        )
        .expect("a statement")
        .execute(params![price, campaign])
        .expect("an update");
    assert_eq!(taken, 1);
    let (id, tx_hash) = (CampaignId::random().to_string(), format!("0x{}", CampaignId::random()));
    transaction
        .prepare_cached(
            "INSERT INTO reservations (id, campaign_id, sponsored_api_id, user_id, service, sponsor, amount_cents,
                 state, tx_hash, idempotency_key, created_at)
             VALUES (?1, ?2, NULL, ?3, ?4, 'Sponsor', ?5, 'reserved', ?6, NULL, 0)",
        )
        .expect("a statement")
        .execute(params![id, campaign, user, service, price, tx_hash])
        .expect("an insert");
    transaction.commit().expect("a commit");
    connection.execute_batch("PRAGMA synchronous = NORMAL").expect("a pragma");
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
    transaction
        .prepare_cached(
            "UPDATE reservations SET is_dispatched = 1, lease_counter = lease_counter + 1
             WHERE id = ?1 AND state = 'reserved'",
        )
        .expect("a statement")
        .execute([&id])
        .expect("an update");
    transaction.commit().expect("a commit");
    connection.execute_batch("PRAGMA synchronous = FULL").expect("a pragma");
    BareReservation { id, campaign, user, tx_hash }
}

/// The statements of a settlement.
fn bare_settle(connection: &mut Connection, reservation: &BareReservation) {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).expect("a transaction");
    let amount: i64 = transaction
        .prepare_cached(
            "SELECT r.*, p.status IS 'settled' FROM reservations r LEFT JOIN payments p ON p.tx_hash = r.tx_hash
             WHERE r.id = ?1",
        )
        .expect("a statement")
        .query_row([&reservation.id], |row| row.get("amount_cents"))
        .expect("an amount");
    transaction
        .prepare_cached("UPDATE reservations SET state = 'settled' WHERE id = ?1 AND state = 'reserved'")
        .expect("a statement")
        .execute([&reservation.id])
        .expect("an update");
    transaction
        .prepare_cached(
            "INSERT INTO payments (tx_hash, campaign_id, service, amount_cents, payer, source, status, created_at)
             VALUES (?1, ?2, 'service', ?3, ?4, 'sponsor', 'settled', 0)",
        )
        .expect("a statement")
        .execute(params![reservation.tx_hash, reservation.campaign, amount, reservation.user])
        .expect("an insert");
    transaction.commit().expect("a commit");
}
