//! What `annai doctor` and the start of a server say about who can use the tools, the address and the token file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use annai_testkit::http::HttpServer;

use crate::{Home, annai, stderr, stdout};

const PUBLIC: (&str, &str) = ("PUBLIC_URL", "https://annai.example.com");
const NOBODY: &str = "access: nobody can use";

/// A home folder with a manual.
fn home() -> Home {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    home
}

/// The exit status of `annai doctor` and what it prints. Port 0 is always free.
fn doctor(home: &Home, arguments: &[&str], env: &[(&str, &str)]) -> (i32, String) {
    let command = &mut annai(home);
    command.arg("doctor").args(arguments).env("PORT", "0").envs(env.iter().copied());
    let output = command.output().unwrap();
    (output.status.code().unwrap(), stdout(&output))
}

fn new_token(home: &Home, name: &str, scope: &str) -> String {
    let output = annai(home).args(["token", "new", name, "--scope", scope]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).trim().to_owned()
}

/// The line about `part` of the findings.
fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part} is not in {text}"))
}

#[test]
fn a_static_token_that_opens_no_tool_lets_nobody_in() {
    let home = home();
    let library = ["--toolset", "library"];
    let (code, text) = doctor(&home, &library, &[PUBLIC]);
    assert_eq!(code, 1, "{text}");
    new_token(&home, "prometheus", "metrics.read");
    let (code, text) = doctor(&home, &library, &[PUBLIC]);
    assert_eq!(code, 1, "{text}");
    assert!(
        line(&text, "static tokens")
            .ends_with("; library.read: no token; library.write: no token; library.read with library.write: no token; metrics.read: GET /metrics"),
        "{text}"
    );
    assert!(
        text.contains("✗ access: nobody can use the tools that need library.read, library.write (20 tools)"),
        "{text}"
    );
    assert!(
        text.contains("→ make a token for each person: annai token new NAME --scope SCOPE; or"),
        "{text}"
    );

    new_token(&home, "hana", "library.read");
    let (code, text) = doctor(&home, &library, &[PUBLIC]);
    assert_eq!((code, text.contains(NOBODY)), (0, false), "{text}");
    assert!(
        line(&text, "static tokens").contains("2 valid tokens in ")
            && line(&text, "static tokens").contains("; library.read: 15 tools; library.write: no token"),
        "{text}"
    );
}

#[test]
fn tools_that_need_a_person_need_an_issuer_and_no_static_token() {
    let home = home();
    let services = ["--toolset", "services"];
    for scope in ["", "library.read"] {
        if !scope.is_empty() {
            new_token(&home, "hana", scope);
        }
        let (code, text) = doctor(&home, &services, &[PUBLIC]);
        assert_eq!(code, 1, "{text}");
        assert!(
            text.contains("✗ access: nobody can use the tools that need to know the person (7 tools)"),
            "{text}"
        );
        assert!(text.contains("→ set OAUTH_ISSUER (or AUTH0_DOMAIN) to let people sign in"), "{text}");
        // The development user is only for this machine, which PUBLIC_URL does not trust.
        assert!(!text.contains("annai token new") && !text.contains("ANNAI_DEV_USER"), "{text}");
        assert!(
            text.contains("✓ access: static tokens: they open none of the tools that are served"),
            "{text}"
        );
        assert!(text.contains("✓ access: anybody may use 1 tool"), "{text}");
    }
    // Where others can be used, it is a warning.
    let (_, text) = doctor(&home, &[], &[PUBLIC]);
    assert!(
        text.contains("! access: nobody can use the tools that need to know the person (7 tools)"),
        "{text}"
    );
    assert!(!text.contains("nobody can use the tools that need answers.use"), "{text}");
}

#[test]
fn tools_that_need_a_person_refuse_the_owner_without_a_development_user() {
    let home = home();
    let services = ["--toolset", "services"];
    let (code, text) = doctor(&home, &services, &[]);
    assert_eq!(code, 1, "{text}");
    let without = "may use 1 tool without a token; 7 more only when ANNAI_DEV_USER is your e-mail address. Loopback trust is on";
    assert!(text.contains(without), "{text}");
    assert!(text.contains("or ANNAI_DEV_USER to your e-mail address to use them on this machine"), "{text}");
    let (_, text) = doctor(&home, &services, &[("ANNAI_DEV_USER", "nobody")]);
    assert!(text.contains(without), "{text}");
    let (code, text) = doctor(&home, &services, &[("ANNAI_DEV_USER", "me@example.com")]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("may use 8 tools without a token. Loopback trust is on"), "{text}");
    let issuer = [("ANNAI_DEV_USER", "me@example.com"), ("OAUTH_ISSUER", "http://127.0.0.1:1")];
    let (_, text) = doctor(&home, &services, &issuer);
    assert!(
        text.contains(
            "may use 1 tool without a token; 7 more only with an access token of the issuer. Loopback"
        ),
        "{text}"
    );
    // Where other tools can be used, the line about loopback is enough.
    let (_, text) = doctor(&home, &["--toolset", "services", "--toolset", "library"], &[]);
    assert!(
        text.contains("may use 21 tools without a token; 7 more only when") && !text.contains(NOBODY),
        "{text}"
    );
}

#[test]
fn the_address_of_the_server_is_judged() {
    let home = home();
    let (code, text) = doctor(&home, &["--toolset", "library", "--http", "0.0.0.0:0"], &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("✓ http: 0.0.0.0:0 is free"), "{text}");
    assert!(
        text.contains("nobody is trusted without a token, because the server listens beyond loopback"),
        "{text}"
    );
    assert!(
        text.contains("! access: the server listens beyond loopback without an https PUBLIC_URL"),
        "{text}"
    );
    assert!(!text.contains("Loopback trust is on"), "{text}");
    let (code, text) = doctor(&home, &["--http", "--toolset", "library"], &[]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("✓ http: port 0 (from PORT) is free") && text.contains("Loopback trust is on"),
        "{text}"
    );
    let output = annai(&home).args(["doctor", "--http", "nowhere:80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--http: expected an address"), "{}", stderr(&output));
}

#[test]
fn a_running_server_of_this_program_is_no_problem() {
    let home = home();
    // A proxy must not be asked about this machine.
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy_url = format!("http://{}", proxy.local_addr().unwrap());
    let server = HttpServer::start(annai(&home).args(["--http", "127.0.0.1:0", "--toolset", "library"]));
    let running = format!("Annai {} is running there", env!("CARGO_PKG_VERSION"));
    let port = server.address.port().to_string();
    let env = [("PORT", port.as_str()), ("HTTP_PROXY", &proxy_url), ("http_proxy", &proxy_url)];
    for address in [&[][..], &["--http"], &["--http", &port]] {
        let (code, text) = doctor(&home, &[&["--toolset", "library"], address].concat(), &env);
        assert_eq!(code, 0, "{text}");
        assert!(line(&text, "✓ http: ").ends_with(&running), "{text}");
    }
    let everywhere = format!("0.0.0.0:{port}");
    let (_, text) = doctor(&home, &["--toolset", "library", "--http", &everywhere], &env);
    assert!(line(&text, "✓ http: ").ends_with(&running), "{text}");
}

/// Answers every request on a loopback port with this body, until the test ends.
fn other_program(body: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            while head.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    port
}

#[test]
fn a_port_that_another_program_has_is_a_problem() {
    let home = home();
    for body in ["hello", "{}", r#"{"status":"ok","version":"1.2.3","uptime":5,"database":"up"}"#] {
        let port = other_program(body).to_string();
        let (code, text) = doctor(&home, &["--toolset", "library"], &[("PORT", &port)]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains(&format!("✗ http: port {port} (from PORT) cannot be used")), "{body}: {text}");
    }
    // One that accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port().to_string();
    let (code, text) = doctor(&home, &["--toolset", "library"], &[("PORT", &port)]);
    assert_eq!((code, text.contains("cannot be used")), (1, true), "{text}");
}

#[test]
fn each_problem_of_the_token_file_has_its_own_remedy() {
    let home = home();
    let refused = |file: &PathBuf| {
        let file = file.to_str().unwrap();
        let (code, text) = doctor(&home, &["--toolset", "library"], &[("ANNAI_TOKEN_FILE", file)]);
        assert_eq!(code, 1, "{text}");
        let what =
            text.lines().position(|line| line.starts_with("✗ access: static tokens: all are refused: "));
        text.lines().nth(what.unwrap() + 1).unwrap().to_owned()
    };
    let write = |name: &str, content: &str, mode: u32| {
        let file = home.write(name, content);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    };
    let empty = r#"{"version":1,"tokens":[]}"#;
    let good = write("good.json", empty, 0o600);
    let link = home.0.join("link.json");
    symlink(&good, &link).unwrap();
    assert_eq!(refused(&link), "  → set ANNAI_TOKEN_FILE to the file itself");
    assert_eq!(refused(&home.0), "  → set ANNAI_TOKEN_FILE to another path");
    assert_eq!(refused(&write("open.json", empty, 0o644)), "  → take their permissions away (chmod 600)");
    let garbage = write("garbage.json", "{]", 0o600);
    assert_eq!(refused(&garbage), "  → restore it from a backup, or delete it and make new tokens");
    let newer = write("newer.json", r#"{"version":2,"tokens":[],"more":true}"#, 0o600);
    assert_eq!(refused(&newer), "  → update this program");
}

#[test]
fn an_unknown_proxy_in_front_of_the_services_is_a_warning() {
    let home = home();
    let warns = |arguments: &[&str], env: &[(&str, &str)]| {
        let (_, text) = doctor(&home, arguments, env);
        text.contains("! access: TRUSTED_PROXIES is not set")
    };
    let services = ["--toolset", "services"];
    assert!(warns(&services, &[PUBLIC]) && warns(&[], &[PUBLIC]));
    assert!(!warns(&services, &[PUBLIC, ("TRUSTED_PROXIES", "127.0.0.1")]));
    assert!(!warns(&services, &[]) && !warns(&["--toolset", "library"], &[PUBLIC]));
    // A front has no routes of its own, and a public address without TLS may have no proxy.
    assert!(!warns(&services, &[PUBLIC, ("RUST_BACKEND_URL", "backend.example.com")]));
    let plain = ("PUBLIC_URL", "http://annai.lan:3001");
    assert!(!warns(&["--toolset", "services", "--http", "0.0.0.0:0"], &[plain]));
    assert!(warns(&services, &[plain]), "a proxy passes on what reaches loopback");
    // The log of the server says the same.
    let mut command = annai(&home);
    command.args(["--http", "127.0.0.1:0", "--toolset", "services"]).env(PUBLIC.0, PUBLIC.1);
    let server = HttpServer::start(&mut command);
    server.process.wait_for_log("TRUSTED_PROXIES is not set");
    server.process.wait_for_log(NOBODY);
}
