//! The configuration: layers, origins, and errors that name the file, the line and the key.

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

fn shown(command: &mut std::process::Command) -> Value {
    let output = command.arg("--show-config").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).is_empty(), "the configuration goes to stderr");
    let text = stderr(&output);
    let start = text.find("{\n").unwrap_or_else(|| panic!("no JSON in {text}"));
    serde_json::from_str(&text[start..]).unwrap()
}

#[test]
fn without_settings_the_defaults_are_used() {
    let config = shown(&mut annai(&Home::new()));
    assert_eq!(config["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(config["sources"], json!({ "defaults": true, "yaml": null, "env": [], "cli": [] }));
    let server = &config["effective"]["server"];
    assert_eq!((&server["max_message_bytes"], &server["max_in_flight"]), (&json!(16_777_216), &json!(256)));
    assert_eq!(config["origins"]["server.debug"], "default");
}

#[test]
fn each_layer_overrides_the_one_below_and_origins_are_shown() {
    let home = Home::new();
    let file = home.write("my.yaml", "server:\n  debug: false\n  log_level: error\n  max_in_flight: 7\n");
    let mut command = annai(&home);
    command.arg("--config").arg(&file).arg("--debug").env("LOG_LEVEL", "warn").env("DEBUG", "0");
    let config = shown(&mut command);
    let (server, origins) = (&config["effective"]["server"], &config["origins"]);
    assert_eq!((&server["debug"], &origins["server.debug"]), (&json!(true), &json!("--debug")));
    assert_eq!((&server["log_level"], &origins["server.log_level"]), (&json!("warn"), &json!("LOG_LEVEL")));
    let line = format!("{}:4", file.display());
    assert_eq!((&server["max_in_flight"], &origins["server.max_in_flight"]), (&json!(7), &json!(line)));
    assert_eq!(config["sources"]["env"], json!(["DEBUG", "LOG_LEVEL"]));
    assert_eq!(config["sources"]["cli"], json!(["--debug"]));
}

#[test]
fn the_file_is_found_in_the_folders_in_order() {
    let home = Home::new();
    home.write(".config/openai-responses-mcp/config.yaml", "server: { max_in_flight: 1 }\n");
    assert_eq!(shown(&mut annai(&home))["effective"]["server"]["max_in_flight"], 1);
    home.write(".config/annai/config.yaml", "server: { max_in_flight: 2 }\n");
    assert_eq!(shown(&mut annai(&home))["effective"]["server"]["max_in_flight"], 2);
    home.write("xdg/annai/config.yaml", "server: { max_in_flight: 3 }\n");
    let mut command = annai(&home);
    command.env("XDG_CONFIG_HOME", home.0.join("xdg"));
    assert_eq!(shown(&mut command)["effective"]["server"]["max_in_flight"], 3);
}

#[test]
fn a_named_file_that_does_not_exist_is_skipped_with_a_warning() {
    let output = annai(&Home::new()).args(["--config", "nowhere.yaml", "tools"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("nowhere.yaml: no such file"), "{}", stderr(&output));
}

#[test]
fn wrong_settings_stop_the_start_with_file_line_and_key() {
    let home = Home::new();
    for (yaml, problem) in [
        ("server:\n  debug: maybe\n", "bad.yaml:2: server.debug: expected true or false, got a string"),
        ("server:\n  prot: 1\n", "bad.yaml:2: server.prot: unknown key; allowed: transport, debug"),
        ("sever: {}\n", "bad.yaml:1: sever: unknown key; allowed: server"),
        (
            "server:\n  max_in_flight: 0\n",
            "bad.yaml:2: server.max_in_flight: expected an integer from 1 to 10000, got 0",
        ),
        (
            "server:\n  log_level: loud\n",
            "bad.yaml:2: server.log_level: expected one of error, warn, info, debug, got \"loud\"",
        ),
        ("server: [\n", "bad.yaml:2: "),
        ("server: { debug: true }\nserver: {}\n", "bad.yaml:2: "),
    ] {
        let file = home.write("bad.yaml", yaml);
        let output = annai(&home).arg("--config").arg(&file).arg("--stdio").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{yaml}");
        assert!(stdout(&output).is_empty());
        assert!(stderr(&output).contains(problem), "{yaml} gave {}", stderr(&output));
    }
    let output = annai(&home).env("LOG_LEVEL", "loud").arg("tools").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("LOG_LEVEL: server.log_level: expected one of error"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_empty_section_is_accepted() {
    let home = Home::new();
    let file = home.write("empty.yaml", "server:\n  # debug: true\n");
    let config = shown(annai(&home).arg("--config").arg(&file));
    assert_eq!(config["effective"]["server"]["debug"], false);
}

#[test]
fn a_server_that_shows_its_configuration_goes_on_to_serve() {
    let home = Home::new();
    let mut command = annai(&home);
    command.args(["--stdio", "--show-config", "--toolset", "answers"]);
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    assert_eq!(server.initialize("2025-06-18")["result"]["serverInfo"]["name"], "openai-responses-mcp");
    server.process.wait_for_log("\"effective\"");
    server.finish();
}

#[test]
fn a_leading_tilde_is_the_home_folder_and_the_folder_of_the_debug_file_is_made() {
    let home = Home::new();
    home.write("settings/policy.md", "Answer in rhyme.\n");
    let yaml = "policy: { system: { source: file, path: ~/settings/policy.md } }\n\
                server: { debug: true, debug_file: ~/logs/today/debug.log }\n";
    home.write("settings/c.yaml", yaml);
    let elsewhere = home.0.join("settings");
    let mut command = annai(&home);
    command.args(["--stdio", "--config", "~/settings/c.yaml"]).current_dir(&elsewhere);
    let mut server = StdioServer::start(&mut command, Framing::Lines);
    server.initialize("2025-06-18");
    server.finish();
    let log = std::fs::read_to_string(home.0.join("logs/today/debug.log")).unwrap();
    assert!(log.contains("recv method=initialize") && !log.contains("policy.system.path"), "{log}");
    let output = annai(&home).args(["--stdio", "--debug", "~/more/x.log"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(home.0.join("more/x.log").exists());
    // The effective configuration shows what was written.
    let shown = shown(annai(&home).args(["--config", "~/settings/c.yaml"]));
    assert_eq!(shown["effective"]["server"]["debug_file"], "~/logs/today/debug.log");
}
