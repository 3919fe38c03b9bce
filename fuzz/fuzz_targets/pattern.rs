//! Any text as a search pattern or a glob, and the text that is searched.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::pattern(input));
