//! The sections of a file: its headings, each with the lines below it, and how links and titles name them.

mod anchors;
mod node;
mod outline;
mod titles;

pub use anchors::{Anchors, slug};
pub use node::{Link, Node, NodeKind, node_id};
pub use outline::{Heading, outline};
pub use titles::{MAX_TITLE_CHARS, explicit_anchor, first_text_line, is_page_number, plain_title};
