//! Several processes on one database file: killed ones, concurrent ones, and ones whose disk is read-only or full. This
//! program is its own helper: with the argument `worker` it plays one of these processes.

#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails loudly")]

mod crashes;
mod disks;
mod sharing;
mod support;
mod worker;

use std::io::Write as _;
use std::process::ExitCode;

type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("a_killed_process_loses_its_leases_and_a_living_one_keeps_its_own", crashes::kill_nine),
    ("a_process_can_die_at_every_step_of_a_run", crashes::every_step),
    ("the_same_key_fifty_times_from_two_processes_runs_once", sharing::same_key),
    ("two_processes_spend_exactly_the_budget", sharing::one_budget),
    ("a_read_only_database_is_unavailable", disks::read_only),
    ("a_full_disk_is_unavailable_and_nothing_is_half_done", disks::full),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "worker") {
        worker::main(&arguments[1..]);
        return ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let mut failed = 0;
    for (name, test) in
        TESTS.iter().filter(|(name, _)| filter.is_none_or(|filter| name.contains(filter.as_str())))
    {
        let outcome = if std::panic::catch_unwind(test).is_ok() { "ok" } else { "FAILED" };
        failed += usize::from(outcome != "ok");
        let _ = writeln!(std::io::stdout(), "test {name} ... {outcome}");
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
