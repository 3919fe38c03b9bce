//! Any bytes as a segment of the disk cache.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| annai_library::fuzzing::segment(input));
