//! Which addresses are connected to.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use annai_egress::{
    Access, AddressClass, EgressClient, EgressError, EgressSettings, Network, Resolver, Target, classify,
};
use futures_util::future::BoxFuture;

use super::server::{Server, client, post, post_error, settings};
use super::tls::{Authority, TlsServer};

/// A resolver that gives the next of its answers to each look-up.
struct ScriptedResolver {
    answers: Mutex<VecDeque<&'static str>>,
    lookups: AtomicUsize,
}

impl ScriptedResolver {
    fn new(answers: impl IntoIterator<Item = &'static str>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), lookups: AtomicUsize::new(0) })
    }
}

impl Resolver for ScriptedResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        assert_eq!(name, "upstream.test");
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let answer = self.answers.lock().unwrap().pop_front().ok_or(io::ErrorKind::NotFound.into());
        let addresses =
            |answer: &str| answer.split_whitespace().map(|address| address.parse().unwrap()).collect();
        Box::pin(async move { answer.map(addresses) })
    }
}

/// The servers of the tests are on this machine; here its first address counts as public.
fn classify_with_public_loopback(address: IpAddr) -> AddressClass {
    if address.to_string() == "127.0.0.1" { AddressClass::Public } else { classify(address) }
}

#[tokio::test]
async fn each_request_is_checked_and_pinned_to_its_own_look_up() {
    let authority = Authority::new();
    let server = TlsServer::start(&authority.certificate_for("upstream.test")).await;
    // A second look-up within a request would get the answer that is meant for the next request.
    let answers = [
        ("127.0.0.1", None),
        ("10.0.0.7", Some(AddressClass::Private)),
        ("127.0.0.1", None),
        ("127.0.0.1 10.0.0.7", Some(AddressClass::Private)),
        ("127.0.0.1 ::ffff:169.254.169.254", Some(AddressClass::LinkLocal)),
        ("127.0.0.2", Some(AddressClass::Loopback)),
        ("127.0.0.1", None),
    ];
    let resolver = ScriptedResolver::new(answers.map(|(answer, _)| answer));
    let network = Network {
        resolver: Arc::clone(&resolver) as _,
        classify: classify_with_public_loopback,
        trusted_roots: Some(vec![authority.root()]),
    };
    let client =
        EgressClient::with_network(EgressSettings { access: Access::PublicOnly, ..settings() }, network);
    let url = format!("https://upstream.test:{}/", server.address().port());
    for (answer, forbidden) in answers {
        let class = match post(&client, &url).await {
            Ok(_) => None,
            Err(EgressError::ForbiddenAddress(forbidden)) => Some(forbidden.class),
            Err(error) => panic!("{answer}: {error:?}"),
        };
        assert_eq!(class, forbidden, "{answer}");
    }
    assert_eq!((resolver.lookups.load(Ordering::SeqCst), server.connections()), (answers.len(), 3));
}

#[tokio::test]
async fn a_target_of_other_settings_is_checked_again() {
    let server = Server::replying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let network = Network { trusted_roots: Some(Vec::new()), ..Network::default() };
    let strict = EgressClient::with_network(EgressSettings::default(), network);
    let error = post_error(&strict, &server.url()).await;
    assert!(matches!(error, EgressError::Url(_)), "{error:?}");
    let https = server.url().replace("http:", "https:");
    let error = post_error(&strict, &https).await;
    assert!(matches!(error, EgressError::ForbiddenAddress(_)), "{error:?}");
    let error = post_error(&strict, &https.replace("127.0.0.1", "localhost")).await;
    assert!(matches!(error, EgressError::ForbiddenAddress(_)), "{error:?}");
    assert_eq!(server.connections(), 0);
    assert!(post(&client(), &server.url()).await.is_ok());
}

#[tokio::test]
async fn a_name_without_addresses_is_not_found() {
    let network = Network { resolver: ScriptedResolver::new([""]), ..Network::default() };
    let client = EgressClient::with_network(settings(), network);
    for _ in ["no address", "a failed look-up"] {
        let error = post_error(&client, "http://upstream.test/").await;
        assert!(matches!(error, EgressError::HostNotFound(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_target_can_be_checked_without_a_request() {
    let answers = ["8.8.8.8 2606:4700::1111", "8.8.8.8 127.0.0.1", ""];
    let network = Network { resolver: ScriptedResolver::new(answers), ..Network::default() };
    let client = EgressClient::with_network(EgressSettings::default(), network);
    let check = async |url: &str| {
        let target = Target::parse(url, Access::PublicOnly).unwrap();
        client.check_target(&target).await.map_err(|error| error.to_string())
    };
    let forbidden = "the host of the URL does not have a public address".to_owned();
    let not_found = "the host of the URL could not be found".to_owned();
    assert_eq!(check("https://upstream.test/").await, Ok(()));
    assert_eq!(check("https://upstream.test/").await, Err(forbidden));
    assert_eq!(check("https://upstream.test/").await, Err(not_found));
    // A literal address is not looked up.
    assert_eq!(check("https://8.8.8.8/").await, Ok(()));
    let server = Server::replying("").await;
    let target = Target::parse(&server.url(), Access::AllowPrivate).unwrap();
    assert!(matches!(client.check_target(&target).await, Err(EgressError::Url(_))));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn all_addresses_of_a_name_are_tried() {
    let server = Server::replying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let network =
        Network { resolver: ScriptedResolver::new(["127.0.0.9 ::1 127.0.0.1"]), ..Network::default() };
    let client = EgressClient::with_network(settings(), network);
    let url = server.url().replace("127.0.0.1", "upstream.test");
    assert_eq!(post(&client, &url).await.unwrap().text, "ok");
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let server = Server::replying("").await;
    let url = server.url();
    drop(server);
    tokio::task::yield_now().await;
    let error = post_error(&client(), &url).await;
    assert!(matches!(error, EgressError::Unreachable(_)), "{error:?}");
}
