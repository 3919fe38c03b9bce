//! Any text as a file of a manual: its nodes, normalized, through the disk cache.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::nodes(input));
