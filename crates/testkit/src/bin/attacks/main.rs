//! Replays attacks on a server: `attacks PROGRAM [NAME…]`. Each attack prints what it cost — peak memory, time to reply,
//! processor time after cancellation — and whether that is within its limits. The exit status says whether all are.

#[cfg(target_os = "linux")]
mod addresses;
mod cache;
mod cpu;
mod memory;
mod place;
mod services;
mod starvation;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// What an attack cost, and whether each figure is within its limit.
#[derive(Default)]
pub struct Figures(Vec<(String, bool)>);

impl Figures {
    /// Adds a figure with its limit.
    pub fn add(mut self, name: &str, value: f64, unit: &str, limit: f64) -> Self {
        self.0.push((format!("{name} {value:.2} {unit} (≤ {limit})"), value <= limit));
        self
    }

    /// Adds something that must hold.
    pub fn check(mut self, name: &str, holds: bool) -> Self {
        self.0.push((name.to_owned(), holds));
        self
    }
}

/// An attack and its name.
type Attack = (&'static str, fn(&place::Place) -> Figures);

const ATTACKS: &[Attack] = &[
    ("stalled bodies", memory::stalled_bodies),
    #[cfg(target_os = "linux")]
    ("slow bodies from two addresses", addresses::slow_bodies),
    ("long heads", memory::long_heads),
    ("413 reaches the client", memory::too_large),
    ("pipelined requests", memory::pipelined_requests),
    ("large calls", memory::large_calls),
    ("slow regular expression", cpu::slow_regex),
    ("slow regular expression, cancelled", cpu::slow_regex_cancelled),
    ("audit of many links", cpu::audit_of_links),
    ("audit of many links, cancelled", cpu::audit_cancelled),
    ("framed array of 20,000 messages", cpu::framed_array),
    ("nested braces", cpu::nested_braces),
    ("text that grows", cpu::growing_text),
    ("100 MB of text that grows", cpu::a_hundred_megabytes),
    ("indexing, cancelled", cpu::indexing_cancelled),
    ("slow upstream", starvation::slow_upstream),
    ("services: slow upstream", services::slow_upstream),
    ("services: callers who leave", services::callers_who_leave),
    ("services: large outputs", services::large_outputs),
    ("services: large outputs over open connections", services::large_outputs_over_open_connections),
    ("services: long campaigns", services::long_campaigns),
    ("services: sign-ups", services::sign_ups),
    ("hostile cache", cache::hostile_cache),
    ("deleted text", cache::deleted_text),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let program = PathBuf::from(arguments.next().expect("usage: attacks PROGRAM [NAME…]"));
    let names: Vec<_> = arguments.collect();
    let mut all_held = true;
    for (name, attack) in ATTACKS {
        if !names.is_empty() && !names.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let place = place::Place::new(&program);
        let started = Instant::now();
        let figures = attack(&place);
        let held = figures.0.iter().all(|(_, held)| *held);
        println!("{} {name} ({:.1} s)", if held { "✓" } else { "✗" }, started.elapsed().as_secs_f64());
        for (figure, held) in &figures.0 {
            println!("    {} {figure}", if *held { "✓" } else { "✗" });
        }
        all_held &= held;
    }
    if all_held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
