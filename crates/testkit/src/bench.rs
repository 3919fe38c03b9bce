//! What the benches share: the programs they measure, and how they count.

use std::path::PathBuf;

/// A program that cargo built beside the bench.
pub fn built(name: &str) -> PathBuf {
    let bench = std::env::current_exe().expect("this program's path");
    let program = bench.ancestors().nth(2).expect("the profile's folder").join(name);
    assert!(program.exists(), "{} is not built; use scripts/bench", program.display());
    program
}

/// The middle one of several measurements.
pub fn median<T: Copy + PartialOrd>(mut measured: Vec<T>) -> T {
    measured.sort_by(|one, other| one.partial_cmp(other).expect("no NaN is measured"));
    measured[measured.len() / 2]
}

/// A process's memory in MiB.
pub fn resident_mib(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a Linux /proc");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).expect("a number") / 1024.0
}

/// Whether a bar was met, for the table.
pub fn mark(good: bool) -> &'static str {
    if good { "✓" } else { "✗" }
}
