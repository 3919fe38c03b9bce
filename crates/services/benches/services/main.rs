//! Benchmarks the store and the runs with 1,000 campaigns, on both databases, each against the bare statements in the same
//! run: what this program adds to its database. And how the throughput grows with the number of servers on one database.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its figures, and one that fails should stop"
)]

mod bare;
mod embedded;
mod postgres;
mod replicas;
mod scene;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_services::clock::SystemClock;
use annai_services::domain::ids::{CampaignId, TxHash};
use annai_services::domain::search::SearchQuery;
use annai_services::domain::text::Input;
use annai_services::store::PageRequest;
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use annai_services::upstream::{HttpTarget, Upstream, UpstreamRequest};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::bare::Bare;
use crate::embedded::BareSqlite;
use crate::postgres::TestDatabase;
use crate::scene::{CAMPAIGNS, Pausing, SERVICES, Scene};

const ROUNDS: usize = 101;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "replica") {
        replicas::serve(&arguments[1..]).await;
        return ExitCode::SUCCESS;
    }
    let mut all_met = embedded().await;
    match TestDatabase::create().await {
        Some(database) => all_met &= on_postgres(&database).await,
        None => println!("without PostgreSQL: ANNAI_TEST_POSTGRES is not set; see scripts/bench"),
    }
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn embedded() -> bool {
    let folder = std::env::temp_dir().join(format!("annai-bench-services-{}", CampaignId::random()));
    let database = folder.join("services.db");
    let store = SqliteStore::new(SqliteOptions::new(database.clone()), Arc::new(SystemClock));
    let scene = Scene::fill(Arc::new(store)).await;
    let all_met = compare("SQLite", &scene, &mut BareSqlite::connect(&database)).await;
    let _ = std::fs::remove_dir_all(&folder);
    all_met
}

async fn on_postgres(database: &TestDatabase) -> bool {
    let scene = Scene::fill(Arc::new(database.store(None))).await;
    let all_met = compare("PostgreSQL", &scene, &mut database.bare().await).await;
    replicas::report(&scene, database).await;
    all_met
}

/// Measures everything on one database.
async fn compare(name: &str, scene: &Scene, bare: &mut impl Bare) -> bool {
    let title = format!("{name}: {CAMPAIGNS} campaigns, {SERVICES} sponsored APIs");
    println!("\n{title:44} {:>10} {:>9} {:>7} {:>6}", "ours", "bare", "ratio", "target");
    let mut all_met = true;
    for (name, query) in [
        ("search without filters", json!({ "limit": 200 })),
        ("search with a keyword", json!({ "q": "sponsor 7", "limit": 200 })),
        ("search with a Japanese intent", json!({ "intent": "ウェブ検索を使いたい", "limit": 200 })),
    ] {
        let (ours, bare) = search(scene, bare, &query).await;
        all_met &= report(name, ours, bare, 1.5);
    }
    let ours = first_search(scene).await;
    println!("{:44} {:>7.2} ms", "first search after a campaign was changed", ours.as_secs_f64() * 1e3);
    let (ours, alone) = run(scene, bare).await;
    all_met &= report("sponsored run, instant upstream", ours, alone, 1.5);
    let (beyond, commits) = at_once(scene, bare).await;
    all_met &= report("30 runs of a second, beyond the second", beyond, commits, 1.5);
    assert_eq!(scene.store.check_books().await.expect("the books"), []);
    all_met
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
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
async fn search(scene: &Scene, bare: &mut impl Bare, query: &Value) -> (Duration, Duration) {
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let query = serde_json::from_value(query.clone()).expect("a query");
        let found = scene.store.search(query, None, Arc::default()).await.expect("services");
        std::hint::black_box(serde_json::to_vec(&found).expect("JSON"));
        ours.push(started.elapsed());
        let started = Instant::now();
        std::hint::black_box(bare.select(found.services.len()).await);
        alone.push(started.elapsed());
    }
    (median(ours), median(alone))
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

/// A run, against its bare statements in the same transactions and the call of the upstream.
async fn run(scene: &Scene, bare: &mut impl Bare) -> (Duration, Duration) {
    let runs = scene.runs(Duration::ZERO);
    let upstream = Pausing(Duration::ZERO);
    let (mut ours, mut alone) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let request = scene.request(round);
        let started = Instant::now();
        runs.run(request).await.expect("a result");
        ours.push(started.elapsed());
        let service = format!("service-{}", round % SERVICES);
        let target =
            HttpTarget { url: String::new(), method: Default::default(), headers: Default::default() };
        let input = Input::parse("x").expect("an input");
        let started = Instant::now();
        let reservation = bare.reserve(&scene.session.expose(), &service).await;
        let request = UpstreamRequest { target, input, idempotency_key: TxHash::random() };
        upstream.call(request).await.expect("a reply");
        bare.settle(&reservation).await;
        alone.push(started.elapsed());
    }
    (median(ours), median(alone))
}

/// 30 runs of a second at once: what they take beyond the second, against 60 bare commits, one after the other.
async fn at_once(scene: &Scene, bare: &mut impl Bare) -> (Duration, Duration) {
    let runs = scene.runs(Duration::from_secs(1));
    let (mut beyond, mut commits) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let started = Instant::now();
        for result in join_all((0..30).map(|number| runs.run(scene.request(number)))).await {
            result.expect("a result");
        }
        beyond.push(started.elapsed().saturating_sub(Duration::from_secs(1)));
        let started = Instant::now();
        bare.commits(60).await;
        commits.push(started.elapsed());
    }
    (median(beyond), median(commits))
}
