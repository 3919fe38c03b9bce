//! Any text as an artifact with flowcharts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::mermaid(input));
