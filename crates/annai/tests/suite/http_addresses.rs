//! The limits of one address, with clients that have real addresses of their own. Only root can make them.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, Response, request};
use annai_testkit::network::Network;
use annai_testkit::process::TEST_TIMEOUT;
use annai_testkit::slow_clients::{SlowClients, head};

use crate::{Home, annai};

/// Starts a server that everybody in the network can reach.
fn start(network: &Network, home: &Home, yaml: &str, env: &[(&str, &str)]) -> HttpServer {
    let config = home.write("config.yaml", yaml);
    let mut command = annai(home);
    command.args(["--http", "[::]:0", "--config"]).arg(config).envs(env.iter().copied());
    HttpServer::start(&mut network.of_server(&command))
}

/// Connects from an address of this namespace.
fn connect(from: IpAddr, to: SocketAddr) -> TcpStream {
    let stream = annai_testkit::network::connect_from(from, to).unwrap();
    stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    stream
}

fn status(mut stream: &TcpStream, request: &str) -> Option<u16> {
    let _ = stream.write_all(request.as_bytes());
    Response::read(&mut BufReader::new(stream)).map(|response| response.status)
}

fn list() -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    request("POST", "/mcp", &[("content-type", "application/json")], body)
}

/// The addresses that each client uses, as a route from one to the server: over IPv4, and over IPv6 from two addresses of
/// the same network.
fn routes(network: &Network, client: u8, port: u16) -> Vec<Vec<(IpAddr, SocketAddr)>> {
    let to_v4 = SocketAddr::new(network.server_v4(client), port);
    let to_v6 = SocketAddr::new(network.server_v6(client), port);
    let v6 = [2, 3].map(|address| (network.client_v6(client, address), to_v6));
    vec![vec![(network.client_v4(client), to_v4)], v6.into()]
}

#[test]
fn slow_bodies_from_two_addresses_shut_no_third_one_out() {
    let (Some(network), home) = (Network::new(3), Home::new()) else { return };
    // Little memory, so that a few hundred clients could take all of it.
    let server = start(&network, &home, "server: { max_pending_bytes: 16777216 }", &[]);
    let address = |client: u8| SocketAddr::new(network.server_v4(client), server.address.port());
    let (stop, connected) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    let invented = "authorization: Bearer invented\r\n";
    let heads = [head("/mcp", ""), head("/mcp", invented), head("/mcp", ""), head("/campaigns", invented)];
    let slow = |client: u8, count: usize| SlowClients {
        address: address(client),
        heads: &heads,
        count,
        connected: &connected[usize::from(client)],
    };
    let (first, second) = (slow(0, 400), slow(1, 200));
    std::thread::scope(|scope| {
        network.on_client(scope, 0, || first.run(&stop));
        network.on_client(scope, 1, || second.run(&stop));
        let started = Instant::now();
        while connected.iter().any(|count| count.load(Ordering::Relaxed) < 100) {
            assert!(started.elapsed() < TEST_TIMEOUT, "the slow clients never connected");
            std::thread::sleep(Duration::from_millis(10));
        }
        let third = network.on_client(scope, 2, || {
            let (began, mut worst) = (Instant::now(), Duration::ZERO);
            while began.elapsed() < Duration::from_secs(7) {
                let asked = Instant::now();
                let stream = connect(network.client_v4(2), address(2));
                assert_eq!(status(&stream, &list()), Some(200));
                worst = worst.max(asked.elapsed());
                std::thread::sleep(Duration::from_millis(50));
            }
            worst
        });
        let worst = third.join();
        stop.store(true, Ordering::Relaxed);
        let worst = worst.unwrap();
        assert!(worst < Duration::from_secs(3), "a request took {worst:?}");
    });
}

#[test]
fn one_address_and_one_network_of_ipv6_have_a_number_of_connections() {
    let (Some(network), home) = (Network::new(2), Home::new()) else { return };
    let server = start(&network, &home, "server: { max_connections_per_peer: 4 }", &[]);
    let port = server.address.port();
    std::thread::scope(|scope| {
        let clients = [0, 1].map(|client| {
            let network = &network;
            network.on_client(scope, client, move || {
                for route in routes(network, client, port) {
                    let open: Vec<_> =
                        route.iter().cycle().take(4).map(|(from, to)| connect(*from, *to)).collect();
                    for stream in &open {
                        assert_eq!(status(stream, &list()), Some(200), "{route:?}");
                    }
                    for (from, to) in &route {
                        let mut further = connect(*from, *to);
                        assert!(!matches!(further.read(&mut [0]), Ok(1)), "{route:?}: it is closed");
                    }
                }
            })
        });
        // Neither takes anything from the other.
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
}

#[test]
fn one_address_and_one_network_of_ipv6_have_a_share_of_the_memory() {
    let (Some(network), home) = (Network::new(2), Home::new()) else { return };
    let yaml =
        "server: { max_body_bytes: 65536, max_pending_bytes: 1048576, max_pending_bytes_per_peer: 65536 }";
    let server = start(&network, &home, yaml, &[]);
    let port = server.address.port();
    let begin = |(from, to): &(IpAddr, SocketAddr)| {
        let mut stream = connect(*from, *to);
        stream.write_all(head("/mcp", "").as_bytes()).unwrap();
        stream.write_all(&[b' '; 40_000]).unwrap();
        stream
    };
    std::thread::scope(|scope| {
        for client in [0, 1] {
            let network = &network;
            let work = network.on_client(scope, client, move || {
                for route in routes(network, client, port) {
                    // Two bodies of which 40 kB arrive do not fit, from whichever addresses of the network they come.
                    let both = [begin(&route[0]), begin(&route[route.len() - 1])];
                    let refused = |stream: &TcpStream| {
                        Response::read(&mut BufReader::new(stream)).map(|response| response.status)
                    };
                    let statuses = both.each_ref().map(refused);
                    // The other one stalls, and is told so.
                    assert!(
                        statuses.contains(&Some(429)) && statuses.contains(&Some(408)),
                        "{route:?}: {statuses:?}"
                    );
                }
            });
            work.join().unwrap();
        }
    });
}

#[test]
fn one_address_and_one_network_of_ipv6_have_a_number_of_requests_a_minute() {
    let (Some(network), home) = (Network::new(2), Home::new()) else { return };
    let server = start(&network, &home, "", &[("RATE_LIMIT_PER_MIN", "4")]);
    let port = server.address.port();
    let get = request("GET", "/campaigns", &[("connection", "close")], "");
    std::thread::scope(|scope| {
        for client in [0, 1] {
            let (network, get) = (&network, &get);
            let work = network.on_client(scope, client, move || {
                for route in routes(network, client, port) {
                    let statuses: Vec<_> = route
                        .iter()
                        .cycle()
                        .take(6)
                        .map(|(from, to)| status(&connect(*from, *to), get).unwrap())
                        .collect();
                    assert_eq!(statuses, [200, 200, 200, 200, 429, 429], "{route:?}");
                }
            });
            work.join().unwrap();
        }
    });
}
