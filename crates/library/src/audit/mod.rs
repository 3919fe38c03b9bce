//! Audits an artifact against the source that it was made from: every element must cite source lines, every node must be
//! reachable, every decision needs two outgoing edges, and every cross-reference must be returned.

mod artifact;
mod checks;
mod finding;
mod flowchart;
mod graph;
mod json;
mod json_nodes;
mod links;
mod markdown;
mod marks;
mod statement_scanner;
mod statements;

use annai_core::ToolError;

use self::checks::check_artifact;
pub use self::finding::{AuditFinding, FindingKind};
use crate::config::LibrarySection;
use crate::error::LibraryError;
use crate::fs::{self, RelPath};
use crate::ranges::LineRange;
use crate::source_file::{SourceFile, count_lines};
use crate::vault::{Vault, check_not_reserved};

/// The maximum size of an artifact, which is held in memory as a whole; a larger one is refused.
const MAX_ARTIFACT_BYTES: u64 = 64 << 20;
/// The maximum size of a JSON artifact, whose parsed form takes many times the memory of its text; a larger one is
/// refused.
const MAX_JSON_ARTIFACT_BYTES: u64 = 16 << 20;

/// The result of an audit.
#[derive(Debug, PartialEq)]
pub struct AuditReport {
    /// The artifact's path as it is stored.
    pub artifact_path: String,
    /// The source's path as it is stored.
    pub source_path: String,
    /// The number of lines in the source.
    pub source_lines: u64,
    /// The source lines that the artifact cites.
    pub cited: Vec<LineRange>,
    /// The problems, sorted by line.
    pub findings: Vec<AuditFinding>,
}

/// Audits an artifact against its source.
pub fn audit(vault: &Vault, artifact: &RelPath, source: &SourceFile) -> Result<AuditReport, ToolError> {
    check_not_reserved(artifact)?;
    let is_json = artifact.as_str().to_ascii_lowercase().ends_with(".json");
    let max_bytes = if is_json { MAX_JSON_ARTIFACT_BYTES } else { MAX_ARTIFACT_BYTES };
    let root = vault.root()?;
    let (file, artifact_path) = fs::retry_if_changed(|| {
        let (file, stored) = root.open_file(artifact)?;
        Ok((fs::read_text(file, &stored, max_bytes)?, stored))
    })?;
    if is_json && annai_core::json::has_too_many_values(file.text.as_bytes()) {
        let problem = format!(
            "has more than {} JSON values, which is too many to audit",
            annai_core::json::MAX_JSON_VALUES
        );
        return Err(LibraryError::forbidden(artifact_path, problem).into());
    }
    let name = artifact_path.rsplit('/').next().unwrap_or(&artifact_path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let parsed = match extension.as_deref() {
        Some("json") => json::read(&file.text),
        Some("mmd" | "mermaid") => markdown::read_flowchart(&file.text),
        _ => markdown::read(&file.text, name),
    };
    let (cited, findings) = check_artifact(parsed, source.lines);
    Ok(AuditReport {
        artifact_path,
        source_path: source.path.clone(),
        source_lines: source.lines,
        cited,
        findings,
    })
}

/// The same for the command line: opens the vault of the settings first.
pub fn audit_files(
    settings: &LibrarySection,
    artifact: &str,
    source: &str,
) -> Result<AuditReport, ToolError> {
    let vault = Vault::new(settings.vault_folder());
    let source = count_lines(&vault, &RelPath::parse(source)?)?;
    audit(&vault, &RelPath::parse(artifact)?, &source)
}
