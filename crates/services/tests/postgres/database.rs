//! A database of its own for each test, and a connection that tests look through.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use annai_services::domain::ids::CampaignId;
use annai_services::store::postgres::PostgresOptions;
use tokio_postgres::{Client, NoTls};

#[expect(
    clippy::disallowed_methods,
    reason = "the runner of the tests names the server, not the configuration"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// How long a test waits for what it reads. A busy machine needs seconds; what takes this long never comes.
const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// Waits until something is true.
pub async fn wait_until(what: &str, mut is_true: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_true().await {
        assert!(started.elapsed() < WAIT_LIMIT, "after {WAIT_LIMIT:?} still not: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether there is a server. If not, this says that the test is skipped, or fails it where the runner requires a server.
pub fn has_server() -> bool {
    if variable("ANNAI_TEST_POSTGRES").is_some() {
        return true;
    }
    let missing = "ANNAI_TEST_POSTGRES is not set; run crates/services/tests/postgres/server run cargo test -p annai-services";
    assert!(variable("ANNAI_TEST_POSTGRES_REQUIRED").is_none(), "{missing}");
    let thread = std::thread::current();
    let message = format!("skipped: {}: {missing}\n", thread.name().unwrap_or("a test"));
    // Not a macro that prints: the harness would show its text only if the test failed.
    let _ = std::io::stderr().write_all(message.as_bytes());
    false
}

/// The server for tests.
pub fn server_url() -> String {
    variable("ANNAI_TEST_POSTGRES")
        .unwrap_or_else(|| panic!("a test that needs the server begins with needs_database!()"))
}

type Answer = Result<i64, tokio_postgres::Error>;

/// A database that is dropped at the end, and a thread with a connection to it, so that tests need not await a look at it.
pub struct TestDatabase {
    pub name: String,
    queries: Option<Sender<(String, Sender<Answer>)>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl TestDatabase {
    /// A new empty database.
    pub fn new() -> Self {
        let name = format!("annai_{}", CampaignId::random().to_string().replace('-', ""));
        let (queries, receiver) = channel();
        let (ready, is_ready) = channel();
        let database = name.clone();
        let server = server_url();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(&server, &database, &receiver, &ready));
        });
        is_ready.recv().unwrap();
        Self { name, queries: Some(queries), thread: Some(thread) }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        database_url(&server_url(), &self.name)
    }

    /// How the store reaches it: with few connections, since many tests run at once.
    pub fn options(&self) -> PostgresOptions {
        let mut options = PostgresOptions::parse(&self.url()).unwrap();
        options.pool_size = 8;
        options
    }

    /// The number that a query returns.
    pub fn number(&self, query: &str) -> i64 {
        self.ask(format!("SELECT ({query})::bigint")).unwrap()
    }

    /// Runs statements.
    pub fn execute_batch(&self, statements: &str) -> Result<(), tokio_postgres::Error> {
        self.ask(statements.to_owned()).map(|_| ())
    }

    fn ask(&self, query: String) -> Answer {
        let (answer, answered) = channel();
        self.queries.as_ref().unwrap().send((query, answer)).unwrap();
        answered.recv().unwrap()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        drop(self.queries.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

async fn serve(server: &str, name: &str, queries: &Receiver<(String, Sender<Answer>)>, ready: &Sender<()>) {
    let admin = connect(server).await;
    admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    let client = connect(&database_url(server, name)).await;
    ready.send(()).unwrap();
    while let Ok((query, answer)) = queries.recv() {
        let result = match query.starts_with("SELECT (") {
            true => client.query_one(&query, &[]).await.map(|row| row.get(0)),
            false => client.batch_execute(&query).await.map(|()| 0),
        };
        answer.send(result).unwrap();
    }
    drop(client);
    admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}

/// The URL of another database on the same server.
pub fn database_url(server: &str, name: &str) -> String {
    let (base, _) = server.rsplit_once('/').unwrap();
    format!("{base}/{name}")
}

/// A plain connection.
pub async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
