//! The help: it fits a terminal of 80 × 24, and its examples work.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use annai_testkit::openai::{self, FakeOpenai};
use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

const COMMANDS: [&str; 21] = [
    "init",
    "doctor",
    "demo",
    "ask",
    "find",
    "read",
    "tools",
    "call",
    "coverage",
    "audit",
    "token",
    "token new",
    "token list",
    "token revoke",
    "campaigns",
    "campaigns new",
    "db",
    "db copy",
    "eval",
    "completions",
    "help",
];

/// The options that all commands share.
const SHARED: [&str; 14] = [
    "--toolset",
    "--tools",
    "--read-only",
    "--manuals",
    "--vault",
    "--config",
    "--model",
    "--color",
    "--quiet",
    "-q",
    "--verbose",
    "-v",
    "--debug",
    "--show-config",
];

fn help(home: &Home, arguments: &[&str]) -> String {
    let output = annai(home).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
fn every_page_fits_80_by_24() {
    let home = Home::new();
    let mut pages: Vec<(String, String)> =
        [&["help"][..], &["--help"], &[], &["help", "options"], &["help", "terms"]]
            .iter()
            .map(|arguments| (arguments.join(" "), help(&home, arguments)))
            .collect();
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').collect();
        let page = help(&home, &[&words[..], &["--help"]].concat());
        assert_eq!(page, help(&home, &[&["help"], &words[..]].concat()), "{command}");
        assert_eq!(page, help(&home, &[&words[..], &["-h"]].concat()), "{command}");
        pages.push((command.to_owned(), page));
    }
    for (name, page) in pages {
        // The last line of the terminal is for the prompt.
        assert!(page.lines().count() <= 23, "{name} has {} lines:\n{page}", page.lines().count());
        let widest = page.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 80, "{name} is {widest} wide:\n{page}");
    }
}

#[test]
fn the_first_page_names_every_command_and_the_second_every_shared_option() {
    let home = Home::new();
    let first = help(&home, &["help"]);
    for command in COMMANDS.iter().filter(|command| !command.contains(' ')) {
        assert!(first.contains(&format!("\n  {command} ")), "{command} is not in {first}");
    }
    for option in ["--stdio", "--http", "help options", "env: PORT"] {
        assert!(first.contains(option), "{option}");
    }
    let options = help(&home, &["help", "options"]);
    for option in SHARED {
        assert!(
            options.contains(&format!("{option} ")) || options.contains(&format!("{option}, ")),
            "{option}"
        );
    }
    for variable in [
        "ANNAI_TOOLS",
        "ANNAI_READ_ONLY",
        "MANUALS_ROOT",
        "VAULT_ROOT",
        "WORKSPACE_ROOT",
        "MODEL_ANSWER",
        "NO_COLOR",
        "LOG_LEVEL",
        "DEBUG",
    ] {
        assert!(options.contains(variable), "{variable} is not at its option");
    }
    // The page of a command has its own options only.
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').collect();
        let page = help(&home, &[&words[..], &["--help"]].concat());
        let own = page.split("Examples:").next().unwrap().to_owned();
        assert!(!own.contains("--toolset") && !own.contains("--debug"), "{command}: {own}");
        let examples = page.lines().filter(|line| is_example(line)).count();
        assert!((2..=3).contains(&examples), "{command} has {examples} examples");
    }
    let output = annai(&home).args(["help", "nonsense"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).starts_with("error: there is no command named `nonsense`"),
        "{}",
        stderr(&output)
    );
    // Completions offer the shared options, although the help of a command does not show them.
    let script = help(&home, &["completions", "bash"]);
    assert!(script.contains("--vault") && script.contains("--color"));
}

fn is_example(line: &str) -> bool {
    line.starts_with("  annai ")
        || line.starts_with("  DATABASE_URL=")
        || line.starts_with("  OPENAI_API_KEY=")
}

/// The examples of a page, with the lines that a backslash continues.
fn examples(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if is_example(line) {
            let mut example = line.trim().to_owned();
            while let Some(start) = example.strip_suffix('\\') {
                example = format!("{start}{}", lines.next().unwrap().trim());
            }
            found.push(example);
        }
    }
    found
}

/// Copies a folder of the repository.
fn copy(from: &str, to: &Path) {
    let from = format!("{}/../../{from}", env!("CARGO_MANIFEST_DIR"));
    let done = Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap();
    assert!(done.success());
}

#[test]
fn every_example_works() {
    let (api, home) = (FakeOpenai::start(), Home::new());
    copy("examples/workspace/manuals", &home.0);
    copy("examples/workspace/vault", &home.0);
    let mut count = 0;
    // One question and one case of the real ones.
    for file in ["questions.jsonl", "conflicts.jsonl"] {
        let path = format!("{}/../../evals/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        home.write(&format!("evals/{file}"), text.lines().next().unwrap());
    }
    // What an earlier run found for the question, which the example for `--each` asks again.
    let question = std::fs::read_to_string(home.0.join("evals/questions.jsonl")).unwrap();
    let question: Value = serde_json::from_str(&question).unwrap();
    let text = |pointer: &str| question.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let file = format!("{}/{}", text("/expected/0/manual_id"), text("/expected/0/path"));
    home.write("old.jsonl", &json!({ "id": text("/id"), "file": file, "bare": 1.0 }).to_string());
    home.write("evals/gates.json", r#"{"questions.jsonl": {"all": {"questions": {"min": 1}}}}"#);
    for command in COMMANDS {
        let words: Vec<_> = command.split(' ').collect();
        for example in examples(&help(&home, &[&words[..], &["--help"]].concat())) {
            count += 1;
            let mut shell = Command::new("sh");
            let folder = Path::new(env!("CARGO_BIN_EXE_annai")).parent().unwrap();
            let path = format!("{}:/usr/bin:/bin", folder.display());
            shell.args(["-c", &format!("exec env {example}")]).current_dir(&home.0).env_clear();
            shell.env("PATH", path).env("HOME", &home.0).env("TMPDIR", &home.0).env("PORT", "0");
            if !example.starts_with("OPENAI_API_KEY=") {
                shell.env("OPENAI_API_KEY", openai::KEY).env("OPENAI_BASE_URL", api.base_url());
            }
            if command == "demo" {
                // It serves until it is stopped; what it prints at the start shows that it works.
                let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
                let mut first = [0; 16];
                child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
                assert_eq!(String::from_utf8_lossy(&first), "Find: \"how many ");
                continue;
            }
            let output = shell.output().unwrap();
            let (code, errors) = (output.status.code(), stderr(&output));
            let expected = match command {
                // There is no PostgreSQL here; the command line was understood.
                "db" | "db copy" => Some(1),
                // The artifact of the examples has a problem, which the command is there to find.
                "audit" => Some(1),
                // Some of them leave lines of the file uncovered.
                "coverage" if code == Some(1) => Some(1),
                _ => Some(0),
            };
            assert_eq!(code, expected, "{example}: {errors}{}", stdout(&output));
        }
    }
    assert!(count > 40, "{count} examples");
}

#[test]
fn the_program_alone_says_three_things_to_do() {
    let home = Home::new();
    let first = help(&home, &[]);
    let steps: Vec<_> = first.lines().filter(|line| line.starts_with("  annai ")).collect();
    assert_eq!(steps.len(), 3, "{first}");
    for (step, command) in steps.iter().zip(["annai demo ", "annai find ", "annai init "]) {
        assert!(step.trim_start().starts_with(command), "{first}");
    }
    assert!(first.contains("annai help lists all commands"), "{first}");
}

#[test]
fn suggestions_name_only_commands_that_the_help_lists() {
    let home = Home::new();
    let output = annai(&home).arg("doc").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains("'doctor'") && !text.contains("'docs'"), "{text}");
}
