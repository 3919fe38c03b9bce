//! Clients that send a few bytes of their bodies now and then, and come back when they are refused.

use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How often each client sends.
const INTERVAL: Duration = Duration::from_millis(500);
/// What each client sends then: together with the interval, eight bytes a second.
const PIECE: &[u8] = b"    ";

/// Slow clients.
pub struct SlowClients<'a> {
    /// Where they connect to.
    pub address: SocketAddr,
    /// The head of the request of each; the heads are used in turn.
    pub heads: &'a [String],
    /// How many there are.
    pub count: usize,
    /// How many of them are connected now.
    pub connected: &'a AtomicUsize,
}

impl SlowClients<'_> {
    /// Sends until `stop` is set.
    pub fn run(&self, stop: &AtomicBool) {
        let mut clients: Vec<Option<TcpStream>> = (0..self.count).map(|_| None).collect();
        while !stop.load(Ordering::Relaxed) {
            for (client, head) in clients.iter_mut().zip(self.heads.iter().cycle()) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                if !client.as_mut().is_some_and(is_welcome) {
                    *client = self.connect(head);
                }
            }
            self.connected.store(clients.iter().flatten().count(), Ordering::Relaxed);
            std::thread::sleep(INTERVAL);
        }
    }

    fn connect(&self, head: &str) -> Option<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).ok()?;
        stream.write_all(head.as_bytes()).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    }
}

/// Whether the server still waits for more of the body: it takes some, and has answered nothing.
fn is_welcome(stream: &mut TcpStream) -> bool {
    let has_answer = !matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
    !has_answer && stream.write(PIECE).is_ok()
}

/// The head of a POST request with a JSON body of 64 KiB, with these headers besides.
pub fn head(path: &str, headers: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: 65536\r\n\r\n"
    )
}
