//! Takes any input through the readers of what callers and sponsors send, and panics when what a reader promises does not
//! hold.

use std::net::Ipv4Addr;

use annai_egress::{Access, RequestHeaders, Target, classify};
use proptest::prelude::*;

use crate::address_range::AddressRange;
use crate::domain::email::Email;
use crate::domain::keywords::{Field, Intent};
use crate::domain::text::{Name, WebAddress};
use crate::rest::hostile_requests::check_request;

/// Any text as an e-mail address, a URL, a range of addresses, a header, keywords, a body and a query string.
fn check_any(input: &str) {
    check_request(input);
    check_texts(input);
    check_target(input);
    if let Ok(range) = AddressRange::parse(input) {
        assert_eq!(AddressRange::parse(&range.to_string()).ok(), Some(range));
    }
    if let Some((name, value)) = input.split_once(':')
        && RequestHeaders::parse([(name, value)]).is_ok()
    {
        assert!(!value.contains(['\r', '\n', '\0']) && !name.contains([' ', '\r', '\n']));
        assert!(!name.eq_ignore_ascii_case("host") && !name.eq_ignore_ascii_case("content-length"));
    }
}

fn check_texts(input: &str) {
    if let Ok(email) = Email::parse(input) {
        assert_eq!(Email::parse(email.as_str()).as_ref(), Ok(&email));
        assert_eq!(Email::parse(&email.lower()).map(|lower| lower.lower()), Ok(email.lower()));
        assert!(!email.as_str().contains(|letter: char| letter.is_control() || letter.is_whitespace()));
    }
    if let Ok(name) = Name::parse(input) {
        assert!((1..=500).contains(&name.chars().count()) && !name.contains('\0'));
        let _ = Intent::parse(&name).matches(&Field::new(&name));
    }
    if let Ok(address) = WebAddress::parse(input) {
        assert!(address.starts_with("http") && !address.contains(char::is_whitespace));
    }
}

/// A URL that requests may go to leads to no private address, however that is written.
fn check_target(input: &str) {
    for access in [Access::PublicOnly, Access::AllowPrivate] {
        let Ok(target) = Target::parse(input, access) else { continue };
        assert_eq!(Target::parse(target.as_str(), access).as_ref().ok(), Some(&target), "{target:?}");
        assert!(!target.host().is_empty() && !target.as_str().contains('#'));
        assert!(access != Access::PublicOnly || target.as_str().starts_with("https://"));
        // The resolver of the system reads more spellings of an address than the URL standard has.
        let host = target.host().trim_matches(['[', ']']).trim_end_matches('.');
        if let Ok(address) = host.parse() {
            assert!(access.permits(classify(address)), "{host}");
        }
        let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        assert!(!is_number || host.parse::<Ipv4Addr>().is_ok(), "{host}");
    }
}

/// Pieces of what callers and sponsors send.
const PIECES: &[&str] = &[
    "https://",
    "http://",
    "user@",
    "127.0.0.1",
    "0x7f.1",
    "2130706433",
    "[::ffff:10.0.0.1]",
    "[fe80::1%25en0]",
    "169.254.169.254",
    "localhost",
    "example.com",
    "例え.jp",
    "。",
    ".",
    ":8443",
    "/",
    "\\",
    "#",
    "?",
    "@",
    "10.0.0.0/8",
    "::/0",
    "Authorization: ",
    "Host: ",
    "\r\n",
    "q=",
    "&limit=3",
    "&max_budget_cents=-1",
    "%E6%A1%88",
    "%ff",
    "%0",
    "+",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"name\":\"a\"",
    "\"sponsor\":\"b\"",
    "\"price_cents\":5",
    "\"budget_total_cents\":1e99",
    "\"target_tools\":[\"x\"]",
    "\"upstream_url\":\"https://a.example/\"",
    "\"upstream_headers\":{\"x\":\"y\"}",
    "\"x`y\":1",
    "翻訳したい",
    " AI ",
    "\u{212a}",
    "\0",
    "\u{3000}",
];

proptest! {
    #[test]
    fn no_input_breaks_a_reader(
        pieces in proptest::collection::vec(
            prop_oneof![
                4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
                1 => any::<char>().prop_map(String::from),
            ],
            0..12,
        ),
    ) {
        check_any(&pieces.concat());
        check_any(&format!("https://{}", pieces.concat()));
        check_any(&format!("{{{}}}", pieces.join(",")));
    }
}
