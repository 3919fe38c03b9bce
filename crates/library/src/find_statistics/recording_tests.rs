use serde_json::Value;

use super::*;
use annai_core::cancellation::Cancellation;
use annai_files::testing::TempFolder;
use annai_search::find;
use annai_search::test_corpus::{TestLibrary, request};

fn lines(folder: &TempFolder) -> Vec<Value> {
    let file = StatsFile { path: folder.0.join("new/folder/stats.jsonl"), vault: None };
    let text = file.read().unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn settings(folder: &TempFolder) -> LibrarySection {
    let path = folder.0.join("new/folder/stats.jsonl");
    LibrarySection { adaptive_stats_path: path.to_str().map(str::to_owned), ..LibrarySection::default() }
}

#[test]
fn a_find_is_recorded_with_the_tokens_that_it_cost_and_the_sections_that_it_added() {
    let library = TestLibrary::new(&[("m/a.md", "# A\n\nrefund\n\n# B\n\nrefund\n")]);
    let (folder, request) = (TempFolder::new(&[]), request("refund"));
    let report = find(&library.context(), &request, &Cancellation::default()).unwrap();
    let adaptive = FindStatistics::new(&settings(&folder));
    for chars in [395, 395] {
        adaptive.record_find(&request, &report, chars);
    }
    adaptive.record_use(&report.trace_id, report.record.matches.first());
    adaptive.record_use(&report.trace_id, None);
    adaptive.flush();
    let lines = lines(&folder);
    let numbers =
        ["est_tokens", "est_tokens_in", "est_tokens_out", "added_evidence_count", "added_est_tokens"];
    let numbers_of = |line: &Value| numbers.map(|field| line[field].as_u64().unwrap());
    // The query has 6 characters: 401 / 4, 6 / 4 and 395 / 4, rounded up.
    assert_eq!(numbers_of(&lines[0]), [101, 2, 99, 2, 101]);
    assert_eq!(numbers_of(&lines[1]), [101, 2, 99, 0, 101], "the second find added nothing");
    assert_eq!((&lines[0]["marginal_gain"], &lines[1]["marginal_gain"]), (&json!(0.0198), &json!(0.0)));
    let uses = ["used", "used_found", "used_widened"].map(|field| lines[1][field].as_u64().unwrap());
    assert_eq!(
        (uses, &lines[0]["used"]),
        ([2, 1, 0], &json!(0)),
        "reads count for the newest record of the trace"
    );
    let mut fields: Vec<_> = lines[0].as_object().unwrap().keys().cloned().collect();
    fields.sort();
    let expected = [
        "added_est_tokens",
        "added_evidence_count",
        "candidate_low_threshold",
        "candidates",
        "cutoff_reason",
        "est_tokens",
        "est_tokens_in",
        "est_tokens_out",
        "file_bias_threshold",
        "marginal_gain",
        "max_stage_applied",
        "query_hash",
        "scanned_files",
        "scope_expanded",
        "trace_hash",
        "ts",
        "unscanned_sections_count",
        "used",
        "used_found",
        "used_widened",
        "warnings",
    ];
    assert_eq!(fields, expected);
}

#[test]
fn a_find_that_costs_nothing_has_no_marginal_gain_and_tuning_that_is_off_leaves_the_statistics_on() {
    let library = TestLibrary::new(&[("m/a.md", "# A\n\nrefund\n")]);
    let (folder, mut request) = (TempFolder::new(&[]), request("refund"));
    let report = find(&library.context(), &request, &Cancellation::default()).unwrap();
    request.query.clear();
    let adaptive = FindStatistics::new(&LibrarySection { adaptive_tuning: false, ..settings(&folder) });
    adaptive.record_find(&request, &report, 0);
    adaptive.flush();
    let lines = lines(&folder);
    assert_eq!(
        (&lines[0]["est_tokens"], &lines[0]["marginal_gain"], lines.len()),
        (&json!(0), &Value::Null, 1)
    );
    assert_eq!(adaptive.thresholds(), Thresholds { candidate_low: 3, file_bias: 0.80 });
}

#[test]
fn a_restart_goes_on_with_the_thresholds_of_the_last_record_and_the_newest_lines_stay() {
    let library = TestLibrary::new(&[("m/a.md", "# A\n\nrefund\n")]);
    let (folder, request) = (TempFolder::new(&[]), request("refund"));
    let mut report = find(&library.context(), &request, &Cancellation::default()).unwrap();
    report.thresholds = Thresholds { candidate_low: 4, file_bias: 0.77 };
    let adaptive = FindStatistics::new(&settings(&folder));
    for _ in 0..MAX_LINES / 100 {
        for chars in 0..101 {
            adaptive.record_find(&request, &report, chars);
        }
        adaptive.flush();
    }
    assert_eq!((lines(&folder).len(), &lines(&folder)[0]["est_tokens_out"]), (MAX_LINES, &json!(1)));
    assert_eq!(FindStatistics::new(&settings(&folder)).thresholds(), report.thresholds);
    let off = LibrarySection { keeps_no_statistics: true, ..settings(&folder) };
    assert_eq!(FindStatistics::new(&off).thresholds(), Thresholds { candidate_low: 3, file_bias: 0.80 });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "another process holds the lock")]
fn the_end_does_not_wait_for_a_disk_that_does_not_answer() {
    let folder = TempFolder::new(&[("new/folder/stats.jsonl", "")]);
    let settings = settings(&folder);
    let path = settings.adaptive_stats_path.clone().unwrap();
    // Whoever holds the lock stops the writer, and the queue fills up behind it.
    let held = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    held.lock().unwrap();
    let adaptive = FindStatistics::new(&settings);
    (0..2 * MAX_WAITING).for_each(|_| adaptive.record_use("trace", None));
    let started = Instant::now();
    adaptive.flush();
    let waited = started.elapsed();
    assert!(waited >= MAX_FLUSH && waited < MAX_FLUSH * 6, "{waited:?}");
    // The writer goes on, so that the thread ends with the test.
    held.unlock().unwrap();
    adaptive.flush();
}
