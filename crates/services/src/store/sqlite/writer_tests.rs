use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

use super::super::SqliteOptions;
use super::*;
use crate::domain::ids::CampaignId;

/// A writer on a new file with a table of numbers.
struct Scene {
    folder: PathBuf,
    writer: Writer,
    committed: Arc<AtomicUsize>,
}

type Outcome = Result<i64, ServicesError>;

impl Scene {
    async fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("annai-writer-{}", CampaignId::random()));
        let options = SqliteOptions::new(folder.join("services.db"));
        let writer = Writer::new(Arc::new(Database::new(options)));
        let scene = Self { folder, writer, committed: Arc::default() };
        let tables = "CREATE TABLE numbers (number INTEGER PRIMARY KEY);
             CREATE TABLE checked (number INTEGER REFERENCES numbers (number) DEFERRABLE INITIALLY DEFERRED)";
        scene.writer.run(Durability::Full, |t| Ok(t.execute_batch(tables)?), |()| {}).await.unwrap();
        scene
    }

    /// A use case that inserts a number, does something else, and returns how many numbers there are.
    fn insert<F>(&self, number: i64, then: F) -> BoxFuture<'_, Outcome>
    where
        F: FnOnce(&Transaction<'_>) -> Result<(), Failure> + Send + 'static,
    {
        let committed = self.committed.clone();
        let use_case = move |transaction: &Transaction<'_>| {
            transaction.execute("INSERT INTO numbers VALUES (?1)", [number])?;
            then(transaction)?;
            Ok(transaction.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0))?)
        };
        let count = move |_: &i64| {
            committed.fetch_add(1, Ordering::SeqCst);
        };
        Box::pin(self.writer.run(Durability::Full, use_case, count))
    }

    fn connect(&self) -> Connection {
        Connection::open(self.folder.join("services.db")).unwrap()
    }

    fn numbers(&self) -> Vec<i64> {
        let connection = self.connect();
        let mut statement = connection.prepare("SELECT number FROM numbers ORDER BY 1").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// Runs use cases in one transaction: they wait together until another one ends.
    async fn together(&self, use_cases: Vec<BoxFuture<'_, Outcome>>) -> Vec<Outcome> {
        let (started, has_started) = oneshot::channel();
        let (end, may_end) = std::sync::mpsc::channel();
        let first = self.insert(0, move |_| {
            started.send(()).unwrap();
            may_end.recv().unwrap();
            Ok(())
        });
        let others = async {
            has_started.await.unwrap();
            // They are in the queue when they were polled once.
            let (outcomes, ()) = tokio::join!(join_all(use_cases), async { end.send(()).unwrap() });
            outcomes
        };
        let (first, outcomes) = tokio::join!(first, others);
        assert_eq!(first.unwrap(), 1);
        self.committed.fetch_sub(1, Ordering::SeqCst);
        outcomes
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn code(outcome: &Outcome) -> &'static str {
    outcome.as_ref().map_or_else(ServicesError::code, |_| "ok")
}

#[tokio::test]
async fn use_cases_that_share_a_transaction_fail_alone() {
    let scene = Scene::new().await;
    let outcomes = scene
        .together(vec![
            scene.insert(1, |_| Ok(())),
            scene.insert(2, |_| Err(ServicesError::Conflict("a rule".into()).into())),
            scene.insert(3, |_| panic!("on purpose")),
            scene.insert(1, |_| Ok(())),
            scene.insert(4, |_| Ok(())),
        ])
        .await;
    // Each sees those before it that have happened, and nothing of the others.
    assert_eq!(outcomes[0].as_ref().unwrap(), &2);
    assert_eq!(outcomes[4].as_ref().unwrap(), &3);
    let codes: Vec<_> = outcomes.iter().map(code).collect();
    assert_eq!(codes, ["ok", "conflict", "internal", "internal", "ok"]);
    assert_eq!(scene.numbers(), [0, 1, 4]);
}

#[tokio::test]
async fn nobody_hears_of_a_transaction_that_is_not_committed() {
    let scene = Scene::new().await;
    let lost = |number| {
        scene.insert(number, move |transaction| {
            transaction.execute("INSERT INTO checked VALUES (?1)", [-number])?;
            Ok(())
        })
    };
    // The check is made when the transaction is committed, so all of it fails, also what broke a rule.
    let rule = scene.insert(2, |_| Err(ServicesError::Conflict("a rule".into()).into()));
    let outcomes =
        scene.together(vec![scene.insert(1, |_| Ok(())), rule, lost(3), scene.insert(4, |_| Ok(()))]).await;
    assert!(outcomes.iter().all(|outcome| code(outcome) == "internal"), "{outcomes:?}");
    assert_eq!((scene.numbers(), scene.committed.load(Ordering::SeqCst)), (vec![0], 0));
    assert_eq!(scene.insert(5, |_| Ok(())).await.unwrap(), 2);
    assert_eq!(scene.committed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_transaction_that_the_database_gives_up_is_lost_for_all_before_it_and_goes_on_for_those_after_it() {
    let scene = Scene::new().await;
    let disk_full = || {
        let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
        Failure::Database(rusqlite::Error::SqliteFailure(full, None))
    };
    let full = scene.insert(2, move |transaction| {
        transaction.execute_batch("ROLLBACK")?;
        Err(disk_full())
    });
    let outcomes = scene.together(vec![scene.insert(1, |_| Ok(())), full, scene.insert(3, |_| Ok(()))]).await;
    assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["unavailable", "unavailable", "ok"]);
    assert_eq!(scene.numbers(), [0, 3]);
    // Where only the use case fails, those before it are committed, and those after it get a new connection.
    let scene = Scene::new().await;
    let full = scene.insert(2, move |_| Err(disk_full()));
    let outcomes = scene.together(vec![scene.insert(1, |_| Ok(())), full, scene.insert(3, |_| Ok(()))]).await;
    assert_eq!(outcomes.iter().map(code).collect::<Vec<_>>(), ["ok", "unavailable", "ok"]);
    assert_eq!(scene.numbers(), [0, 1, 3]);
}

#[tokio::test]
async fn a_use_case_that_nobody_waits_for_happens_all_the_same() {
    let scene = Scene::new().await;
    let mut other = scene.connect();
    let lock = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(50), scene.insert(1, |_| Ok(())));
    assert!(waiting.await.is_err(), "the caller stops waiting");
    drop(lock);
    assert_eq!(scene.insert(2, |_| Ok(())).await.unwrap(), 2);
    assert_eq!((scene.numbers(), scene.committed.load(Ordering::SeqCst)), (vec![1, 2], 2));
}
