//! Attacks on the services: their REST routes, money and sign-in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use annai_testkit::bench::resident_mib;
use annai_testkit::http::{HttpServer, Response, request};
use serde_json::{Value, json};

use crate::Figures;
use crate::memory::{MAX_KEPT_MIB, REST};
use crate::place::{PATIENCE, Place};

const KEYS: [(&str, &str); 3] =
    [("GPT_ACTIONS_API_KEY", "gpt"), ("MCP_INTERNAL_API_KEY", "internal"), ("SPONSOR_API_KEY", "sponsor")];
/// The budget of the service that nobody ever pays from.
const BUDGET_CENTS: u64 = 1_000_000;
/// How many runs a server has in progress at most.
const MAX_RUNS: f64 = 256.0;

/// A server with the services and the library, whose limit of requests a minute is out of the way: many clients have one each.
fn start(place: &Place) -> HttpServer {
    let mut command =
        place.command(&["--http", "127.0.0.1:0", "--toolset", "services", "--toolset", "library"]);
    let database = place.folder.join("services.sqlite");
    command.envs(KEYS).env("RATE_LIMIT_PER_MIN", "1000000").env("ALLOW_PRIVATE_UPSTREAMS", "true");
    command.env("SERVICES_DATABASE_PATH", database);
    HttpServer::start(&mut command)
}

fn send(server: &HttpServer, key: &str, method: &str, path: &str, body: &Value) -> Response {
    let bearer = format!("Bearer {key}");
    let headers =
        [("authorization", bearer.as_str()), ("content-type", "application/json"), ("connection", "close")];
    let body = if method == "GET" { String::new() } else { body.to_string() };
    server.send(method, path, &headers, &body)
}

fn get(server: &HttpServer, path: &str) -> Response {
    send(server, "gpt", "GET", path, &Value::Null)
}

fn sign_in(server: &HttpServer, email: &str) -> String {
    let reply = send(server, "gpt", "POST", "/gpt/auth", &json!({ "email": email, "region": "JP" }));
    reply.json()["session_token"].as_str().unwrap().to_owned()
}

/// The seconds that something takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// The longest time of `/health`, of several requests.
fn health(server: &HttpServer) -> f64 {
    let times = (0..5).map(|_| seconds(|| assert_eq!(get(server, "/health").status, 200)));
    times.fold(0.0, f64::max)
}

/// A service whose upstream accepts every connection and never answers; its id.
fn silent_service(server: &HttpServer) -> String {
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", upstream.local_addr().unwrap());
    std::thread::spawn(move || upstream.incoming().collect::<Vec<_>>());
    let api = json!({
        "name": "Silent", "sponsor": "Acme", "upstream_url": url, "price_cents": 1, "budget_cents": BUDGET_CENTS,
        "service_key": "silent",
    });
    let created = send(server, "sponsor", "POST", "/sponsored-apis", &api);
    created.json()["api"]["id"].as_str().unwrap().to_owned()
}

/// A service whose upstream answers every request with this text.
fn loud_service(server: &HttpServer, text: String) {
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", upstream.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in upstream.incoming().flatten() {
            let text = text.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                let (mut line, mut length) = (String::new(), 0);
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    let value = line.to_ascii_lowercase();
                    length = value
                        .strip_prefix("content-length:")
                        .map_or(length, |text| text.trim().parse().unwrap());
                    line.clear();
                }
                let _ = reader.read_exact(&mut vec![0; length]);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    text.len()
                );
                let _ =
                    (&stream).write_all(head.as_bytes()).and_then(|()| (&stream).write_all(text.as_bytes()));
            });
        }
    });
    let api = json!({
        "name": "Loud", "sponsor": "Acme", "upstream_url": url, "price_cents": 1, "budget_cents": BUDGET_CENTS,
        "service_key": "loud",
    });
    assert_eq!(send(server, "sponsor", "POST", "/sponsored-apis", &api).status, 201);
}

/// A server with a service whose output has nearly 1 MiB, and the sessions of this many people.
fn start_loud(place: &Place, people: usize) -> (HttpServer, Vec<String>) {
    let server = start(place);
    loud_service(&server, "word ".repeat((1 << 20) / 5 - 100));
    let sessions = (0..people).map(|number| sign_in(&server, &format!("a{number}@example.com"))).collect();
    (server, sessions)
}

/// 600 runs whose output has nearly 1 MiB, over 200 connections that stay open, as those of a proxy do.
pub fn large_outputs_over_open_connections(place: &Place) -> Figures {
    let (server, sessions) = start_loud(place, 200);
    let before = resident_mib(server.process.id());
    let run = |session: &String| {
        let body = json!({ "session_token": session, "input": "x" }).to_string();
        let headers = [("authorization", "Bearer gpt"), ("content-type", "application/json")];
        let (run, stream) = (request("POST", "/gpt/services/loud/run", &headers, &body), server.connect());
        let mut reader = BufReader::new(&stream);
        let paid = (0..3).filter(|_| {
            let sent = (&stream).write_all(run.as_bytes());
            sent.is_ok() && Response::read(&mut reader).is_some_and(|response| response.status == 200)
        });
        let paid = paid.count();
        (stream, paid)
    };
    let open: Vec<_> = std::thread::scope(|scope| {
        let callers: Vec<_> = sessions.iter().map(|session| scope.spawn(move || run(session))).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    let (peak, paid) = (server.process.peak_mib(), open.iter().map(|(_, paid)| paid).sum::<usize>());
    std::thread::sleep(REST);
    let kept = resident_mib(server.process.id()) - before;
    Figures::default()
        .check(&format!("{paid} of 600 runs were paid for"), paid == 600)
        .add("peak memory", peak, "MiB", 300.0)
        .add("memory that is kept after a minute", kept, "MiB", MAX_KEPT_MIB)
}

/// 300 runs whose output has nearly 1 MiB, 30 at a time.
pub fn large_outputs(place: &Place) -> Figures {
    let (server, sessions) = start_loud(place, 30);
    let before = resident_mib(server.process.id());
    let run = |session: &String| {
        let body = json!({ "session_token": session, "input": "x" });
        send(&server, "gpt", "POST", "/gpt/services/loud/run", &body).status
    };
    let settled: usize = std::thread::scope(|scope| {
        let callers: Vec<_> = sessions
            .iter()
            .map(|session| scope.spawn(move || (0..10).filter(|_| run(session) == 200).count()))
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    let peak = server.process.peak_mib();
    std::thread::sleep(REST);
    let kept = resident_mib(server.process.id()) - before;
    Figures::default()
        .check(&format!("{settled} of 300 runs were paid for"), settled == 300)
        .add("peak memory", peak, "MiB", 160.0)
        .add("memory that is kept after a minute", kept, "MiB", MAX_KEPT_MIB)
}

fn start_run(server: &HttpServer, session: &str) -> TcpStream {
    let body = json!({ "session_token": session, "input": "x".repeat(10_000) }).to_string();
    let headers = [("authorization", "Bearer gpt"), ("content-type", "application/json")];
    let mut stream = server.connect();
    stream.write_all(request("POST", "/gpt/services/silent/run", &headers, &body).as_bytes()).unwrap();
    stream
}

/// What is reserved of the budget of a service that nobody has paid from.
fn reserved(server: &HttpServer, api: &str) -> u64 {
    let shown = get(server, &format!("/sponsored-apis/{api}")).json();
    BUDGET_CENTS - shown["api"]["budget_remaining_cents"].as_u64().unwrap()
}

/// The seconds until nothing is reserved any more.
fn released(server: &HttpServer, api: &str) -> f64 {
    let started = Instant::now();
    while reserved(server, api) > 0 && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(100));
    }
    started.elapsed().as_secs_f64()
}

pub fn slow_upstream(place: &Place) -> Figures {
    let server = start(place);
    let api = silent_service(&server);
    let sessions: Vec<_> =
        (0..10).map(|number| sign_in(&server, &format!("a{number}@example.com"))).collect();
    let waiting: Vec<_> =
        sessions.iter().cycle().take(300).map(|session| start_run(&server, session)).collect();
    let started = Instant::now();
    while (reserved(&server, &api) as f64) < MAX_RUNS && started.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let most = reserved(&server, &api) as f64;
    let search = seconds(|| assert_eq!(get(&server, "/gpt/services").status, 200));
    let sign_up = seconds(|| drop(sign_in(&server, "new@example.com")));
    let other = seconds(|| drop(server.call("vault_ls", json!({}))));
    let health = health(&server);
    drop(waiting);
    Figures::default()
        .add("300 runs: in progress", most, "runs", MAX_RUNS)
        .add("a search meanwhile", search, "s", 1.0)
        .add("a sign-up meanwhile", sign_up, "s", 1.0)
        .add("another toolset meanwhile", other, "s", 1.0)
        .add("/health", health, "s", 1.0)
        .add("nothing is reserved after", released(&server, &api), "s", 30.0)
        .add("peak memory", server.process.peak_mib(), "MiB", 160.0)
}

pub fn callers_who_leave(place: &Place) -> Figures {
    let server = start(place);
    let api = silent_service(&server);
    let sessions: Vec<_> =
        (0..50).map(|number| sign_in(&server, &format!("a{number}@example.com"))).collect();
    let mut most = 0;
    let mut callers = Vec::new();
    for (number, session) in sessions.iter().cycle().take(2_000).enumerate() {
        callers.push(start_run(&server, session));
        // Each caller leaves when a hundred others have come.
        if callers.len() > 100 {
            drop(callers.remove(0));
        }
        if number % 100 == 0 {
            most = most.max(reserved(&server, &api));
        }
    }
    drop(callers);
    let health = health(&server);
    Figures::default()
        .add("2,000 callers leave: runs in progress", most as f64, "runs", MAX_RUNS)
        .add("/health", health, "s", 1.0)
        .add("nothing is reserved after", released(&server, &api), "s", 30.0)
        .add("peak memory", server.process.peak_mib(), "MiB", 160.0)
}

/// Campaigns with the longest texts that are allowed, half a megabyte each.
pub fn long_campaigns(place: &Place) -> Figures {
    let server = start(place);
    let _ = silent_service(&server);
    let session = sign_in(&server, "a@example.com");
    let list = |prefix: usize| -> Value {
        (0..50).map(|number| format!("{prefix}-{number}-{}", "𠮷".repeat(490))).collect()
    };
    let mut created = 0;
    for number in 0..100 {
        let campaign = json!({
            "name": format!("Campaign {number}"), "sponsor": "Acme", "required_task": "survey",
            "subsidy_per_call_cents": 1, "budget_cents": 100, "target_tools": list(number), "tags": list(0),
            "query_urls": vec![format!("https://a.example/{}", "x".repeat(2_000)); 50],
            "task_schema": { "task_type": "survey", "required_fields": list(1),
                "instructions": "𠮷".repeat(10_000), "description": "𠮷".repeat(10_000) },
        });
        created += usize::from(send(&server, "sponsor", "POST", "/campaigns", &campaign).status == 201);
    }
    let mut figures = Figures::default().check(&format!("{created} campaigns"), created == 100);
    let status = format!("/gpt/user/status?session_token={session}");
    for path in ["/campaigns?limit=200", "/campaigns/discovery?limit=200", "/gpt/services?limit=200", &status]
    {
        let mut bytes = 0;
        let time = seconds(|| bytes = get(&server, path).body.len());
        let name = path.split('?').next().unwrap_or(path);
        figures = figures.add(name, bytes as f64 / 1e6, "MB", 2.0).add(name, time, "s", 5.0);
    }
    let found = server.call("search_services", json!({})).to_string().len();
    figures
        .add("search_services", found as f64 / 1e6, "MB", 3.0)
        .add("/health", health(&server), "s", 1.0)
        .add("peak memory", server.process.peak_mib(), "MiB", 250.0)
}

/// One person who signs in and answers the questions of consent again and again, and many who sign up.
pub fn sign_ups(place: &Place) -> Figures {
    let server = start(place);
    let campaign = json!({
        "name": "C", "sponsor": "Acme", "required_task": "survey", "subsidy_per_call_cents": 1, "budget_cents": 1,
    });
    let campaign = send(&server, "sponsor", "POST", "/campaigns", &campaign).json();
    let path = format!("/gpt/tasks/{}/complete", campaign["campaign"]["id"].as_str().unwrap());
    let first = sign_in(&server, "a@example.com");
    let size =
        || std::fs::metadata(place.folder.join("services.sqlite")).map_or(0, |file| file.len()) as f64 / 1e6;
    let mut refused = 0;
    for number in 0..500 {
        let person = json!({ "email": "a@example.com", "region": "JP" });
        refused += usize::from(send(&server, "gpt", "POST", "/gpt/auth", &person).status == 429);
        let consent = json!({ "data_sharing_agreed": number % 2 == 0, "purpose_acknowledged": true, "contact_permission": false });
        let body = json!({ "session_token": first, "task_name": "survey", "consent": consent });
        assert_eq!(send(&server, "gpt", "POST", &path, &body).status, 200);
    }
    let is_in = get(&server, &format!("/gpt/user/status?session_token={first}")).status == 200;
    let many =
        seconds(|| (0..1_000).for_each(|number| drop(sign_in(&server, &format!("b{number}@example.com")))));
    Figures::default()
        .check("of 500 sign-ins to one account all but 59 are refused", refused == 441)
        .check("they end no session", is_in)
        .add("1,000 sign-ups", many, "s", 60.0)
        .add("/health", health(&server), "s", 1.0)
        .add("the database", size(), "MB", 8.0)
        .add("peak memory", server.process.peak_mib(), "MiB", 120.0)
}
