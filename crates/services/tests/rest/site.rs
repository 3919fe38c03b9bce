//! A server with the routes, and a client that sends exactly what a test says.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use annai_core::Registry;
use annai_core::config::Secret;
use annai_server::http::{HttpOptions, HttpServer, Sessions};
use annai_server::{McpService, ServerName, ServerSection};
use annai_services::clock::{Clock, SystemClock};
use annai_services::domain::ids::CampaignId;
use annai_services::upstream::Upstream;
use annai_services::{ServicesConfig, ServicesSection, ServicesToolset};
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub const GPT: &str = "gpt-key";
pub const INTERNAL: &str = "internal-key";
pub const SPONSOR: &str = "sponsor-key";

/// A folder that is removed at the end.
struct TempFolder(PathBuf);

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The clocks of the system, of which the one of the process can be moved.
pub struct MovableClock(Mutex<Duration>);

impl MovableClock {
    pub fn pass(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    fn instant(&self) -> Instant {
        Instant::now() + *self.0.lock().unwrap()
    }
}

/// What a test changes before the server starts.
pub struct SiteOptions {
    pub section: ServicesSection,
    pub server: ServerSection,
    pub upstream: Option<Arc<dyn Upstream>>,
    pub register: fn(&mut annai_core::RegistryBuilder),
    folder: TempFolder,
}

impl Default for SiteOptions {
    /// All keys are set, private upstreams are allowed, and the limits are too high to be met by accident.
    fn default() -> Self {
        let folder = std::env::temp_dir().join(format!("annai-rest-{}", CampaignId::random()));
        std::fs::create_dir_all(&folder).unwrap();
        let section = ServicesSection {
            database_path: Some(folder.join("services.sqlite").display().to_string()),
            gpt_actions_api_key: Some(Secret::new(GPT)),
            mcp_internal_api_key: Some(Secret::new(INTERNAL)),
            sponsor_api_key: Some(Secret::new(SPONSOR)),
            rate_limit_per_min: 100_000,
            allow_private_upstreams: true,
            ..ServicesSection::default()
        };
        let server = ServerSection::default();
        Self { section, server, upstream: None, register: |_| {}, folder: TempFolder(folder) }
    }
}

impl SiteOptions {
    pub async fn start(self) -> Site {
        let clock = Arc::new(MovableClock(Mutex::default()));
        let database = PathBuf::from(self.section.database_path.clone().unwrap_or_default());
        let mut config = ServicesConfig::new(self.section, self.server.public_url.clone(), false)
            .with_clock(clock.clone());
        if let Some(upstream) = self.upstream {
            config = config.with_upstream(upstream);
        }
        let mut builder = Registry::builder(Duration::from_millis(self.server.call_timeout_ms));
        annai_services::register(&mut builder, config);
        (self.register)(&mut builder);
        let registry = builder.build().unwrap();
        let options = HttpOptions {
            service: McpService::new(registry.clone(), ServerName { name: "test", version: "1" }),
            sessions: Sessions::None,
            version: "1",
            routes: annai_services::routers(&registry).into_iter().flatten().collect(),
            is_trusted_proxy: Arc::new(|_| false),
        };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = HttpServer::bind(address, &self.server, options).await.unwrap();
        // Tests look into the database, so it is opened before they begin, if it can be.
        if let Ok(toolset) = registry.toolset::<ServicesToolset>().unwrap().open().await {
            let _ = toolset.local().unwrap().start().await;
        }
        let (address, stop) = (server.address().unwrap(), CancellationToken::new());
        let serving = tokio::spawn(server.serve(stop.clone()));
        Site { address, registry, database, clock, stop, serving, _folder: self.folder }
    }
}

/// A running server.
pub struct Site {
    pub address: SocketAddr,
    pub registry: Arc<Registry>,
    pub database: PathBuf,
    pub clock: Arc<MovableClock>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    _folder: TempFolder,
}

impl Site {
    pub async fn start() -> Self {
        SiteOptions::default().start().await
    }

    /// Stops the server, and checks that every budget balances and nothing stays reserved.
    pub async fn finish(self) {
        let toolset = self.registry.toolset::<ServicesToolset>().unwrap();
        let services = toolset.open().await.unwrap().local().unwrap().clone();
        self.stop.cancel();
        self.serving.await.unwrap();
        assert_eq!(services.runs().in_progress(), 0);
        assert_eq!(services.store().check_books().await.unwrap(), []);
        assert_eq!(services.store().leases().await.unwrap(), []);
    }

    /// Sends raw bytes on a connection of its own.
    pub async fn connect_and_send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream
    }

    /// Sends a request and reads the reply.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut stream = self.connect_and_send(&request(method, path, headers, body)).await;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).await.unwrap();
        Reply::parse(&reply)
    }

    /// Sends a request with a key and a JSON body.
    pub async fn call(&self, key: &str, method: &str, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.send(method, path, &headers, body.to_string().as_bytes()).await
    }

    /// Gets a path with the key of the GPT actions.
    pub async fn get(&self, path: &str) -> Reply {
        let bearer = format!("Bearer {GPT}");
        self.send("GET", path, &[("authorization", &bearer)], b"").await
    }

    /// Posts JSON with the key of the GPT actions.
    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(GPT, "POST", path, &body).await
    }

    /// Posts JSON with the key of the GPT actions and an idempotency key.
    pub async fn post_with_key(&self, path: &str, key: &str, body: Value) -> Reply {
        let bearer = format!("Bearer {GPT}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("idempotency-key", key),
        ];
        self.send("POST", path, &headers, body.to_string().as_bytes()).await
    }

    /// Signs a person in and returns the session token.
    pub async fn sign_in(&self, email: &str) -> String {
        let reply = self.post("/gpt/auth", json!({ "email": email, "region": "JP" })).await.ok();
        reply["session_token"].as_str().unwrap().to_owned()
    }

    /// Creates a campaign for `scrape` with a subsidy of 50 cents and these changes, and returns its id.
    pub async fn campaign(&self, budget: i64, changes: Value) -> String {
        let mut draft = json!({
            "name": "Survey for scraping", "sponsor": "Acme", "required_task": "survey",
            "subsidy_per_call_cents": 50, "budget_cents": budget, "target_tools": ["scrape"],
        });
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let created = self.call(SPONSOR, "POST", "/campaigns", &draft).await.expect(201);
        created["campaign"]["id"].as_str().unwrap().to_owned()
    }

    /// Creates the sponsored API `scrape` for 10 cents a run with these changes, and returns its id.
    pub async fn api(&self, upstream_url: &str, own_budget: i64, changes: Value) -> String {
        let mut draft = json!({
            "name": "Scrape", "sponsor": "Scraper Inc", "upstream_url": upstream_url, "price_cents": 10,
            "budget_cents": own_budget,
        });
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        let created = self.call(SPONSOR, "POST", "/sponsored-apis", &draft).await.expect(201);
        created["api"]["id"].as_str().unwrap().to_owned()
    }

    /// Completes the task of a campaign with all consents.
    pub async fn complete(&self, session: &str, campaign: &str) -> Value {
        let body = completion(session, [true, true, false]);
        self.post(&format!("/gpt/tasks/{campaign}/complete"), body).await.ok()
    }

    /// A person who has completed the task of a campaign that pays for `scrape`, which this upstream runs.
    pub async fn sponsored_person(&self, upstream_url: &str, budget: i64) -> (String, String) {
        self.api(upstream_url, 0, json!({})).await;
        let campaign = self.campaign(budget, json!({})).await;
        let session = self.sign_in("a@example.com").await;
        self.complete(&session, &campaign).await;
        (session, campaign)
    }

    /// Runs `scrape`.
    pub async fn run(&self, session: &str, input: &str) -> Reply {
        self.post("/gpt/services/scrape/run", json!({ "session_token": session, "input": input })).await
    }

    /// The number that a query of the database returns.
    pub fn number(&self, query: &str) -> i64 {
        Connection::open(&self.database).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Waits until a query of the database returns a number.
    pub async fn until(&self, query: &str, number: i64) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.number(query) != number {
            assert!(Instant::now() < deadline, "{query} is {}, not {number}", self.number(query));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The body that completes the task `survey`.
pub fn completion(session: &str, consents: [bool; 3]) -> Value {
    json!({
        "session_token": session,
        "task_name": "survey",
        "details": "{\"age\":7}",
        "consent": {
            "data_sharing_agreed": consents[0],
            "purpose_acknowledged": consents[1],
            "contact_permission": consents[2],
        },
    })
}

/// The bytes of a request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text.push_str("host: localhost\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// A reply.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no reply: {text:?}"));
        let head = head.to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body =
            if head.contains("transfer-encoding: chunked") { join_chunks(body) } else { body.to_owned() };
        Self { status, head, body }
    }

    /// The value of a header, by its name in lower case. Values are in lower case too.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The body, which is JSON for every status.
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body of a reply with this status.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }

    /// The body of a reply with status 200.
    pub fn ok(&self) -> Value {
        self.expect(200)
    }

    /// The code and message of an error with this status. An error has nothing but code, message and details.
    pub fn error(&self, status: u16) -> (String, String) {
        let body = self.expect(status);
        let error = body["error"].as_object().unwrap();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        assert!(error.keys().all(|key| ["code", "message", "details"].contains(&key.as_str())), "{body}");
        assert!(error.get("details").is_none_or(Value::is_object), "{body}");
        let text = |key: &str| error[key].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }

    /// The field and message of a validation error.
    pub fn invalid(&self) -> (String, String) {
        let (code, message) = self.error(400);
        assert_eq!(code, "validation_error", "{self:?}");
        (self.json()["error"]["details"]["field"].as_str().unwrap().to_owned(), message)
    }
}

fn join_chunks(mut body: &str) -> String {
    let mut joined = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        joined.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    joined
}
