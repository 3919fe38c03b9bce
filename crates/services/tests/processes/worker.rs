//! The role of a helper process: it runs services until it is done or killed, and tells about it line by line.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use annai_core::{Identity, Registry};
use annai_services::clock::SystemClock;
use annai_services::domain::idempotency::IdempotencyKey;
use annai_services::domain::ids::SessionToken;
use annai_services::domain::text::{Input, Name};
use annai_services::runs::{FaultPoint, LeaseTiming, RunOptions, RunRequest, Runs};
use annai_services::store::Store as _;
use annai_services::upstream::{HttpTarget, Upstream, UpstreamFailure, UpstreamReply, UpstreamRequest};
use futures_util::future::{BoxFuture, join_all};
use serde_json::json;

use crate::support::open;

/// Leases that end soon, so that the tests need not wait for half a minute.
const LEASES: LeaseTiming = LeaseTiming {
    renew_every: Duration::from_millis(200),
    sweep_every: Duration::from_millis(200),
    release_after: Duration::from_millis(1500),
};

fn tell(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).expect("the parent reads");
}

/// An upstream that tells its idempotency key and answers after a while, or never.
struct SlowUpstream(Option<Duration>);

impl Upstream for SlowUpstream {
    fn check<'a>(&'a self, _: &'a HttpTarget) -> BoxFuture<'a, Result<(), UpstreamFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn call(&self, request: UpstreamRequest) -> BoxFuture<'_, Result<UpstreamReply, UpstreamFailure>> {
        tell(&format!("called {}", request.idempotency_key));
        Box::pin(async move {
            match self.0 {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
            Ok(UpstreamReply {
                status: 200,
                body: format!("{} of {}", request.input.to_uppercase(), std::process::id()),
            })
        })
    }
}

pub fn main(arguments: &[String]) {
    let [database, session, role, rest @ ..] = arguments else { panic!("{arguments:?}") };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let rest: Vec<_> = rest.iter().map(String::as_str).collect();
    runtime.block_on(play(Path::new(database), session, role, &rest));
}

async fn play(database: &Path, session: &str, role: &str, rest: &[&str]) {
    let number = |index: usize| rest.get(index).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    if role == "sign-ups" {
        return sign_ups(database).await;
    }
    let pause = if role == "hang" { None } else { Some(Duration::from_millis(number(1))) };
    let store = Arc::new(open(database));
    let fault_point =
        FaultPoint::ALL.into_iter().find(|point| rest.first() == Some(&format!("{point:?}").as_str()));
    let options = RunOptions { leases: LEASES, fault_point, ..RunOptions::default() };
    let runs = Runs::new(store, Arc::new(SlowUpstream(pause)), Arc::new(SystemClock), options);
    let session = SessionToken::parse(session).expect("a session");
    let registry = Registry::builder(Duration::from_secs(60)).build().expect("a registry");
    let request = |key: Option<String>| RunRequest {
        session,
        service: Name::parse("scrape").expect("a name"),
        input: Input::parse("x").expect("an input"),
        key: key.map(|key| IdempotencyKey::parse(&key).expect("a key")),
        registry: registry.clone(),
        identity: Identity::Owner,
        request_id: "1".into(),
    };
    let runs = &runs;
    match role {
        // Runs with keys of their own.
        "hang" | "keyed" => {
            let all = (0..number(0)).map(|index| runs.run(request(Some(format!("key-{index}")))));
            let done = join_all(all).await.into_iter().filter(Result::is_ok).count();
            tell(&format!("done {done}"));
        }
        // Runs without keys, until nobody pays.
        "spend" => {
            let all = (0..number(0)).map(|_| runs.run(request(None)));
            let done = join_all(all).await.into_iter().filter(Result::is_ok).count();
            tell(&format!("done {done}"));
        }
        // Runs with one key, each repeated while another one is in progress.
        "same-key" => {
            let all = (0..number(0)).map(|_| async {
                loop {
                    match runs.run(request(Some("shared".into()))).await {
                        Ok(report) => return tell(&format!("output {}", report.output)),
                        Err(error) if error.code() == "in_progress" => {
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                        Err(error) => return tell(&format!("error {error}")),
                    }
                }
            });
            join_all(all).await;
        }
        // One run with a key; the process dies at a step of it, if one was named.
        "once" => match runs.run(request(Some("k".into()))).await {
            Ok(report) => tell(&format!("output {}", report.tx_hash)),
            Err(error) => tell(&format!("error {error}")),
        },
        other => panic!("{other}"),
    }
}

/// Signs new people up, eight at once, until the database refuses, then tries again.
async fn sign_ups(database: &Path) {
    let store = open(database);
    let mut signed_up = 0;
    for round in 0.. {
        let sign_ups = join_all((0..8).map(|number| {
            let email = format!("person-{round}-{number}@example.com");
            let person = json!({ "email": email, "region": "x".repeat(400) });
            store.sign_in(serde_json::from_value(person).expect("a person"), None)
        }));
        let (good, mut bad): (Vec<_>, Vec<_>) = sign_ups.await.into_iter().partition(Result::is_ok);
        signed_up += good.len();
        if let Some(Err(error)) = bad.pop() {
            tell(&format!("error {} {error}", error.status()));
            break;
        }
    }
    // The process is in order, and another call fails in the same way, once not even one person fits any more: one needs less
    // space than eight, and opening the database again may have made some.
    let mut again = None;
    for number in 0..10_000 {
        let person = json!({ "email": format!("again-{number}@example.com"), "region": "x".repeat(400) });
        match store.sign_in(serde_json::from_value(person).expect("a person"), None).await {
            Ok(_) => signed_up += 1,
            Err(error) => {
                again = Some(error);
                break;
            }
        }
    }
    tell(&format!("signed-up {signed_up}"));
    tell(&format!("again {}", again.expect("still unavailable").status()));
}
