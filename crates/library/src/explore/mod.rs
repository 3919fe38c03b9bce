//! The exploration: a question taken apart, looked for in stages, and what was found put together.

mod conflicts;
mod dictionary;
mod exceptions;
mod find;
mod gaps;
mod japanese;
mod keeping;
mod lesson;
mod looking;
mod loosely;
mod matching;
mod next;
mod query;
mod rank;
mod references;
mod round;
mod scope;
mod summary;
mod trace;
mod vault;
mod words;

pub use dictionary::{Dictionaries, Words};
pub use find::{Asked, Budget, Found, find};
pub use lesson::learn;
pub use looking::Looking;
pub use query::Intent;
pub use summary::{Summary, VaultSummary};
pub use trace::{Item, Seen, Traces, Unscanned};
pub use vault::{VaultAsked, find_in_vault};
