//! What somebody leaves behind who repeats a request again and again: every table has its limit for one person.

use annai_services::ServicesError;
use annai_services::domain::text::Name;
use annai_services::domain::user::VerifiedSubject;
use annai_services::store::PageRequest;
use annai_services::upstream::UpstreamReply;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::{World, code};

/// The longest list of names: 50 entries of 500 characters with four bytes each.
fn longest_list() -> Value {
    (0..50).map(|number| format!("{number:02}{}", "𠮷".repeat(498))).collect()
}

/// A campaign for `scrape` with about 300 kB of text.
fn long_campaign(number: usize) -> Value {
    json!({
        "name": format!("Long {number}"), "target_roles": longest_list(), "tags": longest_list(),
        "query_urls": vec![format!("https://a.example/{}", "x".repeat(2_000)); 50],
    })
}

#[tokio::test]
async fn a_verified_person_has_at_most_a_hundred_sessions_and_the_newest_stay() {
    needs_database!();
    let world = World::new();
    let sign_in = async |email: &str| {
        let name = |text: &str| Name::parse(text.to_lowercase()).unwrap();
        let subject = VerifiedSubject { issuer: name("https://issuer.example"), subject: name(email) };
        let sign_in = serde_json::from_value(json!({ "email": email, "region": "auto" })).unwrap();
        world.store().sign_in(sign_in, Some(subject)).await.unwrap().session_token
    };
    let oldest = sign_in("a@example.com").await;
    let other = sign_in("b@example.com").await;
    // A clock that stands still or jumps back must not end the session that has just begun.
    for number in 0..100 {
        world.clock.jump(SignedDuration::from_millis(number % 3 - 1));
        let session = sign_in("a@example.com").await;
        assert!(world.store().authenticate(session).await.is_ok());
    }
    assert_eq!(world.number("SELECT count(*) FROM gpt_sessions"), 101);
    world.clock.jump(SignedDuration::from_hours(1));
    for _ in 0..100 {
        sign_in("A@example.com").await;
    }
    assert_eq!(world.number("SELECT count(*) FROM gpt_sessions"), 101);
    assert_eq!(code(world.store().authenticate(oldest).await), "unauthorized");
    assert!(world.store().authenticate(other).await.is_ok());
}

#[tokio::test]
async fn the_newest_hundred_answers_to_each_question_of_consent_are_kept() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(100).await;
    for number in 0..110 {
        world.complete(session, campaign.id, [number % 2 == 0, true]).await.unwrap();
    }
    assert_eq!(world.number("SELECT count(*) FROM consents"), 300);
    assert_eq!(world.number("SELECT count(*) FROM task_completions"), 1);
    assert_eq!(code(world.run(session, "x", None).await), "precondition_required");
    world.complete(session, campaign.id, [true, true]).await.unwrap();
    assert!(world.run(session, "x", None).await.is_ok());
}

#[tokio::test]
async fn the_outputs_under_the_keys_of_a_person_are_limited_until_they_expire() {
    needs_database!();
    let world = World::new();
    let (session, campaign) = world.sponsored_person(10_000).await;
    world
        .upstream
        .answer(|_, _| Box::pin(async { Ok(UpstreamReply { status: 200, body: "x".repeat(1 << 20) }) }));
    for number in 0..64 {
        world.run(session, "x", Some(&number.to_string())).await.unwrap();
    }
    let error = world.run(session, "x", Some("one more")).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (429, "rate_limited"), "{error}");
    assert!(matches!(error, ServicesError::KeysExhausted(_)));
    // Replays, runs without a key and other people go on, and nothing was reserved for the refused run.
    assert_eq!(world.run(session, "x", Some("0")).await.unwrap().output.len(), 1 << 20);
    world.run(session, "x", None).await.unwrap();
    let other = world.sign_in("b@example.com").await;
    world.complete(other, campaign.id, [true, true]).await.unwrap();
    world.run(other, "x", Some("one more")).await.unwrap();
    assert_eq!(world.books().await, (0, 10_000 - 660, 660));
    world.clock.jump(SignedDuration::from_hours(25));
    world.run(session, "x", Some("one more")).await.unwrap();
}

#[tokio::test]
async fn long_campaigns_make_short_pages_that_lead_to_all_of_them() {
    needs_database!();
    let world = World::new();
    for number in 0..8 {
        world.campaign(100, long_campaign(number)).await;
    }
    for number in 0..60 {
        world.campaign(100, json!({ "name": format!("Short {number}") })).await;
    }
    let (mut names, mut sizes, mut request) = (Vec::new(), Vec::new(), PageRequest::default());
    loop {
        let page = world.store().campaigns(request.clone()).await.unwrap();
        sizes.push(page.entries.len());
        names.extend(page.entries.into_iter().map(|campaign| campaign.name));
        request.cursor = page.next;
        if request.cursor.is_none() {
            break;
        }
    }
    let short = (0..60).rev().map(|number| format!("Short {number}"));
    let expected: Vec<_> = short.chain((0..8).rev().map(|number| format!("Long {number}"))).collect();
    assert_eq!(names, expected);
    assert_eq!(sizes.first(), Some(&50));
    assert!(sizes.len() >= 4 && sizes.iter().skip(1).all(|size| *size < 50), "{sizes:?}");
}

#[tokio::test]
async fn long_campaigns_of_a_service_are_found_and_matched_by_their_newest() {
    needs_database!();
    let world = World::new();
    let (session, paying) = world.sponsored_person(100).await;
    for number in 0..10 {
        world.campaign(100, long_campaign(number)).await;
    }
    let tools = std::sync::Arc::default();
    let found = world.store().search(Default::default(), None, tools).await.unwrap();
    assert_eq!(found.total_count, 12);
    assert!(found.services.len() < 5 && found.message.contains("are shown"), "{}", found.message);
    assert_eq!(world.run(session, "x", None).await.unwrap().sponsored_by, paying.sponsor);
    let other = world.sign_in("b@example.com").await;
    // The long ones are for other roles, so the one for everybody asks for its task.
    let error = world.run(other, "x", None).await.unwrap_err();
    assert_eq!(error.details().unwrap()["campaign_id"], json!(paying.id));
    let status = world.store().user_status(session, std::sync::Arc::default()).await.unwrap();
    assert_eq!(status.available_services.len(), 1);
}
