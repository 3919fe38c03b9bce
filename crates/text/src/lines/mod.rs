//! Lines, positions in them, and parts of a text that end where a line or a word ends.

mod cut;
mod excerpt;
mod line_ending;
mod line_index;
mod position;

pub use cut::{cut_around, cut_length, cut_length_with, cut_start};
pub use excerpt::{Excerpt, ExcerptBuilder, ExcerptRequest};
pub use line_ending::{LineEnding, LineEndingCounter};
pub use line_index::{LineIndex, line_ranges, truncate_chars};
pub use position::{Position, Span};
