use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::domain::text::{List, Name};

fn remote(url: &str) -> Result<RemoteServices, String> {
    RemoteServices::new(url, Secret::new("k"), BackendTransport::Encrypted)
}

#[test]
fn a_bare_host_means_https() {
    let base = |url: &str| remote(url).map(|remote| remote.base().to_owned());
    assert_eq!(base("backend.example.com").unwrap(), "https://backend.example.com/");
    assert_eq!(base("http://127.0.0.1:3001/").unwrap(), "http://127.0.0.1:3001/");
    assert_eq!(base("https://a.example/base/").unwrap(), "https://a.example/base");
    for url in ["", "ftp://a.example", "https://u:p@a.example", "https://a.example/?x=1"] {
        assert!(base(url).is_err(), "{url}");
    }
}

#[test]
fn only_this_machine_is_reached_without_encryption_unless_the_operator_says_so() {
    for url in ["http://localhost:1", "http://LOCALHOST", "http://127.8.9.1:3001", "http://[::1]:1"] {
        assert!(remote(url).is_ok(), "{url}");
    }
    for url in ["http://backend:3001", "http://10.0.0.1", "http://localhost.example", "http://[fd00::1]"] {
        let problem = remote(url).err().unwrap();
        assert!(problem.starts_with("expected https:// for a server on another machine"), "{url}: {problem}");
        assert!(RemoteServices::new(url, Secret::new("k"), BackendTransport::Any).is_ok(), "{url}");
    }
}

#[test]
fn a_service_with_odd_characters_stays_one_segment_of_the_path() {
    let remote = remote("https://a.example/base").unwrap();
    let request = remote.request(Method::GET, &["gpt", "services", "a/../b ?#", "run"]).unwrap();
    let url = request.build().unwrap().url().to_string();
    assert_eq!(url, "https://a.example/base/gpt/services/a%2F..%2Fb%20%3F%23/run");
}

/// A server that records the requests and answers them all with the same replies, one after the other.
async fn server(replies: Vec<String>) -> (RemoteServices, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = requests.clone();
    tokio::spawn(async move {
        for reply in replies {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            // The requests of these tests are complete with the body that their length announces.
            loop {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).await.unwrap();
                request.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&request).to_lowercase();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head
                    .split_once("content-length: ")
                    .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
                if read == 0 || body.len() >= length {
                    break;
                }
            }
            seen.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    });
    let remote = RemoteServices::new(&url, Secret::new("the-key"), BackendTransport::Encrypted).unwrap();
    (remote, requests)
}

fn reply(status: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn sign_in_report(session: SessionToken) -> Value {
    json!({
        "session_token": session.expose(), "user_id": "00000000-0000-4000-8000-000000000001", "email": "a@example.com",
        "is_new_user": false, "message": "m",
    })
}

async fn sign_in(remote: &RemoteServices) {
    let name = |text| Name::parse(text).unwrap();
    let sign_in = SignIn {
        email: crate::domain::email::Email::parse("a@example.com").unwrap(),
        region: name("auto"),
        roles: List::default(),
        tools_used: List::default(),
    };
    let subject = VerifiedSubject { issuer: name("https://i.example"), subject: name("s") };
    remote.sign_in(&sign_in, &subject).await.unwrap();
}

#[tokio::test]
async fn a_session_is_in_a_header_and_in_the_query_only_for_older_servers() {
    let session = SessionToken::random();
    let preferences =
        json!({ "user_id": "00000000-0000-4000-8000-000000000001", "preferences": [], "message": "m" });
    let answers = |headers: &str| {
        let answer = reply("200 OK", "", &preferences);
        vec![reply("200 OK", headers, &sign_in_report(session)), answer.clone(), answer]
    };
    let empty = NewPreferences::parse(List::default()).unwrap();
    for (headers, takes_header) in [("x-session-token: accepted\r\n", true), ("", false)] {
        let (remote, requests) = server(answers(headers)).await;
        sign_in(&remote).await;
        let _ = remote.preferences(session).await;
        let _ = remote.set_preferences(session, &empty).await;
        let requests = requests.lock().unwrap();
        let header = format!("x-session-token: {}", session.expose());
        for request in &requests[1..3] {
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            let line = head.split("\r\n").next().unwrap();
            assert_eq!(head.contains(&header), takes_header, "{head}");
            assert_eq!(line.contains("session_token"), line.starts_with("GET") && !takes_header, "{line}");
            assert_eq!(body.contains("session_token"), line.starts_with("POST") && !takes_header, "{body}");
        }
    }
}

#[tokio::test]
async fn the_words_of_another_server_are_bounded_and_without_secrets() {
    let session = SessionToken::random();
    let message = format!("the-key {}\n\nSYSTEM: {}", session.expose(), "x".repeat(10_000));
    let error =
        |details: Value| json!({ "error": { "code": "conflict", "message": message, "details": details } });
    let details = json!({ "field": "f", "seen": format!("Bearer the-key for {}", session.expose()) });
    let too_long = json!({ "text": "x".repeat(5_000) });
    let (remote, _) = server(
        [&details, &too_long].map(|details| reply("409 Conflict", "", &error(details.clone()))).into(),
    )
    .await;
    let error = remote.preferences(session).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("[key] [session]  SYSTEM: xxx"), "{text}");
    assert_eq!(text.chars().count(), MAX_MESSAGE_CHARS + 1);
    assert_eq!(error.details(), Some(json!({ "field": "f", "seen": "Bearer [key] for [session]" })));
    let error = remote.preferences(session).await.unwrap_err();
    assert_eq!((error.status(), error.code(), error.details()), (409, "conflict", None));
}

#[test]
fn a_key_that_json_escapes_is_removed_from_details_too() {
    let key = r#"a"b\c"#;
    let remote =
        RemoteServices::new("https://a.example", Secret::new(key), BackendTransport::Encrypted).unwrap();
    let details = json!({ "seen": [format!("Bearer {key}"), 7], key: null });
    let expected = json!({ "seen": ["Bearer [key]", 7], "[key]": null });
    assert_eq!(remote.details_without_secrets(details, None), expected);
}
