//! The toolset `library`: exhaustive search and reading of local manuals, and a writable vault of text files.

mod adaptive;
mod audit;
pub mod baseline;
mod bridging;
mod cancellation;
mod check;
pub mod config;
mod error;
mod exceptions;
mod excerpting;
mod explore;
mod fs;
mod index;
mod manuals;
mod preview;
mod ranges;
mod readable;
mod reading;
mod reference;
mod scans;
mod search;
pub mod text;
mod tools;
mod toolset;
mod vault;
mod writing;

pub use audit::{AuditFinding, AuditReport, FindingKind, audit_files};
pub use check::check;
pub use config::LibrarySettings;
pub use preview::{Preview, preview};
pub use ranges::{Coverage, LineRange};
pub use readable::readable;
pub use tools::register;
pub use toolset::Library;
