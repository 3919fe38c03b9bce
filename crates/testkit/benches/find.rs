//! What `manual_find` costs, beside Debian's ripgrep in the same run: generated manuals of 4, 40 and 400 MB, another
//! unique term each time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use annai_testkit::bench::{Annai, mark, median, peak_mib};
use serde_json::{Value, json};

const FILE_BYTES: usize = 20_000;
const SECTIONS: usize = 20;
const ROUNDS: usize = 25;
/// Stands in every section.
const EVERYWHERE: &str = "共通事項";

fn main() -> ExitCode {
    let home = std::env::temp_dir().join(format!("annai-bench-find-{}", std::process::id()));
    let sizes: Vec<_> = [200, 2000, 20_000].map(|files| Manual::generate(&home, files)).into();
    let mut good = true;
    let mut bar = |name: &str, figure: f64, unit: &str, most: f64| {
        let met = figure <= most;
        println!("{name:46} {figure:>9.2} {unit:5} {most:>8.2} {}", mark(met));
        good &= met;
    };
    println!("{:46} {:>9} {:5} {:>8}", "manual_find, 2,000 files, 40 MB", "", "", "bar");
    let manual = &sizes[1];
    let started = Instant::now();
    let mut annai = manual.serve();
    assert_eq!(find(&mut annai, &unique(0)), 1);
    bar("first find, nothing on disk", started.elapsed().as_secs_f64(), "s", 6.0);
    bar("most memory", peak_mib(annai.id()), "MiB", 400.0);
    drop(annai);
    // Files that were just written are looked at twice; from here on they are old enough.
    std::thread::sleep(Duration::from_secs(3));
    let mut annai = manual.serve();
    find(&mut annai, &unique(1));
    drop(annai);
    let started = Instant::now();
    let mut annai = manual.serve();
    assert_eq!(find(&mut annai, &unique(2)), 1);
    bar("first find of a process, with the disk's cache", started.elapsed().as_secs_f64(), "s", 0.8);
    bar("most memory", peak_mib(annai.id()), "MiB", 400.0);
    for (name, most, query) in [
        ("rare term, beside rg -c", 0.5, unique as fn(usize) -> String),
        ("term in every section, beside rg -c", 3.0, |_| EVERYWHERE.to_owned()),
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
        bar(name, ours / theirs, "×", most);
    }
    drop(annai);
    println!("\nGrowth: a rare term, beside a look at the state of every file");
    for manual in &sizes {
        let mut annai = manual.serve();
        find(&mut annai, &unique(0));
        let (mut ours, mut looks) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let started = Instant::now();
            find(&mut annai, &unique((round * 79 + 13) % manual.files));
            ours.push(started.elapsed());
            let started = Instant::now();
            look(&manual.folder);
            looks.push(started.elapsed());
        }
        let (ours, looks) = (median(ours).as_secs_f64(), median(looks).as_secs_f64());
        println!("  {:.1} ms, states {:.1} ms, {:.0} MiB", ours * 1e3, looks * 1e3, peak_mib(annai.id()));
        // A few milliseconds are the call's own; the rest grows with the files, as looking at them does.
        bar(
            &format!("{} files, {} MB", manual.files, manual.files / 50),
            (ours - 0.003).max(0.0) / looks,
            "×",
            3.0,
        );
    }
    let _ = std::fs::remove_dir_all(home);
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The term that only one file has.
fn unique(file: usize) -> String {
    format!("needle{file:05}x")
}

/// How many sections a find counts.
fn find(annai: &mut Annai, query: &str) -> u64 {
    let found = annai.call("manual_find", json!({ "query": query }));
    found["summary"]["candidates"].as_u64().unwrap_or_else(|| panic!("{}", Value::from(query)))
}

/// Looks at the state of every file, as any program that wants to be in step must.
fn look(folder: &Path) -> u64 {
    let mut newest = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let state = entry.metadata().expect("its state");
        newest += if state.is_dir() { look(&entry.path()) } else { state.len() };
    }
    newest
}

/// A generated manual.
struct Manual {
    home: PathBuf,
    folder: PathBuf,
    files: usize,
}

impl Manual {
    /// Sections of English and Japanese prose from a few thousand words, the usual ones often and the others rarely.
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
                    "\n## Section {section} {}\n\n{EVERYWHERE}",
                    words[(next() % 4000) as usize]
                );
                while text.len() < FILE_BYTES * (section + 1) / SECTIONS {
                    for _ in 0..12 {
                        // The product of two even draws is small more often than not.
                        let pick = (next() % 4000) * (next() % 4000) / 4000;
                        text.push_str(&words[pick as usize]);
                        text.push(' ');
                    }
                    text.push('\n');
                }
            }
            let _ = writeln!(text, "{}", unique(number));
            std::fs::write(inside.join(format!("f{number:05}.md")), text).expect("a file");
        }
        Self { home, folder, files }
    }

    fn serve(&self) -> Annai {
        Annai::start(&self.home, &[])
    }
}
