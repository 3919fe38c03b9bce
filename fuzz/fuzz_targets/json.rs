//! Any text as a JSON artifact, and as a JSON file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::json(input));
