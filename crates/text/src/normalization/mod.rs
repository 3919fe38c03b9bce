//! The normalized form in which finds compare text, and what loose matching ignores.

mod loose;
mod normal_form;

pub use loose::{is_separator, loose_pattern};
pub use normal_form::{
    Growth, Normalized, kanji_number, kanji_numeral, normalize_line, normalize_line_within, normalize_text,
};
