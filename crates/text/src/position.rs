//! Positions in a text: a line, and how many characters of it come before.

use crate::TextPosition;

/// A position in a text, as indexes and traces store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// How many characters of the line come before the position.
    pub char: u32,
}

impl Position {
    /// The start of a line.
    pub const fn line_start(line: u32) -> Self {
        Self { line, char: 0 }
    }
}

impl From<TextPosition> for Position {
    fn from(position: TextPosition) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: number(position.line), char: number(position.char) }
    }
}

/// A part of a text, from its first position to the position after its last one.
pub type Span = std::ops::Range<Position>;
