//! `annai eval` on questions with other wordings and splits, about small manuals whose figures are known.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::{Home, annai, stderr, stdout};

fn home() -> Home {
    let home = Home::new();
    home.write(
        "manuals/shop/returns.md",
        "# Returns\n\n## Return period\n\nItems may be sent back within 14 days.\n\n## Gift wrapping\n\nGift wrapping costs 3 euros.\n",
    );
    home.write(
        "manuals/shop/plants.md",
        "# Plants\n\n## Watering\n\nWater the tomatoes every morning before sunrise.\n",
    );
    home
}

/// Asks the questions of `questions.jsonl` with these options.
fn eval(home: &Home, options: &[&str]) -> Output {
    let mut command: Command = annai(home);
    command.arg("eval").arg(Path::new("questions.jsonl")).args(options).output().unwrap()
}

fn report(home: &Home) -> Value {
    report_with(home, &[])
}

fn report_with(home: &Home, options: &[&str]) -> Value {
    let done = eval(home, &[&["--json"], options].concat());
    assert!(done.status.success(), "{}", stderr(&done));
    serde_json::from_str(&stdout(&done)).unwrap()
}

fn row<'a>(report: &'a Value, name: &str) -> &'a Value {
    let rows = report["facets"].as_array().unwrap();
    rows.iter().find(|row| row["facet"] == name).unwrap_or_else(|| panic!("{name}: {report}"))
}

fn value(report: &Value, name: &str, figure: &str) -> Value {
    row(report, name)["figures"][figure]["value"].clone()
}

fn write_questions(home: &Home, questions: &[Value]) {
    let lines: String = questions.iter().map(|question| format!("{question}\n")).collect();
    home.write("questions.jsonl", &lines);
}

fn wrapping() -> Value {
    json!({ "manual_id": "shop", "path": "returns.md", "title": "Gift wrapping" })
}

/// A question that only its other wordings answer, one that they do not change, one that they lead astray, and one that
/// has none.
fn questions() -> Vec<Value> {
    let astray =
        ["watering", "watering tomatoes", "tomatoes every morning", "before sunrise", "plants", "sunrise"];
    let question = |id: &str, split: &str, query: &str, expected: Value| json!({ "id": id, "facet": "f", "split": split, "query": query, "manual_id": "shop", "expected": expected });
    let mut found = question("found", "dev", "zorblax", json!([wrapping()]));
    found["phrasings"] = json!(["gift wrapping"]);
    found["hypothetical"] = json!("Gift wrapping costs ten euros.");
    let mut same = question("same", "dev", "gift wrapping", json!([wrapping()]));
    same["hypothetical"] = json!("Gift wrapping costs ten euros.");
    let mut worse = question("worse", "untouched", "gift wrapping", json!([wrapping()]));
    worse["phrasings"] = json!(astray);
    let bare = question("bare", "untouched", "gift wrapping", json!([wrapping()]));
    let absent = json!({ "id": "absent", "split": "elsewhere", "query": "x", "manual_id": "no-such-manual" });
    vec![found, same, worse, bare, absent]
}

#[test]
fn questions_are_asked_bare_and_with_other_wordings() {
    let home = home();
    write_questions(&home, &questions());
    let report = report(&home);
    let counts =
        |name: &str| ["questions", "worded_questions"].map(|count| row(&report, name)[count].clone());
    assert_eq!(counts("all"), [json!(4), json!(3)]);
    assert_eq!(
        (counts("split:dev"), counts("split:untouched")),
        ([json!(2), json!(2)], [json!(2), json!(1)])
    );
    let names: Vec<_> =
        report["facets"].as_array().unwrap().iter().map(|row| row["facet"].as_str().unwrap()).collect();
    assert_eq!(names, ["f", "split:dev", "split:untouched", "all"]);
    assert_eq!(value(&report, "split:dev", "recall_1"), json!(0.5));
    assert_eq!(value(&report, "split:dev", "worded_recall_1"), json!(1.0));
    assert_eq!(value(&report, "split:dev", "gain_of_wording_mrr"), json!(0.5));
    assert_eq!(value(&report, "split:dev", "gain_of_wording_recall_5"), json!(0.5));
    // The plain search was not run.
    let figures = row(&report, "all")["figures"].as_object().unwrap();
    assert!(figures.keys().all(|name| !name.contains("plain")), "{figures:?}");
    // Of these two, the bare figure counts both, and the gain the one with other wordings.
    let (bare, worded) =
        (value(&report, "split:untouched", "mrr"), value(&report, "split:untouched", "worded_mrr"));
    assert_eq!(bare, json!(1.0));
    assert!(worded.as_f64().unwrap() < 1.0, "{worded}");
    let gain = value(&report, "split:untouched", "gain_of_wording_mrr").as_f64().unwrap();
    assert!((gain - (worded.as_f64().unwrap() - 1.0)).abs() < 1e-9, "{gain}");
    let bins = report["worded_reliability"]["bins"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["finds"].as_u64().unwrap()).sum::<u64>(), 3);
}

#[test]
fn the_plain_search_is_asked_bare_and_with_other_wordings() {
    let home = home();
    write_questions(&home, &questions());
    let report = report_with(&home, &["--plain"]);
    assert_eq!(value(&report, "split:dev", "plain_mrr"), json!(0.5));
    assert_eq!(value(&report, "split:dev", "worded_plain_mrr"), json!(1.0));
    assert_eq!(value(&report, "split:dev", "gain_over_plain_mrr"), json!(0.0));
    assert_eq!(value(&report, "split:dev", "worded_gain_over_plain_mrr"), json!(0.0));
    // The question counts double, and six other wordings outvote it.
    assert_eq!(value(&report, "split:untouched", "plain_mrr"), json!(1.0));
    assert_eq!(value(&report, "split:untouched", "worded_plain_mrr"), json!(0.5));
    let text = stdout(&eval(&home, &["--plain"]));
    let line = text
        .lines()
        .skip_while(|line| !line.starts_with("plain "))
        .find(|line| line.starts_with("split:dev"));
    let words: Vec<_> = line.unwrap().split_whitespace().collect();
    assert_eq!(
        words,
        [
            "split:dev",
            "2",
            "0.500",
            "+0.000",
            "[+0.000,",
            "+0.000]",
            "1.000",
            "+0.000",
            "[+0.000,",
            "+0.000]",
            "0.500",
            "1.000"
        ],
        "{text}"
    );
}

#[test]
fn two_runs_are_compared_question_by_question() {
    let home = home();
    write_questions(&home, &questions());
    let done = eval(&home, &["--plain", "--each", "each.jsonl"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let each = std::fs::read_to_string(home.0.join("each.jsonl")).unwrap();
    let each: Vec<Value> = each.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let file = "shop/returns.md";
    assert_eq!(
        each,
        [
            json!({ "id": "found", "file": file, "bare": 0.0, "worded": 1.0, "plain": 0.0, "worded_plain": 1.0 }),
            json!({ "id": "same", "file": file, "bare": 1.0, "worded": 1.0, "plain": 1.0, "worded_plain": 1.0 }),
            json!({ "id": "worse", "file": file, "bare": 1.0, "worded": 1.0 / 3.0, "plain": 1.0, "worded_plain": 0.5 }),
            json!({ "id": "bare", "file": file, "bare": 1.0, "plain": 1.0 }),
        ]
    );
    home.write(
        "old.jsonl",
        "{\"id\": \"found\", \"file\": \"shop/returns.md\", \"bare\": 0.5, \"worded\": 0.5}\n",
    );
    let compare = |options: &[&str]| {
        let mut command: Command = annai(&home);
        command.args(["eval", "--compare"]).args(options).output().unwrap()
    };
    let text = stdout(&compare(&["old.jsonl", "each.jsonl"]));
    let expected = "\
mean 1 / rank            n  files         A        B  B − A
bare                     1      1     0.500    0.000  -0.500 [-0.500, -0.500]
worded                   1      1     0.500    1.000  +0.500 [+0.500, +0.500]
mean                     1      1     0.500    0.500  +0.000 [+0.000, +0.000]
3 questions are only in B and do not count
";
    assert_eq!(text, expected);
    let report: Value =
        serde_json::from_str(&stdout(&compare(&["old.jsonl", "each.jsonl", "--json"]))).unwrap();
    assert_eq!(report["rows"][0]["difference"], json!({ "value": -0.5, "interval": [-0.5, -0.5] }));
    for (options, message) in [
        (["old.jsonl", "none.jsonl"].as_slice(), "none.jsonl cannot be read"),
        (&["old.jsonl", "questions.jsonl"], "questions.jsonl:1: "),
        (&["old.jsonl"], "--compare <A> <B>"),
        (&["old.jsonl", "each.jsonl", "--plain"], "cannot be used with"),
    ] {
        let done = compare(options);
        assert_eq!(done.status.code(), Some(2), "{options:?}");
        assert!(stderr(&done).contains(message), "{}", stderr(&done));
    }
}

#[test]
fn the_tables_compare_the_rankings_and_list_what_wording_made_worse() {
    let home = home();
    write_questions(&home, &questions());
    let done = eval(&home, &["--misses"]);
    let text = stdout(&done);
    assert!(
        text.contains("\nworse (worse with other wordings: rank 1 before, 3 after) gift wrapping\n"),
        "{text}"
    );
    assert!(text.contains("found (not ready, ") && !text.contains("\nfound (worse"), "{text}");
    assert!(!text.contains("same (") && !text.contains("bare ("), "{text}");
    assert!(text.contains("\nworded: without the 1 of 4 questions that have no other wordings\n"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("split:untouched ")), "{text}");
    let figures = text.lines().skip_while(|line| !line.starts_with("retrieval "));
    assert!(figures.clone().all(|line| line.chars().count() <= 120), "{text}");
    let line = text
        .lines()
        .skip_while(|line| !line.starts_with("comparison "))
        .find(|line| line.starts_with("split:dev"));
    let words: Vec<_> = line.unwrap().split_whitespace().collect();
    assert_eq!(words[1..5], ["2", "0.500", "1.000", "+0.500"], "{text}");
    assert!(!text.contains("plain"), "{text}");
    // Without other wordings, there is nothing to say about them.
    write_questions(&home, &questions()[3..]);
    let text = stdout(&eval(&home, &["--misses"]));
    assert!(
        text.contains("\ncomparison ") && !text.contains(", worded") && !text.contains("worded:"),
        "{text}"
    );
    assert_eq!(report(&home)["worded_reliability"], Value::Null);
}

#[test]
fn rows_of_splits_need_several() {
    let home = home();
    let dev: Vec<_> = questions().into_iter().take(2).collect();
    write_questions(&home, &dev);
    assert_eq!(report(&home)["facets"].as_array().unwrap().len(), 2);
    // A question without a split is one of another kind.
    let mut mixed = dev;
    mixed[0].as_object_mut().unwrap().remove("split");
    write_questions(&home, &mixed);
    let report = report(&home);
    assert_eq!(row(&report, "split:dev")["questions"], 1);
    assert_eq!(report["facets"].as_array().unwrap().len(), 3);
}

#[test]
fn gates_may_name_the_figures_of_wording_and_the_rows_of_splits() {
    let home = home();
    write_questions(&home, &questions());
    let check = |gates: &str| {
        home.write("gates.json", gates);
        eval(&home, &["--gates", "gates.json"])
    };
    let gates = r#"{"questions.jsonl": {
            "split:dev": {"worded_recall_5": {"min": 1}, "gain_of_wording_mrr": {"min": 0.5}, "worded_ready": {"min": 0}},
            "split:elsewhere": {"worded_mrr": {"min": 1}},
            "all": {"worded_millis": {"max": 60000}, "plain_recall_1": {"min": 0}}}}"#;
    let done = check(gates);
    assert!(done.status.success(), "{}", stderr(&done));
    let last = "4 of 4 gates passed; 1 were not checked, because their questions or cases were not asked; \
                1 were not checked, because they need --plain\n";
    assert!(stdout(&done).ends_with(last), "{}", stdout(&done));
    let done = eval(&home, &["--gates", "gates.json", "--plain"]);
    assert!(stdout(&done).contains("5 of 5 gates passed; 1 were not checked"), "{}", stdout(&done));
    let done = check(r#"{"questions.jsonl": {"split:untouched": {"gain_of_wording_mrr": {"min": 0}}}}"#);
    assert_eq!(done.status.code(), Some(1));
    assert!(stderr(&done).contains("split:untouched: gain_of_wording_mrr is -0.667"), "{}", stderr(&done));
}

#[test]
fn wrong_wordings_name_their_question() {
    let home = home();
    let ask = |phrasings: Value| {
        let question = json!({ "id": "q7", "query": "gift", "phrasings": phrasings });
        write_questions(&home, &[question]);
        eval(&home, &[])
    };
    let done = ask(json!((0..9).map(|number| format!("word{number}")).collect::<Vec<_>>()));
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("question q7: manual_find: phrasings: "), "{}", stderr(&done));
    let done = ask(json!("gift wrapping"));
    assert_eq!(done.status.code(), Some(2));
    assert!(stderr(&done).contains("questions.jsonl:1: invalid type: string"), "{}", stderr(&done));
}
