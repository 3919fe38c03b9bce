//! The command line: help, usage errors and the commands that need no other service.

use serde_json::Value;

use crate::{Home, annai, stderr, stdout};

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
    assert!(stdout(&output).ends_with(" tools; `annai tools NAME` shows the arguments of one\n"));
    let output = annai(&home).args(["tools", "--json"]).output().unwrap();
    assert!(serde_json::from_str::<Vec<Value>>(&stdout(&output)).is_ok());
}

#[test]
fn annai_tools_shows_one_tool_with_the_arguments_inside_others() {
    let home = Home::new();
    for tool in ["manual_hits", "run_service", "search_services"] {
        let text = stdout(&annai(&home).args(["tools", tool]).output().unwrap());
        let columns =
            |line: &str| line.chars().map(|char| if char < '\u{1100}' { 1 } else { 2 }).sum::<usize>();
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    }
    let output = annai(&home).args(["tools", "manual_find"]).output().unwrap();
    let text = stdout(&output);
    for part in
        ["manual_find: ", "(toolset library)", "\n  query (a string", ", required)\n", "\n  budget.time_ms ("]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 90, "{text}");
    let output = annai(&home).args(["tools", "manual_list"]).output().unwrap();
    assert!(stdout(&output).contains("Arguments:\n"), "{}", stdout(&output));
    let output = annai(&home).args(["tools", "manual_find", "--json"]).output().unwrap();
    let entry: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(entry["name"] == "manual_find" && entry["inputSchema"]["properties"]["query"].is_object());
    for arguments in [&["tools", "manual_fnid"][..], &["call", "manual_fnid"], &["call", "manual-find"]] {
        let output = annai(&home).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let (typed, end) = (arguments[1], "did you mean `manual_find`?\n");
        assert_eq!(stderr(&output), format!("error: there is no tool named `{typed}`; {end}"));
    }
}

#[test]
fn colors_are_used_on_a_terminal_or_when_they_are_asked_for() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    let run = |arguments: &[&str], env: &[(&str, &str)]| {
        let output =
            annai(&home).args(arguments).env("PORT", "0").envs(env.iter().copied()).output().unwrap();
        stdout(&output) + &stderr(&output)
    };
    let doctor = ["doctor", "--toolset", "library"];
    assert!(!run(&doctor, &[]).contains('\u{1b}'));
    for wrong in [&["tools", "x"][..], &["--no-such-option"], &doctor] {
        let always = run(&[wrong, &["--color", "always"]].concat(), &[("NO_COLOR", "1")]);
        assert!(always.contains('\u{1b}'), "{wrong:?}: {always}");
        let never = run(&[wrong, &["--color=never"]].concat(), &[]);
        assert!(!never.contains('\u{1b}'), "{wrong:?}: {never}");
    }
    assert!(run(&["tools", "--color", "blue"], &[]).starts_with("error: invalid value 'blue'"));
}

#[test]
fn quiet_leaves_warnings_out_and_verbose_logs_the_calls() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    let config = home.write("c.yaml", "responses: { json_mode: true }\n");
    let run = |arguments: &[&str]| {
        let output = annai(&home).args(arguments).arg("--config").arg(&config).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let plain = run(&["call", "manual_list"]);
    assert!(plain.starts_with("warning: ") && plain.contains("responses.json_mode"), "{plain}");
    assert_eq!(run(&["call", "manual_list", "-q"]), "");
    let log = run(&["call", "manual_list", "--verbose"]);
    let line = log.lines().find(|line| line.starts_with('{')).unwrap();
    assert_eq!(serde_json::from_str::<Value>(line).unwrap()["tool"], "manual_list");
    assert_eq!(annai(&home).args(["tools", "-q", "-v"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn checks_can_be_read_by_programs() {
    let home = Home::new();
    home.write("manuals/m/a.md", "# A\n");
    home.write("vault/s.md", "# S\n\nOne is 1.\nTwo is 2.\n");
    home.write("vault/artifacts/a.md", "# S\n\nsource_lines: 1-4\n\nOne is 7.\n");
    let run = |arguments: &[&str]| {
        let output = annai(&home).args(arguments).env("PORT", "0").output().unwrap();
        (output.status.code(), serde_json::from_str::<Value>(&stdout(&output)).unwrap())
    };
    let (code, report) = run(&["doctor", "--toolset", "library", "--json"]);
    assert_eq!((code, &report["problems"]), (Some(0), &Value::from(0)));
    // No key is asked for where no tool needs one.
    assert!(!report.to_string().contains("OPENAI_API_KEY"), "{report}");
    let (code, report) = run(&["doctor", "--json"]);
    let ready = serde_json::json!({ "answers": false, "library": true, "services": false });
    assert_eq!((code, &report["ready"]), (Some(0), &ready));
    let (code, report) = run(&["doctor", "--toolset", "answers", "--json"]);
    assert_eq!(code, Some(1));
    let problem =
        report["findings"].as_array().unwrap().iter().find(|each| each["status"] == "problem").unwrap();
    assert!(problem["what"].as_str().unwrap().contains("OPENAI_API_KEY") && problem["fix"].is_string());
    let (code, report) = run(&["coverage", "s.md", "--lines", "1-2", "--json"]);
    assert_eq!((code, &report["covered_lines"], &report["total_lines"]), (Some(1), &2.into(), &4.into()));
    let (code, report) = run(&["audit", "artifacts/a.md", "s.md", "--json"]);
    assert_eq!((code, &report["unsupported_values"]), (Some(1), &1.into()), "{report}");
}

#[test]
fn errors_say_what_to_type() {
    let home = Home::new();
    let output = annai(&home).args(["call", "no_such_tool", "a=1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        "error: there is no tool named `no_such_tool`; `annai tools` lists the tools\n"
    );
    let output = annai(&home).args(["--http", "nowhere:80"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("127.0.0.1:3001"), "{}", stderr(&output));
    let output = annai(&home).args(["--http", "--stdio"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
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
        &["init", "cursor", "--toolset", "library"],
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

#[test]
fn titles_are_in_the_language_of_the_terminal() {
    let home = Home::new();
    let titles = |locale: &str| stdout(&annai(&home).arg("tools").env("LANG", locale).output().unwrap());
    for (locale, shown, hidden) in [
        ("en_US.UTF-8", ["Search services", "Copy a section"], ["サービス検索", "節をコピー"]),
        ("", ["Search services", "Copy a section"], ["サービス検索", "節をコピー"]),
        ("ja_JP.UTF-8", ["サービス検索", "節をコピー"], ["Search services", "Copy a section"]),
    ] {
        let text = titles(locale);
        assert!(shown.iter().all(|title| text.contains(title)), "{locale}: {text}");
        assert!(!hidden.iter().any(|title| text.contains(title)), "{locale}: {text}");
    }
}
