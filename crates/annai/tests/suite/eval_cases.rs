//! `annai eval` on small manuals whose figures are known: questions, conflict cases and gates.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

/// A home folder with two manuals: a shop, of which two pages contradict each other, and a garden.
fn home() -> Home {
    let home = Home::new();
    home.write(
        "manuals/shop/returns.md",
        "# Returns\n\n## Return period\n\nThe return period for items from our shop is 14 days.\n\n## Gift wrapping\n\nGift wrapping costs 3 euros.\n",
    );
    home.write(
        "manuals/shop/faq.md",
        "# Returns\n\n## Return period\n\nThe return period for items from our shop is 30 days.\n",
    );
    home.write("manuals/garden/plants.md", "# Plants\n\n## Watering\n\nWater the tomatoes every morning.\n");
    home
}

/// The program, with its temporary files in a folder of the home.
fn eval(home: &Home, file: &Path) -> Command {
    let temporary = home.0.join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = annai(home);
    command.arg("eval").arg(file).env("TMPDIR", temporary);
    command
}

fn done(command: &mut Command) -> Output {
    command.output().unwrap()
}

fn report(command: &mut Command) -> Value {
    let done = done(command.arg("--json"));
    assert!(done.status.success(), "{}", stderr(&done));
    serde_json::from_str(&stdout(&done)).unwrap()
}

fn lines(items: &[Value]) -> String {
    items.iter().map(|item| format!("{item}\n")).collect()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

fn questions() -> String {
    let section = |path: &str, title: &str| json!({ "manual_id": "shop", "path": path, "title": title });
    let wrapping = section("returns.md", "Gift wrapping");
    let nowhere = section("returns.md", "No such heading");
    lines(&[
        json!({ "id": "a", "facet": "shop", "query": "gift wrapping", "expected": [wrapping] }),
        // Only one of two needed sections exists, but another one has the whole answer.
        json!({ "id": "b", "facet": "shop", "query": "gift wrapping", "expected": [wrapping, nowhere], "also": [wrapping] }),
        json!({ "id": "c", "facet": "half", "query": "gift wrapping", "expected": [wrapping, nowhere] }),
        json!({ "id": "d", "facet": "unanswerable", "query": "gift wrapping", "manual_id": "garden", "expected": [] }),
        json!({ "id": "e", "facet": "unanswerable", "query": "watering", "expected": [] }),
        json!({ "id": "f", "facet": "elsewhere", "query": "gift wrapping", "manual_id": "no-such-manual", "expected": [] }),
        json!({ "id": "g", "facet": "elsewhere", "query": "x", "expected": [{ "manual_id": "absent", "path": "a.md" }] }),
    ])
}

#[test]
fn questions_may_be_scoped_unanswerable_or_about_absent_manuals() {
    let home = home();
    let file = home.write("small.jsonl", &questions());
    let report = report(&mut eval(&home, &file));
    assert_eq!(report["skipped"], 2);
    let rows = report["facets"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["facet"] == name).unwrap();
    let value = |name: &str, figure: &str| row(name)["figures"][figure]["value"].clone();
    assert_eq!(rows.len(), 4, "{report}");
    assert_eq!((value("shop", "recall_5"), value("shop", "mrr")), (json!(1.0), json!(1.0)));
    assert_eq!(value("half", "recall_5"), json!(0.5));
    let counts =
        |name: &str| ["questions", "answerable", "unanswerable"].map(|count| row(name)[count].clone());
    assert_eq!(counts("unanswerable"), [json!(2), json!(0), json!(2)]);
    assert_eq!(counts("all"), [json!(5), json!(3), json!(2)]);
    // No figure of retrieval counts questions without an answer.
    assert_eq!(value("unanswerable", "recall_5"), Value::Null);
    assert!((value("all", "recall_5").as_f64().unwrap() - 2.5 / 3.0).abs() < 1e-9);
    // A find that is ready without an answer lowers the precision.
    let ready = row("unanswerable")["ready"].as_u64().unwrap();
    let precision = if ready == 0 { Value::Null } else { json!(0.0) };
    assert_eq!(value("unanswerable", "ready_precision"), precision);
    let bins = report["reliability"]["bins"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["finds"].as_u64().unwrap()).sum::<u64>(), 5);
    let done = done(eval(&home, &file).arg("--misses"));
    let text = stdout(&done);
    assert!(text.contains("\n2 questions skipped, because their manuals"), "{text}");
    let begins = |start: &str| text.lines().filter(|line| line.starts_with(start)).count() as u64;
    assert_eq!((begins("a ("), begins("b ("), begins("c (")), (0, 0, 1), "{text}");
    assert_eq!(begins("d (unanswerable, ready, ") + begins("e (unanswerable, ready, "), ready, "{text}");
}

#[test]
fn a_measured_search_leaves_nothing_behind() {
    let home = home();
    let file = home.write("small.jsonl", &questions());
    report(&mut eval(&home, &file));
    let file = home.write("cases.jsonl", &lines(&[case("one", "conflict", "14 days", "30 days")]));
    report(&mut eval(&home, &file));
    assert!(is_empty(&home.0.join("tmp")) && !home.0.join("vault").exists());
    assert!(!home.0.join(".system").exists());
}

/// A case with a rule, and a second page with the same rule.
fn case(id: &str, expect: &str, one: &str, other: &str) -> Value {
    let text = |period: &str| {
        format!("# Returns\n\n## Refund window\n\nThe refund window for items from our shop is {period}.\n")
    };
    json!({
        "id": id, "split": "dev", "expect": expect, "family": format!("{expect}-family"), "query": "refund window",
        "files": [
            { "path": "rules.md", "text": text(one) },
            { "path": "more/faq.md", "text": text(other) },
        ],
    })
}

#[test]
fn conflict_cases_are_counted_by_split_and_family() {
    let home = Home::new();
    let cases = lines(&[
        case("found", "conflict", "14 days", "30 days"),
        case("missed", "conflict", "14 days", "14 days"),
        case("right", "none", "14 days", "14 days"),
        case("wrong", "none", "14 days", "30 days"),
    ]);
    let file = home.write("cases.jsonl", &cases);
    let report = report(&mut eval(&home, &file));
    assert!(report.get("facets").is_none(), "{report}");
    let rows = report["conflict_cases"]["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["row"] == name).unwrap();
    let value = |name: &str, figure: &str| row(name)["figures"][figure]["value"].clone();
    let counts = ["cases", "expected", "conflicts", "variants"].map(|count| row("all")[count].clone());
    assert_eq!(counts, [json!(4), json!(2), json!(2), json!(0)]);
    assert_eq!((value("all", "precision"), value("all", "recall")), (json!(0.5), json!(0.5)));
    assert_eq!(value("dev/none-family", "false_alarms"), json!(0.5));
    assert_eq!(value("*/conflict-family", "recall"), json!(0.5));
    let text = stdout(&done(eval(&home, &file).arg("--misses")));
    assert!(text.contains("missed (dev/conflict-family: expected conflict, reported conflicts: 0"), "{text}");
    assert!(text.contains("wrong (dev/none-family: expected none, reported conflicts: 1"), "{text}");
    assert!(text.contains("wrong/rules.md#L3") && text.contains("wrong/more/faq.md#L3"), "{text}");
    assert!(!text.contains("found (") && !text.contains("right ("), "{text}");
    assert!(text.lines().last().unwrap().starts_with("all  ") && !text.contains("*/"), "{text}");
}

#[test]
fn a_case_about_served_manuals_names_two_sections() {
    let home = home();
    let case = |id: &str, refs: [(&str, &str, u64); 2]| {
        let refs =
            refs.map(|(manual, path, line)| json!({ "manual_id": manual, "path": path, "line": line }));
        json!({
            "id": id, "split": "real", "expect": "conflict", "family": id, "query": "return period", "refs": refs,
        })
    };
    let (rule, faq) = (("shop", "returns.md", 3), ("shop", "faq.md", 5));
    let cases = lines(&[
        // Any line of a section stands for it, in any order.
        case("pair", [rule, faq]),
        case("turned", [faq, rule]),
        case("other", [("shop", "returns.md", 7), faq]),
        case("absent", [rule, ("no-such-manual", "a.md", 1)]),
    ]);
    let file = home.write("cases.jsonl", &cases);
    let report = report(&mut eval(&home, &file));
    assert_eq!(report["conflict_cases"]["skipped"], 1);
    let rows = report["conflict_cases"]["rows"].as_array().unwrap();
    let recall = |name: &str| {
        let row = rows.iter().find(|row| row["row"] == name).unwrap();
        row["figures"]["recall"]["value"].as_f64().unwrap()
    };
    assert_eq!((recall("real/pair"), recall("real/turned"), recall("real/other")), (1.0, 1.0, 0.0));
    let file = home.write("cases.jsonl", &lines(&[case("wrong", [rule, ("shop", "nowhere.md", 5)])]));
    let failed = done(&mut eval(&home, &file));
    assert_eq!(failed.status.code(), Some(2));
    assert!(stderr(&failed).contains("case wrong: refs: shop/nowhere.md has no section at line 5"));
}

#[test]
fn a_folder_stands_for_its_questions_and_cases() {
    let home = home();
    home.write("data/questions.jsonl", &questions());
    home.write("data/conflicts.jsonl", &lines(&[case("one", "conflict", "14 days", "30 days")]));
    home.write(
        "gates.json",
        r#"{"questions.jsonl": {"shop": {"recall_5": {"min": 1}}, "elsewhere": {"recall_5": {"min": 1}}},
            "conflicts.jsonl": {"all": {"recall": {"min": 1}}}, "other.jsonl": {"all": {"mrr": {"min": 1}}}}"#,
    );
    let report = report(eval(&home, Path::new("data")).args(["--gates", "gates.json"]));
    assert_eq!(report["gates"], json!({ "checked": 2, "failed": [], "unchecked": 2 }));
    assert_eq!(report["facets"].as_array().unwrap().len(), 4);
    assert_eq!(report["conflict_cases"]["rows"].as_array().unwrap().len(), 4);
    let text = stdout(&done(eval(&home, Path::new("data")).args(["--gates", "gates.json"])));
    assert!(
        text.ends_with(
            "\n2 of 2 gates passed; 2 were not checked, because their questions or cases were not asked\n"
        ),
        "{text}"
    );
}

#[test]
fn a_failed_gate_is_named_and_sets_the_exit_status() {
    let home = home();
    let file = home.write("small.jsonl", &questions());
    let check = |gates: &str| {
        home.write("gates.json", gates);
        done(eval(&home, &file).args(["--gates", "gates.json"]))
    };
    let failed =
        check(r#"{"small.jsonl": {"half": {"recall_5": {"min": 0.9}}, "all": {"questions": {"min": 5}}}}"#);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(
        stderr(&failed),
        "error: 1 of 2 gates failed\n  small.jsonl, half: recall_5 is 0.500 [0.50, 0.50]; the minimum is 0.9\n"
    );
    assert!(stdout(&failed).contains("1 of 2 gates passed"), "the figures are printed all the same");
    for (gates, message) in [
        (
            "{\n  \"small.jsonl\": {\"all\": {\"mrr\": {\"minimum\": 1}}}}",
            "unknown field `minimum`, expected `min` or `max` at line 2",
        ),
        (r#"{"small.jsonl": {"all": {"mrr": {}}}}"#, "small.jsonl.all.mrr: must have `min`, `max` or both"),
        (
            r#"{"small.jsonl": {"all": {"mrr": {"min": 2, "max": 1}}}}"#,
            "small.jsonl.all.mrr: the minimum 2 is above",
        ),
        (r#"{"small.jsonl": {"all": {"mmr": {"min": 1}}}}"#, "small.jsonl.all.mmr: `mmr` is not a figure"),
        (r#"{"small.jsonl": {"hal": {"mrr": {"min": 1}}}}"#, "small.jsonl.hal.mrr: `hal` is not in the file"),
        (
            r#"{"large.jsonl": {"all": {"mrr": {"min": 1}}}}"#,
            "no gate could be checked; it has gates for large.jsonl",
        ),
    ] {
        let failed = check(gates);
        assert_eq!(failed.status.code(), Some(2), "{gates}");
        let text = stderr(&failed);
        assert!(text.starts_with("error: gates.json: ") && text.contains(message), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_cases_and_deletes_the_temporary_folder() {
    let home = Home::new();
    let cases: Vec<_> =
        (0..2000).map(|number| case(&format!("c{number}"), "none", "1 day", "1 day")).collect();
    let file = home.write("cases.jsonl", &lines(&cases));
    let mut child = eval(&home, &file).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (temporary, started) = (home.0.join("tmp"), Instant::now());
    while is_empty(&temporary) {
        assert!(started.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let stopped = child.wait_with_output().unwrap();
    assert_eq!(
        (stopped.status.code(), stderr(&stopped).as_str()),
        (Some(130), "error: stopped by a signal\n")
    );
    assert!(is_empty(&temporary));
}
