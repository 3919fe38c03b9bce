//! Any text as the cursor of a list.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::cursor(input));
