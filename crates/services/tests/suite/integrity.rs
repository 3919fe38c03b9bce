//! What `annai campaigns --check` finds beside budgets that do not balance.

use serde_json::json;

use crate::support::World;

/// Runs that a campaign and a sponsored API have paid, one of them with a key.
async fn paid() -> World {
    let world = World::new();
    let (session, _) = world.sponsored_person(1000).await;
    let own = json!({ "name": "Own", "service_key": "own", "price_cents": 7 });
    world.api(70, own).await.unwrap();
    world.run(session, "x", Some("key")).await.unwrap();
    let request = world.request(session, "y", None);
    let service = annai_services::domain::text::Name::parse("own").unwrap();
    world.runs().run(annai_services::runs::RunRequest { service, ..request }).await.unwrap();
    // The clocks of the tests are behind that of a server, and only rows from after its migrations are compared there.
    let _ = world.sql().execute_batch("UPDATE annai_migrations SET applied_at = '2000-01-01'");
    // The server's own check takes part where it is installed; other databases know no such statement.
    let _ = world.sql().execute_batch("CREATE EXTENSION amcheck");
    world.books().await;
    assert_eq!(world.store().check_rows().await.unwrap(), []);
    world
}

/// What a change that keeps the budgets in balance is found as.
async fn found(change: &str) -> Vec<String> {
    let world = paid().await;
    world.sql().execute_batch(change).unwrap();
    let rows = world.store().check_rows().await.unwrap();
    rows.iter().map(|row| row.to_string().split_once(" of the table ").unwrap().1.to_owned()).collect()
}

#[tokio::test]
async fn payments_calls_and_reservations_are_compared() {
    needs_database!();
    let unpaid =
        "sponsored_api_calls has no settled payment of the same amount from the budget of the sponsored API";
    let uncalled =
        "payments is settled without a campaign, but no call of a sponsored API has its tx_hash and amount";
    let unsettled = "reservations is settled, but no settled payment has its tx_hash, amount and campaign";
    let unrecorded = "idempotency_keys has the result of a run that no payment records";
    let api_payments = "campaign_id IS NULL";
    for (change, expected) in [
        (format!("DELETE FROM payments WHERE {api_payments}"), vec![unpaid, unsettled]),
        (
            format!("UPDATE payments SET amount_cents = 8 WHERE {api_payments}"),
            vec![unpaid, uncalled, unsettled],
        ),
        (format!("UPDATE payments SET status = 'failed' WHERE {api_payments}"), vec![unpaid, unsettled]),
        ("UPDATE sponsored_api_calls SET tx_hash = NULL".to_owned(), vec![unpaid, uncalled]),
        ("DELETE FROM sponsored_api_calls".to_owned(), vec![uncalled]),
        (
            "UPDATE reservations SET amount_cents = 9 WHERE campaign_id IS NOT NULL".to_owned(),
            vec![unsettled],
        ),
        ("DELETE FROM payments WHERE campaign_id IS NOT NULL".to_owned(), vec![unsettled, unrecorded]),
        (
            "UPDATE reservations SET tx_hash = (SELECT max(tx_hash) FROM payments)".to_owned(),
            vec![unsettled, "reservations is settled, and so is another one of the same payment"],
        ),
        (
            "UPDATE payments SET amount_cents = 9000000000000000000 WHERE campaign_id IS NOT NULL".to_owned(),
            vec!["payments has an impossible amount in amount_cents", unsettled],
        ),
    ] {
        assert_eq!(found(&change).await, expected, "{change}");
    }
}
