//! The toolset `library`: exhaustive search and reading of local manuals, and a writable vault of text files.

#![warn(unreachable_pub)]

mod audit;
mod command_line;
pub mod config;
mod coverage;
mod find_statistics;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod line_search;
mod paging;
mod prompts;
mod reading;
mod resources;
mod scopes;
mod tools;
mod toolset;

pub use annai_search::OtherWords;
pub use annai_search::index::stem;
pub use annai_search::rules::{RuleGroup, Rules};
pub use audit::{AuditFinding, AuditReport, FindingKind, audit_files};
pub use command_line::{
    Preview, PreviewPlace, Section, check, error_reference, manual_paths, preview, readable, sections,
};
pub use config::LibrarySettings;
pub use coverage::Coverage;
pub use reading::LineRange;
pub use tools::register;
pub use toolset::Library;
