//! Any text as a question.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::query(input));
