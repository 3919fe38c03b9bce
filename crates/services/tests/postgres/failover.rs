use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use annai_services::Services;
use annai_services::runs::RunOptions;
use annai_services::store::postgres::{PostgresOptions, PostgresStore};
use futures_util::future::join_all;

use crate::database::{connect, wait_until};
use crate::local_server::LocalServer;
use crate::support::EmbeddedWorld;

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_on_with_the_standby_and_nothing_that_was_acknowledged_is_lost() {
    needs_database!();
    let primary = LocalServer::start(None);
    let standby = primary.standby();
    let admin = connect(&primary.url).await;
    admin.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let is_synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    wait_until("the standby is synchronous", async || {
        admin.query_one(is_synchronous, &[]).await.unwrap().get::<_, i64>(0) > 0
    })
    .await;
    let port = |server: &LocalServer| server.url.split([':', '/']).nth(4).unwrap().to_owned();
    // The standby comes first, so that the store has to find out which of them can be written to.
    let url = format!(
        "postgres://annai@127.0.0.1:{},127.0.0.1:{}/postgres?connect_timeout=2",
        port(&standby),
        port(&primary)
    );
    let store = Arc::new(PostgresStore::new(
        PostgresOptions::parse(&url).unwrap(),
        Arc::new(annai_services::clock::SystemClock),
    ));
    let mut world = EmbeddedWorld::new();
    world.services = Services::new(store, world.upstream.clone(), world.clock.clone(), RunOptions::default());
    let (session, _) = world.sponsored_person(1_000_000).await;
    // Each of four callers counts what it has seen: good runs before the failure, failed ones, and good ones after it.
    let callers: [[AtomicI64; 3]; 4] = Default::default();
    let [before, failed, after] = [0, 1, 2];
    let is_over = AtomicBool::new(false);
    let load = join_all(callers.iter().map(|seen| async {
        while !is_over.load(Ordering::SeqCst) {
            let what = match world.run(session, "x", None).await {
                Ok(_) if seen[failed].load(Ordering::SeqCst) == 0 => before,
                Ok(_) => after,
                Err(error) => {
                    assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    failed
                }
            };
            seen[what].fetch_add(1, Ordering::SeqCst);
        }
    }));
    let all_have_seen = async |what: usize| {
        wait_until("every caller has seen it", async || {
            callers.iter().all(|seen| seen[what].load(Ordering::SeqCst) > 0)
        })
        .await;
    };
    let failover = async {
        all_have_seen(before).await;
        tokio::task::block_in_place(|| primary.crash());
        all_have_seen(failed).await;
        tokio::task::block_in_place(|| standby.promote());
        all_have_seen(after).await;
        is_over.store(true, Ordering::SeqCst);
    };
    tokio::join!(load, failover);
    let good: i64 = callers
        .iter()
        .map(|seen| seen[before].load(Ordering::SeqCst) + seen[after].load(Ordering::SeqCst))
        .sum();
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let leases = world.store().leases().await.unwrap();
    world.store().release_expired(leases).await.unwrap();
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let client = connect(&standby.url).await;
    let settled = "SELECT count(*) FROM payments WHERE status = 'settled'";
    assert!(client.query_one(settled, &[]).await.unwrap().get::<_, i64>(0) >= good);
}
