//! Where and when a question is asked: the time zone that the request names, and the day that it is there.

use std::process::Command;
use std::time::{Duration, SystemTime};

use annai_core::Date;
use annai_testkit::http::HttpServer;
use annai_testkit::mcp::{Framing, StdioServer};
use annai_testkit::openai::{self, FakeOpenai};
use serde_json::{Value, json};

use crate::{Asking, Home, annai, stderr};

/// The time zone that is furthest behind, and its offset from UTC in hours. No day is the same in both.
const LAST: (&str, i64) = ("Etc/GMT+12", -12);
/// The time zone that is furthest ahead.
const FIRST: (&str, i64) = ("Pacific/Kiritimati", 14);

fn day_at(offset: i64) -> Date {
    let hours = Duration::from_secs(offset.unsigned_abs() * 3600);
    let now = SystemTime::now();
    Date::in_utc(if offset < 0 { now - hours } else { now + hours })
}

/// The two places of a request that name the zone: the last words of its first hint, and the location.
fn places(body: &Value) -> (String, Value) {
    let input = body["input"].as_str().unwrap();
    let hint = input.lines().find(|line| line.starts_with("- Today is ")).unwrap();
    let zone = hint.split(" in the time zone ").nth(1).unwrap().trim_end_matches('.');
    (zone.to_owned(), body["tools"][0]["user_location"].clone())
}

fn location(zone: &str) -> Value {
    json!({ "type": "approximate", "timezone": zone })
}

fn with_api(command: &mut Command, api: &FakeOpenai) {
    command.env("OPENAI_BASE_URL", api.base_url()).env("OPENAI_API_KEY", openai::KEY);
}

/// The places of the request of one call to a server over stdio.
fn over_stdio(arguments: &[&str], tool: &str, zone: Option<&str>) -> (String, Value) {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let mut command = annai(&home);
    with_api(&mut command, &api);
    command.arg("--stdio").args(arguments).envs(zone.map(|zone| ("TZ", zone)));
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    let reply = server.call(tool, json!({ "query": "weather" }));
    assert!(reply.get("error").is_none(), "{reply}");
    places(&api.requests()[0].body)
}

fn over_http(arguments: &[&str], tool: &str) -> (String, Value) {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let mut command = annai(&home);
    with_api(&mut command, &api);
    command.args(["--http", "127.0.0.1:0"]).args(arguments).env("TZ", "America/New_York");
    let server = HttpServer::start(&mut command);
    let reply = server.call(tool, json!({ "query": "weather" }));
    assert!(reply.get("error").is_none(), "{reply}");
    places(&api.requests()[0].body)
}

#[test]
fn the_default_zone_is_that_of_the_machine_or_utc_or_tokyo_for_a_replaced_server() {
    let named = |zone: &str| (zone.to_owned(), location(zone));
    let new_york = Some("America/New_York");
    for tool in ["answer", "answer_quick", "chatgpt_o3_search"] {
        assert_eq!(over_stdio(&[], tool, new_york), named("America/New_York"), "{tool}");
        assert_eq!(over_http(&[], tool), named("UTC"), "{tool}");
    }
    for (toolset, tool) in [("answers", "answer"), ("search", "chatgpt_o3_search")] {
        let alone = ["--toolset", toolset];
        assert_eq!(over_stdio(&alone, tool, new_york), named("Asia/Tokyo"), "{toolset}");
        assert_eq!(over_http(&alone, tool), named("Asia/Tokyo"), "{toolset}");
    }
    let both = ["--toolset", "answers", "--toolset", "search"];
    assert_eq!(over_stdio(&both, "answer", new_york), named("America/New_York"), "a server of our own name");
}

#[test]
fn a_command_asks_in_the_zone_of_the_machine() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    for arguments in [&["ask", "weather"][..], &["ask", "weather", "--toolset", "answers"]] {
        let mut command = annai(&home);
        with_api(&mut command, &api);
        let output = command.args(arguments).env("TZ", ":Europe/Berlin").output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{arguments:?}");
        let body = api.requests().last().unwrap().body.clone();
        assert_eq!(places(&body), ("Europe/Berlin".to_owned(), location("Europe/Berlin")), "{arguments:?}");
    }
}

#[test]
fn a_zone_that_cannot_be_used_is_said() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    let ask = |zone: &str, arguments: &[&str]| {
        let mut command = annai(&home);
        with_api(&mut command, &api);
        let output = command.args(arguments).env("TZ", zone).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{zone}: {}", stderr(&output));
        stderr(&output)
    };
    for zone in ["Mars/Olympus", "JST-9"] {
        let warning = ask(zone, &["ask", "weather"]);
        assert!(
            warning.starts_with("warning: the time zone of this machine cannot be used (")
                && warning.contains(
                    "so the answer and search tools take UTC; set TZ or search.user_location.timezone"
                ),
            "{warning}"
        );
        let (named, location) = places(&api.requests().last().unwrap().body);
        assert_eq!((named.as_str(), &location["timezone"]), ("UTC", &json!("UTC")), "{zone}");
    }
    // Nobody else needs to know, and the configuration settles it.
    assert_eq!(ask("Mars/Olympus", &["tools", "--toolset", "library"]), "");
    let file = home.write("c.yaml", "search: { user_location: { timezone: Asia/Seoul } }\n");
    assert_eq!(ask("Mars/Olympus", &["ask", "weather", "--config", file.to_str().unwrap()]), "");
    assert_eq!(places(&api.requests().last().unwrap().body).0, "Asia/Seoul");
}

#[test]
fn the_configuration_overrides_the_default_and_the_call_overrides_both() {
    let yaml = "search: { user_location: { country: DE, city: Berlin, timezone: europe/berlin } }";
    let mut asking = Asking::with(yaml, &[("TZ", "America/New_York")]);
    let german =
        |zone: &str| json!({ "type": "approximate", "country": "DE", "city": "Berlin", "timezone": zone });
    for tool in ["answer", "answer_detailed"] {
        asking.call(tool, json!({ "query": "weather" }));
        let body = asking.api.requests().last().unwrap().body.clone();
        assert_eq!(places(&body), ("Europe/Berlin".to_owned(), german("Europe/Berlin")), "{tool}");
        asking.call(tool, json!({ "query": "weather", "timezone": "Asia/Kolkata" }));
        let body = asking.api.requests().last().unwrap().body.clone();
        assert_eq!(places(&body), ("Asia/Kolkata".to_owned(), german("Asia/Kolkata")), "{tool}");
    }
    // A null stays what it was: no location is sent. The question still names the day and the zone.
    let mut asking = Asking::with("search: { user_location: null }", &[("TZ", "America/New_York")]);
    asking.call("answer", json!({ "query": "weather", "timezone": null }));
    assert_eq!(places(&asking.body(0)), ("America/New_York".to_owned(), Value::Null));
}

#[test]
fn the_day_of_the_question_and_of_the_access_is_that_of_the_zone() {
    for (zone, offset) in [LAST, FIRST] {
        let mut asking = Asking::with("", &[("TZ", "UTC")]);
        let before = day_at(offset);
        let output = asking.call("answer", json!({ "query": "weather", "timezone": zone }));
        let days = [before, day_at(offset)];
        let input = asking.body(0)["input"].as_str().unwrap().to_owned();
        let is_said = |day: &Date| input.contains(&format!("- Today is {day} in the time zone {zone}.\n"));
        assert!(days.iter().any(is_said), "{days:?}: {input}");
        let answer = output["answer"].as_str().unwrap();
        assert!(days.iter().any(|day| answer.contains(&format!("(accessed {day})"))), "{days:?}: {answer}");
    }
}

#[test]
fn questions_of_different_zones_are_not_mixed_up() {
    let mut asking = Asking::with("cache: { ttl_s: 60 }", &[("TZ", "UTC")]);
    for zone in ["UTC", "Europe/Berlin", "Asia/Tokyo", "Asia/Tokyo"] {
        asking.call("answer", json!({ "query": "weather", "timezone": zone }));
    }
    assert_eq!(asking.api.requests().len(), 3, "only the last question was asked before");
}

#[test]
fn a_wrong_zone_is_an_error_that_names_the_field() {
    let mut asking = Asking::new();
    for zone in ["JST", "+09:00", "Mars/Olympus", "Etc/Unknown"] {
        let error = asking.fail("answer", json!({ "query": "x", "timezone": zone }));
        assert_eq!(
            (&error["code"], &error["data"]["reason"]),
            (
                &json!(-32001),
                &json!("timezone: expected an IANA time zone such as Asia/Tokyo or Europe/Berlin")
            ),
            "{zone}"
        );
    }
    let error = asking.fail("answer_quick", json!({ "query": "x", "timezone": "Asia/Tokyo" }));
    assert_eq!(error["data"]["reason"], "timezone: unknown key; allowed: query");
    assert_eq!(asking.api.requests().len(), 0);

    let home = Home::new();
    let file = home.write("c.yaml", "search:\n  user_location: { timezone: JST }\n");
    let output = annai(&home).args(["ask", "x", "--config"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = "c.yaml:2: search.user_location.timezone: expected an IANA time zone such as Asia/Tokyo";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
