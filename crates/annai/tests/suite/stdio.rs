//! `annai --stdio`: the server as an MCP client starts it.

use annai_testkit::mcp::{FRAMINGS, Framing, StdioServer};
use serde_json::json;

use crate::{Home, annai};

#[test]
fn both_framings_are_served() {
    let home = Home::new();
    for framing in FRAMINGS {
        let mut server = StdioServer::start(annai(&home).arg("--stdio"), framing);
        let reply = server.initialize("2025-06-18");
        let info = &reply["result"]["serverInfo"];
        assert_eq!((&info["name"], &info["version"]), (&json!("annai"), &json!(env!("CARGO_PKG_VERSION"))));
        let icon = info["icons"][0]["src"].as_str().unwrap();
        assert!(icon.starts_with("data:image/svg+xml;base64,"), "{icon}");
        assert!(server.request("tools/list", json!({}))["result"]["tools"].is_array());
        assert!(server.request("prompts/list", json!({}))["result"]["prompts"].is_array());
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
        server.finish();
    }
}

#[test]
fn a_single_toolset_keeps_the_name_of_its_former_server() {
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
        for toolset in chosen {
            command.args(["--toolset", toolset]);
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
fn the_configuration_is_printed_when_show_config_on_start_is_set() {
    let home = Home::new();
    let file = home.write("c.yaml", "server: { show_config_on_start: true }\n");
    let mut server =
        StdioServer::start(annai(&home).arg("--stdio").arg("--config").arg(&file), Framing::Lines);
    server.initialize("2025-11-25");
    server.process.wait_for_log("\"show_config_on_start\": true");
    server.finish();
}

#[test]
fn the_server_starts_without_a_home_and_creates_no_files() {
    let home = Home::new();
    let mut command = annai(&home);
    command.env_remove("HOME").arg("--stdio");
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-11-25");
    server.finish();
    assert_eq!(std::fs::read_dir(&home.0).unwrap().count(), 0);
}

/// `script` gives the program a terminal; nothing else in the test does.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_it_says_what_it_is_and_how_to_stop_it() {
    let home = Home::new();
    let run = |options: &str| {
        let command = format!("{} --stdio {options}", env!("CARGO_BIN_EXE_annai"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env_clear().env("HOME", &home.0);
        script.env("PATH", "/usr/bin:/bin").current_dir(&home.0).stdin(std::process::Stdio::null());
        crate::stdout(&script.output().unwrap())
    };
    let text = run("");
    for part in ["MCP server", "Ctrl-D or Ctrl-C stops it", "annai init CLIENT"] {
        assert!(text.contains(part), "{part} is not in {text:?}");
    }
    assert!(!run("--quiet").contains("MCP server"));
}

#[test]
fn files_work_as_stdin_and_stdout() {
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

    // An output that cannot be written is reported as a failure.
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let result = annai(&home).arg("--stdio").stdin(open(&input)).stdout(full).output().unwrap();
    assert_eq!(result.status.code(), Some(1));
    assert!(crate::stderr(&result).contains("stdout cannot be written"), "{}", crate::stderr(&result));
}
