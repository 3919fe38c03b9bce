//! Upstreams on their bad days. Whatever they do, the reply is 502, nothing is charged, and nothing of theirs leaks.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use annai_egress::{Access, EgressSettings, Network, Resolver};
use annai_services::upstream_http::HttpUpstream;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::site::{Site, SiteOptions};
use crate::upstream_server::{SECRET, UpstreamServer};

/// A client for servers on this machine that gives up soon.
fn impatient() -> EgressSettings {
    EgressSettings {
        access: Access::AllowPrivate,
        time_limit: Duration::from_millis(500),
        ..EgressSettings::default()
    }
}

async fn site_with(settings: EgressSettings, network: Network) -> Site {
    let mut options = SiteOptions::default();
    options.upstream = Some(Arc::new(HttpUpstream::with_network(settings, network)));
    options.start().await
}

/// Runs a service of this upstream once, and checks everything but the sentence about the failure, which it returns.
async fn failure(site: &Site, upstream_url: &str, status: Option<u16>) -> String {
    let (session, _) = site.sponsored_person(upstream_url, 100).await;
    let reply = site.run(&session, "x").await;
    let (code, message) = reply.error(502);
    assert_eq!(code, "upstream_error");
    let details = match status {
        Some(status) => json!({ "service": "scrape", "status": status }),
        None => json!({ "service": "scrape" }),
    };
    assert_eq!(reply.json()["error"]["details"], details);
    assert!(!reply.body.contains(SECRET) && !reply.body.contains("127.0.0.1"), "{reply:?}");
    assert_eq!(site.number("SELECT budget_remaining_cents FROM campaigns"), 100);
    assert_eq!(site.number("SELECT count(*) FROM payments WHERE status = 'failed'"), 1);
    let message = message.strip_prefix("the upstream of `scrape` failed: ").unwrap().to_owned();
    message.strip_suffix("; nothing was charged").unwrap().to_owned()
}

#[tokio::test]
async fn replies_that_do_not_count() {
    let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{SECRET}");
    for (reply, status, problem) in [
        (
            format!("HTTP/1.1 500 Oh\r\nContent-Length: 6\r\n\r\n{SECRET}"),
            Some(500),
            "the upstream answered with the status 500",
        ),
        (
            format!("HTTP/1.1 404 {SECRET}\r\nContent-Length: 6\r\n\r\n{SECRET}"),
            Some(404),
            "the upstream answered with the status 404",
        ),
        (
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/s3cret\r\nContent-Length: 0\r\n\r\n"
                .to_owned(),
            Some(302),
            "the upstream answered with the status 302, but redirects are not followed",
        ),
        (
            format!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{SECRET}"),
            None,
            "the upstream's reply was not complete",
        ),
        (huge, None, "the upstream's reply is larger than 1048576 bytes"),
        (format!("{SECRET} is not HTTP\r\n\r\n"), None, "the upstream's reply was not complete"),
        (String::new(), None, "the upstream's reply was not complete"),
    ] {
        let upstream = UpstreamServer::replying(reply.clone()).await;
        let site = site_with(
            EgressSettings { time_limit: Duration::from_secs(10), ..impatient() },
            Network::default(),
        )
        .await;
        assert_eq!(failure(&site, &upstream.url(), status).await, problem, "{reply:?}");
        site.finish().await;
    }
}

#[tokio::test]
async fn an_upstream_that_hangs_or_streams_forever_is_given_up() {
    let hanging = UpstreamServer::start(|stream| async move {
        tokio::time::sleep(Duration::from_secs(60)).await;
        drop(stream);
        Ok(())
    })
    .await;
    let dripping = UpstreamServer::start(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
        loop {
            stream.write_all(b"1\r\nx\r\n").await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let flooding = UpstreamServer::start(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
        let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
        loop {
            stream.write_all(&chunk).await?;
        }
    })
    .await;
    let late = "the upstream did not answer completely within 500ms";
    let large = "the upstream's reply is larger than 1048576 bytes";
    for (upstream, problem) in [(hanging, late), (dripping, late), (flooding, large)] {
        let site = site_with(impatient(), Network::default()).await;
        let message = failure(&site, &upstream.url(), None).await;
        // A slow machine may not receive the limit of the flood in time.
        assert!(message == problem || problem == large && message == late, "{message}");
        site.finish().await;
    }
}

/// A resolver that gives the next of its answers to each look-up.
struct ScriptedResolver(Mutex<VecDeque<&'static str>>);

impl Resolver for ScriptedResolver {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let answer = self.0.lock().unwrap().pop_front().map(|address| vec![address.parse().unwrap()]);
        Box::pin(async move { answer.ok_or(io::ErrorKind::NotFound.into()) })
    }
}

#[tokio::test]
async fn a_name_that_becomes_private_after_its_creation_is_not_called() {
    let upstream = UpstreamServer::text(SECRET).await;
    let resolver = ScriptedResolver(Mutex::new(["8.8.8.8", "127.0.0.1"].into()));
    let network =
        Network { resolver: Arc::new(resolver), trusted_roots: Some(Vec::new()), ..Network::default() };
    let site = site_with(EgressSettings { access: Access::PublicOnly, ..impatient() }, network).await;
    let url = format!("https://upstream.example:{}/", upstream.address.port());
    let problem = failure(&site, &url, None).await;
    assert_eq!(problem, "the host of the URL does not have a public address");
    assert_eq!(upstream.requests(), Vec::<String>::new());
    site.finish().await;
}

#[tokio::test]
async fn an_upstream_that_is_gone_cannot_be_reached() {
    let upstream = UpstreamServer::text("ok").await;
    let url = upstream.url();
    drop(upstream);
    let site = site_with(impatient(), Network::default()).await;
    assert_eq!(failure(&site, &url, None).await, "the upstream could not be reached");
    site.finish().await;
}

#[tokio::test]
async fn the_largest_output_arrives_unchanged() {
    let text = "案".repeat((1 << 20) / 3) + "x";
    let upstream = UpstreamServer::text(&text).await;
    let site =
        site_with(EgressSettings { time_limit: Duration::from_secs(10), ..impatient() }, Network::default())
            .await;
    let (session, _) = site.sponsored_person(&upstream.url(), 100).await;
    let report = site.run(&session, &"案".repeat(200_000)).await.ok();
    assert!(report["output"].as_str() == Some(text.as_str()));
    site.finish().await;
}
