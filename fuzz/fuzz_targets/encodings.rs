//! Any bytes as a file in any encoding.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| annai_library::fuzzing::encodings(input));
