//! Which replies count.

use std::future::pending;

use annai_egress::{EgressClient, EgressError, EgressSettings, Reply};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use super::server::{SECRET, Server, client, post, post_error, read_request, settings};

#[tokio::test]
async fn a_complete_reply_is_returned_unchanged() {
    let text = "\u{feff}{\"a\": 1}\r\n\u{0} 案内 ";
    let length = text.len();
    for (reply, expected) in [
        (
            format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{text}"),
            Reply { status: 200, text: text.to_owned() },
        ),
        (
            format!(
                "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{text}\r\n0\r\n\r\n"
            ),
            Reply { status: 201, text: text.to_owned() },
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n".to_owned(), Reply { status: 204, text: String::new() }),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_owned(),
            Reply { status: 200, text: "ok".to_owned() },
        ),
        // What follows a reply on its connection is not part of it.
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Encoding: identity\r\n\r\nokay".to_owned(),
            Reply { status: 200, text: "ok".to_owned() },
        ),
    ] {
        let server = Server::replying(reply.clone()).await;
        let received = post(&client(), &server.url()).await;
        assert_eq!(received.map_err(|error| error.to_string()), Ok(expected), "{reply}");
    }
}

#[tokio::test]
async fn an_incomplete_reply_is_an_error() {
    for reply in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\ns3cret",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ns3cret\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ns3cret\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\ns3cret\r\n0\r\n\r\n",
        // Without a length, the end of an unencrypted connection may be a crash.
        "HTTP/1.1 200 OK\r\n\r\ns3cret",
        "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\ns3cret",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "s3cret",
    ] {
        let server = Server::replying(reply).await;
        let error = post_error(&client(), &server.url()).await;
        assert!(matches!(error, EgressError::Incomplete(_)), "{reply:?}: {error:?}");
        assert_eq!(server.connections(), 1, "nothing is retried");
    }
}

#[tokio::test]
async fn another_status_is_an_error_without_its_body() {
    for status in [300, 304, 400, 401, 404, 429, 500, 503, 599, 999] {
        let reply =
            format!("HTTP/1.1 {status} {SECRET}\r\nX-Key: {SECRET}\r\nContent-Length: 6\r\n\r\n{SECRET}");
        let server = Server::replying(reply).await;
        let error = post_error(&client(), &server.url()).await;
        assert_eq!(error.status(), Some(status), "{error:?}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let inner = Server::replying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for status in [301, 302, 303, 307, 308] {
        let location = inner.url();
        let server = Server::replying(format!(
            "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
        ))
        .await;
        assert_eq!(post_error(&client(), &server.url()).await.status(), Some(status));
        assert_eq!((server.connections(), inner.connections()), (1, 0));
    }
}

#[tokio::test]
async fn only_plain_utf8_counts_as_text() {
    for reply in [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na\xff\xfe".as_slice(),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=shift_jis\r\nContent-Length: 4\r\n\r\n\x88\xc4\x93\xe0",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nok",
    ] {
        let server = Server::replying(reply).await;
        let error = post_error(&client(), &server.url()).await;
        assert!(matches!(error, EgressError::NotText), "{error:?}");
    }
}

#[tokio::test]
async fn the_size_is_limited_to_the_byte() {
    let client = EgressClient::new(EgressSettings { max_reply_bytes: 1000, ..settings() });
    for size in [1000, 1001] {
        let text = "x".repeat(size);
        for reply in [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n{text}"),
            format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n{:x}\r\n{}\r\n0\r\n\r\n",
                size - 1,
                &text[1..]
            ),
        ] {
            let server = Server::replying(reply).await;
            match post(&client, &server.url()).await {
                Ok(reply) => assert_eq!((size, reply.text), (1000, text.clone())),
                Err(error) => {
                    assert!(matches!(error, EgressError::TooLarge { limit: 1000 }), "{error:?}");
                    assert_eq!(size, 1001);
                }
            }
        }
    }
}

/// A server that answers with these headers and then sends up to 1 GB. The receiver gets the number of bytes that were
/// sent before the client closed the connection.
async fn huge(head: &'static str, part: Vec<u8>) -> (Server, mpsc::Receiver<usize>) {
    let (sender, receiver) = mpsc::channel(1);
    let server = Server::start(move |mut stream| {
        let (part, sender) = (part.clone(), sender.clone());
        async move {
            read_request(&mut stream).await?;
            stream.write_all(head.as_bytes()).await?;
            let mut sent = 0;
            while sent < 1_000_000_000 && stream.write_all(&part).await.is_ok() {
                sent += part.len();
            }
            sender.send(sent).await.map_err(std::io::Error::other)
        }
    })
    .await;
    (server, receiver)
}

#[tokio::test]
async fn an_announced_size_is_refused_at_once() {
    let server = Server::start(async |mut stream| {
        read_request(&mut stream).await?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n").await?;
        pending().await
    })
    .await;
    let error = post_error(&client(), &server.url()).await;
    assert!(matches!(error, EgressError::TooLarge { limit: 1_048_576 }), "{error:?}");
}

#[tokio::test]
async fn a_huge_reply_is_not_read() {
    let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
    for (head, part) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", vec![b'x'; 0x10000]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk),
    ] {
        let (server, mut sent) = huge(head, part).await;
        let error = post_error(&client(), &server.url()).await;
        assert!(matches!(error, EgressError::TooLarge { limit: 1_048_576 }), "{error:?}");
        // The buffers of the two sockets take some megabytes.
        assert!(sent.recv().await.unwrap() < 50_000_000);
    }
}

#[tokio::test]
async fn endless_headers_are_not_read() {
    for part in ["X-Filler: x\r\n".repeat(1000), "x".repeat(0x10000)] {
        let (server, mut sent) = huge("HTTP/1.1 200 OK\r\nX-Filler: ", part.into_bytes()).await;
        let error = post_error(&client(), &server.url()).await;
        assert!(matches!(error, EgressError::Incomplete(_)), "{error:?}");
        assert!(sent.recv().await.unwrap() < 50_000_000);
    }
}
