use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use annai_services::Services;
use annai_services::runs::RunOptions;
use annai_services::store::postgres::{PostgresOptions, PostgresStore};
use futures_util::future::join_all;

use crate::database::connect;
use crate::local_server::LocalServer;
use crate::support::EmbeddedWorld;

#[tokio::test(flavor = "multi_thread")]
async fn runs_go_on_with_the_standby_and_nothing_that_was_acknowledged_is_lost() {
    let primary = LocalServer::start(None);
    let standby = primary.standby();
    let admin = connect(&primary.url).await;
    admin.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").await.unwrap();
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    let is_synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    while admin.query_one(is_synchronous, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
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
    let is_over = AtomicBool::new(false);
    let load = join_all((0..4).map(|_| async {
        let (mut before, mut failed, mut after) = (0_i64, 0_i64, 0_i64);
        while !is_over.load(Ordering::SeqCst) {
            match world.run(session, "x", None).await {
                Ok(_) if failed == 0 => before += 1,
                Ok(_) => after += 1,
                Err(error) => {
                    assert_eq!((error.status(), error.code()), (503, "unavailable"), "{error}");
                    failed += 1;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        (before, failed, after)
    }));
    let failover = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        tokio::task::block_in_place(|| primary.crash());
        tokio::time::sleep(Duration::from_millis(500)).await;
        tokio::task::block_in_place(|| standby.promote());
        tokio::time::sleep(Duration::from_secs(2)).await;
        is_over.store(true, Ordering::SeqCst);
    };
    let (done, ()) = tokio::join!(load, failover);
    let good: i64 = done.iter().map(|(before, _, after)| before + after).sum();
    assert!(done.iter().all(|(before, failed, after)| *before > 0 && *failed > 0 && *after > 0), "{done:?}");
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let leases = world.store().leases().await.unwrap();
    world.store().release_expired(leases).await.unwrap();
    assert_eq!(world.store().check_books().await.unwrap(), []);
    let client = connect(&standby.url).await;
    let settled = "SELECT count(*) FROM payments WHERE status = 'settled'";
    assert!(client.query_one(settled, &[]).await.unwrap().get::<_, i64>(0) >= good);
}
