//! Entrances for fuzz targets. Only built with the feature `fuzzing`.

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::responses::sse_events;

/// An event stream: however its bytes are cut, the events are the same.
#[expect(clippy::expect_used, reason = "a fuzz target panics when something does not hold")]
pub fn sse(input: &[u8], piece: usize) {
    let read = |piece: usize| {
        let chunks: Vec<_> =
            input.chunks(piece.max(1)).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        let events = sse_events(stream::iter(chunks), 1 << 20).collect::<Vec<_>>();
        events.now_or_never().expect("nothing to wait for")
    };
    assert_eq!(read(input.len()), read(piece));
}
