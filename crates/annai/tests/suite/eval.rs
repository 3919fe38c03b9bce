//! Retrieval quality must not fall below what was reached, nor below a plain search.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Home, annai};

/// The minimum scores over all questions of `evals/`: just below what was reached when they were last raised.
const MIN_RECALL_5: f64 = 0.95;
const MIN_MRR: f64 = 0.86;

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn with_samples(home: &Home) -> Command {
    let mut command = annai(home);
    command.arg("--manuals").arg(repository().join("examples/workspace/manuals"));
    command
}

#[test]
fn retrieval_scores_do_not_fall() {
    let home = Home::new();
    let report = run(with_samples(&home).arg("eval").arg(repository().join("evals")).arg("--json"));
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["facets"].as_array().unwrap();
    assert!(rows.len() > 10, "{report}");
    let figure = |row: &Value, whose: &str, what: &str| row[whose][what].as_f64().unwrap();
    for row in rows {
        for what in ["recall_5", "mrr"] {
            let (ours, plain) = (figure(row, "annai", what), figure(row, "plain", what));
            assert!(ours >= plain, "{what} of {}: {ours} beside a plain search's {plain}", row["facet"]);
        }
    }
    let all = rows.last().unwrap();
    assert!(all["questions"].as_u64().unwrap() >= 80);
    assert!(
        figure(all, "annai", "recall_5") >= MIN_RECALL_5 && figure(all, "annai", "mrr") >= MIN_MRR,
        "{all}"
    );
    assert!(all["chars"].as_f64().unwrap() < 2500.0, "{all}");
}

#[test]
fn nonsense_finds_nothing() {
    let home = Home::new();
    let questions = std::fs::read_to_string(repository().join("evals/nonsense.jsonl")).unwrap();
    for question in questions.lines() {
        let question: Value = serde_json::from_str(question).unwrap();
        let arguments = json!({ "query": question["query"] }).to_string();
        let found: Value = serde_json::from_str(&run(with_samples(&home).args([
            "call",
            "manual_find",
            &arguments,
            "--json",
        ])))
        .unwrap();
        assert_eq!(found["summary"]["candidates"], 0, "{question}");
    }
}

#[test]
fn eval_and_find_print_readable_text() {
    let home = Home::new();
    let table =
        run(with_samples(&home).arg("eval").arg(repository().join("evals/questions.jsonl")).arg("--misses"));
    let last = table.lines().last().unwrap();
    assert!(table.contains("plain MRR") && last.starts_with("all "), "{table}");
    let found = run(with_samples(&home).args(["find", "how", "many", "requests", "per", "minute"]));
    assert!(found.contains("rate-limits.md:"), "{found}");
    assert!(found.contains("not scanned: 0") && found.contains("Next: annai "), "{found}");
    // The suggested command works from the shell: it has the options, and needs no trace.
    let next = found.lines().find_map(|line| line.strip_prefix("Next: annai ")).unwrap();
    let shell = format!("\"$ANNAI\" {next}");
    let read = run(Command::new("sh").args(["-c", &shell]).env("ANNAI", annai(&home).get_program()));
    assert!(!next.contains("trace_id") && read.contains("Per minute"), "{next}: {read}");
    let done = with_samples(&home).args(["find", "zxqvblorp"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "as with grep, nothing found is a status of 1");
    let nothing = String::from_utf8(done.stdout).unwrap();
    assert!(
        nothing.starts_with("Nothing found") && nothing.contains("no section mentions \"zxqvblorp\""),
        "{nothing}"
    );
    let json = run(with_samples(&home).args(["find", "refund", "--json", "--limit", "2"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn errors_in_questions_name_the_file_and_the_line() {
    let home = Home::new();
    let path = home.write("questions.jsonl", "\n{\"id\": 1}\n");
    let done = with_samples(&home).arg("eval").arg(&path).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(text.contains("questions.jsonl:2: invalid type: integer `1`"), "{text}");
    let done = with_samples(&home).args(["eval", "nowhere"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("nowhere cannot be read"));
}

#[test]
fn a_file_without_questions_scores_zero_questions() {
    let home = Home::new();
    let path = home.write("questions.jsonl", "");
    let report: Value =
        serde_json::from_str(&run(with_samples(&home).arg("eval").arg(&path).arg("--json"))).unwrap();
    let rows = report["facets"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["facet"], &rows[0]["questions"]), (&json!("all"), &json!(0)));
}
