//! Retrieval quality must not fall below what was reached, nor below a plain search.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::{Home, annai, stderr};

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

/// The value of a figure; `None` if nothing counts for it.
fn figure(row: &Value, name: &str) -> Option<f64> {
    row["figures"][name]["value"].as_f64()
}

#[test]
fn figures_keep_their_gates_and_beat_a_plain_search() {
    let home = Home::new();
    // As somebody who has just cloned the repository runs it.
    let mut command = annai(&home);
    command.current_dir(repository()).args(["eval", "--plain", "--gates", "evals/gates.json", "--json"]);
    let report = run(&mut command);
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["facets"].as_array().unwrap();
    assert!(rows.len() > 10, "{report}");
    for name in ["recall_5", "mrr", "worded_recall_5", "worded_mrr"] {
        let (row, plain) = (rows.last().unwrap(), name.replace("worded_", ""));
        let plain = format!("{}plain_{plain}", if name == plain { "" } else { "worded_" });
        let (ours, plain) = (figure(row, name).unwrap(), figure(row, &plain).unwrap());
        // One question more or less says nothing.
        let one = 1.0 / figure(row, "answerable").unwrap_or(row["answerable"].as_f64().unwrap());
        assert!(ours >= plain - one, "{name}: {ours} beside a plain search's {plain}");
    }
    // A facet has a dozen questions, so that one of them may decide which search is ahead; none may be behind for sure.
    for (row, gain) in
        rows.iter().flat_map(|row| [(row, "gain_over_plain_mrr"), (row, "worded_gain_over_plain_mrr")])
    {
        let high = row["figures"][gain]["interval"][1].as_f64().unwrap();
        assert!(high >= 0.0, "{gain} of {}: {}", row["facet"], row["figures"][gain]);
    }
    for gain in ["gain_over_plain_mrr", "worded_gain_over_plain_mrr"] {
        let gain = &rows.last().unwrap()["figures"][gain];
        assert!(gain["value"].as_f64().unwrap() > 0.01, "{gain}");
    }
    assert!(report["gates"]["checked"].as_u64().unwrap() >= 5, "{}", report["gates"]);
    let all = rows.last().unwrap();
    let bounds = all["figures"]["recall_5"]["interval"].as_array().unwrap();
    let (low, high) = (bounds[0].as_f64().unwrap(), bounds[1].as_f64().unwrap());
    assert!(low < figure(all, "recall_5").unwrap() && figure(all, "recall_5").unwrap() < high, "{all}");
    let bins = report["reliability"]["bins"].as_array().unwrap();
    let finds: u64 = bins.iter().map(|bin| bin["finds"].as_u64().unwrap()).sum();
    assert_eq!((bins.len(), Some(finds)), (10, all["questions"].as_u64()));
    // Every question is asked with other wordings too.
    for row in rows {
        assert_eq!(row["worded_questions"], row["questions"], "{row}");
        for name in ["recall_1", "recall_5", "recall_10", "recall_20", "mrr"] {
            let kinds = ["", "plain_", "worded_", "worded_plain_"];
            assert!(kinds.iter().all(|kind| figure(row, &format!("{kind}{name}")).is_some()), "{row}");
        }
        let (before, after) = (figure(row, "mrr").unwrap(), figure(row, "worded_mrr").unwrap());
        assert!((figure(row, "gain_of_wording_mrr").unwrap() - (after - before)).abs() < 1e-9, "{row}");
    }
    let bins = report["worded_reliability"]["bins"].as_array().unwrap();
    let finds: u64 = bins.iter().map(|bin| bin["finds"].as_u64().unwrap()).sum();
    assert_eq!(Some(finds), all["worded_questions"].as_u64());
}

/// Questions that nothing was fitted on, about the manuals that are in the repository.
#[test]
fn held_out_questions_keep_their_gates() {
    let home = Home::new();
    let mut command = annai(&home);
    command.current_dir(repository());
    command.args(["eval", "evals/held-out.jsonl", "--gates", "evals/gates.json", "--json"]);
    let report: Value = serde_json::from_str(&run(&mut command)).unwrap();
    let rows = report["facets"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["facet"].as_str().unwrap()).collect();
    assert_eq!(names, ["warehouse-ops", "all"], "the other corpora are not in the repository");
    assert_eq!(
        (&rows[0]["questions"], &rows[0]["worded_questions"]),
        (&json!(70), &json!(70)),
        "{}",
        rows[0]
    );
    let gates: Value =
        serde_json::from_slice(&std::fs::read(repository().join("evals/gates.json")).unwrap()).unwrap();
    let bounds = gates["held-out.jsonl"]["warehouse-ops"].as_object().unwrap();
    assert_eq!(report["gates"]["checked"], bounds.len(), "{}", report["gates"]);
    for name in ["recall_5", "mrr", "worded_recall_5", "worded_mrr"] {
        assert!(bounds.contains_key(name), "{name} has no gate");
    }
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
    let table = run(with_samples(&home)
        .arg("eval")
        .arg(repository().join("evals/questions.jsonl"))
        .args(["--misses", "--plain"]));
    let titles = ["retrieval ", "comparison ", "plain ", "belief ", "belief, worded "];
    for title in titles {
        assert_eq!(table.lines().filter(|line| line.starts_with(title)).count(), 1, "{title}: {table}");
    }
    assert_eq!(table.lines().filter(|line| line.starts_with("all ")).count(), titles.len(), "{table}");
    assert!(table.contains("search − plain") && table.contains("ready precision"), "{table}");
    assert!(table.contains("\nsufficiency  ") && table.contains("\nsufficiency, worded "), "{table}");
    assert!(table.lines().last().unwrap().starts_with("Brier score 0."), "{table}");
    let figures = table.lines().skip_while(|line| !line.starts_with("retrieval "));
    assert!(
        figures.clone().count() > 30 && figures.clone().all(|line| line.chars().count() <= 120),
        "{table}"
    );
    let found = run(with_samples(&home).args(["find", "how", "many", "requests", "per", "minute"]));
    assert!(found.contains("rate-limits.md:"), "{found}");
    assert!(found.contains("not scanned: 0") && found.contains("Next: annai "), "{found}");
    // The suggested command works from the shell: it has the options, and needs no trace.
    let next = found.lines().find_map(|line| line.strip_prefix("Next: annai ")).unwrap();
    let shell = format!("\"$ANNAI\" {next}");
    let read = run(Command::new("sh").args(["-c", &shell]).env("ANNAI", annai(&home).get_program()));
    assert!(!next.contains("trace_id") && read.to_lowercase().contains("minute"), "{next}: {read}");
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
    for (text, message) in [
        (
            "{\"id\": \"a\", \"query\": \"x\"}\n{\"id\": \"A\", \"query\": \"y\"}\n",
            "questions.jsonl:2: id: \"A\" stands in",
        ),
        (
            "{\"id\": \"a\", \"query\": \"x\", \"expcted\": []}\n",
            "questions.jsonl:1: unknown field `expcted`",
        ),
        ("{\"id\": \"\", \"query\": \"x\"}\n", "questions.jsonl:1: id: must not be empty"),
    ] {
        let path = home.write("questions.jsonl", text);
        let done = with_samples(&home).arg("eval").arg(&path).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        assert!(stderr(&done).contains(message), "{}", stderr(&done));
    }
    std::fs::create_dir(home.0.join("empty")).unwrap();
    let done = with_samples(&home).args(["eval", "empty"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("empty has neither questions.jsonl nor conflicts.jsonl"));
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
    assert_eq!(rows[0]["figures"]["recall_5"], json!({ "value": null, "interval": null }));
}
