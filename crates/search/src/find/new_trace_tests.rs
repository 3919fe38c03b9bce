use super::*;
use crate::conclusion::report::IntegrationStatus;
use crate::find::manual_find::{FindReport, find};
use crate::find::request::FindRequest;
use crate::matching::candidate::MatchKind;
use crate::query::terms::Goal;
use crate::test_corpus::{TestLibrary, request};
use annai_core::cancellation::Cancellation;
use annai_files::FileVersion;

const FILES: &[(&str, &str)] = &[
    ("m/a.md", "# A\nthe refund of cards\n# B\na refund of gifts\n# C\na refund of nothing else\n"),
    ("m/b.md", "# D\nother words\n"),
];

fn person(subject: &str) -> Principal {
    Principal::Person { issuer: "issuer".into(), subject: subject.into() }
}

fn found(library: &TestLibrary, request: &FindRequest) -> FindReport {
    find(&library.context(), request, &Cancellation::default()).unwrap()
}

/// Hands out the best match that was not handed out yet, as a read of it would.
fn read_next(library: &TestLibrary, report: &FindReport) {
    let (record, now) = (&report.record, Instant::now());
    let handed_out = library.ledger.of(&report.trace_id, now);
    let next = record.best().find(|found| !handed_out.has_match(record, found)).unwrap();
    let file = record.file_of(next).unwrap();
    let version = FileVersion::new(file.manual_id.as_deref(), &file.path, &file.sha256);
    library.ledger.record(&report.trace_id, version, next.span.clone(), now);
}

/// How many candidates were handed out, and how many not.
fn read(report: &FindReport) -> (usize, usize) {
    (report.summary.coverage.handed_out, report.summary.coverage.unread)
}

fn first_action(report: &FindReport) -> &NextAction {
    report.next_actions.first().expect("an action")
}

#[test]
fn the_same_question_of_the_same_caller_goes_on_where_it_was() {
    let library = TestLibrary::new(FILES);
    let owner = request("refund");
    let first = found(&library, &owner);
    assert_eq!((read(&first), first_action(&first).kind), ((0, 3), "manual_read"));
    read_next(&library, &first);
    let second = found(&library, &owner);
    assert_eq!(read(&second), (1, 2));
    assert_ne!(first_action(&second).params, first_action(&first).params);
    // What is read for the second one counts for the third one, with what was read before.
    read_next(&library, &second);
    assert_eq!(read(&found(&library, &FindRequest { query: " refund ".into(), ..request("") })), (2, 1));
    // The first trace stays as it was.
    assert_eq!(
        library.traces.get(&Principal::Owner, &first.trace_id, "trace_id", Instant::now()).unwrap().matches,
        first.record.matches
    );
    assert_eq!(read(&found(&library, &request("refund gifts"))).0, 0, "another question");
    for (other, request) in [
        ("fresh", FindRequest { is_fresh: true, ..request("refund") }),
        ("another caller", FindRequest { owner: person("1"), ..request("refund") }),
    ] {
        let report = found(&library, &request);
        assert_eq!(
            (report.summary.coverage.handed_out, report.summary.coverage.read_ledger),
            (0, true),
            "{other}"
        );
        assert_eq!(
            first_action(&report).params.as_ref().unwrap()["ref"],
            first_action(&first).params.as_ref().unwrap()["ref"],
            "{other}"
        );
    }
}

#[test]
fn the_ledgers_of_two_callers_do_not_mix() {
    let library = TestLibrary::new(FILES);
    let [one, other] = ["1", "2"].map(|subject| FindRequest { owner: person(subject), ..request("refund") });
    let (mine, theirs) = (found(&library, &one), found(&library, &other));
    read_next(&library, &mine);
    assert_eq!((read(&found(&library, &one)), read(&found(&library, &other))), ((1, 2), (0, 3)));
    read_next(&library, &theirs);
    read_next(&library, &theirs);
    // The newest trace of the other caller had nothing handed out: those reads were for an earlier one.
    assert_eq!((read(&found(&library, &one)), read(&found(&library, &other))), ((1, 2), (0, 3)));
    let now = Instant::now();
    assert!(library.traces.get(&person("2"), &mine.trace_id, "trace_id", now).is_err());
}

#[test]
fn anonymous_callers_have_no_ledger_and_say_so() {
    let library = TestLibrary::new(FILES);
    let anonymous = FindRequest { owner: Principal::Anonymous, ..request("refund") };
    let first = found(&library, &anonymous);
    read_next(&library, &first);
    let second = found(&library, &anonymous);
    assert_eq!((read(&second), second.summary.coverage.read_ledger), ((0, 3), false));
    assert_eq!(first_action(&second).kind, "manual_read");
}

#[test]
fn with_goal_everything_a_find_is_ready_when_all_evidence_was_read() {
    let library = TestLibrary::new(FILES);
    let everything = FindRequest { goal: Some(Goal::Everything), ..request("refund") };
    for unread in (1..=3).rev() {
        let report = found(&library, &everything);
        assert_eq!((report.summary.coverage.unread, first_action(&report).kind), (unread, "manual_read"));
        assert_eq!(report.summary.integration_status, IntegrationStatus::NeedsFollowup);
        read_next(&library, &report);
    }
    let done = found(&library, &everything);
    assert_eq!((done.summary.integration_status, read(&done)), (IntegrationStatus::Ready, (3, 0)));
    assert_eq!(first_action(&done).kind, "stop");
    // The words of a question state the goal too, and an argument wins.
    assert_eq!(found(&library, &request("refund を全て教えて")).summary.coverage.goal, Goal::Everything);
    let answer = FindRequest { goal: Some(Goal::Answer), ..request("refund を全て教えて") };
    assert_eq!(found(&library, &answer).summary.coverage.goal, Goal::Answer);
}

#[test]
fn a_find_that_went_beyond_its_manual_stays_with_it() {
    let other: String = (0..250).map(|number| format!("# Refund {number}\nrefund window\n")).collect();
    let library = TestLibrary::new(&[("a/x.md", &other), ("h/y.md", "# H\nsome other words and a refund\n")]);
    let report = found(&library, &FindRequest { manual_id: Some("h".into()), ..request("refund window") });
    let summary = &report.summary;
    assert!(summary.scope_expanded);
    assert_eq!((summary.candidates, summary.outside_candidates), (251, Some(250)));
    assert_eq!((summary.integration_status, summary.gap_count), (IntegrationStatus::NeedsFollowup, 1));
    let best: Vec<_> = report.record.best().take(2).map(|found| (found.is_outside, found.kind)).collect();
    assert_eq!(best, [(false, MatchKind::Exact), (true, MatchKind::Exact)]);
    let place = &first_action(&report).params.as_ref().unwrap()["ref"];
    assert_eq!((&place["manual_id"], &place["path"]), (&"h".into(), &"y.md".into()));
    let notice = "1 of the candidates are in the manual h; the other 250 are in other manuals and marked with outside: true.";
    assert_eq!(summary.coverage.notices, [notice]);
    let files = &summary.coverage;
    assert_eq!((files.files_total, summary.scanned_files, files.unscanned_files), (2, 2, 0));
}

#[test]
fn manuals_that_were_not_searched_count_as_unscanned() {
    let library =
        TestLibrary::new(&[("a/x.md", "# A\nrefund\n"), ("a/z.md", "# B\n"), ("h/y.md", "# H\nrefund\n")]);
    let request = FindRequest { manual_id: Some("h".into()), max_stage: 3, ..request("refund") };
    let FindReport { summary, .. } = found(&library, &request);
    assert_eq!(
        (summary.scanned_files, summary.coverage.unscanned_files, summary.coverage.files_total),
        (1, 2, 3)
    );
    assert_eq!((summary.unscanned_sections_count, summary.outside_candidates), (2, None));
}
