//! Reads `text/event-stream` with `sse-stream`, within the limits that it does not have itself.
//!
//! `sse-stream` buffers without bound, drops the event that the end of the input cuts off, and reports an error for
//! lines that the standard says to ignore (an unknown field, a field without a colon, a `retry` that is not a number);
//! the error also discards the rest of its chunk. So the bytes are counted before they reach it, the input ends with a
//! blank line, and it never sees more than one line in a chunk: an error then affects only the line that caused it.

use bytes::{Buf as _, Bytes};
use futures_util::stream::{self, Stream, StreamExt as _};
use sse_stream::{Error, Sse, SseStream};

/// Why an event stream ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// The stream is larger than the limit.
    #[error("the event stream is too large")]
    TooLarge,
    /// The connection broke.
    #[error("{0}")]
    Connection(String),
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The value of `event`; empty if the field is missing.
    pub name: String,
    /// The values of `data`, joined with line feeds.
    pub data: String,
}

/// The events in these chunks of bytes. Events without data and lines that cannot be read are skipped. More than
/// `max_bytes` bytes in total are an error.
pub fn events<S>(chunks: S, max_bytes: usize) -> impl Stream<Item = Result<SseEvent, SseError>>
where
    S: Stream<Item = Result<Bytes, SseError>> + Unpin,
{
    let lines =
        LineChunks { chunks, max_bytes, read: 0, pending: Bytes::new(), after_cr: false, at_end: false };
    let lines = stream::try_unfold(lines, |mut lines| async move {
        Ok::<_, SseError>(lines.next().await?.map(|piece| (piece, lines)))
    });
    SseStream::from_bytes_stream(lines).filter_map(|event| {
        std::future::ready(match event {
            Ok(Sse { event, data: Some(data), .. }) => {
                Some(Ok(SseEvent { name: event.unwrap_or_default(), data }))
            }
            Ok(_) => None,
            Err(Error::Body(error)) => Some(Err(match error.downcast::<SseError>() {
                Ok(error) => *error,
                Err(error) => SseError::Connection(error.to_string()),
            })),
            Err(_) => None,
        })
    })
}

/// Splits a stream of bytes so that each chunk is a part of one line or a line feed. Every line end (CRLF, CR or LF)
/// becomes one line feed, and two more follow the end of the input.
struct LineChunks<S> {
    chunks: S,
    max_bytes: usize,
    /// The number of bytes read so far.
    read: usize,
    /// The rest of the last chunk.
    pending: Bytes,
    /// Whether the last byte was a carriage return, so that a line feed now belongs to the same line end.
    after_cr: bool,
    at_end: bool,
}

impl<S: Stream<Item = Result<Bytes, SseError>> + Unpin> LineChunks<S> {
    async fn next(&mut self) -> Result<Option<Bytes>, SseError> {
        loop {
            if let Some(piece) = self.next_piece() {
                return Ok(Some(piece));
            }
            if self.at_end {
                return Ok(None);
            }
            match self.chunks.next().await.transpose()? {
                Some(chunk) => {
                    self.read = self.read.saturating_add(chunk.len());
                    if self.read > self.max_bytes {
                        return Err(SseError::TooLarge);
                    }
                    self.pending = chunk;
                }
                None => {
                    self.at_end = true;
                    self.pending = Bytes::from_static(b"\n\n");
                }
            }
        }
    }

    /// The next piece of the pending chunk; `None` once it is used up.
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.after_cr && self.pending.first()? == &b'\n' {
            self.after_cr = false;
            self.pending.advance(1);
        }
        let first = *self.pending.first()?;
        self.after_cr = first == b'\r';
        if matches!(first, b'\r' | b'\n') {
            self.pending.advance(1);
            return Some(Bytes::from_static(b"\n"));
        }
        let end = self.pending.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        Some(self.pending.split_to(end.unwrap_or(self.pending.len())))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use proptest::prelude::*;

    use super::*;

    fn read_up_to(max_bytes: usize, pieces: &[&[u8]]) -> Result<Vec<(String, String)>, SseError> {
        let chunks: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let events = events(stream::iter(chunks), max_bytes).collect::<Vec<_>>().now_or_never().unwrap();
        events.into_iter().map(|event| event.map(|event| (event.name, event.data))).collect()
    }

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        read_up_to(usize::MAX, pieces).unwrap()
    }

    fn expected(events: &[(&str, &str)]) -> Vec<(String, String)> {
        events.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn events_have_names_and_data() {
        let text = "\u{feff}: hello\nid: 1\nevent: a\ndata: 1\n\n: keepalive\n\ndata:2\ndata: 3\n\nevent: b\n\n\ndata: last";
        for line_end in ["\n", "\r\n", "\r"] {
            assert_eq!(
                read(&[text.replace('\n', line_end).as_bytes()]),
                expected(&[("a", "1"), ("", "2\n3"), ("", "last")]),
                "{line_end:?}"
            );
        }
    }

    #[test]
    fn lines_that_cannot_be_read_do_not_affect_others() {
        let text =
            b"unknown: x\nevent: a\nno colon\nretry: soon\nevent: b\ndata: 1\ndata: \xff\n\ndata: 2\n\n";
        assert_eq!(read(&[text]), expected(&[("a", "1"), ("", "2")]));
    }

    #[test]
    fn a_line_end_may_be_split_between_chunks() {
        let pieces: &[&[u8]] =
            &[b"data: 1\r", b"\n", b"\n", b"data: 2\r", b"\r", b"data: 3\r", b"\ndata: 4\r"];
        assert_eq!(read(pieces), expected(&[("", "1"), ("", "2"), ("", "3\n4")]));
    }

    #[test]
    fn the_size_is_limited() {
        let line = [b'x'; 100];
        assert_eq!(read_up_to(100, &[&line]), Ok(vec![]));
        assert_eq!(read_up_to(99, &[&line]), Err(SseError::TooLarge));
        assert_eq!(read_up_to(99, &[&line[..50], &line[..50]]), Err(SseError::TooLarge));
    }

    #[test]
    fn a_broken_connection_ends_the_stream() {
        let broken = SseError::Connection("reset".into());
        let chunks = [Ok(Bytes::from_static(b"data: 1\n\ndata: 2")), Err(broken.clone())];
        let events = events(stream::iter(chunks), 99).take(2).collect::<Vec<_>>().now_or_never().unwrap();
        assert_eq!(events, [Ok(SseEvent { name: String::new(), data: "1".into() }), Err(broken)]);
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(
            lines in "(data:|data|event:|[abdetv:\u{3042} \r\n]){0,40}",
            cuts in proptest::collection::vec(0_usize..200, 0..10),
        ) {
            let bytes = lines.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
