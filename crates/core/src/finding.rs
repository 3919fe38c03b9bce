//! The results that `annai doctor` prints: each crate checks its own part of the installation.

use std::fmt::Display;

/// A number with its noun in the singular or plural: `1 file`, `2 files`.
pub fn counted(number: impl Copy + Display + PartialEq + From<u8>, noun: &str) -> String {
    if number == 1.into() { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Good,
    /// Everything works, and something may surprise the user.
    Warning,
    /// Something that nobody has set up yet cannot be used.
    NotReady,
    /// It failed.
    Bad,
}

impl Outcome {
    /// The name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Warning => "warning",
            Self::NotReady => "not_ready",
            Self::Bad => "problem",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the check saw, with the name of the part: `http: port 3000 is free`.
    pub what: String,
    /// How to fix the problem, or what to do about the warning; `None` when there is nothing to do.
    pub fix: Option<String>,
    /// How the check ended.
    pub outcome: Outcome,
}

impl Finding {
    /// A check that passed.
    pub fn good(what: impl Into<String>) -> Self {
        Self { what: what.into(), fix: None, outcome: Outcome::Good }
    }

    /// A check that failed, and how to fix that.
    pub fn bad(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: Some(fix.into()), outcome: Outcome::Bad }
    }

    /// Something that works and may surprise the user, and what to do about it.
    pub fn warning(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: Some(fix.into()), outcome: Outcome::Warning }
    }

    /// Whether the check failed.
    #[must_use]
    pub const fn is_problem(&self) -> bool {
        matches!(self.outcome, Outcome::Bad)
    }
}
