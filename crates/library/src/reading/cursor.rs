//! Cursors into a file: the place at which a read that was cut short continues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use annai_text::Position;

/// The place at which a read continues, as a caller passes it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    /// The line, counted from 1.
    #[schemars(range(min = 1))]
    pub(crate) start_line: u64,
    /// How many characters of that line come before the place (default 0).
    #[schemars(range(min = 0), extend("default" = 0))]
    pub(crate) char: Option<u64>,
}

impl Cursor {
    /// The place in a text. A number that no text can have stays too large.
    pub(crate) fn position(self) -> Position {
        Position::new(self.start_line, self.char.unwrap_or(0))
    }
}

/// The place at which the next read continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NextCursor {
    /// The line, counted from 1.
    pub(crate) start_line: u64,
    /// How many characters of that line come before the place.
    pub(crate) char: u64,
}

impl From<Position> for NextCursor {
    fn from(position: Position) -> Self {
        Self { start_line: position.line.into(), char: position.char.into() }
    }
}

/// The place at which the next read of a vault file continues, if the file goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NextLine {
    /// The line to continue in, counted from 1; null at the end of the file.
    pub(crate) start_line: Option<u64>,
    /// How many characters of that line were returned already: 0 at the start of a line, null at the end of the file.
    pub(crate) char: Option<u64>,
}

impl NextLine {
    /// The place after an excerpt.
    pub(crate) fn new(next: Option<(u64, usize)>) -> Self {
        Self { start_line: next.map(|(line, _)| line), char: next.map(|(_, char)| char as u64) }
    }
}
