//! Any bytes as a file in any encoding, read as a whole and in pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| annai_library::fuzzing::encodings(input.1, usize::from(input.0)));
