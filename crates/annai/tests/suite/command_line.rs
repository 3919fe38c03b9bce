//! The command line: help, usage errors and the commands that need no other service.

use serde_json::Value;

use crate::{Home, annai, stderr, stdout};

#[test]
fn no_arguments_print_help() {
    let home = Home::new();
    for arguments in [&[][..], &["--help"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let text = stdout(&output);
        for word in [
            "--stdio",
            "--http",
            "--toolset",
            "--config",
            "--show-config",
            "--debug",
            "demo",
            "tools",
            "call",
            "doctor",
            "init",
            "completions",
        ] {
            assert!(text.contains(word), "{word} is not in the help: {text}");
        }
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let output = annai(&Home::new()).arg("--version").output().unwrap();
    assert_eq!(stdout(&output), format!("annai {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn unknown_options_commands_and_toolsets_are_usage_errors() {
    let home = Home::new();
    for arguments in [&["--no-such-option"][..], &["no-such-command"], &["--toolset", "none", "--stdio"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stdout(&output).is_empty());
        assert!(stderr(&output).contains("error:"), "{}", stderr(&output));
    }
    let output = annai(&home).args(["--toolset", "none"]).output().unwrap();
    assert!(stderr(&output).contains("answers, search, library, services]"), "{}", stderr(&output));
}

#[test]
fn annai_tools_prints_a_table_or_json() {
    let home = Home::new();
    let output = annai(&home).arg("tools").output().unwrap();
    assert!(stdout(&output).ends_with(" tools\n"));
    let output = annai(&home).args(["tools", "--json"]).output().unwrap();
    assert!(serde_json::from_str::<Vec<Value>>(&stdout(&output)).is_ok());
}

#[test]
fn errors_say_what_to_type() {
    let home = Home::new();
    let output = annai(&home).args(["call", "no_such_tool", "a=1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), "✗ there is no tool named `no_such_tool`; `annai tools` lists the tools\n");
    let output = annai(&home).args(["--http", "nowhere:80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("127.0.0.1:3001"), "{}", stderr(&output));
    let output = annai(&home).args(["--http", "--stdio"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_client_has_a_snippet_that_names_this_program() {
    let home = Home::new();
    for client in ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "chatgpt"] {
        let output = annai(&home).args(["init", client]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains(env!("CARGO_BIN_EXE_annai")), "{client}: {}", stdout(&output));
    }
    assert_eq!(annai(&home).args(["init", "netscape"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn completions_are_printed_for_each_shell() {
    let home = Home::new();
    for (shell, word) in [("bash", "complete -F"), ("zsh", "#compdef annai"), ("fish", "complete -c annai")] {
        let output = annai(&home).args(["completions", shell]).output().unwrap();
        assert!(stdout(&output).contains(word), "{shell}");
    }
}

#[test]
fn the_doctor_reports_problems_with_their_fixes() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = annai(&home).args(["doctor", "--toolset", "library"]).env("PORT", &port).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("✓ configuration: no configuration file"), "{text}");
    assert!(
        text.contains(&format!("✗ http: port {port} (from PORT) cannot be used"))
            && text.contains("→ stop the program"),
        "{text}"
    );
    drop(taken);
    let output = annai(&home).args(["doctor", "--toolset", "library"]).env("PORT", &port).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(!stdout(&output).contains('\u{1b}'), "no colors outside a terminal");

    let words = home.write("manuals/synonyms.yaml", "synonyms: [[a, b]]\nother: 3\n");
    let output = annai(&home).args(["doctor", "--toolset", "library"]).env("PORT", &port).output().unwrap();
    assert!(
        stdout(&output).contains("synonyms.yaml:other: expected synonyms or exceptions"),
        "{}",
        stdout(&output)
    );
    std::fs::remove_file(words).unwrap();

    let output = annai(&home)
        .args(["doctor", "--toolset", "library"])
        .env("PUBLIC_URL", "foo")
        .env("PORT", &port)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("✗ http: server.public_url: expected a URL"), "{}", stdout(&output));
    let output =
        annai(&home).args(["doctor", "--config", "nowhere.yaml"]).env("PORT", &port).output().unwrap();
    assert!(stdout(&output).contains("✗ configuration: nowhere.yaml: no such file"), "{}", stdout(&output));

    let file = home.write("bad.yaml", "server:\n  port: many\n");
    let output = annai(&home).arg("doctor").arg("--config").arg(file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("bad.yaml:2: server.port: expected an integer"), "{}", stdout(&output));
}

#[test]
fn a_closed_stdout_is_not_a_failure() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    for arguments in [
        &["tools"][..],
        &["doctor", "--toolset", "library"],
        &["completions", "bash"],
        &["init", "cursor"],
        &[],
    ] {
        let mut child = annai(&home)
            .args(arguments)
            .env("PORT", "0")
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn a_server_option_and_a_command_cannot_be_combined() {
    let home = Home::new();
    for arguments in [&["--stdio", "tools"][..], &["--http=3001", "doctor"], &["--debug", "tools"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
}
