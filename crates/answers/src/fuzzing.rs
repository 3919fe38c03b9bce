//! Entrances for fuzz targets: each takes any input through one reader of what the API sends, and panics when what the
//! reader promises does not hold. Only built with the feature `fuzzing`.

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::citations::{cited_pages, without_api_tracking};
use crate::dates::date_in;
use crate::links::without_other_links;
use crate::plain_text::{to_plain_text, urls_in};
use crate::responses::{
    Link, ParsedResponse, Redactor, SseEvent, parse_response, read_buffered_events, sse_events,
};
use crate::snippet::snippet;
use crate::source_list;
use crate::unverified_links::{KnownPages, mark_unverified_links};
use crate::visible_text::visible_text;

/// What must not be in any message.
const SECRET: &str = "sk-Zx9Qw8Er7Ty6";
/// The largest event stream that is read.
const MAX_STREAM_BYTES: usize = 1 << 20;

/// An event stream: however its bytes are cut, the events are the same, and each line of data was sent. The response that
/// they make up can be read, and a failure does not repeat the key.
#[expect(clippy::expect_used, reason = "a fuzz target panics when something does not hold")]
pub fn sse(input: &[u8], piece: usize) {
    let read = |piece: usize| {
        let chunks: Vec<_> =
            input.chunks(piece.max(1)).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let events = sse_events(stream::iter(chunks), MAX_STREAM_BYTES).collect::<Vec<_>>();
        events.now_or_never().expect("nothing to wait for")
    };
    let events = read(input.len());
    assert_eq!(events, read(piece));
    for event in &events {
        let SseEvent { name, data } = event.as_ref().expect("neither too large nor broken");
        let is_sent =
            |line: &str| line.is_empty() || input.windows(line.len()).any(|part| part == line.as_bytes());
        assert!(is_sent(name) && data.split('\n').all(is_sent), "{event:?}");
    }
    let redactor = Redactor { secrets: vec![SECRET], question: "", instructions: "" };
    let response =
        read_buffered_events(input.to_vec(), &redactor).now_or_never().expect("nothing to wait for");
    match response {
        Ok(response) => check_response(&parse_response(&response)),
        Err(failure) => assert!(!format!("{failure:?}").contains(SECRET), "{failure:?}"),
    }
}

/// The parts of a response: citations are parts of its text.
fn check_response(response: &ParsedResponse) {
    for link in &response.citations {
        assert!(response.text.get(link.range.clone()).is_some(), "{link:?}");
    }
    answer_of(response);
}

/// The text of an answer.
pub fn answer(input: &str) {
    let starts = urls_in(input).into_iter().map(|url| url.as_ptr().addr() - input.as_ptr().addr());
    let citations = starts.zip(urls_in(input)).map(|(start, url)| Link {
        url: url.to_owned(),
        range: start..start + url.len(),
        ..Link::default()
    });
    answer_of(&ParsedResponse {
        text: input.to_owned(),
        citations: citations.collect(),
        ..ParsedResponse::default()
    });
}

/// Takes an answer through everything that happens to it before somebody reads it: nothing invisible is left, and no link
/// that is not allowed.
fn answer_of(response: &ParsedResponse) {
    let text = visible_text(&without_api_tracking(&response.text));
    assert!(!text.contains(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t')));
    assert_eq!(visible_text(&text), text, "nothing invisible is left");
    let split = source_list::split(&text);
    assert!(split.body.len() <= text.len());
    for domains in [&[][..], &["example.com".to_owned()]] {
        let checked = without_other_links(&split.body, domains);
        let again = without_other_links(&checked.text, domains);
        assert_eq!(again.removed.len(), 0, "{:?} is left in {:?}", again.removed, checked.text);
        let Some(today) = date_in("2026-01-02") else { return };
        let cited = cited_pages(response, &split.entries, domains, 50, today);
        let is_allowed = |url: &str| domains.is_empty() || url.contains("example.com");
        assert!(cited.pages.iter().all(|page| is_allowed(&page.url)));
        let known = KnownPages::new(response, "");
        let marked = mark_unverified_links(&checked.text, &known);
        let is_same = marked.text == checked.text;
        assert!(is_same || !marked.unverified.is_empty(), "a mark without a link: {:?}", marked.text);
        let _ = source_list::with_sources(&checked.text, &cited.pages, Some(today));
    }
    let ranges: Vec<_> = response.citations.iter().map(|link| link.range.clone()).collect();
    for range in ranges.iter().take(20) {
        assert!(snippet(&response.text, range, &ranges).chars().count() <= 501);
    }
    assert!(!to_plain_text(&text).contains("://"));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Pieces of answers and of event streams.
    const PIECES: &[&str] = &[
        "[a](",
        "](",
        ")",
        "<",
        ">",
        "`",
        "```\n",
        "https://",
        "http://",
        "a.example/",
        "example.com",
        "javascript:",
        "mailto:x@y.z",
        "?utm_source=openai",
        "\n",
        "\r\n",
        "\n\n",
        "[r]: ",
        "[r]",
        "![",
        "(",
        "Sources:\n",
        "出典: ",
        "- ",
        "2024-01-02",
        "\u{200b}",
        "\u{202e}",
        "\u{1b}[1m",
        "\u{e200}cite",
        "\u{e201}",
        "data: ",
        "event: error",
        "{\"type\":\"response.completed\",\"response\":{}}",
        "{\"error\":{\"message\":\"sk-Zx9Qw8Er7Ty6\"}}",
        "\\",
        "案内",
    ];

    proptest! {
        #[test]
        fn no_text_breaks_a_reader(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30),
            piece_bytes in 1_usize..9,
        ) {
            super::answer(&pieces.concat());
            super::sse(pieces.concat().as_bytes(), piece_bytes);
        }
    }
}
