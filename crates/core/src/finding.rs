//! The results that `annai doctor` prints: each crate checks its own part of the installation.

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the check saw, with the name of the part: `http: port 3000 is free`.
    pub what: String,
    /// How to fix the problem; `None` when there is none.
    pub fix: Option<String>,
}

impl Finding {
    /// A check that passed.
    pub fn good(what: impl Into<String>) -> Self {
        Self { what: what.into(), fix: None }
    }

    /// A check that failed, and how to fix that.
    pub fn bad(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: Some(fix.into()) }
    }
}
