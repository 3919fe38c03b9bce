//! Any text as the cursor of a list, and as the keys of a list that is read page by page.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_library::fuzzing::cursor(input));
