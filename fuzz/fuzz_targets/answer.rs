//! Any text as the answer of a model.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| annai_answers::fuzzing::answer(input));
