//! Any bytes as a segment of the disk cache, which is searched when it is accepted.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| annai_library::fuzzing::segment(input));
