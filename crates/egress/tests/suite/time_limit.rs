//! The time limit covers everything: look-up, connection, TLS, headers and body.

use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_egress::{Access, EgressClient, EgressError, EgressSettings, Network, Resolver, Target};
use futures_util::future::BoxFuture;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use super::server::{Server, post_error, read_request, settings};

/// Short enough to wait for, and longer than anything but a hanging server takes on this machine.
const LIMIT: Duration = Duration::from_millis(300);

fn short_settings() -> EgressSettings {
    EgressSettings { time_limit: LIMIT, ..settings() }
}

async fn assert_timed_out(client: &EgressClient, url: &str) {
    let started = Instant::now();
    let error = post_error(client, url).await;
    assert!(matches!(error, EgressError::TimedOut { limit: LIMIT }), "{error:?}");
    let elapsed = started.elapsed();
    assert!(elapsed >= LIMIT && elapsed < LIMIT * 100, "{elapsed:?}");
}

#[tokio::test]
async fn a_server_that_hangs_or_never_ends_is_given_up() {
    // Each server sends the first text and then repeats the second one forever.
    for (head, part) in [
        ("", ""),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n", ""),
        ("HTTP/1.1 200 OK\r\nX-Slow: ", "x"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\ns3cret", ""),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", ""),
    ] {
        let server = Server::start(async move |mut stream| {
            read_request(&mut stream).await?;
            stream.write_all(head.as_bytes()).await?;
            loop {
                stream.write_all(part.as_bytes()).await?;
                // The slow server is what is tested.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        assert_timed_out(&EgressClient::new(short_settings()), &server.url()).await;
    }
}

#[tokio::test]
async fn a_server_that_reads_nothing_is_given_up() {
    let server = Server::start(async |_stream| pending().await).await;
    assert_timed_out(&EgressClient::new(short_settings()), &server.url()).await;
    let https = server.url().replace("http:", "https:");
    let network = Network { trusted_roots: Some(Vec::new()), ..Network::default() };
    assert_timed_out(&EgressClient::with_network(short_settings(), network), &https).await;
}

#[tokio::test]
async fn a_host_that_does_not_accept_is_given_up() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // The system completes connections until the queue is full, and ignores further ones.
    let mut queued = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(50), TcpStream::connect(address)).await
    {
        queued.push(stream.unwrap());
    }
    assert_timed_out(&EgressClient::new(short_settings()), &format!("http://{address}/")).await;
}

struct HangingResolver;

impl Resolver for HangingResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(pending())
    }
}

#[tokio::test]
async fn a_name_that_does_not_resolve_in_time_is_given_up() {
    let network = Network { resolver: Arc::new(HangingResolver), ..Network::default() };
    let client = EgressClient::with_network(short_settings(), network);
    assert_timed_out(&client, "http://upstream.test/").await;
    let target = Target::parse("http://upstream.test/", Access::AllowPrivate).unwrap();
    let error = client.check_target(&target).await.unwrap_err();
    assert!(matches!(error, EgressError::TimedOut { limit: LIMIT }), "{error:?}");
}
