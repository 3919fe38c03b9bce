//! What commands show without a server: the checks of `annai doctor`, previews, sections and results as plain text.

mod check;
pub mod error_reference;
mod manual_paths;
mod preview;
mod readable;
mod sections;

pub use check::check;
pub use manual_paths::manual_paths;
pub use preview::{Preview, PreviewPlace, preview};
pub use readable::readable;
pub use sections::{Section, sections};
