//! A database on PostgreSQL, and the bare statements on it, prepared and sent together where the store does so too.

use std::sync::Arc;

use annai_services::clock::SystemClock;
use annai_services::domain::ids::CampaignId;
use annai_services::store::postgres::{PostgresOptions, PostgresStore};
use futures_util::try_join;
use serde_json::value::RawValue;
use tokio_postgres::{Client, NoTls, Row, Statement};
use uuid::Uuid;

use crate::bare::{Bare, BareReservation, BareRow};

/// A new database on the server that `ANNAI_TEST_POSTGRES` names. It ends with the server.
pub struct TestDatabase {
    pub url: String,
}

impl TestDatabase {
    pub async fn create() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "the runner names the server, not the configuration")]
        let server = std::env::var("ANNAI_TEST_POSTGRES").ok()?;
        let name = format!("annai_{}", CampaignId::random().to_string().replace('-', ""));
        let admin = connect(&server).await;
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");
        let (base, _) = server.rsplit_once('/').expect("a URL");
        Some(Self { url: format!("{base}/{name}") })
    }

    /// A store on it, with as many connections as the settings' default unless a number is given.
    pub fn store(&self, pool_size: Option<usize>) -> PostgresStore {
        store(&self.url, pool_size)
    }

    pub async fn bare(&self) -> BarePostgres {
        BarePostgres::prepare(connect(&self.url).await).await
    }
}

pub fn store(url: &str, pool_size: Option<usize>) -> PostgresStore {
    let mut options = PostgresOptions::parse(url).expect("a URL");
    options.pool_size = pool_size.unwrap_or(options.pool_size);
    PostgresStore::new(options, Arc::new(SystemClock))
}

async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("the server");
    tokio::spawn(connection);
    client.batch_execute("SET jit = off").await.expect("a setting");
    client
}

/// A connection of its own with the statements.
pub struct BarePostgres {
    client: Client,
    apis: Statement,
    campaigns: Statement,
    user: Statement,
    api: Statement,
    targeting: Statement,
    take: Statement,
    reserve: Statement,
    mark: Statement,
    attempt: Statement,
    paid: Statement,
    settle: Statement,
    pay: Statement,
    change: Statement,
}

const APIS: &str =
    "SELECT id, name, sponsor, description, upstream_url, upstream_method, upstream_headers, price_cents,
         budget_total_cents, budget_remaining_cents, active, service_key, created_at
     FROM sponsored_apis WHERE active ORDER BY created_at DESC, id DESC";
const CAMPAIGNS: &str =
    "SELECT id, name, sponsor, required_task, subsidy_per_call_cents, budget_remaining_cents, target_tools, tags,
         task_schema ->> 'task_type'
     FROM campaigns WHERE active ORDER BY created_at DESC, id DESC";
const USER: &str = "SELECT u.id, u.email, u.region, u.roles, u.created_at FROM gpt_sessions s
     JOIN users d ON d.id = s.user_id JOIN users u ON u.id = coalesce(d.adopted_by, d.id)
     WHERE s.token = $1 AND s.expires_at > now()";
const TARGETING: &str = "SELECT c.*, f.taken_over,
         (SELECT granted FROM consents WHERE user_id = ANY (ARRAY (SELECT id FROM users WHERE id = $2 OR adopted_by = $2))
          AND campaign_id = c.id AND consent_type = 'data_sharing' ORDER BY seq DESC LIMIT 1),
         (SELECT granted FROM consents WHERE user_id = ANY (ARRAY (SELECT id FROM users WHERE id = $2 OR adopted_by = $2))
          AND campaign_id = c.id AND consent_type = 'retention' ORDER BY seq DESC LIMIT 1)
     FROM campaigns c LEFT JOIN task_claims k ON k.campaign_id = c.id AND k.user_id = $2
     LEFT JOIN task_completions f ON f.id = k.task_completion_id
     WHERE k.user_id = $2 AND c.active AND $1::text = ANY (c.target_tools) ORDER BY c.created_at DESC, c.id DESC";
const TAKE: &str = "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents - $1
     WHERE id = $2 AND budget_remaining_cents >= $1";
const RESERVE: &str =
    "INSERT INTO reservations (id, campaign_id, user_id, service, sponsor, amount_cents, state, tx_hash, created_at)
     VALUES ($1, $2, $3, $4, 'Sponsor', $5, 'reserved', $6, now())";
const MARK: &str = "UPDATE reservations SET is_dispatched = true, lease_counter = lease_counter + 1
     FROM (SELECT set_config('synchronous_commit', 'off', true)) AS relaxed WHERE id = $1 AND state = 'reserved'";
const PAY: &str =
    "INSERT INTO payments (tx_hash, campaign_id, service, amount_cents, payer, source, status, created_at)
     VALUES ($1, $2, 'service', $3, $4, 'sponsor', 'settled', now())";

impl BarePostgres {
    async fn prepare(client: Client) -> Self {
        let prepare = async |statement: &str| client.prepare(statement).await.expect("a statement");
        Self {
            apis: prepare(APIS).await,
            campaigns: prepare(CAMPAIGNS).await,
            user: prepare(USER).await,
            api: prepare("SELECT * FROM sponsored_apis WHERE service_key = $1").await,
            targeting: prepare(TARGETING).await,
            take: prepare(TAKE).await,
            reserve: prepare(RESERVE).await,
            mark: prepare(MARK).await,
            attempt: prepare("SELECT * FROM reservations WHERE id = $1 FOR UPDATE").await,
            paid: prepare("SELECT 1 FROM payments WHERE tx_hash = $1 AND status = 'settled'").await,
            settle: prepare("UPDATE reservations SET state = 'settled' WHERE id = $1 AND state = 'reserved'")
                .await,
            pay: prepare(PAY).await,
            change: prepare("UPDATE users SET source = $1").await,
            client,
        }
    }
}

impl Bare for BarePostgres {
    async fn select(&mut self, shown: usize) -> Vec<u8> {
        let (apis, campaigns) =
            try_join!(self.client.query(&self.apis, &[]), self.client.query(&self.campaigns, &[]))
                .expect("rows");
        let rows: Vec<_> = apis.iter().map(api_row).chain(campaigns.iter().map(campaign_row)).collect();
        serde_json::to_vec(&rows[..shown.min(rows.len())]).expect("JSON")
    }

    async fn reserve(&mut self, session: &str, service: &str) -> BareReservation {
        let client = &self.client;
        let session: Uuid = session.parse().expect("a session");
        let ((), user, api) = try_join!(
            client.batch_execute("BEGIN"),
            async { client.query_one(&self.user, &[&session]).await },
            async { client.query_one(&self.api, &[&service]).await }
        )
        .expect("rows");
        let (user, price): (Uuid, i64) = (user.get(0), api.get("price_cents"));
        let campaigns = client.query(&self.targeting, &[&service, &user]).await.expect("campaigns");
        let campaign: Uuid = campaigns[0].get(0);
        assert_eq!(client.execute(&self.take, &[&price, &campaign]).await.expect("an update"), 1);
        let (id, tx_hash) = (random_id(), format!("0x{}", CampaignId::random()));
        client
            .execute(&self.reserve, &[&id, &campaign, &user, &service, &price, &tx_hash])
            .await
            .expect("an insert");
        client.batch_execute("COMMIT").await.expect("a commit");
        client.execute(&self.mark, &[&id]).await.expect("an update");
        BareReservation {
            id: id.to_string(),
            campaign: campaign.to_string(),
            user: user.to_string(),
            tx_hash,
        }
    }

    async fn settle(&mut self, reservation: &BareReservation) {
        let client = &self.client;
        let id: Uuid = reservation.id.parse().expect("an id");
        let campaign: Uuid = reservation.campaign.parse().expect("an id");
        let ((), attempt) =
            try_join!(client.batch_execute("BEGIN"), async { client.query_one(&self.attempt, &[&id]).await })
                .expect("a row");
        let amount: i64 = attempt.get("amount_cents");
        assert!(client.query(&self.paid, &[&reservation.tx_hash]).await.expect("rows").is_empty());
        try_join!(async { client.execute(&self.settle, &[&id]).await }, async {
            let BareReservation { tx_hash, user, .. } = reservation;
            client.execute(&self.pay, &[tx_hash, &campaign, &amount, user]).await
        })
        .expect("changes");
        client.batch_execute("COMMIT").await.expect("a commit");
    }

    async fn commits(&mut self, count: usize) {
        for number in 0..count {
            let source = format!("bench {number}");
            try_join!(
                self.client.batch_execute("BEGIN"),
                async { self.client.execute(&self.change, &[&source]).await.map(|_| ()) },
                self.client.batch_execute("COMMIT")
            )
            .expect("a commit");
        }
    }
}

fn random_id() -> Uuid {
    CampaignId::random().to_string().parse().expect("an id")
}

fn raw(texts: &[String]) -> Box<RawValue> {
    serde_json::value::to_raw_value(texts).expect("JSON")
}

fn api_row(row: &Row) -> BareRow {
    for column in [4, 5, 11] {
        std::hint::black_box(row.get::<_, String>(column));
    }
    std::hint::black_box(row.get::<_, serde_json::Value>(6));
    BareRow {
        id: row.get::<_, Uuid>(0).to_string(),
        name: row.get(1),
        sponsor: row.get(2),
        required_task: row.get(3),
        subsidy: row.get(7),
        remaining: row.get(9),
        target_tools: raw(&[]),
        tags: raw(&[]),
        task_type: None,
    }
}

fn campaign_row(row: &Row) -> BareRow {
    BareRow {
        id: row.get::<_, Uuid>(0).to_string(),
        name: row.get(1),
        sponsor: row.get(2),
        required_task: Some(row.get(3)),
        subsidy: row.get(4),
        remaining: row.get(5),
        target_tools: raw(&row.get::<_, Vec<String>>(6)),
        tags: raw(&row.get::<_, Vec<String>>(7)),
        task_type: row.get(8),
    }
}
