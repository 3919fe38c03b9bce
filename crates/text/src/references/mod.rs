//! How texts refer to parts of other texts: by number, by name, and relative to the own place.

mod labels;
mod names;
mod relative;

pub use labels::{Unit, leading_number, part_number, percent_decoded, references};
pub use names::{named, title_labels};
pub use relative::{ReferenceStep, RelativeReference, relative_references};
