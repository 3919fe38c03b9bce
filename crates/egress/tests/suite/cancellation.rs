//! Dropping a request closes its connection.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::server::{Server, client, post, read_request};

#[tokio::test]
async fn a_dropped_request_closes_its_connection() {
    for head in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"] {
        let (sender, mut events) = mpsc::channel(2);
        let server = Server::start(move |mut stream| {
            let sender = sender.clone();
            async move {
                read_request(&mut stream).await?;
                stream.write_all(head.as_bytes()).await?;
                sender.send("answered").await.map_err(std::io::Error::other)?;
                // The other side closes the connection, or resets it if it has not read everything.
                let end = stream.read(&mut [0]).await;
                assert!(!matches!(end, Ok(1..)));
                sender.send("closed").await.map_err(std::io::Error::other)
            }
        })
        .await;
        let url = server.url();
        let request = tokio::spawn(async move { post(&client(), &url).await });
        assert_eq!(events.recv().await, Some("answered"));
        request.abort();
        let closed = tokio::time::timeout(Duration::from_secs(60), events.recv()).await;
        assert_eq!(closed, Ok(Some("closed")));
    }
}
