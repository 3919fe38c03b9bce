//! A part of a file that a read returns to its caller.

use serde_json::Value;

use annai_files::FileVersion;
use annai_files::fs::Sha256;
use annai_text::Span;

/// A part of a file that a read returns.
pub(crate) struct ReturnedPart<'a> {
    /// The manual; none for the vault.
    pub(crate) manual_id: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) sha256: &'a Sha256,
    pub(crate) total_lines: u64,
    pub(crate) span: Span,
    /// The arguments that continue the read, when a limit cut it short.
    pub(crate) continuation: Option<Value>,
}

impl ReturnedPart<'_> {
    pub(crate) fn version(&self) -> FileVersion {
        FileVersion::new(self.manual_id, self.path, self.sha256)
    }

    /// The tool that reads the file.
    pub(crate) const fn tool(&self) -> &'static str {
        if self.manual_id.is_some() { "manual_read" } else { "vault_read" }
    }
}
