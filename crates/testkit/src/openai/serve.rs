//! Serves connections: chooses the reaction to each request and carries it out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::net::TcpStream;

use super::answer::{answer, is_plain};
use super::check::{check_key, check_request};
use super::refusal::{Refusal, error_body};
use super::reply::models;
use super::stream::{all_events, encode};
use super::wire::{Chunking, Connection, IncomingRequest, Reply};
use super::{RecordedRequest, Shared, Step};

/// The reaction to a request.
struct Plan {
    delay: Duration,
    action: Action,
}

enum Action {
    Send(Reply, End),
    HangUp,
    Silence,
}

/// How a reply ends.
enum End {
    Complete,
    /// The connection is closed after this many bytes of the body.
    Cut(usize),
    /// Nothing more is sent after this many bytes of the body.
    Stall(usize),
}

/// Serves a connection until it is closed.
pub(super) async fn serve(stream: TcpStream, number: u64, shared: Arc<Shared>) {
    let mut connection = Connection::new(stream);
    while let Some(incoming) = connection.read_request().await {
        let is_last = matches!(&incoming.body, Err(refusal) if refusal.status == 411)
            || incoming.headers.iter().any(|(name, value)| name == "connection" && value == "close");
        let (request, body) = record(incoming, number);
        let request = Arc::new(request);
        let (index, step) = shared.record(request.clone(), is_response_request(&request));
        let mut plan = match body {
            Ok(raw) => plan(step, &request, &raw),
            Err(refusal) => Plan::now(Reply::refusal(&refusal)),
        };
        if let Action::Send(reply, _) = &mut plan.action {
            reply.add_default_headers(index);
        }
        match carry_out(plan, &mut connection).await {
            Outcome::Answered if !is_last => {}
            Outcome::Answered | Outcome::Closed => return,
            Outcome::Dropped => return shared.record_dropped(index),
        }
    }
}

enum Outcome {
    Answered,
    Closed,
    /// The client closed the connection before the answer was complete.
    Dropped,
}

async fn carry_out(plan: Plan, connection: &mut Connection) -> Outcome {
    if !plan.delay.is_zero() {
        tokio::select! {
            () = tokio::time::sleep(plan.delay) => {}
            () = connection.wait_for_close() => return Outcome::Dropped,
        }
    }
    let (reply, end) = match plan.action {
        Action::Send(reply, end) => (reply, end),
        Action::HangUp => return Outcome::Closed,
        Action::Silence => {
            connection.wait_for_close().await;
            return Outcome::Dropped;
        }
    };
    let max_body_bytes = match end {
        End::Complete => None,
        End::Cut(size) | End::Stall(size) => Some(size),
    };
    match (connection.send(&reply, max_body_bytes).await, end) {
        (Err(_), _) => Outcome::Dropped,
        (Ok(()), End::Complete) => Outcome::Answered,
        (Ok(()), End::Cut(_)) => Outcome::Closed,
        (Ok(()), End::Stall(_)) => {
            connection.wait_for_close().await;
            Outcome::Dropped
        }
    }
}

fn record(incoming: IncomingRequest, connection: u64) -> (RecordedRequest, Result<Vec<u8>, Refusal>) {
    let IncomingRequest { method, path, headers, body } = incoming;
    let body = body.map(|raw| raw.to_vec());
    let text = |raw: &[u8]| Value::from(String::from_utf8_lossy(raw));
    let value = match &body {
        Ok(raw) if !raw.is_empty() => serde_json::from_slice(raw).unwrap_or_else(|_| text(raw)),
        _ => Value::Null,
    };
    (RecordedRequest { method, path, headers, body: value, at: Instant::now(), connection }, body)
}

fn route(request: &RecordedRequest) -> &str {
    request.path.split('?').next().unwrap_or_default()
}

/// Whether the request asks the model for a response.
fn is_response_request(request: &RecordedRequest) -> bool {
    request.method == "POST" && route(request) == "/v1/responses"
}

fn plan(step: Option<Step>, request: &RecordedRequest, raw: &[u8]) -> Plan {
    if let Some(step) = step {
        return plan_step(step, request, raw);
    }
    Plan::now(match (request.method.as_str(), route(request)) {
        ("GET", "/v1/models") => match check_key(request) {
            Ok(()) => Reply::json(200, &models()),
            Err(refusal) => Reply::refusal(&refusal),
        },
        (method, path @ ("/v1/models" | "/v1/responses")) => {
            let message = format!("{path} does not take {method}.");
            Reply::refusal(&Refusal::new(405, message).code("method_not_supported"))
        }
        (method, path) => Reply::refusal(&Refusal::new(404, format!("Invalid URL ({method} {path})."))),
    })
}

fn plan_step(step: Step, request: &RecordedRequest, raw: &[u8]) -> Plan {
    match step {
        Step::Answer => Plan::now(validated_reply(request, raw, None)),
        Step::Response(response) => Plan::now(validated_reply(request, raw, Some(response))),
        Step::Delay(delay, step) => {
            let plan = plan_step(*step, request, raw);
            Plan { delay: plan.delay + delay, ..plan }
        }
        Step::Status(status, headers, body) => {
            let body = body.into_bytes();
            Plan::now(Reply { status, headers, body, chunking: Chunking::Whole })
        }
        Step::Fail { status, kind, code, message, headers } => {
            let reply = Reply::json(status, &error_body(kind, code, None, &message));
            Plan::now(Reply { headers, ..reply })
        }
        Step::Events(events) => Plan::now(Reply::events(&events)),
        Step::Bytes { content_type, body, piece: chunk_size } => {
            let headers = vec![("content-type".to_owned(), content_type.to_owned())];
            Plan::now(Reply { status: 200, headers, body, chunking: Chunking::Of(chunk_size) })
        }
        Step::CutAfter(size, step) => plan_step(*step, request, raw).ending(End::Cut(size)),
        Step::StallAfter(size, step) => plan_step(*step, request, raw).ending(End::Stall(size)),
        Step::HangUp => Plan { delay: Duration::ZERO, action: Action::HangUp },
        Step::Silence => Plan { delay: Duration::ZERO, action: Action::Silence },
    }
}

/// Validates a request and answers it with `response`, or else with one that fits the question.
fn validated_reply(request: &RecordedRequest, raw: &[u8], response: Option<Value>) -> Reply {
    if let Err(refusal) = check_request(request, raw) {
        return Reply::refusal(&refusal);
    }
    let response = response.unwrap_or_else(|| answer(&request.body));
    if request.body["stream"] == true {
        return Reply::events(&all_events(&response, !is_plain(&request.body)));
    }
    Reply::json(200, &response)
}

impl Plan {
    fn now(reply: Reply) -> Self {
        Self { delay: Duration::ZERO, action: Action::Send(reply, End::Complete) }
    }

    fn ending(self, end: End) -> Self {
        match self.action {
            Action::Send(reply, _) => Self { action: Action::Send(reply, end), ..self },
            Action::HangUp | Action::Silence => self,
        }
    }
}

impl Reply {
    fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: Vec::new(), body: body.to_string().into_bytes(), chunking: Chunking::Whole }
    }

    fn refusal(refusal: &Refusal) -> Self {
        Self::json(refusal.status, &refusal.body())
    }

    fn events(events: &[Value]) -> Self {
        let headers = vec![("content-type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
        Self { status: 200, headers, body: encode(events), chunking: Chunking::Irregular }
    }

    /// Adds the headers that the API always sends, except those that the reply has already.
    fn add_default_headers(&mut self, index: usize) {
        let mut add = |name: &str, value: &str| {
            if !self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                self.headers.push((name.to_owned(), value.to_owned()));
            }
        };
        add("content-type", "application/json");
        add("x-request-id", &format!("req_{index:032x}"));
        add("openai-version", "2020-10-01");
        add("openai-processing-ms", "12");
        if self.status == 200 {
            for (resource, limit, remaining, reset) in
                [("requests", "10000", "9999", "6ms"), ("tokens", "2000000", "1999000", "30ms")]
            {
                add(&format!("x-ratelimit-limit-{resource}"), limit);
                add(&format!("x-ratelimit-remaining-{resource}"), remaining);
                add(&format!("x-ratelimit-reset-{resource}"), reset);
            }
        }
    }
}
