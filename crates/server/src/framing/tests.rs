use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::envelope::Json;

const MAX_MESSAGE_BYTES: usize = 4096;
const PING: &str = r#"{"jsonrpc":"2.0","id":"probe","method":"ping"}"#;

/// A frame in a form that can be compared.
#[derive(Debug, Clone, PartialEq)]
enum Decoded {
    Message(Value),
    Invalid(FrameError),
}

impl From<Frame> for Decoded {
    fn from(frame: Frame) -> Self {
        match frame {
            Frame::Message(value, size) => {
                assert!(size > 0 && size <= MAX_MESSAGE_BYTES + 2);
                Self::Message(reassemble(value))
            }
            Frame::Invalid(reason) => Self::Invalid(reason),
        }
    }
}

/// Builds the message again from its members.
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

/// What happens after the last byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The input pauses for longer than the truncation timeout.
    Pause,
    /// The input ends.
    End,
}

use Then::{End, Pause};

/// Decodes `bytes`, which arrive in pieces of the given sizes.
fn decode(bytes: &[u8], pieces: &[usize], then: Then) -> Vec<Decoded> {
    let mut decoder = Decoder::new(MAX_MESSAGE_BYTES);
    let mut frames = Vec::new();
    let mut rest = bytes;
    let mut pieces = pieces.iter().copied().cycle();
    while !rest.is_empty() {
        let size = pieces.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (piece, more) = rest.split_at(size);
        decoder.buffer().extend_from_slice(piece);
        rest = more;
        while let Some(frame) = decoder.next_frame() {
            frames.push(Decoded::from(frame));
        }
    }
    loop {
        match then {
            End => decoder.end(),
            Pause if decoder.looks_truncated() => decoder.assume_truncated(),
            Pause => break,
        }
        let before = frames.len();
        while let Some(frame) = decoder.next_frame() {
            frames.push(Decoded::from(frame));
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

fn ping() -> Decoded {
    Decoded::Message(serde_json::from_str(PING).unwrap())
}

fn message(value: Value) -> Decoded {
    Decoded::Message(value)
}

fn is_unreadable(frame: &Decoded) -> bool {
    matches!(frame, Decoded::Invalid(FrameError::Unreadable(_)))
}

#[track_caller]
fn refused_then_ping(input: &str) {
    let frames = decode(input.as_bytes(), &[], Pause);
    assert_eq!(frames.len(), 2, "{input:?} gave {frames:?}");
    assert!(is_unreadable(&frames[0]), "{frames:?}");
    assert_eq!(frames[1], ping());
}

#[test]
fn both_framings_can_be_mixed() {
    let input = format!("{PING}\n{}{}\n{PING}\r\n\n\n{PING}\n", framed(PING), framed(PING));
    assert_eq!(decode(input.as_bytes(), &[], Pause), vec![ping(); 5]);
}

#[test]
fn headers_may_have_any_order_case_and_line_ending() {
    let size = PING.len();
    for head in [
        format!("content-type: application/json\r\nCONTENT-LENGTH:{size}\r\n\r\n"),
        format!("Content-Length: {size}\nX-More: yes\n\n"),
        format!("Content-Length: {size}\r\nContent-Length: {size}\r\n\r\n"),
    ] {
        assert_eq!(decode(format!("{head}{PING}").as_bytes(), &[3], Pause), [ping()], "{head:?}");
    }
}

#[test]
fn lengths_are_bytes_not_characters() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"案内"}"#;
    let input = format!("{}{}", framed(body), framed(PING));
    assert_eq!(
        decode(input.as_bytes(), &[1], Pause),
        [message(json!({ "jsonrpc": "2.0", "id": 1, "method": "案内" })), ping()]
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(decode(format!("\u{feff}{PING}\n").as_bytes(), &[1], Pause), [ping()]);
    assert_eq!(decode(format!("\u{feff}{}", framed(PING)).as_bytes(), &[1], Pause), [ping()]);
}

#[test]
fn invalid_input_is_refused_once_and_decoding_resumes() {
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
fn invalid_utf8_is_refused() {
    let mut input = b"{\"a\":\"\xff\"}\n".to_vec();
    input.extend_from_slice(framed(PING).as_bytes());
    let frames = decode(&input, &[], Pause);
    assert!(is_unreadable(&frames[0]));
    assert_eq!(frames[1..], [ping()]);
}

#[test]
fn a_wrong_length_does_not_swallow_the_next_message() {
    // The length is too large: the next message is on a new line inside the declared body.
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\":\n{PING}\n"));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\":\n{}", framed(PING)));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\n{{\"a\n{PING}\n"));
    // The length is too small: the rest of the line is left over.
    refused_then_ping(&format!("Content-Length: 5\r\n\r\n{PING}\n"));
    // The length is too large, but the first line is already a complete message.
    assert_eq!(
        decode(format!("Content-Length: 500\r\n\r\n{PING}\n{PING}\n").as_bytes(), &[], Pause),
        [ping(), ping()]
    );
}

#[test]
fn a_correct_length_wins_even_if_the_body_contains_a_message() {
    let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{{\"x\":\n{PING}\n}}}}");
    let input = format!("{}{}", framed(&body), framed(PING));
    let whole = message(serde_json::from_str(&body).unwrap());
    for pieces in [&[][..], &[1], &[50]] {
        assert_eq!(decode(input.as_bytes(), pieces, Pause), [whole.clone(), ping()]);
    }
    // In a truncated body, the inner line becomes a message only when no more input comes.
    let cut = input.get(..input.find("\n}}").unwrap() + 1).unwrap();
    let frames = decode(cut.as_bytes(), &[], Pause);
    assert!(is_unreadable(&frames[0]) && frames[1] == ping(), "{frames:?}");
}

#[test]
fn a_frame_after_an_invalid_one_is_decoded_without_a_line_break_between() {
    let size = PING.len();
    let japanese = r#"{"jsonrpc":"2.0","id":1,"method":"日本語"}"#;
    let good = framed(PING).repeat(3);
    for bad in [
        format!("Content-Length: {}\r\n\r\n{PING}", size - 2),
        format!("Content-Length: {}\r\n\r\n{PING}", size + 1),
        format!("Content-Length: {}\r\n\r\n{PING}", size + 4),
        format!("Content-Length: {}\r\n\r\n{PING}", MAX_MESSAGE_BYTES + 1),
        format!("Content-Length: {}\r\n\r\n{japanese}", japanese.chars().count()),
        format!("Content-Length: -1\r\n\r\n{PING}"),
        format!("Content-Type: a\r\n\r\n{PING}"),
        format!("Content-Length : {size}\r\n\r\n{PING}"),
        "garbage here".to_owned(),
        PING.to_owned(),
    ] {
        let frames = decode(format!("{bad}{good}").as_bytes(), &[7], Pause);
        let pings = frames.iter().rev().take_while(|frame| **frame == ping()).count();
        assert!(pings >= 3, "{bad:?} gave {frames:?}");
    }
}

#[test]
fn after_invalid_input_a_message_may_be_indented() {
    refused_then_ping(&format!("nonsense\n  {PING}\n"));
    refused_then_ping(&format!("nonsense\n\u{feff}{PING}\n"));
    refused_then_ping(&format!("Content-Length: 500\r\n\r\nxx\n {PING}\n"));
}

#[test]
fn a_line_of_exactly_the_size_limit_is_accepted() {
    let line = |size: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{}\"}}", "x".repeat(size - 25));
    for end in ["\n", "\r\n"] {
        assert_eq!(line(MAX_MESSAGE_BYTES).len(), MAX_MESSAGE_BYTES);
        assert!(matches!(
            decode(format!("{}{end}", line(MAX_MESSAGE_BYTES)).as_bytes(), &[], Pause)[..],
            [Decoded::Message(_)]
        ));
        assert!(matches!(
            decode(format!("{}{end}", line(MAX_MESSAGE_BYTES + 1)).as_bytes(), &[], Pause)[..],
            [Decoded::Invalid(FrameError::TooLong)]
        ));
    }
}

#[test]
fn a_line_that_only_looks_like_a_header_is_refused_when_nothing_follows() {
    let frames = decode(b"Error: something\n", &[], Pause);
    assert!(matches!(&frames[..], [frame] if is_unreadable(frame)), "{frames:?}");
}

#[test]
fn white_space_around_json_is_part_of_the_body() {
    let body = format!("\n{PING}\n");
    assert_eq!(
        decode(format!("{}{}", framed(&body), framed(PING)).as_bytes(), &[1], Pause),
        [ping(), ping()]
    );
    let pretty =
        serde_json::to_string_pretty(&json!({ "jsonrpc": "2.0", "id": 1, "params": [{}, { "a": 1 }] }))
            .unwrap();
    assert_eq!(decode(framed(&pretty).as_bytes(), &[7], Pause).len(), 1);
}

#[test]
fn messages_above_the_size_limit_are_refused_and_skipped() {
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(MAX_MESSAGE_BYTES));
    let too_long = Decoded::Invalid(FrameError::TooLong);
    for pieces in [&[1][..], &[100], &[100_000]] {
        let input = format!("{long}\n{PING}\n{}{}", framed(&long), framed(PING));
        let expected = [too_long.clone(), ping(), too_long.clone(), ping()];
        assert_eq!(decode(input.as_bytes(), pieces, Pause), expected);
        let input = format!("Content-Length: 99999999999\r\n\r\nabc\n{PING}\n");
        assert_eq!(decode(input.as_bytes(), pieces, Pause), [too_long.clone(), ping()]);
    }
}

#[test]
fn the_end_of_the_input_completes_the_last_message() {
    assert_eq!(decode(PING.as_bytes(), &[], End), [ping()]);
    let frames = decode(b"Content-Length: 99\r\n\r\n{\"a\":", &[], End);
    assert!(frames.len() == 1 && is_unreadable(&frames[0]), "{frames:?}");
    let frames = decode(format!("Content-Length: 99\r\n\r\n{PING}").as_bytes(), &[], End);
    assert_eq!(frames.last(), Some(&ping()));
    assert_eq!(decode(b"Content-Le", &[], End).len(), 1);
    assert_eq!(decode(b" \r\n", &[], End), []);
}

/// Random bytes, printed as text when a test fails.
#[derive(Clone)]
struct Noise(Vec<u8>);

impl std::fmt::Debug for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.0.escape_ascii().to_string();
        write!(f, "\"{}\"", text.replace(&"x".repeat(1000), "<1000 x>"))
    }
}

/// Input that a broken client could send: valid parts of both framings, and random bytes.
fn noise() -> impl Strategy<Value = Noise> {
    let piece = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..12),
        2 => Just(PING.as_bytes().to_vec()),
        2 => Just(framed(PING).into_bytes()),
        2 => (0..MAX_MESSAGE_BYTES).prop_map(|size| format!("Content-Length: {size}\r\n\r\n").into_bytes()),
        // Above the size limit, and longer than the input: the length never turns out to be correct.
        1 => Just(format!("Content-Length: {}\r\n\r\n", 100 * MAX_MESSAGE_BYTES).into_bytes()),
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
    fn a_valid_message_on_a_new_line_is_decoded_after_any_input(
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
        let frames = decode(&bytes, &pieces, Pause);
        let expected = Decoded::Message(serde_json::from_str(good).unwrap());
        prop_assert!(frames.contains(&expected), "{:?} gave {frames:?}", Noise(bytes));
    }

    #[test]
    fn the_result_does_not_depend_on_how_reads_divide_the_input(
        Noise(bytes) in noise(),
        pieces in prop::collection::vec(1usize..40, 1..8),
    ) {
        prop_assert_eq!(decode(&bytes, &pieces, End), decode(&bytes, &[], End));
    }

    #[test]
    fn valid_messages_are_decoded_unchanged(
        texts in prop::collection::vec((".*", any::<bool>()), 1..6),
        pieces in prop::collection::vec(1usize..40, 1..8),
    ) {
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for (text, use_headers) in texts {
            let value = json!({ "jsonrpc": "2.0", "method": "m", "params": { "text": text } });
            let body = value.to_string();
            let frame = if use_headers { framed(&body) } else { format!("{body}\n") };
            bytes.extend_from_slice(frame.as_bytes());
            expected.push(Decoded::Message(value));
        }
        prop_assert_eq!(decode(&bytes, &pieces, Pause), expected);
    }
}

/// A framed array of many small messages, each on a line of its own, looks truncated at every line.
#[test]
fn a_framed_array_of_many_messages_is_read_in_linear_time() {
    let decode = |body: &str, max: usize| {
        let mut decoder = Decoder::new(max);
        let framed = format!("Content-Length: {}\r\n\r\n{body}{PING}\n", body.len());
        let mut frames = Vec::new();
        for piece in framed.as_bytes().chunks(8192) {
            decoder.buffer().extend_from_slice(piece);
            frames.extend(std::iter::from_fn(|| decoder.next_frame()));
        }
        frames.len()
    };
    let many = format!("[\n{}\n]", vec![PING; 20_000].join("\n,\n"));
    let long_line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}\n", "x".repeat(1 << 20));
    let started = std::time::Instant::now();
    // The array is one message, however many lines of it look like messages, and the one behind it is another.
    assert_eq!(decode(&many, 16 << 20), 2);
    // A line that is a whole message, at the start of a body that is too long.
    assert!(decode(&format!("{long_line}{}", " ".repeat(3 << 20)), 2 << 20) >= 1);
    // Quadratic time would be minutes; this takes about a second without optimization.
    assert!(started.elapsed() < std::time::Duration::from_secs(40), "{:?}", started.elapsed());
}
