//! Attacks from several addresses, which only root can make.

use std::io::{BufReader, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use annai_testkit::http::{HttpServer, Response, request};
use annai_testkit::network::{Network, connect_from};
use annai_testkit::slow_clients::{SlowClients, head};

use crate::Figures;
use crate::place::{PATIENCE, Place};

/// How long the third address asks.
const DURATION: Duration = Duration::from_secs(60);

/// 1,300 slow clients from one address and 200 from another, while a third one asks for the list of tools.
pub fn slow_bodies(place: &Place) -> Figures {
    let Some(network) = Network::new(3) else {
        return Figures::default().check("the namespaces could be made", false);
    };
    let server = HttpServer::start(&mut network.of_server(&place.command(&["--http", "[::]:0"])));
    let address = |client: u8| SocketAddr::new(network.server_v4(client), server.address.port());
    let invented = "authorization: Bearer invented\r\n";
    let heads = [head("/mcp", ""), head("/mcp", invented), head("/campaigns", invented)];
    let (stop, connected) = (AtomicBool::new(false), [AtomicUsize::new(0), AtomicUsize::new(0)]);
    let slow = |client: u8, count: usize| SlowClients {
        address: address(client),
        heads: &heads,
        count,
        connected: &connected[usize::from(client)],
    };
    let (first, second) = (slow(0, 1300), slow(1, 200));
    let (worst, failures) = std::thread::scope(|scope| {
        network.on_client(scope, 0, || first.run(&stop));
        network.on_client(scope, 1, || second.run(&stop));
        let third = network.on_client(scope, 2, || ask(|| connect_from(network.client_v4(2), address(2))));
        let result = third.join().unwrap();
        stop.store(true, Ordering::Relaxed);
        result
    });
    Figures::default()
        .check(&format!("{failures} requests failed"), failures == 0)
        .add("the slowest tools/list", worst, "s", 1.0)
        .add("peak memory", server.process.peak_mib(), "MiB", 160.0)
}

/// Asks again and again; the longest time in seconds, and the number of requests without a list.
fn ask(connect: impl Fn() -> std::io::Result<std::net::TcpStream>) -> (f64, usize) {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let list = request("POST", "/mcp", &[("content-type", "application/json")], body);
    let (began, mut worst, mut failures) = (Instant::now(), 0.0_f64, 0);
    while began.elapsed() < DURATION {
        let asked = Instant::now();
        let response = connect().ok().and_then(|mut stream| {
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            stream.write_all(list.as_bytes()).ok()?;
            Response::read(&mut BufReader::new(stream))
        });
        failures += usize::from(response.is_none_or(|response| response.status != 200));
        worst = worst.max(asked.elapsed().as_secs_f64());
        std::thread::sleep(Duration::from_millis(50));
    }
    (worst, failures)
}
