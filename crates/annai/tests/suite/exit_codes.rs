//! The exit status of every command: 0 when it is done or something was found, 1 when nothing was found, a check failed or the
//! work could not be done, 2 for a wrong command line or configuration.

use crate::{Home, annai, stderr, stdout};

/// A library, a campaign database that cannot be opened, and a settings file that is wrong.
fn home() -> Home {
    let home = Home::new();
    home.write("manuals/m/a.md", "# Rates\n\nA call costs 7 yen.\n");
    home.write("vault/s.md", "# S\n\nOne is 1.\n");
    home.write("vault/good.md", "# S\n\nsource_lines: 1-3\n\nOne is 1.\n");
    home.write("vault/bad.md", "# S\n\nsource_lines: 1-3\n\nOne is 7.\n");
    home.write("wrong.yaml", "server: { max_in_flight: many }\n");
    home.write(
        "no.sqlite",
        "this is not a database, but a text that is longer than the head of one, which has 100 bytes\n",
    );
    home.write("evals/questions.jsonl", "{\"id\":\"a\",\"facet\":\"x\",\"query\":\"call costs\",\"expected\":[{\"manual_id\":\"m\",\"path\":\"a.md\",\"title\":\"Rates\"}]}\n");
    home.write("high.json", r#"{"questions.jsonl": {"all": {"questions": {"min": 2}}}}"#);
    home.write("low.json", r#"{"questions.jsonl": {"all": {"questions": {"min": 1}}}}"#);
    home
}

#[test]
fn the_same_cause_has_the_same_exit_status_in_every_command() {
    let home = home();
    for (line, expected) in [
        ("", 0),
        ("help", 0),
        ("help find", 0),
        ("help nothing", 2),
        ("nothing", 2),
        ("--show-config", 0),
        ("--http nowhere:x", 2),
        ("tools", 0),
        ("tools manual_find", 0),
        ("tools nothing", 2),
        ("tools --config wrong.yaml", 2),
        ("call manual_list", 0),
        ("call manual_read manual_id=m path=none.md", 1),
        ("call manual_read manual_id=m path=../a.md", 2),
        ("call manual_read manual_id=m wrong=1", 2),
        ("call nothing", 2),
        ("call answer query=x", 2),
        ("ask x", 2),
        ("ask", 2),
        ("find costs", 0),
        ("find gryphon", 1),
        ("find costs --manual none", 1),
        ("find costs --limit 21", 2),
        ("find costs --config wrong.yaml", 2),
        ("find costs --manuals nowhere", 1),
        ("call manual_find query=costs --manuals nowhere", 1),
        ("find costs --tools vault_ls", 2),
        ("read m/a.md:3", 0),
        ("read manuals/m/a.md:1-3", 0),
        ("read vault/s.md", 0),
        ("read m/none.md:1", 1),
        ("read none", 1),
        ("read m/../a.md:1", 2),
        ("read m/a.md:x", 2),
        ("coverage s.md --lines 1-3", 0),
        ("coverage s.md --lines 1", 1),
        ("coverage none.md", 1),
        ("coverage s.md --lines x", 2),
        ("audit good.md s.md", 0),
        ("audit bad.md s.md", 1),
        ("audit none.md s.md", 1),
        ("audit ../good.md s.md", 2),
        ("eval", 0),
        ("eval --gates low.json", 0),
        ("eval --gates high.json", 1),
        ("eval none.jsonl", 2),
        ("doctor", 0),
        ("doctor --toolset answers", 1),
        ("doctor --config wrong.yaml", 1),
        ("doctor --http nowhere:x", 2),
        ("init cursor", 2),
        ("init cursor --toolset library", 0),
        ("init nothing", 2),
        ("init cursor --toolset library --write", 0),
        ("init cursor --remove", 0),
        ("token new aiko --scope library.read", 0),
        ("token new aiko --scope library.read", 2),
        ("token new hana --scope nothing", 2),
        ("token list", 0),
        ("token revoke aiko", 0),
        ("token revoke aiko", 1),
        ("campaigns", 0),
        ("campaigns --check", 0),
        ("campaigns new --name x", 2),
        ("campaigns new --name Tea --sponsor Co --task survey --pays 5 --budget 50 --service answer", 0),
        ("campaigns --json", 0),
        ("db copy --from nowhere --to postgres://localhost/x", 2),
        ("db copy --from sqlite:none.sqlite --to postgres://127.0.0.1:1/x", 1),
        ("completions bash", 0),
        ("completions nothing", 2),
        ("docs tools", 0),
        ("docs nothing", 2),
        ("demo --toolset library", 2),
    ] {
        let arguments: Vec<_> = line.split_whitespace().collect();
        let output = annai(&home).args(&arguments).env("PORT", "0").output().unwrap();
        let (code, text) = (output.status.code(), stdout(&output) + &stderr(&output));
        assert_eq!(code, Some(expected), "annai {line}: {text}");
        // Every failure says something, and an error is told as one, on stderr.
        assert!(expected == 0 || !text.is_empty(), "annai {line}");
        assert!(expected != 2 || stderr(&output).starts_with("error: "), "annai {line}: {text}");
    }
    let broken = annai(&home)
        .arg("campaigns")
        .env("SERVICES_DATABASE_PATH", home.0.join("no.sqlite"))
        .output()
        .unwrap();
    assert_eq!(broken.status.code(), Some(1), "{}", stderr(&broken));
}

#[test]
fn quiet_prints_only_results_and_errors() {
    let home = home();
    let run = |line: &str| {
        let output = annai(&home).args(line.split_whitespace()).env("PORT", "0").output().unwrap();
        (stdout(&output), stderr(&output))
    };
    let (found, said) = run("find costs -q");
    assert_eq!((found.lines().count(), said.as_str()), (3, ""), "{found}");
    let (read, said) = run("read m/a.md:3 -q");
    assert_eq!((read.as_str(), said.as_str()), ("# Rates\n\nA call costs 7 yen.\n", ""));
    let (tools, _) = run("tools -q --toolset library");
    assert!(tools.lines().all(|line| line.contains("  library  ")), "{tools}");
    let (token, said) = run("token new hana --scope library.read -q");
    assert_eq!((token.lines().count(), said.as_str()), (1, ""));
    let (report, _) = run("doctor -q --toolset library");
    assert_eq!(report, "");
    let (_, said) =
        run("campaigns new -q --name Tea --sponsor Co --task survey --pays 5 --budget 50 --service none");
    assert_eq!(said, "");
}

#[test]
fn json_obeys_the_limit_and_show_config_precedes_any_command() {
    let home = home();
    for number in 0..6 {
        home.write(
            &format!("manuals/m/{number}.md"),
            &format!("# Page {number}\n\nThe zebra eats {number}.\n"),
        );
    }
    let output = annai(&home).args(["find", "zebra", "--json", "--limit", "2"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["hits"].as_array().unwrap().len(), 2);
    assert!(report["find"].get("top").is_none(), "{report}");
    for command in
        ["tools", "find costs", "call manual_list", "doctor --toolset library", "help", "token list"]
    {
        let before = annai(&home).args(command.split(' ')).env("PORT", "0").output().unwrap();
        let shown =
            annai(&home).args(command.split(' ')).arg("--show-config").env("PORT", "0").output().unwrap();
        assert_eq!(shown.status.code(), before.status.code(), "{command}: {}", stderr(&shown));
        let config: serde_json::Value = serde_json::from_str(&stderr(&shown)).unwrap();
        assert!(config["effective"]["library"].is_object(), "{command}");
        assert_eq!(stdout(&shown).is_empty(), stdout(&before).is_empty(), "{command}");
    }
}
