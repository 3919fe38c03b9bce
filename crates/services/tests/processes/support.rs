//! A prepared database, helper processes, and looking at rows.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_services::clock::SystemClock;
use annai_services::domain::ids::{CampaignId, SessionToken};
use annai_services::store::Store;
use annai_services::store::sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use serde_json::json;

/// A database in which one person may run `scrape` for 10 cents, paid by one campaign.
pub struct Scene {
    pub folder: PathBuf,
    pub session: SessionToken,
    runtime: tokio::runtime::Runtime,
    store: SqliteStore,
}

pub fn open(database: &Path) -> SqliteStore {
    SqliteStore::new(SqliteOptions::new(database.to_owned()), Arc::new(SystemClock))
}

impl Scene {
    pub fn new(budget: i64) -> Self {
        let folder = std::env::temp_dir().join(format!("annai-processes-{}", CampaignId::random()));
        let store = open(&folder.join("services.db"));
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let session = runtime.block_on(prepare(&store, budget));
        Self { folder, session, runtime, store }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.join("services.db")
    }

    /// Starts a helper process with a role and its arguments.
    pub fn start(&self, role: &[&str]) -> Helper {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg("worker").arg(self.database()).arg(self.session.expose()).args(role);
        Helper::spawn(command)
    }

    /// The number that a query returns.
    pub fn number(&self, query: &str) -> i64 {
        let connection = Connection::open(self.database()).expect("the database");
        connection.busy_timeout(Duration::from_secs(10)).expect("a time-out");
        connection.query_row(query, [], |row| row.get(0)).expect("a number")
    }

    /// What is reserved, after checking that every budget balances.
    pub fn reserved(&self) -> i64 {
        let violations = self.runtime.block_on(self.store.check_books()).expect("the books");
        assert_eq!(violations, []);
        self.number("SELECT coalesce(sum(amount_cents), 0) FROM reservations WHERE state = 'reserved'")
    }

    pub fn payments(&self, status: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM payments WHERE status = '{status}'"))
    }

    /// Ends all leases, as a sweeper does after half a minute.
    pub fn end_leases(&self) {
        self.runtime.block_on(async {
            let leases = self.store.leases().await.expect("leases");
            self.store.release_expired(leases).await.expect("released");
        });
    }
}

async fn prepare(store: &SqliteStore, budget: i64) -> SessionToken {
    let api = json!({
        "name": "Scrape", "sponsor": "Acme", "upstream_url": "https://up.example/run", "price_cents": 10,
        "budget_cents": 0,
    });
    let api = serde_json::from_value(api).expect("a draft");
    store.create_sponsored_api(api, Arc::default(), None).await.expect("an API");
    let campaign = json!({
        "name": "C", "sponsor": "Acme", "required_task": "survey", "subsidy_per_call_cents": 10,
        "budget_cents": budget, "target_tools": ["scrape"],
    });
    let campaign = serde_json::from_value(campaign).expect("a draft");
    let campaign = store.create_campaign(campaign, None).await.expect("a campaign");
    let person =
        serde_json::from_value(json!({ "email": "a@example.com", "region": "auto" })).expect("a person");
    let session = store.sign_in(person, None).await.expect("a session").session_token;
    let consent =
        json!({ "data_sharing_agreed": true, "purpose_acknowledged": true, "contact_permission": true });
    let task = serde_json::from_value(json!({ "task_name": "survey", "consent": consent })).expect("a task");
    store.complete_task(session, campaign.id, task).await.expect("a completion");
    session
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A helper process, killed at the end.
pub struct Helper {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Helper {
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().expect("a process");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// The next lines that begin with a word, without it.
    pub fn next(&mut self, word: &str, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < count {
            let line = self.lines.next().expect("the process ended early").expect("text");
            found.extend(line.strip_prefix(word).map(|rest| rest.trim().to_owned()));
        }
        found
    }

    /// All lines until the process ends.
    pub fn rest(mut self) -> Vec<String> {
        let lines = self.lines.by_ref().map(|line| line.expect("text")).collect();
        self.child.wait().expect("an end");
        lines
    }

    /// Ends it as `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("an end");
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds.
pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}
