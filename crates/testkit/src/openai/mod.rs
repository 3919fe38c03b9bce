//! A fake of OpenAI's Responses API. It rejects what the real API rejects, with the same errors, and tests can script
//! failures: delays, error statuses, cut connections, silence.

mod answer;
mod check;
mod input;
mod models;
mod refusal;
mod reply;
mod request;
mod schema;
mod serve;
mod stream;
mod wire;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::oneshot;

pub use self::reply::{citation, message, open_page_call, response, search_call};
pub use self::stream::events;
use crate::process::TEST_TIMEOUT;

/// The only API key that the fake accepts.
pub const KEY: &str = "fake-key-for-tests-0123456789abcdefghij";

/// How the fake reacts to one request for a response.
#[derive(Debug, Clone)]
pub enum Step {
    /// Validates the request and answers it; the question decides whether the answer is from a web search.
    Answer,
    /// Reacts in another way after a delay.
    Delay(Duration, Box<Step>),
    /// Sends this status, these headers and this body, without validating the request.
    Status(u16, Vec<(String, String)>, String),
    /// Sends an error in the API's format, without validating the request.
    Fail {
        /// The HTTP status.
        status: u16,
        /// The error's `type`.
        kind: &'static str,
        /// The error's `code`.
        code: Option<&'static str>,
        /// The error's `message`.
        message: String,
        /// Headers in addition to the default ones.
        headers: Vec<(String, String)>,
    },
    /// Validates the request and sends this response, as an event stream if the request asks for one.
    Response(Value),
    /// Sends these events, without validating the request.
    Events(Vec<Value>),
    /// Sends these bytes with status 200, without validating the request.
    Bytes {
        /// The content type.
        content_type: &'static str,
        /// The body.
        body: Vec<u8>,
        /// The size of the chunks in which the body is sent.
        piece: usize,
    },
    /// Sends the head and this many bytes of the body, then closes the connection.
    CutAfter(usize, Box<Step>),
    /// Sends the head and this many bytes of the body, then nothing more.
    StallAfter(usize, Box<Step>),
    /// Closes the connection without sending anything.
    HangUp,
    /// Keeps the connection open without ever answering.
    Silence,
}

/// A request that the fake received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body: null when there was none, a string when it was not JSON.
    pub body: Value,
    /// When the request was complete.
    pub at: Instant,
    /// The number of the TCP connection, from 0.
    pub connection: u64,
}

impl RecordedRequest {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A fake API on the loopback interface. Dropping it stops it.
pub struct FakeOpenai {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeOpenai {
    /// Starts a fake on a free port.
    pub fn start() -> Self {
        Self::start_on("127.0.0.1:0")
    }

    /// Starts a fake on this address.
    pub fn start_on(address: &str) -> Self {
        let listener = TcpListener::bind(address).expect("the address is free");
        listener.set_nonblocking(true).expect("the listener can wait");
        let address = listener.local_addr().expect("the listener has an address");
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = oneshot::channel();
        let state = shared.clone();
        // A separate thread, so that the fake still answers while a test blocks its own runtime.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime starts").block_on(async {
                tokio::select! {
                    () = accept(listener, state) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// The base URL for clients.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Queues the reaction to the next request for a response. When the queue is empty, requests are answered with
    /// [`Step::Answer`].
    pub fn then(&self, step: Step) {
        self.shared.state.lock().unwrap().steps.push_back(step);
    }

    /// All requests so far, in the order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        let state = self.shared.state.lock().unwrap();
        state.requests.iter().map(|request| RecordedRequest::clone(request)).collect()
    }

    /// Waits until this many requests have arrived.
    pub fn wait_for(&self, count: usize) {
        self.shared.wait(&format!("{count} requests"), |state| state.requests.len() >= count);
    }

    /// Waits until the client has closed the connection of a request before its answer was complete. `index` counts the
    /// requests from 0.
    pub fn wait_until_dropped(&self, index: usize) {
        self.shared.wait(&format!("a hang-up on request {index}"), |state| state.dropped.contains(&index));
    }
}

impl Drop for FakeOpenai {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the runtime takes the listener");
    let mut number = 0;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve::serve(stream, number, shared.clone()));
                number += 1;
            }
            // Most likely there are no file descriptors left; other connections will close theirs.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// The state that the owner and the connections share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    requests: Vec<Arc<RecordedRequest>>,
    dropped: Vec<usize>,
}

impl Shared {
    /// Records a request. Returns its index and, for a request for a response, the reaction.
    fn record(&self, request: Arc<RecordedRequest>, is_response_request: bool) -> (usize, Option<Step>) {
        let mut state = self.state.lock().unwrap();
        state.requests.push(request);
        let step = is_response_request.then(|| state.steps.pop_front().unwrap_or(Step::Answer));
        self.changed.notify_all();
        (state.requests.len() - 1, step)
    }

    /// Records that the client closed the connection before the answer was complete.
    fn record_dropped(&self, index: usize) {
        self.state.lock().unwrap().dropped.push(index);
        self.changed.notify_all();
    }

    fn wait(&self, what: &str, condition: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap();
        let (state, timeout) =
            self.changed.wait_timeout_while(state, TEST_TIMEOUT, |state| !condition(state)).unwrap();
        let received = state.requests.len();
        // Panicking with the lock held would poison it and make the other threads panic too.
        drop(state);
        assert!(!timeout.timed_out(), "timed out waiting for {what}; {received} requests arrived");
    }
}

#[cfg(test)]
mod tests;
