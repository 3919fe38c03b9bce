//! Any bytes as an event stream, cut anywhere, and the response that its events make up.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| annai_answers::fuzzing::sse(input.1, usize::from(input.0)));
