//! What somebody gets who names the e-mail address of another person, whom no sign-in has verified.

use annai_services::domain::ids::{CampaignId, SessionToken};
use annai_services::domain::text::Name;
use annai_services::domain::user::VerifiedSubject;
use jiff::SignedDuration;
use serde_json::json;

use crate::support::{World, code};

async fn verify(world: &World, email: &str) -> SessionToken {
    let sign_in = serde_json::from_value(json!({ "email": email, "region": "auto" })).unwrap();
    let name = |text| Name::parse(text).unwrap();
    let subject = VerifiedSubject { issuer: name("https://issuer.example"), subject: name(email) };
    world.store().sign_in(sign_in, Some(subject)).await.unwrap().session_token
}

async fn is_completed(world: &World, session: SessionToken, campaign: CampaignId) -> bool {
    world.store().task_details(session, campaign).await.unwrap().already_completed
}

#[tokio::test]
async fn a_stored_output_is_replayed_only_to_the_session_that_ran_it() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    let first = world.run(session, "secret", Some("key")).await.unwrap();
    assert_eq!(world.run(session, "secret", Some("key")).await.unwrap().tx_hash, first.tx_hash);
    // The task is found again, as in every new conversation, but not what another session was given.
    let stranger = world.sign_in("a@example.com").await;
    assert!(is_completed(&world, stranger, campaign.id).await);
    for input in ["secret", "other"] {
        let error = world.run(stranger, input, Some("key")).await.unwrap_err();
        let text = "this idempotency key was used in another session, and only that session gets its result; use a new key";
        assert_eq!((error.status(), error.to_string().as_str()), (409, text));
    }
    assert_eq!((world.upstream.calls(), world.books().await), (1, (0, 90, 10)));
    // Nor while the run goes on, nor after it was released.
    let running = world.reserve(session, Some("running")).await.unwrap();
    assert_eq!(code(world.run(stranger, "x", Some("running")).await), "conflict");
    world.store().release(running.id, annai_services::domain::reservation::Dispatch::NotYet).await.unwrap();
    assert_eq!(code(world.run(stranger, "x", Some("running")).await), "conflict");
    assert!(world.run(session, "x", Some("running")).await.is_ok());
    // A key whose day is over belongs to nobody.
    world.clock.jump(SignedDuration::from_hours(25));
    assert!(world.run(stranger, "other", Some("key")).await.is_ok());
}

#[tokio::test]
async fn every_session_of_a_verified_person_gets_the_stored_output() {
    needs_database!();
    let world = World::new();
    world.api(0, json!({})).await.unwrap();
    let campaign = world.campaign(100, json!({})).await;
    let sessions = [verify(&world, "a@example.com").await, verify(&world, "a@example.com").await];
    world.complete(sessions[0], campaign.id, [true, true]).await.unwrap();
    let first = world.run(sessions[0], "x", Some("key")).await.unwrap();
    let again = world.run(sessions[1], "x", Some("key")).await.unwrap();
    assert_eq!((first.tx_hash, first.output), (again.tx_hash, again.output));
    assert_eq!(world.upstream.calls(), 1);
}

#[tokio::test]
async fn a_verified_person_inherits_no_consents_details_or_outputs_of_strangers() {
    needs_database!();
    let world = World::new();
    let (stranger, campaign) = world.sponsored_person(100).await;
    let refused = world.campaign(100, json!({ "name": "Refused" })).await;
    world.complete(stranger, refused.id, [false, true]).await.unwrap();
    world.run(stranger, "x", Some("key")).await.unwrap();
    let owner = verify(&world, "a@example.com").await;
    for (session, campaign) in [(owner, campaign.id), (owner, refused.id)] {
        assert!(!is_completed(&world, session, campaign).await);
    }
    assert_eq!(code(world.run(owner, "x", None).await), "precondition_required");
    assert_eq!(code(world.run(owner, "x", Some("key")).await), "conflict");
    assert_eq!(world.store().dashboard(campaign.id).await.unwrap().tasks_completed, 0);
    assert_eq!(world.number("SELECT count(*) FROM task_completions WHERE details IS NOT NULL"), 0);
    // What was refused is not refused once more; what was granted is withdrawn, and both stay on record.
    assert_eq!(world.number("SELECT count(*) FROM consents WHERE granted"), 3);
    assert_eq!(world.number("SELECT count(*) FROM consents WHERE NOT granted"), 6);
    // The person answers for themselves, and the second sign-in asks nothing.
    let completion = world.complete(owner, campaign.id, [true, true]).await.unwrap();
    assert!(completion.report.can_use_service);
    assert_eq!(completion.completion.details.as_deref(), Some("{\"age\":7}"));
    let again = verify(&world, "a@example.com").await;
    assert!(is_completed(&world, again, campaign.id).await);
    assert!(world.run(again, "x", None).await.is_ok());
    world.books().await;
}

#[tokio::test]
async fn sign_ins_to_an_account_are_limited_and_end_no_session() {
    needs_database!();
    let world = World::new();
    let first = world.sign_in("a@example.com").await;
    let enter = async |email: &str| {
        let sign_in = serde_json::from_value(json!({ "email": email, "region": "auto" })).unwrap();
        world.store().sign_in(sign_in, None).await.map(|report| report.session_token)
    };
    for _ in 1..60 {
        enter("A@example.com").await.unwrap();
    }
    let error = enter("a@example.com").await.unwrap_err();
    let text = "this account was signed in to 60 times within an hour; go on with the session that you have, or try again in an hour";
    assert_eq!((error.status(), error.code(), error.to_string().as_str()), (429, "rate_limited", text));
    // Other accounts, and the verified owner, are not concerned.
    assert!(enter("b@example.com").await.is_ok());
    world.clock.jump(SignedDuration::from_hours(1));
    for _ in 0..60 {
        enter("a@example.com").await.unwrap();
    }
    assert!(world.store().authenticate(first).await.is_ok(), "the oldest of 120 sessions is still there");
    let owner = verify(&world, "a@example.com").await;
    assert!(world.store().authenticate(owner).await.is_ok());
    assert_eq!(code(world.store().authenticate(first).await), "unauthorized");
}
