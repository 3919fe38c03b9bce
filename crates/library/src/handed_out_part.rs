//! A part of a file that a read hands out to its caller.

use annai_core::JsonObject;

use annai_files::fs::Sha256;
use annai_text::Span;

/// A part of a file that is handed out.
pub struct HandedOutPart<'a> {
    /// The manual; none for the vault.
    pub manual_id: Option<&'a str>,
    /// The stored path.
    pub path: &'a str,
    /// The SHA-256 of the file.
    pub sha256: &'a Sha256,
    /// The number of lines in the file.
    pub total_lines: u64,
    /// The part.
    pub span: Span,
    /// The arguments that continue the read, when a limit cut it short.
    pub continuation: Option<JsonObject>,
}

impl HandedOutPart<'_> {
    /// The tool that reads the file.
    pub const fn tool(&self) -> &'static str {
        if self.manual_id.is_some() { "manual_read" } else { "vault_read" }
    }
}
