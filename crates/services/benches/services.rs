//! Benchmarks the store and the runs with 1,000 campaigns, each against the bare statements in the same run: what this
//! program adds to its database.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its figures, and one that fails should stop"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_core::{Identity, Registry};
use annai_services::clock::SystemClock;
use annai_services::domain::ids::{CampaignId, SessionToken};
use annai_services::domain::search::SearchQuery;
use annai_services::domain::text::{Input, Name};
use annai_services::runs::{RunOptions, RunRequest, Runs};
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use annai_services::store::{PageRequest, Store};
use annai_services::upstream::{HttpTarget, Upstream, UpstreamFailure, UpstreamReply, UpstreamRequest};
use futures_util::future::{BoxFuture, join_all};
use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::json;
use serde_json::value::RawValue;

const CAMPAIGNS: usize = 1000;
const SERVICES: usize = 50;
const ROUNDS: usize = 101;

/// An upstream that answers after a pause.
struct Pausing(Duration);

impl Upstream for Pausing {
    fn check<'a>(&'a self, _: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>> {
        Box::pin(async move {
            if !self.0.is_zero() {
                tokio::time::sleep(self.0).await;
            }
            Ok(UpstreamReply { status: 200, body: request.input.to_string() })
        })
    }
}

struct Scene {
    folder: PathBuf,
    store: Arc<SqliteStore>,
    registry: Arc<Registry>,
    session: SessionToken,
}

impl Scene {
    async fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("annai-bench-services-{}", CampaignId::random()));
        let store =
            Arc::new(SqliteStore::new(SqliteOptions::new(folder.join("services.db")), Arc::new(SystemClock)));
        let person = json!({ "email": "a@example.com", "region": "JP", "roles": ["developer"] });
        let person = serde_json::from_value(person).expect("a person");
        let session = store.sign_in(person, None).await.expect("a session").session_token;
        for number in 0..SERVICES {
            let api = json!({
                "name": format!("service {number}"), "sponsor": "Acme", "upstream_url": "https://up.example/run",
                "price_cents": 10, "budget_cents": 0,
            });
            let api = serde_json::from_value(api).expect("a draft");
            store.create_sponsored_api(api, Arc::default(), None).await.expect("an API");
        }
        for number in 0..CAMPAIGNS {
            let service = format!("service-{}", number % SERVICES);
            let campaign = json!({
                "name": format!("Campaign {number} ウェブ検索"), "sponsor": format!("Sponsor {}", number % 97),
                "required_task": "アンケート", "subsidy_per_call_cents": 10 + number % 40,
                "budget_cents": 1_000_000_000, "target_tools": [service], "tags": ["web", "検索", "data"],
            });
            let campaign = serde_json::from_value(campaign).expect("a draft");
            let campaign = store.create_campaign(campaign, None).await.expect("a campaign");
            if number >= CAMPAIGNS - SERVICES {
                let consent = json!({
                    "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": true,
                });
                let task = json!({ "task_name": "アンケート", "consent": consent });
                let task = serde_json::from_value(task).expect("a task");
                store.complete_task(session, campaign.id, task).await.expect("a completion");
            }
        }
        let registry = Registry::builder(Duration::from_secs(60)).build().expect("a registry");
        Self { folder, store, registry, session }
    }

    fn database(&self) -> PathBuf {
        self.folder.join("services.db")
    }

    fn request(&self, number: usize) -> RunRequest {
        RunRequest {
            session: self.session,
            service: Name::parse(format!("service-{}", number % SERVICES)).expect("a name"),
            input: Input::parse("x").expect("an input"),
            key: None,
            registry: self.registry.clone(),
            identity: Identity::Owner,
            request_id: "1".into(),
        }
    }

    fn runs(&self, pause: Duration) -> Runs {
        Runs::new(self.store.clone(), Arc::new(Pausing(pause)), Arc::new(SystemClock), RunOptions::default())
    }
}

/// A connection as the store opens them.
fn connect(database: &Path) -> Connection {
    let connection = Connection::open(database).expect("the database");
    connection
        .execute_batch("PRAGMA busy_timeout = 10000; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;")
        .expect("pragmas");
    connection
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::main]
async fn main() -> ExitCode {
    let scene = Scene::new().await;
    println!(
        "{CAMPAIGNS} campaigns, {SERVICES} sponsored APIs{:>28} {:>9} {:>7} {:>6}",
        "ours", "bare", "ratio", "target"
    );
    let mut all_met = true;
    for (name, query) in [
        ("search without filters", json!({ "limit": 200 })),
        ("search with a keyword", json!({ "q": "sponsor 7", "limit": 200 })),
        ("search with a Japanese intent", json!({ "intent": "ウェブ検索を使いたい", "limit": 200 })),
    ] {
        let (ours, bare) = search(&scene, &query).await;
        all_met &= report(name, ours, bare, 1.5);
    }
    let ours = first_search(&scene).await;
    println!("{:44} {:>7.2} ms", "first search after a campaign was changed", ours.as_secs_f64() * 1e3);
    let (ours, bare) = run(&scene).await;
    all_met &= report("sponsored run, instant upstream", ours, bare, 1.5);
    let (beyond, commits) = at_once(&scene).await;
    all_met &= report("30 runs of a second, beyond the second", beyond, commits, 1.5);
    assert_eq!(scene.store.check_books().await.expect("the books"), []);
    let _ = std::fs::remove_dir_all(&scene.folder);
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(name: &str, ours: Duration, bare: Duration, target: f64) -> bool {
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    let is_met = ratio <= target;
    let mark = if is_met { "✓" } else { "✗" };
    let (ours, bare) = (ours.as_secs_f64() * 1e3, bare.as_secs_f64() * 1e3);
    println!("{name:44} {ours:>7.2} ms {bare:>6.2} ms {ratio:>6.2}× {target:>5.1}× {mark}");
    is_met
}

/// A search and its JSON, against the select of the same rows on a connection of the same kind and the JSON of as many.
async fn search(scene: &Scene, query: &serde_json::Value) -> (Duration, Duration) {
    let connection = connect(&scene.database());
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let query = serde_json::from_value(query.clone()).expect("a query");
        let found = scene.store.search(query, None, Arc::default()).await.expect("services");
        let text = serde_json::to_vec(&found).expect("JSON");
        ours.push(started.elapsed());
        let shown = found.services.len();
        std::hint::black_box(text);
        let started = Instant::now();
        // The store reads on a blocking thread; the bare select does too.
        let connection = &connection;
        let text = tokio::task::block_in_place(|| select_rows(connection, shown));
        bare.push(started.elapsed());
        std::hint::black_box(text);
    }
    (median(ours), median(bare))
}

/// The search that follows a change of the catalog, and therefore prepares it again; for information.
async fn first_search(scene: &Scene) -> Duration {
    let campaigns = scene.store.campaigns(PageRequest::default()).await.expect("campaigns").entries;
    let mut times = Vec::new();
    for (number, campaign) in campaigns.iter().enumerate() {
        let patch = serde_json::from_value(json!({ "name": format!("Changed {number}") })).expect("a patch");
        scene.store.patch_campaign(campaign.id, patch, None).await.expect("a campaign");
        let started = Instant::now();
        let found = scene.store.search(SearchQuery::default(), None, Arc::default()).await.expect("services");
        std::hint::black_box(serde_json::to_vec(&found).expect("JSON"));
        times.push(started.elapsed());
    }
    median(times)
}

#[derive(serde::Serialize)]
struct BareRow {
    id: String,
    name: String,
    sponsor: String,
    required_task: Option<String>,
    subsidy: i64,
    remaining: i64,
    target_tools: Box<RawValue>,
    tags: Box<RawValue>,
    task_type: Option<String>,
}

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

/// A run, against its bare statements in the same transactions and the call of the upstream.
async fn run(scene: &Scene) -> (Duration, Duration) {
    let runs = scene.runs(Duration::ZERO);
    let mut connection = connect(&scene.database());
    let upstream = Pausing(Duration::ZERO);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let request = scene.request(round);
        let started = Instant::now();
        runs.run(request).await.expect("a result");
        ours.push(started.elapsed());
        let service = format!("service-{}", round % SERVICES);
        let started = Instant::now();
        let reservation =
            tokio::task::block_in_place(|| bare_reserve(&mut connection, &scene.session.expose(), &service));
        let request = UpstreamRequest {
            target: HttpTarget {
                url: String::new(),
                method: Default::default(),
                headers: Default::default(),
            },
            input: Input::parse("x").expect("an input"),
            idempotency_key: annai_services::domain::ids::TxHash::random(),
        };
        upstream.call(request).await.expect("a reply");
        tokio::task::block_in_place(|| bare_settle(&mut connection, &reservation));
        bare.push(started.elapsed());
    }
    (median(ours), median(bare))
}

struct BareReservation {
    id: String,
    campaign: String,
    user: String,
    tx_hash: String,
}

const STANDING: &str =
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
            "SELECT c.*, {STANDING} FROM task_claims k
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

/// 30 runs of a second at once: what they take beyond the second, against 60 bare commits.
async fn at_once(scene: &Scene) -> (Duration, Duration) {
    let runs = scene.runs(Duration::from_secs(1));
    let connection = connect(&scene.database());
    let (mut beyond, mut commits) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let started = Instant::now();
        for result in join_all((0..30).map(|number| runs.run(scene.request(number)))).await {
            result.expect("a result");
        }
        beyond.push(started.elapsed().saturating_sub(Duration::from_secs(1)));
        let started = Instant::now();
        tokio::task::block_in_place(|| {
            for number in 0..60 {
                // SQLite writes nothing where the value stays the same.
                connection
                    .execute_batch(&format!(
                        "BEGIN IMMEDIATE; UPDATE users SET source = 'bench {number}'; COMMIT"
                    ))
                    .expect("a commit");
            }
        });
        commits.push(started.elapsed());
    }
    (median(beyond), median(commits))
}
