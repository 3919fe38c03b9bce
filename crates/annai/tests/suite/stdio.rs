//! `annai --stdio`, as a client runs it.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use serde_json::json;

use crate::{Home, annai};

#[test]
fn three_replies_in_either_framing() {
    let home = Home::new();
    for framing in FRAMINGS {
        let mut server = StdioServer::start(annai(&home).arg("--stdio"), framing);
        let reply = server.initialize("2025-06-18");
        assert_eq!(
            reply["result"]["serverInfo"],
            json!({ "name": "annai", "version": env!("CARGO_PKG_VERSION") })
        );
        assert!(server.request("tools/list", json!({}))["result"]["tools"].is_array());
        assert!(server.request("prompts/list", json!({}))["result"]["prompts"].is_array());
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
        server.finish();
    }
}

#[test]
fn a_server_of_one_family_goes_by_its_old_name() {
    let home = Home::new();
    for (chosen, name) in [
        (&["answers"][..], "openai-responses-mcp"),
        (&["search"], "mcp-o3-search"),
        (&["library"], "annai-library"),
        (&["answers", "search"], "annai"),
        (&["answers", "answers"], "openai-responses-mcp"),
    ] {
        let mut command = annai(&home);
        command.arg("--stdio");
        for family in chosen {
            command.args(["--toolset", family]);
        }
        let mut server = StdioServer::start(&mut command, Framing::Lines);
        assert_eq!(server.initialize("2025-11-25")["result"]["serverInfo"]["name"], name);
        server.finish();
    }
}

#[test]
fn debug_lines_go_to_stderr_and_to_the_file() {
    let home = Home::new();
    let file = home.0.join("debug.log");
    for way in ["option", "environment", "yaml"] {
        let _ = std::fs::remove_file(&file);
        let mut command = annai(&home);
        match way {
            "option" => command.arg("--debug").arg(&file),
            "environment" => command.env("DEBUG", &file),
            _ => {
                let text = format!("server: {{ debug: true, debug_file: {} }}\n", file.display());
                command.arg("--config").arg(home.write("debug.yaml", &text))
            }
        };
        let mut server = StdioServer::start(command.arg("--stdio"), Framing::Lines);
        server.initialize("2025-11-25");
        let log = server.process.wait_for_log("recv method=initialize id=1");
        server.finish();
        let copy = std::fs::read_to_string(&file).unwrap();
        assert!(copy.starts_with(log.lines().next().unwrap()), "{way}: {copy}");
    }
}

#[test]
fn a_configuration_can_be_shown_at_the_start() {
    let home = Home::new();
    let file = home.write("c.yaml", "server: { show_config_on_start: true }\n");
    let mut server =
        StdioServer::start(annai(&home).arg("--stdio").arg("--config").arg(&file), Framing::Lines);
    server.initialize("2025-11-25");
    server.process.wait_for_log("\"show_config_on_start\": true");
    server.finish();
}

#[test]
fn start_up_reads_nothing_that_could_wait() {
    // Nothing but the configuration file is opened, and no home is needed for that.
    let home = Home::new();
    let mut command = annai(&home);
    command.env_remove("HOME").arg("--stdio");
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-11-25");
    server.finish();
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0);
}

#[test]
fn other_streams_than_pipes_work_too() {
    use std::process::Stdio;
    let home = Home::new();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    let input = home.write("input", hello);
    let output = home.0.join("output");
    let open = |path: &std::path::Path| Stdio::from(std::fs::File::open(path).unwrap());
    let status = annai(&home)
        .arg("--stdio")
        .stdin(open(&input))
        .stdout(std::fs::File::create(&output).unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(std::fs::read_to_string(&output).unwrap().contains("\"serverInfo\""));

    // An output that takes nothing is a failure, not a success without a word.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let result = annai(&home).arg("--stdio").stdin(open(&input)).stdout(full).output().unwrap();
    assert_eq!(result.status.code(), Some(1));
    assert!(crate::stderr(&result).contains("stdout cannot be written"), "{}", crate::stderr(&result));
}
