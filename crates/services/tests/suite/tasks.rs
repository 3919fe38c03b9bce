use annai_services::domain::ids::CampaignId;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::{World, clean_up_until, code};

#[tokio::test]
async fn a_task_counts_while_its_consents_are_granted() {
    needs_database!();
    let world = World::new();
    world.api(0, json!({})).await.unwrap();
    let campaign = world.campaign(100, json!({})).await;
    let session = world.sign_in("a@example.com").await;
    let counted = async || world.store().dashboard(campaign.id).await.unwrap().tasks_completed;
    let mut first = None;
    for (consents, counts) in [
        ([false, false], false),
        ([true, false], false),
        ([false, true], false),
        ([true, true], true),
        ([true, false], false),
        ([true, true], true),
        ([false, true], false),
    ] {
        // A clock that jumps back does not make an old consent the newest.
        world.clock.jump(SignedDuration::from_hours(-1));
        let completion = world.complete(session, campaign.id, consents).await.unwrap();
        let report = completion.report;
        assert_eq!(*first.get_or_insert(report.task_completion_id), report.task_completion_id);
        assert_eq!((report.consent_recorded, report.can_use_service), (true, counts), "{consents:?}");
        let details = world.store().task_details(session, campaign.id).await.unwrap();
        assert_eq!(details.already_completed, counts);
        assert_eq!(counted().await, u64::from(counts), "the sponsor sees what counts");
        assert_eq!(world.run(session, "x", None).await.is_ok(), counts, "{consents:?}");
    }
    assert_eq!(world.number("SELECT count(*) FROM consents"), 21);
    assert_eq!(world.number("SELECT count(*) FROM task_completions"), 1);
    world.books().await;
}

#[tokio::test]
async fn completions_from_before_a_take_over_count_without_consents() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    let sql = world.sql();
    sql.execute_batch("DELETE FROM consents; UPDATE task_completions SET taken_over = true").unwrap();
    assert!(world.run(session, "x", None).await.is_ok());
    assert_eq!(world.store().dashboard(campaign.id).await.unwrap().tasks_completed, 1);
    // Withdrawing ends it all the same.
    world.complete(session, campaign.id, [false, true]).await.unwrap();
    assert_eq!(code(world.run(session, "x", None).await), "precondition_required");
    assert_eq!(world.store().dashboard(campaign.id).await.unwrap().tasks_completed, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn completing_many_times_at_once_completes_once() {
    needs_database!();
    let world = World::new();
    let campaign = world.campaign(100, json!({})).await;
    let session = world.sign_in("a@example.com").await;
    let done = join_all((0..20).map(|_| world.complete(session, campaign.id, [true, true]))).await;
    let ids: Vec<_> = done.into_iter().map(|done| done.unwrap().report.task_completion_id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(world.number("SELECT count(*) FROM task_completions"), 1);
}

#[tokio::test]
async fn a_refused_submission_records_nothing() {
    needs_database!();
    let world = World::new();
    let campaign = world.campaign(100, json!({ "required_task": "register" })).await;
    let session = world.sign_in("a@example.com").await;
    let error = world.complete(session, campaign.id, [true, true]).await.unwrap_err();
    assert_eq!((error.status(), error.details().unwrap()["field"].clone()), (400, json!("task_name")));
    assert_eq!(code(world.complete(session, CampaignId::random(), [true, true]).await), "not_found");
    assert_eq!(code(world.store().task_details(session, CampaignId::random()).await), "not_found");
    assert_eq!(world.number("SELECT count(*) FROM consents"), 0);
}

#[tokio::test]
async fn the_search_applies_exhaustion_preferences_and_limits() {
    needs_database!();
    let world = World::new();
    let (session, _) = world.sponsored_person(10).await;
    let signup = json!({ "task_type": "signup", "required_fields": [], "instructions": "" });
    world.campaign(100, json!({ "name": "Sign up", "task_schema": signup })).await;
    let search = async |query: Value, session| {
        let query = serde_json::from_value(query).unwrap();
        let report = world.store().search(query, session, Default::default()).await.unwrap();
        report.services.into_iter().map(|item| item.name).collect::<Vec<_>>()
    };
    assert_eq!(search(json!({}), None).await, ["Sign up", "Survey for scraping", "Scrape"]);
    world.run(session, "x", None).await.unwrap();
    // The newest campaign lacks the task, so the older one paid, and is exhausted.
    assert_eq!(search(json!({}), None).await, ["Sign up", "Scrape"]);
    let avoid = json!([{ "task_type": "signup", "level": "avoided" }]);
    let avoid =
        annai_services::domain::preferences::NewPreferences::parse(serde_json::from_value(avoid).unwrap());
    world.store().set_preferences(session, avoid.unwrap()).await.unwrap();
    assert_eq!(search(json!({}), Some(session)).await, ["Scrape"]);
    assert_eq!(search(json!({ "limit": 1 }), None).await, ["Sign up"]);
    assert_eq!(search(json!({ "q": "'; drop table campaigns; --" }), None).await, [""; 0]);

    let status = world.store().user_status(session, Default::default()).await.unwrap();
    assert_eq!(status.completed_tasks.len(), 1);
    let service = &status.available_services[0];
    assert_eq!((service.service.as_str(), service.ready), ("scrape", false));
    assert_eq!(
        status.message,
        "1 service is available after its task, none is ready to run yet; a search for services shows the task."
    );
}

#[tokio::test]
async fn the_details_of_a_task_are_deleted_when_their_time_is_over() {
    needs_database!();
    let world = World::new();
    let (_, campaign) = world.sponsored_person(100).await;
    let kept = "SELECT count(*) FROM task_completions WHERE details IS NOT NULL";
    let taken_over = "UPDATE consents SET retention_days = NULL";
    world.sql().execute_batch("UPDATE task_completions SET details = 'tea'").unwrap();
    world.clock.jump(SignedDuration::from_hours(364 * 24));
    let later = world.sign_in("later@example.com").await;
    world.complete(later, campaign.id, [true, true]).await.unwrap();
    world.sql().execute_batch("UPDATE task_completions SET details = 'tea'").unwrap();
    world.store().delete_expired().await.unwrap();
    assert_eq!(world.number(kept), 2);
    world.clock.jump(SignedDuration::from_hours(2 * 24));
    clean_up_until(world.store(), || world.number(kept) == 1).await;
    // The completion itself stays, and what it opens.
    assert_eq!(world.number("SELECT count(*) FROM task_completions"), 2);
    let session = world.sign_in("a@example.com").await;
    assert!(world.run(session, "x", None).await.is_ok());
    // Nobody agreed to a time for what was taken over.
    world.sql().execute_batch(taken_over).unwrap();
    world.clock.jump(SignedDuration::from_hours(800 * 24));
    world.store().delete_expired().await.unwrap();
    assert_eq!(world.number(kept), 1);
}
