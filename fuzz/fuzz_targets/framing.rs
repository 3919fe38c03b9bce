//! Any bytes, cut anywhere: no panic, no endless loop, the same frames however they are cut, and a good message on
//! a fresh line after them is read, unless a right length (of a body that is too long) claims it.
#![no_main]

use annai_server::envelope::Json;
use annai_server::framing::{Decoder, Frame, FrameError};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

const MOST: usize = 4096;
const GOOD: &[u8] = b"\n{\"jsonrpc\":\"2.0\",\"id\":\"fuzz-probe\",\"method\":\"ping\"}\n";

#[derive(Debug, PartialEq)]
enum Got {
    Object { id: Option<String>, method: Option<String> },
    OtherJson,
    Invalid(FrameError),
}

fn decode(bytes: &[u8], piece: usize) -> Vec<Got> {
    let mut decoder = Decoder::new(MOST);
    let mut got = Vec::new();
    for piece in bytes.chunks(piece) {
        decoder.buffer().extend_from_slice(piece);
        take(&mut decoder, &mut got);
    }
    // Nothing more comes for a while.
    while decoder.looks_truncated() {
        decoder.assume_truncated();
        take(&mut decoder, &mut got);
    }
    got
}

fn take(decoder: &mut Decoder, got: &mut Vec<Got>) {
    let text = |raw: &Option<Box<RawValue>>| raw.as_ref().map(|raw| raw.get().to_owned());
    while let Some(frame) = decoder.next_frame() {
        got.push(match frame {
            Frame::Message(Json::Object(message), _) => {
                Got::Object { id: text(&message.id), method: text(&message.method) }
            }
            Frame::Message(..) => Got::OtherJson,
            Frame::Invalid(why) => Got::Invalid(why),
        });
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    let bytes = [bytes, GOOD].concat();
    let whole = decode(&bytes, bytes.len());
    let cut = decode(&bytes, usize::from(piece) + 1);
    assert_eq!(whole, cut);
    let probe = Got::Object { id: Some("\"fuzz-probe\"".into()), method: Some("\"ping\"".into()) };
    let too_long = whole.contains(&Got::Invalid(FrameError::TooLong));
    assert!(too_long || whole.contains(&probe), "{whole:?}");
});
