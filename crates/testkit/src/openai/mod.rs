//! A fake of OpenAI's Responses API that refuses what the real one refuses, and misbehaves when it is told to.

mod answer;
mod check;
mod input;
mod models;
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
use crate::process::PATIENCE;

/// The one key that is let in.
pub const KEY: &str = "fake-key-for-tests-0123456789abcdefghij";

/// What is done about a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Checks the request and answers it by what was asked.
    Answer,
    /// The same after a delay.
    Delay(Duration, Box<Step>),
    /// Status, headers and body, whatever the request was.
    Status(u16, Vec<(String, String)>, String),
    /// An error in the API's shape, whatever the request was.
    Fail {
        /// The HTTP status.
        status: u16,
        /// The error's `type`.
        kind: &'static str,
        /// The error's `code`.
        code: Option<&'static str>,
        /// What it says.
        message: String,
        /// Headers besides the usual ones.
        headers: Vec<(String, String)>,
    },
    /// Checks the request and answers with this response, or with the events that lead to it.
    Response(Value),
    /// These events, then the end of the body, whatever the request was.
    Events(Vec<Value>),
    /// These bytes with status 200, then the end of the body, whatever the request was.
    Bytes {
        /// The content type.
        content_type: &'static str,
        /// The body.
        body: Vec<u8>,
        /// The size of the pieces in which it is sent.
        piece: usize,
    },
    /// The head and so many bytes of the body, then the connection is closed.
    CutAfter(usize, Box<Step>),
    /// The head and so many bytes of the body, then nothing more.
    StallAfter(usize, Box<Step>),
    /// Closes the connection without a byte.
    HangUp,
    /// Never answers.
    Silence,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body: null when there was none, a string when it was no JSON.
    pub body: Value,
    /// When it had come in full.
    pub at: Instant,
    /// The number of the TCP connection, from 0.
    pub connection: u64,
}

impl Recorded {
    /// A header's value, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A fake API on loopback; it ends with its owner.
pub struct FakeOpenai {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeOpenai {
    /// Starts one on a free port.
    pub fn start() -> Self {
        Self::start_on("127.0.0.1:0")
    }

    /// Starts one on this address.
    pub fn start_on(address: &str) -> Self {
        let listener = TcpListener::bind(address).expect("the address is free");
        listener.set_nonblocking(true).expect("the listener can wait");
        let address = listener.local_addr().expect("the listener has an address");
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = oneshot::channel();
        let state = shared.clone();
        // A thread of its own, so that a test may block its own runtime and still be answered.
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

    /// What clients are to be given as the API's address.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Says what is done about the next question that nothing was said about yet. The rest are answered.
    pub fn then(&self, step: Step) {
        self.shared.state.lock().unwrap().steps.push_back(step);
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        let state = self.shared.state.lock().unwrap();
        state.requests.iter().map(|request| Recorded::clone(request)).collect()
    }

    /// Waits until so many requests have come.
    pub fn wait_for(&self, count: usize) {
        self.shared.wait(&format!("{count} requests"), |state| state.requests.len() >= count);
    }

    /// Waits until the client has hung up on a request before it was answered in full.
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
            // Out of file descriptors, most likely: others will close theirs.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

/// What the owner and the connections share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    requests: Vec<Arc<Recorded>>,
    dropped: Vec<usize>,
}

impl Shared {
    /// Records a request; gives its index and, for a question, what to do about it.
    fn arrived(&self, request: Arc<Recorded>, is_question: bool) -> (usize, Option<Step>) {
        let mut state = self.state.lock().unwrap();
        state.requests.push(request);
        let step = is_question.then(|| state.steps.pop_front().unwrap_or(Step::Answer));
        self.changed.notify_all();
        (state.requests.len() - 1, step)
    }

    fn dropped(&self, index: usize) {
        self.state.lock().unwrap().dropped.push(index);
        self.changed.notify_all();
    }

    fn wait(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap();
        let (state, timeout) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| !is_so(state)).unwrap();
        let came = state.requests.len();
        // Not while the lock is held: a poisoned one would hide this from the other threads.
        drop(state);
        assert!(!timeout.timed_out(), "waited in vain for {what}; {came} requests came");
    }
}

#[cfg(test)]
mod tests;
