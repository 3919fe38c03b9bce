//! What `annai doctor` reports: something that was looked at.

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub what: String,
    /// How to mend it; `None` when all is well.
    pub fix: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn good(what: impl Into<String>) -> Self {
        Self { what: what.into(), fix: None }
    }

    /// Something is wrong, and this mends it.
    pub fn bad(what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what: what.into(), fix: Some(fix.into()) }
    }
}
