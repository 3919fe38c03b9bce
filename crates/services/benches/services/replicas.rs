//! How the throughput grows with the number of servers on one database. A server is a process of this program with its own
//! store, search index and connections; sixteen callers share the servers. HTTP is left out, so that the callers do not take
//! the processors away from what is measured. For information: it depends on the processors that database and servers share.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use annai_services::domain::ids::SessionToken;
use annai_services::domain::search::SearchQuery;
use futures_util::future::join_all;

use crate::postgres::{TestDatabase, store};
use crate::scene::Scene;

const CALLERS: usize = 16;
const ROUND: Duration = Duration::from_secs(3);

/// Measures with one, two and three servers.
pub async fn report(scene: &Scene, database: &TestDatabase) {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!(
        "\n{:44} {:>10} {:>9}",
        format!("{CALLERS} callers, {processors} processors, per second"),
        "searches",
        "runs"
    );
    for servers in 1..=3 {
        let mut rates = Vec::new();
        for what in ["search", "run"] {
            let all = (0..servers).map(|server| {
                let callers = CALLERS / servers + usize::from(server < CALLERS % servers);
                measure(database, scene.session, what, callers, server)
            });
            rates.push(join_all(all).await.iter().sum::<f64>());
        }
        let name = if servers == 1 { "one server".to_owned() } else { format!("{servers} servers") };
        println!("{name:44} {:>10.0} {:>9.0}", rates[0], rates[1]);
    }
}

/// The rate of one server, in a process of its own.
async fn measure(
    database: &TestDatabase,
    session: SessionToken,
    what: &str,
    callers: usize,
    server: usize,
) -> f64 {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([
        "replica",
        &database.url,
        &session.expose(),
        what,
        &callers.to_string(),
        &server.to_string(),
    ]);
    command.stderr(Stdio::inherit());
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("a thread");
    let rate = String::from_utf8(output.expect("a process").stdout).expect("text");
    rate.trim().parse().expect("a rate")
}

/// Plays one server, and prints how much it did in a second.
pub async fn serve(arguments: &[String]) {
    let [url, session, what, callers, server] = arguments else { return };
    let (callers, server): (usize, usize) =
        (callers.parse().expect("a number"), server.parse().expect("a number"));
    let session = SessionToken::parse(session).expect("a session");
    let scene = Scene::of(Arc::new(store(url, None)), session);
    let runs = scene.runs(Duration::ZERO);
    let call = async |number: usize| match what.as_str() {
        "search" => {
            let report = scene.store.search(SearchQuery::default(), None, Arc::default()).await;
            std::hint::black_box(serde_json::to_vec(&report.expect("services")).expect("JSON"));
        }
        _ => drop(runs.run(scene.request(number)).await.expect("a result")),
    };
    // Connections, statements and the search index are prepared before.
    join_all((0..callers).map(&call)).await;
    let started = Instant::now();
    let work = join_all((0..callers).map(async |caller| {
        let mut done = 0;
        while started.elapsed() < ROUND {
            call(server * 17 + caller * 3 + done).await;
            done += 1;
        }
        done
    }));
    let done: usize = work.await.iter().sum();
    println!("{}", done as f64 / started.elapsed().as_secs_f64());
}
