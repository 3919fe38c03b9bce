//! Audits an artifact against the source that it was made from: every element must cite source lines, the values in it must
//! occur on them, every node must be reachable, every decision needs two outgoing edges, and every cross-reference must be
//! returned.

mod artifact;
mod claims;
mod finding;
mod flowchart;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod graph;
mod json_graph;
mod markdown;
mod marks;
mod structure;
mod support;

use annai_core::ToolError;

use self::artifact::Artifact;
pub use self::finding::{AuditFinding, FindingKind};
use self::structure::{check_structure, sort_findings};
use self::support::evidence::FileEvidence;
use self::support::origins::{MAX_CITED_BYTES, Origins};
use self::support::{SupportReport, check_support, needed_lines};
use crate::config::LibrarySection;
use crate::reading::{LineRange, SourceFile, count_lines, read_lines};
use annai_core::cancellation::checkpoint;
use annai_files::LibraryError;
use annai_files::fs::{self, RelPath};
use annai_files::manuals::Manuals;
use annai_files::vault::Vault;

/// The maximum size of an artifact, which is held in memory as a whole; a larger one is refused.
const MAX_ARTIFACT_BYTES: u64 = 64 << 20;
/// The maximum number of marks and lines of an artifact. The parser takes about 50 bytes for each, so this is 400 MB; an
/// artifact of 64 MiB with lines of ten words has a third of it.
const MAX_MARKUP_BYTES: usize = 8_000_000;
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
    /// The problems, sorted by line. Of the unsupported values only the first thousand are here.
    pub findings: Vec<AuditFinding>,
    /// The number of all problems.
    pub total_findings: usize,
    /// The number of all values that do not occur in the lines that their elements cite.
    pub unsupported: usize,
    /// The number of elements that are marked as derived, whose values are not checked.
    pub derived: usize,
}

/// Audits an artifact against its source, and the text that it says it copied from manuals against these.
pub(crate) fn audit(
    vault: &Vault,
    manuals: &Manuals,
    artifact: &RelPath,
    source: &SourceFile,
) -> Result<AuditReport, ToolError> {
    vault.check_readable(artifact)?;
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
    if !is_json && markup_bytes(&file.text) > MAX_MARKUP_BYTES {
        let problem =
            format!("has more than {MAX_MARKUP_BYTES} marks and lines, which is too many to audit; split it");
        return Err(LibraryError::forbidden(artifact_path, problem).into());
    }
    let name = artifact_path.rsplit('/').next().unwrap_or(&artifact_path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let mut parsed = match extension.as_deref() {
        Some("json") => json_graph::read(&file.text),
        Some("mmd" | "mermaid") => flowchart::read_file(&file.text),
        _ => markdown::read(&file.text, name),
    };
    let (mut cited, mut findings) = check_structure(&mut parsed, source.lines);
    let origins = support::origins::resolve(manuals, &parsed.comments);
    cited.extend(copied_lines(&parsed, &origins, source));
    let support = check_values(vault, manuals, &parsed, source, &origins)?;
    let SupportReport { unsupported, derived, findings: unsupported_findings } = support;
    let left_out = unsupported
        - unsupported_findings.iter().filter(|finding| finding.kind == FindingKind::Unsupported).count();
    findings.extend(origins.findings);
    findings.extend(unsupported_findings);
    sort_findings(&mut findings);
    Ok(AuditReport {
        artifact_path,
        source_path: source.path.clone(),
        source_lines: source.lines,
        cited,
        total_findings: findings.len() + left_out,
        findings,
        unsupported,
        derived,
    })
}

/// How many bytes of a text the Markdown parser keeps a record for: marks and ends of lines.
fn markup_bytes(text: &str) -> usize {
    let is_markup = |byte: &u8| b"\n\\*_`<>[]!&~|".contains(byte);
    let in_block = |block: &[u8]| {
        checkpoint();
        block.iter().filter(|byte| is_markup(byte)).count()
    };
    text.as_bytes().chunks(1 << 16).map(in_block).sum()
}

/// The lines that were copied from the source itself, when that is a file of a manual.
fn copied_lines(artifact: &Artifact, origins: &Origins, source: &SourceFile) -> Vec<LineRange> {
    let name = name_of(source);
    let is_source = |file: &usize| origins.files.get(*file).is_some_and(|file| file.name == name);
    let comments = artifact.comments.iter().zip(&origins.file_of);
    comments
        .filter(|(_, file)| source.manual_id.is_some() && file.as_ref().is_some_and(is_source))
        .map(|(comment, _)| comment.source.lines)
        .collect()
}

/// The name of a source, as findings show it.
fn name_of(source: &SourceFile) -> String {
    match &source.manual_id {
        Some(manual_id) => format!("{manual_id}/{}", source.path),
        None => source.path.clone(),
    }
}

/// Checks that the values of the elements occur in the lines that they cite.
fn check_values(
    vault: &Vault,
    manuals: &Manuals,
    artifact: &Artifact,
    source: &SourceFile,
    origins: &Origins,
) -> Result<SupportReport, ToolError> {
    let mut file = FileEvidence::new(name_of(source));
    let (mut bytes_left, mut fits) = (MAX_CITED_BYTES, true);
    let needed = needed_lines(artifact, source.lines);
    if !needed.is_empty() {
        read_lines(vault, manuals, source, &needed, &mut |number, line| {
            let left = bytes_left.checked_sub(line.len());
            fits = left.is_some() && file.add_line(number, line);
            bytes_left = left.unwrap_or(0);
            fits
        })?;
    }
    if !fits {
        let problem = format!(
            "the values were not checked, because the cited lines of {} are too long ({MAX_CITED_BYTES} bytes are checked); cite fewer lines, or split the source",
            file.name
        );
        let finding = AuditFinding::not_understood(1, &problem);
        return Ok(SupportReport { findings: vec![finding], ..SupportReport::default() });
    }
    Ok(check_support(artifact, &file, source.lines, origins))
}

/// The same for the command line: opens the vault and the manuals of the settings first.
pub fn audit_files(
    settings: &LibrarySection,
    artifact: &str,
    source: &str,
) -> Result<AuditReport, ToolError> {
    let vault = settings.vault();
    let manuals = Manuals::new(settings.manual_folders());
    let source = count_lines(&vault, &RelPath::parse(source)?)?;
    audit(&vault, &manuals, &RelPath::parse(artifact)?, &source)
}
