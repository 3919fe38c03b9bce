use annai_services::ServicesError;
use annai_services::domain::preferences::NewPreferences;
use annai_services::domain::text::Name;
use annai_services::domain::user::{SignIn, SignInReport, VerifiedSubject};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::{World, clean_up_until, code};

fn sign_in(json: Value) -> SignIn {
    serde_json::from_value(json).unwrap()
}

fn subject(issuer: &str, subject: &str) -> VerifiedSubject {
    VerifiedSubject { issuer: Name::parse(issuer).unwrap(), subject: Name::parse(subject).unwrap() }
}

async fn enter(
    world: &World,
    email: &str,
    who: Option<VerifiedSubject>,
) -> Result<SignInReport, ServicesError> {
    world.store().sign_in(sign_in(json!({ "email": email, "region": "auto" })), who).await
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_first_sign_ups_of_one_address_make_one_user() {
    needs_database!();
    let world = World::new();
    let emails: Vec<_> = (0..50)
        .map(|number| if number % 2 == 0 { "New.User@Example.com" } else { "new.user@example.COM" })
        .collect();
    let reports = join_all(emails.iter().map(|email| enter(&world, email, None))).await;
    let reports: Vec<_> = reports.into_iter().map(Result::unwrap).collect();
    assert_eq!(reports.iter().filter(|report| report.is_new_user).count(), 1);
    assert!(reports.iter().all(|report| report.user_id == reports[0].user_id));
    assert_eq!(world.number("SELECT count(*) FROM users"), 1);
    assert_eq!(world.number("SELECT count(*) FROM gpt_sessions"), 50);
    for report in reports {
        assert_eq!(world.store().authenticate(report.session_token).await.unwrap().id, report.user_id);
    }
}

#[tokio::test]
async fn nobody_enters_the_account_of_another_by_its_address() {
    needs_database!();
    let world = World::new();
    let email = "owner@example.com";
    // Before anybody is verified, the address alone is enough.
    let unverified = enter(&world, email, None).await.unwrap();
    let bound = enter(&world, email, Some(subject("https://issuer.example", "1"))).await.unwrap();
    assert_eq!((bound.user_id, bound.is_new_user), (unverified.user_id, false));
    // Binding ended the older session.
    assert_eq!(code(world.store().authenticate(unverified.session_token).await), "unauthorized");
    // From now on the address leads nobody else there, in whatever case and by whatever way.
    for who in [
        None,
        Some(subject("https://issuer.example", "2")),
        Some(subject("https://other.example", "1")),
        Some(subject("annai:dev", email)),
    ] {
        for email in [email, "OWNER@example.com", " Owner@Example.Com "] {
            let error = enter(&world, email, who.clone()).await.unwrap_err();
            assert_eq!((error.status(), error.code()), (403, "forbidden"), "{who:?}");
        }
    }
    // The refused attempts have bound nobody and left no session.
    assert_eq!(world.number("SELECT count(*) FROM identities"), 1);
    assert_eq!(world.number("SELECT count(*) FROM gpt_sessions"), 1);
    // The bound person enters again, also after their address has changed at the issuer.
    for email in [email, "new@example.com"] {
        let again = enter(&world, email, Some(subject("https://issuer.example", "1"))).await.unwrap();
        assert_eq!((again.user_id, again.email.as_str()), (bound.user_id, "owner@example.com"));
    }
    // A verified person whose address is new registers and is bound at once.
    let other = enter(&world, "b@example.com", Some(subject("https://issuer.example", "2"))).await.unwrap();
    assert!(other.is_new_user);
    assert_eq!(code(enter(&world, "b@example.com", None).await), "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_subjects_that_claim_one_address_bind_one() {
    needs_database!();
    let world = World::new();
    let claims = (0..50).map(|number| {
        enter(&world, "a@example.com", Some(subject("https://issuer.example", &number.to_string())))
    });
    let results = join_all(claims).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(world.number("SELECT count(*) FROM identities"), 1);
    assert_eq!(world.number("SELECT count(*) FROM users"), 1);
}

#[tokio::test]
async fn the_first_region_stays_and_lists_that_are_given_replace() {
    needs_database!();
    let world = World::new();
    let enter = async |json: Value| {
        let report = world.store().sign_in(sign_in(json), None).await.unwrap();
        world.store().authenticate(report.session_token).await.unwrap()
    };
    let email = "a@example.com";
    assert_eq!(enter(json!({ "email": email, "region": "auto", "roles": ["dev"] })).await.region, "auto");
    let user = enter(json!({ "email": email, "region": "JP" })).await;
    assert_eq!((user.region.as_str(), user.roles), ("JP", vec!["dev".to_owned()]));
    let user = enter(json!({ "email": email, "region": "US", "roles": ["designer", "dev"] })).await;
    assert_eq!((user.region.as_str(), user.roles.len()), ("JP", 2));
}

#[tokio::test]
async fn sessions_last_thirty_days() {
    needs_database!();
    let world = World::new();
    let session = world.sign_in("a@example.com").await;
    world.clock.jump(SignedDuration::from_hours(29 * 24));
    assert!(world.store().authenticate(session).await.is_ok());
    world.clock.jump(SignedDuration::from_hours(2 * 24));
    let error = world.store().authenticate(session).await.unwrap_err();
    assert_eq!((error.status(), error.code()), (401, "unauthorized"));
    assert_eq!(code(world.run(session, "x", None).await), "unauthorized");
    let sessions = || world.number("SELECT count(*) FROM gpt_sessions");
    clean_up_until(world.store(), || sessions() == 0).await;
    let unknown = annai_services::domain::ids::SessionToken::random();
    assert_eq!(code(world.store().preferences(unknown).await), "unauthorized");
}

#[tokio::test]
async fn preferences_are_replaced_as_a_whole() {
    needs_database!();
    let world = World::new();
    let session = world.sign_in("a@example.com").await;
    let new = |json: Value| NewPreferences::parse(serde_json::from_value(json).unwrap());
    let first = json!([{ "task_type": "survey", "level": "avoided" }, { "task_type": "signup", "level": "preferred" }]);
    let saved = world.store().set_preferences(session, new(first).unwrap()).await.unwrap();
    assert_eq!(saved.preferences_count, 2);
    // A duplicate never reaches the store, so the old ones stay.
    let twice = json!([{ "task_type": "a", "level": "neutral" }, { "task_type": "A", "level": "avoided" }]);
    assert!(new(twice).is_err());
    let report = world.store().preferences(session).await.unwrap();
    assert_eq!(report.preferences.len(), 2);
    assert_eq!(report.updated_at, Some(saved.updated_at));
    let saved = world.store().set_preferences(session, new(json!([])).unwrap()).await.unwrap();
    assert_eq!(saved.preferences_count, 0);
    let report = world.store().preferences(session).await.unwrap();
    assert_eq!((report.preferences.len(), report.updated_at), (0, None));
}
