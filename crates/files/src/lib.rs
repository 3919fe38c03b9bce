//! The folders of the library on disk: manuals that are read and a vault that is written, without leaving their roots.

mod error;
mod file_filter;
mod file_version;
pub mod fs;
pub mod manuals;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod vault;

pub use error::LibraryError;
pub use file_filter::FileFilter;
pub use file_version::FileVersion;
