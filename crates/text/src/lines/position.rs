//! Positions in a text.

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line, counted from 1. Traces keep many positions, and no file has more lines than a `u32` counts.
    pub line: u32,
    /// How many characters of the line come before the position. The break at the end of a line is part of the line.
    pub char: u32,
}

impl Position {
    /// A position by its numbers. One that no text can have stays too large.
    pub fn new(line: impl TryInto<u32>, char: impl TryInto<u32>) -> Self {
        Self { line: line.try_into().unwrap_or(u32::MAX), char: char.try_into().unwrap_or(u32::MAX) }
    }

    /// The start of a line.
    pub const fn line_start(line: u32) -> Self {
        Self { line, char: 0 }
    }
}

/// A part of a text, from its first position to the position after its last one.
pub type Span = std::ops::Range<Position>;
