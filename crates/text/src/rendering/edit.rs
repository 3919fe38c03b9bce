//! An edit that turns the text of a file into what its reader sees.

use std::ops::Range;

/// A part of a text that a reader does not see, and the character that stands there instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edit {
    /// The first byte of the part. Files are smaller than 4 GiB, and a file may have very many edits.
    pub start: u32,
    /// The byte after the part.
    pub end: u32,
    /// The character that stands there instead; none where the words before and after it are joined.
    pub replacement: Option<char>,
}

impl Edit {
    /// Replaces the bytes of a range.
    pub fn new(range: Range<usize>, replacement: Option<char>) -> Self {
        let number = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Self { start: number(range.start), end: number(range.end), replacement }
    }
}
