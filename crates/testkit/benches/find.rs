//! Benchmarks `manual_find` against ripgrep in the same run, on generated manuals of 4, 40 and 400 MB. Every search is for
//! another term, so that no result is cached.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use annai_testkit::bench::{Annai, mark, median, peak_mib};
use serde_json::{Value, json};

const FILE_BYTES: usize = 20_000;
const SECTIONS: usize = 20;
const ROUNDS: usize = 25;
/// A term that every section contains.
const COMMON_TERM: &str = "共通事項";

fn main() -> ExitCode {
    let home = std::env::temp_dir().join(format!("annai-bench-find-{}", std::process::id()));
    let sizes: Vec<_> = [200, 2000, 20_000].map(|files| Manual::generate(&home, files)).into();
    let mut all_met = true;
    let mut report = |name: &str, figure: f64, unit: &str, target: f64| {
        let met = figure <= target;
        println!("{name:46} {figure:>9.2} {unit:5} {target:>8.2} {}", mark(met));
        all_met &= met;
    };
    println!("{:46} {:>9} {:5} {:>8}", "manual_find, 2,000 files, 40 MB", "", "", "target");
    let manual = &sizes[1];
    let started = Instant::now();
    let mut annai = manual.serve();
    assert_eq!(find(&mut annai, &unique_term(0)), 1);
    report("first find, without an index on disk", started.elapsed().as_secs_f64(), "s", 6.0);
    report("peak memory", peak_mib(annai.id()), "MiB", 400.0);
    drop(annai);
    // Files that were written less than a few seconds ago are read again each time, because their timestamps cannot
    // prove that they are unchanged.
    std::thread::sleep(Duration::from_secs(3));
    let mut annai = manual.serve();
    find(&mut annai, &unique_term(1));
    drop(annai);
    let started = Instant::now();
    let mut annai = manual.serve();
    assert_eq!(find(&mut annai, &unique_term(2)), 1);
    report("first find of a process, with the index on disk", started.elapsed().as_secs_f64(), "s", 0.8);
    report("peak memory", peak_mib(annai.id()), "MiB", 400.0);
    for (name, target, query) in [
        ("rare term / rg -c", 0.5, unique_term as fn(usize) -> String),
        ("term in every section / rg -c", 3.0, |_| COMMON_TERM.to_owned()),
    ] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let query = query((round * 79 + 13) % manual.files);
            let started = Instant::now();
            find(&mut annai, &query);
            ours.push(started.elapsed());
            let started = Instant::now();
            let done = Command::new("rg").args(["-c", "-F", &query]).arg(&manual.folder).output();
            theirs.push(started.elapsed());
            assert!(!done.expect("ripgrep is installed").stdout.is_empty(), "{query}");
        }
        let (ours, theirs) = (median(ours).as_secs_f64(), median(theirs).as_secs_f64());
        println!("  {:.1} ms, rg {:.1} ms", ours * 1e3, theirs * 1e3);
        report(name, ours / theirs, "×", target);
    }
    drop(annai);
    println!("\nGrowth: a rare term, compared with reading the metadata of every file");
    for manual in &sizes {
        let mut annai = manual.serve();
        find(&mut annai, &unique_term(0));
        let (mut ours, mut stats) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let started = Instant::now();
            find(&mut annai, &unique_term((round * 79 + 13) % manual.files));
            ours.push(started.elapsed());
            let started = Instant::now();
            stat_files(&manual.folder);
            stats.push(started.elapsed());
        }
        let (ours, stats) = (median(ours).as_secs_f64(), median(stats).as_secs_f64());
        println!("  {:.1} ms, stat {:.1} ms, {:.0} MiB", ours * 1e3, stats * 1e3, peak_mib(annai.id()));
        // Three milliseconds are the overhead of the call; the rest may grow with the number of files, as `stat` does.
        report(
            &format!("{} files, {} MB", manual.files, manual.files / 50),
            (ours - 0.003).max(0.0) / stats,
            "×",
            3.0,
        );
    }
    let _ = std::fs::remove_dir_all(home);
    if all_met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The term that only this file contains.
fn unique_term(file: usize) -> String {
    format!("needle{file:05}x")
}

/// Searches for `query` and returns the number of sections that match.
fn find(annai: &mut Annai, query: &str) -> u64 {
    let found = annai.call("manual_find", json!({ "query": query }));
    found["summary"]["candidates"].as_u64().unwrap_or_else(|| panic!("{}", Value::from(query)))
}

/// Reads the metadata of every file, which is the least that any program must do to notice changed files.
fn stat_files(folder: &Path) -> u64 {
    let mut newest = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let state = entry.metadata().expect("its state");
        newest += if state.is_dir() { stat_files(&entry.path()) } else { state.len() };
    }
    newest
}

/// A generated manual on disk.
struct Manual {
    home: PathBuf,
    folder: PathBuf,
    files: usize,
}

impl Manual {
    /// Generates sections of English and Japanese words with a skewed frequency, as in real text.
    fn generate(home: &Path, files: usize) -> Self {
        let home = home.join(files.to_string());
        let folder = home.join("manuals/big");
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let syllables = ["ka", "ro", "men", "ti", "sul", "ver", "on", "pre", "dal", "ist"];
        let words: Vec<String> = (0..4000_u64)
            .map(|number| match number % 2 {
                0 => (0..2 + number % 3).map(|_| syllables[(next() % 10) as usize]).collect(),
                _ => (0..1 + number % 3)
                    .filter_map(|_| char::from_u32(0x4e00 + (next() % 2500) as u32))
                    .chain(['の', 'は', 'を', 'に'].get((number % 8) as usize).copied())
                    .collect(),
            })
            .collect();
        for number in 0..files {
            let inside = folder.join(format!("d{:02}", number % 40));
            std::fs::create_dir_all(&inside).expect("a folder");
            let mut text = format!("# File {number}\n\n");
            for section in 0..SECTIONS {
                let _ = writeln!(
                    text,
                    "\n## Section {section} {}\n\n{COMMON_TERM}",
                    words[(next() % 4000) as usize]
                );
                while text.len() < FILE_BYTES * (section + 1) / SECTIONS {
                    for _ in 0..12 {
                        // The product of two uniform numbers is small more often than large.
                        let pick = (next() % 4000) * (next() % 4000) / 4000;
                        text.push_str(&words[pick as usize]);
                        text.push(' ');
                    }
                    text.push('\n');
                }
            }
            let _ = writeln!(text, "{}", unique_term(number));
            std::fs::write(inside.join(format!("f{number:05}.md")), text).expect("a file");
        }
        Self { home, folder, files }
    }

    fn serve(&self) -> Annai {
        Annai::start(&self.home, &[])
    }
}
