//! `annai eval`: measures the search on questions with known answers, bare and with other wordings, and on cases of which is
//! known whether they contain a contradiction. A plain BM25 search can be measured beside it.
//!
//! The program that owns the tools passes them in ([`Tools`], [`Sessions`]), and prints what the [`EvalReport`] says.

mod bootstrap;
mod calls;
mod compare;
mod conflicts;
mod error;
mod gates;
mod hit;
mod input;
mod places;
mod plain;
mod questions;
mod report;
mod row;
mod rules;
mod sessions;
mod table;

pub use calls::Tools;
pub use compare::{Comparison, compare};
pub use conflicts::{CaseFile, ConflictCase};
pub use error::EvalError;
pub use gates::Gates;
pub use input::{DataFile, read, read_text};
pub use questions::Baseline;
pub use report::{EvalOptions, EvalReport, evaluate};
pub use rules::rules_without;
pub use sessions::Sessions;
