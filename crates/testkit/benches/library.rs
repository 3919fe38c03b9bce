//! Benchmarks `vault_search` against ripgrep in the same run, on a generated vault of 2,000 files and 40 MB. Every search is
//! for another term, so that no result is cached.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use annai_testkit::bench::{Annai, mark, median};
use serde_json::json;

const FILES: usize = 2000;
const FILE_BYTES: usize = 20_000;
const ROUNDS: usize = 25;

fn main() -> ExitCode {
    let home = std::env::temp_dir().join(format!("annai-bench-library-{}", std::process::id()));
    let bytes = generate(&home.join("vault"));
    let mut annai = Annai::start(&home, &[]);
    println!("vault_search, {FILES} files, {:.0} MB", bytes as f64 / 1e6);
    println!("{:22} {:>10} {:>10} {:>8} {:>6}", "", "annai", "rg -c", "ratio", "target");
    let mut all_met = true;
    for (name, mode, target) in [("plain", "plain", 1.5), ("regex", "regex", 2.0), ("loose", "loose", 4.0)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let number = (round * 79 + 13) % FILES;
            let (query, pattern) = match mode {
                "plain" => (format!("needle-{number:05}"), format!("needle-{number:05}")),
                "regex" => (format!("ne+dle-{number:05}\\b"), format!("ne+dle-{number:05}\\b")),
                _ => (format!("検査 項目{number:05}"), format!("検査項目{number:05}")),
            };
            let started = Instant::now();
            let reply = annai.call("vault_search", json!({ "query": query, "mode": mode }));
            ours.push(started.elapsed());
            assert_eq!(reply["results"].as_array().map(Vec::len), Some(1), "{query}");
            let mut rg = Command::new("rg");
            match mode {
                "regex" => rg.args(["-c", "-i", "-e", &pattern]),
                _ => rg.args(["-c", "-F", &pattern]),
            };
            let started = Instant::now();
            let done = rg.arg(home.join("vault")).output().expect("ripgrep is installed");
            theirs.push(started.elapsed());
            assert_eq!(done.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "{pattern}");
        }
        let (ours, theirs) = (median(ours), median(theirs));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let mark = mark(ratio <= target);
        let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
        println!("{name:22} {:>10} {:>10} {ratio:8.2} {target:6.1} {mark}", millis(ours), millis(theirs));
        all_met &= ratio <= target;
    }
    drop(annai);
    let _ = std::fs::remove_dir_all(home);
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Generates files of English and Japanese words, each with two unique terms, and returns their total size in bytes.
fn generate(vault: &Path) -> usize {
    let words = [
        "insurance",
        "coverage",
        "保険金",
        "支払い",
        "contract",
        "請求書",
        "guide",
        "対象外",
        "section",
        "手続き",
        "the",
        "of",
        "は",
        "が",
    ];
    let (mut total, mut state) = (0, 0x2545_f491_4f6c_dd1d_u64);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for number in 0..FILES {
        let folder = vault.join(format!("d{:02}", number % 40));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut text = format!("# File {number}\n\n");
        while text.len() < FILE_BYTES {
            for _ in 0..12 {
                text.push_str(words[(next() % words.len() as u64) as usize]);
                text.push(' ');
            }
            text.push('\n');
        }
        text.push_str(&format!("needle-{number:05} and 検査項目{number:05}\n"));
        total += text.len();
        std::fs::write(folder.join(format!("f{number:04}.md")), text).expect("a file");
    }
    total
}
