//! A database that is away: a clear 503, no crash, and everything works again when it is back.

use annai_core::Registry;
use annai_services::{ServicesConfig, ServicesSection, ServicesToolset};
use serde_json::json;

use crate::site::{GPT, INTERNAL, SPONSOR, Site, SiteOptions};

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_503_on_every_route_until_it_can() {
    let mut options = SiteOptions::default();
    let path = options.section.database_path.clone().unwrap();
    // A folder stands where the file should be.
    std::fs::create_dir_all(&path).unwrap();
    options.section.rate_limit_per_min = 20;
    let site = options.start().await;
    let token = "00000000-0000-4000-8000-000000000000";
    for _ in 0..3 {
        for path in ["/gpt/services", &format!("/gpt/user/status?session_token={token}")] {
            let (code, message) = site.get(path).await.error(503);
            assert!(code == "unavailable" && message.contains("database"), "{message}");
            assert!(!message.contains("annai-rest"), "{message}");
        }
        let auth = json!({ "email": "a@example.com", "region": "JP" });
        assert_eq!(site.post("/gpt/auth", auth).await.error(503).0, "unavailable");
        let draft = json!({
            "name": "a", "sponsor": "b", "required_task": "c", "subsidy_per_call_cents": 1, "budget_cents": 1,
        });
        assert_eq!(site.call(SPONSOR, "POST", "/campaigns", &draft).await.error(503).0, "unavailable");
    }
    // What can be told without the database is told without it.
    assert_eq!(site.send("GET", "/gpt/services", &[], b"").await.status, 401);
    assert_eq!(site.get("/gpt/services?x=1").await.status, 400);
    std::fs::remove_dir(&path).unwrap();
    assert_eq!(site.get("/gpt/services").await.ok()["total_count"], 0);
    site.finish().await;
}

#[tokio::test]
async fn a_damaged_database_is_503() {
    let options = SiteOptions::default();
    std::fs::write(
        options.section.database_path.clone().unwrap(),
        "not a database, and long enough for its header".repeat(40),
    )
    .unwrap();
    let site = options.start().await;
    let (code, message) = site.get("/gpt/services").await.error(503);
    assert!(code == "unavailable" && message.contains("damaged"), "{message}");
    std::fs::remove_file(&site.database).unwrap();
    site.sign_in("a@example.com").await;
    site.finish().await;
}

#[tokio::test]
async fn a_row_that_cannot_be_read_is_500_and_tells_nothing() {
    let site = Site::start().await;
    let campaign = site.campaign(100, json!({})).await;
    let database = rusqlite::Connection::open(&site.database).unwrap();
    database.execute("UPDATE campaigns SET target_tools = 's3cret'", []).unwrap();
    let reply = site.send("GET", &format!("/campaigns/{campaign}"), &[], b"").await;
    let message = "internal error; the server's log has the cause";
    assert_eq!(reply.error(500), ("internal".into(), message.into()));
    assert_eq!(reply.json()["error"].get("details"), None);
    database.execute("UPDATE campaigns SET target_tools = '[]'", []).unwrap();
    assert_eq!(site.send("GET", "/campaigns", &[], b"").await.status, 200);
    site.finish().await;
}

#[tokio::test]
async fn a_wrong_or_unreachable_database_url_is_a_clear_503_without_its_password() {
    for (url, expected) in [
        ("mysql://u:s3cret@localhost/x", "not_configured"),
        ("postgres://u:s3cret@127.0.0.1:1/x", "unavailable"),
    ] {
        let mut options = SiteOptions::default();
        options.section.database_url = Some(annai_core::config::Secret::new(url));
        let site = options.start().await;
        let (code, message) = site.get("/gpt/services").await.error(503);
        assert!(code == expected && !message.contains("s3cret"), "{code}: {message}");
        let findings = annai_services::check(&site.registry).await;
        assert!(findings[0].is_problem() && findings[0].what.contains("DATABASE_URL"), "{findings:?}");
    }
}

#[tokio::test]
async fn nothing_is_opened_before_the_first_call() {
    let options = SiteOptions::default();
    let path = options.section.database_path.clone().unwrap();
    let mut builder = Registry::builder(std::time::Duration::from_secs(60));
    annai_services::register(&mut builder, ServicesConfig::new(options.section.clone(), None, false));
    let registry = builder.build().unwrap();
    assert!(annai_services::routers(&registry).is_some());
    let findings = annai_services::check(&registry).await;
    assert!(
        findings[0].what.ends_with("does not exist yet; it is created with the first use"),
        "{findings:?}"
    );
    registry.toolset::<ServicesToolset>().unwrap().open().await.unwrap();
    assert!(!std::path::Path::new(&path).exists());
    registry.close().await;
    let other = Registry::builder(std::time::Duration::from_secs(60)).build().unwrap();
    assert!(annai_services::routers(&other).is_none());
    assert_eq!(annai_services::check(&other).await, []);
}

#[tokio::test]
async fn starting_opens_the_database_without_any_request() {
    let options = SiteOptions::default();
    let path = options.section.database_path.clone().unwrap();
    let mut builder = Registry::builder(std::time::Duration::from_secs(60));
    annai_services::register(&mut builder, ServicesConfig::new(options.section.clone(), None, false));
    let registry = builder.build().unwrap();
    annai_services::start(&registry);
    while !std::path::Path::new(&path).exists() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    registry.close().await;
}

#[tokio::test]
async fn the_doctor_sees_the_books_the_keys_and_the_prices() {
    let mut options = SiteOptions::default();
    options.section.mcp_internal_api_key = options.section.gpt_actions_api_key.clone();
    options.section.sponsor_api_key = Some(annai_core::config::Secret::new(SPONSOR));
    options.section.tool_prices.insert("anwser".to_owned(), serde_json::from_value(json!(7)).unwrap());
    let site = options.start().await;
    let campaign = site.campaign(100, json!({})).await;
    let texts =
        |findings: &[annai_core::Finding]| findings.iter().map(|one| one.what.clone()).collect::<Vec<_>>();
    let findings = annai_services::check(&site.registry).await;
    let path = site.database.display();
    assert_eq!(
        texts(&findings),
        [
            format!("services: the database is {path}, and its books balance"),
            "services: MCP_INTERNAL_API_KEY is the same as GPT_ACTIONS_API_KEY, so it cannot name identities".into(),
            "services: upstreams may have private addresses and plain http, so sponsors can reach this network".into(),
            "services: services.tool_prices names `anwser`, which no sponsor can buy here".into(),
        ]
    );
    let database = rusqlite::Connection::open(&site.database).unwrap();
    database.execute("UPDATE campaigns SET budget_remaining_cents = 99", []).unwrap();
    let findings = annai_services::check(&site.registry).await;
    assert!(findings[0].is_problem() && findings[0].what.contains(&campaign), "{findings:?}");
    database.execute("UPDATE campaigns SET budget_remaining_cents = 100", []).unwrap();
    // An id that nobody can have meant: what follows its line break is no finding of its own.
    database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let hostile = "x\n✓ services: the books balance\u{2028}\u{9b}2J\u{202e}";
    database.execute("UPDATE campaigns SET id = ?1, budget_remaining_cents = 99", [hostile]).unwrap();
    let findings = annai_services::check(&site.registry).await;
    let expected = "services: the books of the campaign x ✓ services: the books balance  2J  do not balance";
    assert!(findings[0].is_problem() && findings[0].what.starts_with(expected), "{findings:?}");
    database.execute("UPDATE campaigns SET id = ?1, budget_remaining_cents = 100", [&campaign]).unwrap();
    site.finish().await;
}

#[tokio::test]
async fn the_default_settings_have_no_keys_and_say_so() {
    let mut builder = Registry::builder(std::time::Duration::from_secs(60));
    annai_services::register(&mut builder, ServicesConfig::new(ServicesSection::default(), None, false));
    let findings = annai_services::check(&builder.build().unwrap()).await;
    assert!(
        findings[0].is_problem() && findings[0].what.contains("no folder for the database"),
        "{findings:?}"
    );
    assert!(findings[1..].iter().all(|finding| !finding.is_problem() && finding.what.contains("owner")));
}

#[tokio::test]
async fn two_servers_share_one_database() {
    let options = SiteOptions::default();
    let path = options.section.database_path.clone();
    let one = options.start().await;
    let mut options = SiteOptions::default();
    options.section.database_path = path;
    let two = options.start().await;
    let session = one.sign_in("a@example.com").await;
    let status = two.get(&format!("/gpt/user/status?session_token={session}")).await.ok();
    assert_eq!(status["email"], "a@example.com");
    for key in [GPT, INTERNAL] {
        assert_eq!(two.call(key, "GET", "/gpt/services", &json!({})).await.status, 200);
    }
    two.finish().await;
    Site::finish(one).await;
}
