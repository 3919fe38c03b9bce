use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const MOST: usize = 4096;
const PING: &str = r#"{"jsonrpc":"2.0","id":"probe","method":"ping"}"#;

/// A frame, whatever its size.
#[derive(Debug, Clone, PartialEq)]
enum Got {
    Message(Value),
    Refused(Refused),
}

impl From<Frame> for Got {
    fn from(frame: Frame) -> Self {
        match frame {
            Frame::Message(value, size) => {
                assert!(size > 0 && size <= MOST + 2);
                Self::Message(reassemble(value))
            }
            Frame::Refused(why) => Self::Refused(why),
        }
    }
}

/// The message again, from its members.
fn reassemble(json: Json) -> Value {
    let Json::Object(message) = json else { return Value::Null };
    let members = [
        ("jsonrpc", message.jsonrpc),
        ("id", message.id),
        ("method", message.method),
        ("params", message.params),
        ("result", message.result),
        ("error", message.error),
    ];
    let members = members.into_iter().filter_map(|(name, value)| {
        value.map(|value| (name.to_owned(), serde_json::from_str(value.get()).unwrap_or(Value::Null)))
    });
    Value::Object(members.collect())
}

/// What follows the last byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Silence,
    End,
}

use Then::{End, Silence};

/// Everything that comes out of `bytes`, handed over in pieces of the given sizes.
fn decode(bytes: &[u8], pieces: &[usize], then: Then) -> Vec<Got> {
    let mut decoder = Decoder::new(MOST);
    let mut frames = Vec::new();
    let mut rest = bytes;
    let mut pieces = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let size = pieces.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, more) = rest.split_at(size);
        decoder.buffer().extend_from_slice(piece);
        rest = more;
        while let Some(frame) = decoder.next_frame() {
            frames.push(Got::from(frame));
        }
    }
    loop {
        match then {
            End => decoder.end(),
            Silence if decoder.suspects() => decoder.give_up(),
            Silence => break,
        }
        let before = frames.len();
        while let Some(frame) = decoder.next_frame() {
            frames.push(Got::from(frame));
        }
        if then == End && frames.len() == before {
            break;
        }
    }
    frames
}

fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

fn ping() -> Got {
    Got::Message(serde_json::from_str(PING).unwrap())
}

fn message(value: Value) -> Got {
    Got::Message(value)
}

fn is_unreadable(frame: &Got) -> bool {
    matches!(frame, Got::Refused(Refused::Unreadable(_)))
}

#[track_caller]
fn refused_then_ping(input: &str) {
    let frames = decode(input.as_bytes(), &[], Silence);
    assert_eq!(frames.len(), 2, "{input:?} gave {frames:?}");
    assert!(is_unreadable(&frames[0]), "{frames:?}");
    assert_eq!(frames[1], ping());
}

#[test]
fn both_framings_one_after_the_other() {
    let input = format!("{PING}\n{}{}\n{PING}\r\n\n\n{PING}\n", framed(PING), framed(PING));
    assert_eq!(decode(input.as_bytes(), &[], Silence), vec![ping(); 5]);
}

#[test]
fn headers_in_any_order_case_and_line_ending() {
    let size = PING.len();
    for head in [
        format!("content-type: application/json\r\nCONTENT-LENGTH:{size}\r\n\r\n"),
        format!("Content-Length: {size}\nX-More: yes\n\n"),
        format!("Content-Length: {size}\r\nContent-Length: {size}\r\n\r\n"),
    ] {
        assert_eq!(decode(format!("{head}{PING}").as_bytes(), &[3], Silence), [ping()], "{head:?}");
    }
}

#[test]
fn lengths_are_bytes_not_characters() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"案内"}"#;
    let input = format!("{}{}", framed(body), framed(PING));
    assert_eq!(
        decode(input.as_bytes(), &[1], Silence),
        [message(json!({ "jsonrpc": "2.0", "id": 1, "method": "案内" })), ping()]
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(decode(format!("\u{feff}{PING}\n").as_bytes(), &[1], Silence), [ping()]);
    assert_eq!(decode(format!("\u{feff}{}", framed(PING)).as_bytes(), &[1], Silence), [ping()]);
}

#[test]
fn what_cannot_be_read_is_refused_once_and_reading_resumes() {
    refused_then_ping(&format!("nonsense\nmore nonsense\n{PING}\n"));
    refused_then_ping(&format!("{{\"cut\n{PING}\n"));
    refused_then_ping(&format!("{{\"two\":1}}{{\"on one line\":2}}\n{}", framed(PING)));
    refused_then_ping(&format!("Content-Length: twelve\r\n\r\n{PING}\n"));
    refused_then_ping(&format!("Content-Length: -1\r\n\r\n{PING}\n"));
    refused_then_ping(&format!("Content-Length: 1\r\n{}", framed(PING)));
    refused_then_ping(&format!("Content-Length: 99999999999999999999999\r\n\r\n{PING}\n"));
    refused_then_ping(&format!("X-Only: 1\r\n\r\n{}", framed(PING)));
    refused_then_ping(&format!("Content-Length: 10\r\n{PING}\n"));
    refused_then_ping(&format!("Content-Length: 0\r\n\r\n{}", framed(PING)));
    refused_then_ping(&format!("{}{}", framed("not json"), framed(PING)));
    refused_then_ping(&format!("{}\r\n{}", framed("{\"a\":"), framed(PING)));
    refused_then_ping(&format!("{}\n{PING}\n", framed("{\"a\" 1}")));
}

#[test]
fn bad_utf8_is_refused() {
    let mut input = b"{\"a\":\"\xff\"}\n".to_vec();
    input.extend_from_slice(framed(PING).as_bytes());
    let frames = decode(&input, &[], Silence);
    assert!(is_unreadable(&frames[0]));
    assert_eq!(frames[1..], [ping()]);
}

#[test]
fn a_length_that_lies_swallows_nothing() {
    // Too long: the next message is on a fresh line inside the promised body.
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\":\n{PING}\n"));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\":\n{}", framed(PING)));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\n{PING}\n"));
    // Too short: the rest of the line tells.
    refused_then_ping(&format!("Content-Length: 5\r\n\r\n{PING}\n"));
    // Too long, but the first line is a whole message already.
    assert_eq!(
        decode(format!("Content-Length: 500\r\n\r\n{PING}\n{PING}\n").as_bytes(), &[], Silence),
        [ping(), ping()]
    );
}

#[test]
fn a_right_length_wins_whatever_the_body_holds() {
    let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"x\":\n{PING}\n}}}}");
    let input = format!("{}{}", framed(&body), framed(PING));
    let whole = message(serde_json::from_str(&body).unwrap());
    for pieces in [&[][..], &[1], &[50]] {
        assert_eq!(decode(input.as_bytes(), pieces, Silence), [whole.clone(), ping()]);
    }
    // Cut there, the inner line is taken for a message only when nothing more comes.
    let cut = input.get(..input.find("\n}}").unwrap() + 1).unwrap();
    let frames = decode(cut.as_bytes(), &[], Silence);
    assert!(is_unreadable(&frames[0]) && frames[1] == ping(), "{frames:?}");
}

#[test]
fn frames_that_follow_bad_ones_without_a_line_break_are_read() {
    let size = PING.len();
    let japanese = r#"{"jsonrpc":"2.0","id":1,"method":"日本語"}"#;
    let good = framed(PING).repeat(3);
    for bad in [
        format!("Content-Length: {}\r\n\r\n{PING}", size - 2),
        format!("Content-Length: {}\r\n\r\n{PING}", size + 1),
        format!("Content-Length: {}\r\n\r\n{PING}", size + 4),
        format!("Content-Length: {}\r\n\r\n{PING}", MOST + 1),
        format!("Content-Length: {}\r\n\r\n{japanese}", japanese.chars().count()),
        format!("Content-Length: -1\r\n\r\n{PING}"),
        format!("Content-Type: a\r\n\r\n{PING}"),
        format!("Content-Length : {size}\r\n\r\n{PING}"),
        "garbage here".to_owned(),
        PING.to_owned(),
    ] {
        let frames = decode(format!("{bad}{good}").as_bytes(), &[7], Silence);
        let pings = frames.iter().rev().take_while(|frame| **frame == ping()).count();
        assert!(pings >= 3, "{bad:?} gave {frames:?}");
    }
}

#[test]
fn after_bad_input_a_message_may_be_indented() {
    refused_then_ping(&format!("nonsense\n  {PING}\n"));
    refused_then_ping(&format!("nonsense\n\u{feff}{PING}\n"));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\nxx\n {PING}\n"));
}

#[test]
fn a_line_of_just_the_limit_is_read() {
    let line = |size: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\"}}", "x".repeat(size - 25));
    for end in ["\n", "\r\n"] {
        assert_eq!(line(MOST).len(), MOST);
        assert!(matches!(
            decode(format!("{}{end}", line(MOST)).as_bytes(), &[], Silence)[..],
            [Got::Message(_)]
        ));
        assert!(matches!(
            decode(format!("{}{end}", line(MOST + 1)).as_bytes(), &[], Silence)[..],
            [Got::Refused(Refused::TooLong)]
        ));
    }
}

#[test]
fn a_line_that_only_looks_like_a_header_is_refused_when_nothing_follows() {
    let frames = decode(b"Error: something\n", &[], Silence);
    assert!(matches!(&frames[..], [frame] if is_unreadable(frame)), "{frames:?}");
}

#[test]
fn white_space_around_a_body_belongs_to_it() {
    let body = format!("\n{PING}\n");
    assert_eq!(
        decode(format!("{}{}", framed(&body), framed(PING)).as_bytes(), &[1], Silence),
        [ping(), ping()]
    );
    let pretty =
        serde_json::to_string_pretty(&json!({ "jsonrpc": "2.0", "id": 1, "params": [{}, { "a": 1 }] }))
            .unwrap();
    assert_eq!(decode(framed(&pretty).as_bytes(), &[7], Silence).len(), 1);
}

#[test]
fn what_is_too_long_is_refused_and_skipped() {
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(MOST));
    let too_long = Got::Refused(Refused::TooLong);
    for pieces in [&[1][..], &[100], &[100_000]] {
        let input = format!("{long}\n{PING}\n{}{}", framed(&long), framed(PING));
        let expected = [too_long.clone(), ping(), too_long.clone(), ping()];
        assert_eq!(decode(input.as_bytes(), pieces, Silence), expected);
        let input = format!("Content-Length: 99999999999\r\n\r\nabc\n{PING}\n");
        assert_eq!(decode(input.as_bytes(), pieces, Silence), [too_long.clone(), ping()]);
    }
}

#[test]
fn the_end_of_the_input_ends_the_last_message() {
    assert_eq!(decode(PING.as_bytes(), &[], End), [ping()]);
    let frames = decode(b"Content-Length: 99\r\n\r\n{\"a\":", &[], End);
    assert!(frames.len() == 1 && is_unreadable(&frames[0]), "{frames:?}");
    let frames = decode(format!("Content-Length: 99\r\n\r\n{PING}").as_bytes(), &[], End);
    assert_eq!(frames.last(), Some(&ping()));
    assert_eq!(decode(b"Content-Le", &[], End).len(), 1);
    assert_eq!(decode(b" \r\n", &[], End), []);
}

/// Bytes that print as text.
#[derive(Clone)]
struct Noise(Vec<u8>);

impl std::fmt::Debug for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.escape_ascii().to_string();
        write!(f, "\"{}\"", text.replace(&"x".repeat(1000), "<1000 x>"))
    }
}

/// Bytes that a confused client could send: real pieces of both framings, and noise.
fn noise() -> impl Strategy<Value = Noise> {
    let piece = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..12),
        2 => Just(PING.as_bytes().to_vec()),
        2 => Just(framed(PING).into_bytes()),
        2 => (0..MOST).prop_map(|size| format!("Content-Length: {size}\r\n\r\n").into_bytes()),
        // Longer than is read, and never reached: a right length wins.
        1 => Just(format!("Content-Length: {}\r\n\r\n", 100 * MOST).into_bytes()),
        1 => Just(b"Content-Length: 5\r\n".to_vec()),
        1 => Just(b"content-type: x\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(b"\n".to_vec()),
        1 => Just(b"{\"jsonrpc\":\"2.0\",\"id\":7,".to_vec()),
        1 => Just(b"\"params\":".to_vec()),
        1 => Just(b"[{}]\n".to_vec()),
        1 => Just(vec![b'x'; 5000]),
        1 => Just(BOM.to_vec()),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| Noise(pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_good_message_on_a_fresh_line_is_read_after_anything(
        Noise(mut bytes) in noise(),
        cut in any::<prop::sample::Index>(),
        use_headers in any::<bool>(),
        pieces in prop::collection::vec(1usize..200, 1..8),
    ) {
        bytes.truncate(cut.index(bytes.len() + 1));
        bytes.push(b'\n');
        let good = r#"{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"x","arguments":{}}}"#;
        let text = if use_headers { framed(good) } else { format!("{good}\n") };
        bytes.extend_from_slice(text.as_bytes());
        let frames = decode(&bytes, &pieces, Silence);
        let wanted = Got::Message(serde_json::from_str(good).unwrap());
        prop_assert!(frames.contains(&wanted), "{:?} gave {frames:?}", Noise(bytes));
    }

    #[test]
    fn what_is_decoded_does_not_depend_on_how_it_was_cut(
        Noise(bytes) in noise(),
        pieces in prop::collection::vec(1usize..40, 1..8),
    ) {
        prop_assert_eq!(decode(&bytes, &pieces, End), decode(&bytes, &[], End));
    }

    #[test]
    fn good_messages_are_never_changed(
        texts in prop::collection::vec((".*", any::<bool>()), 1..6),
        pieces in prop::collection::vec(1usize..40, 1..8),
    ) {
        let mut bytes = Vec::new();
        let mut wanted = Vec::new();
        for (text, use_headers) in texts {
            let value = json!({ "jsonrpc": "2.0", "method": "m", "params": { "text": text } });
            let body = value.to_string();
            let frame = if use_headers { framed(&body) } else { format!("{body}\n") };
            bytes.extend_from_slice(frame.as_bytes());
            wanted.push(Got::Message(value));
        }
        prop_assert_eq!(decode(&bytes, &pieces, Silence), wanted);
    }
}
