//! Lines of what was found, as they are written: excerpts of sections, and the terms in single lines.

pub mod best_line;
pub mod highlight;
pub mod original_text;
pub mod quotes;
pub mod section_excerpts;
