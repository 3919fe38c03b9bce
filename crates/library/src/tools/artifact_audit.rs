//! `artifact_audit`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::{AuditFinding, AuditReport, FindingKind, audit};
use crate::config;
use crate::excerpting::count_chars;
use crate::fs::RelPath;
use crate::ranges::{CitedRange, Coverage, LineRange, check_cited};
use crate::reference::NextAction;
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::Vault;

/// The maximum number of findings in a reply. The counts include those that are left out, and `annai/more` says so.
const MAX_SHOWN_FINDINGS: usize = 200;

/// What to audit against what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The artifact to check, relative to the vault: Markdown with `source_lines: 3-9` under its headings, a Mermaid
    /// flowchart, or a JSON graph of nodes and edges.
    pub artifact_path: String,
    /// The vault file that the artifact was made from.
    pub source_path: String,
    /// The line ranges of the source that the artifact is based on (optional; default: the ranges that its
    /// `source_lines` marks name).
    #[schemars(length(max = 60_000))]
    pub cited_ranges: Option<Vec<CitedRange>>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The artifact's path as it is stored.
    pub artifact_path: String,
    /// The source's path as it is stored.
    pub source_path: String,
    /// The number of elements that cite no lines of the source.
    pub rootless_nodes: usize,
    /// The number of unreachable nodes and of decisions with only one outgoing edge.
    pub orphan_branches: usize,
    /// The number of cross-references whose target does not exist or does not refer back.
    pub one_way_refs: usize,
    /// The share of the source's lines that is cited, from 0 to 1; null when no lines are cited.
    pub coverage_ratio: Option<f64>,
    /// The number of line ranges of the source that are not cited.
    pub uncovered_ranges_count: usize,
    /// The number of cited ranges (after merging) divided by the estimated tokens of the cited text; null when
    /// nothing is cited.
    pub marginal_gain: Option<f64>,
    /// Whether the source should be read in full once more: the coverage is too low, a problem was found, or
    /// marginal_gain is high while lines are not covered.
    pub needs_forced_full_scan: bool,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
    /// The problems to fix, one entry each, at most 200.
    pub findings: Vec<AuditFinding>,
}

/// Check an artifact against its source and return the problems: elements that cite no source lines, unreachable
/// nodes, decisions with only one way out, and unresolved cross-references.
pub struct ArtifactAudit;

impl Tool for ArtifactAudit {
    const FACTS: Facts = Facts {
        name: "artifact_audit",
        title: "Audit an artifact / 成果物を監査",
        description: "Check an artifact against its source and return the problems: elements that cite no source lines, unreachable nodes, decisions with only one way out, and unresolved cross-references.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "After writing an artifact, before you deliver it.",
            safe_defaults: r#"{"artifact_path":"artifacts/…","source_path":"…"}"#,
            common_errors: &[
                ("not_found", "both paths are relative to the vault; vault_ls lists the files"),
                ("invalid_parameter", "start_line is at least 1, and end_line is not less than start_line"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let artifact = RelPath::parse(&input.artifact_path)?;
        let source = RelPath::parse(&input.source_path)?;
        let given = input.cited_ranges.as_deref().map(check_cited).transpose()?;
        let principal = call.identity().principal();
        let output = set
            .read(move |state, cancellation| {
                let audited = audit(&state.vault, &artifact, &source)?;
                let ranges = given.unwrap_or_else(|| audited.cited.clone());
                let is_cited = !ranges.is_empty();
                let coverage = Coverage::new(audited.source_lines, ranges);
                let gain = marginal_gain(&state.vault, &source, &coverage)?;
                let scan = state.scans.update(
                    &principal,
                    &audited.source_path,
                    &audited.source_sha256,
                    Instant::now(),
                    |record| record.is_audited = true,
                );
                cancellation.check()?;
                Ok(report(audited, &coverage, is_cited, gain, scan.scanned, &state.settings))
            })
            .await?;
        call.note("path", &output.0.artifact_path);
        call.note("coverage_ratio", output.0.coverage_ratio);
        call.note("findings", output.1);
        Ok(Reply::new(output.0).with_meta("annai/more", output.1 > MAX_SHOWN_FINDINGS))
    }
}

/// The marginal gain: cited ranges per token of cited text; `None` when nothing is cited.
fn marginal_gain(vault: &Vault, source: &RelPath, coverage: &Coverage) -> Result<Option<f64>, ToolError> {
    let tokens = count_chars(vault, source, &coverage.covered)?.div_ceil(4);
    Ok((tokens > 0).then(|| (coverage.covered.len() as f64 / tokens as f64 * 10_000.0).round() / 10_000.0))
}

/// The output, and the number of all findings.
fn report(
    audited: AuditReport,
    coverage: &Coverage,
    is_cited: bool,
    gain: Option<f64>,
    scanned: Vec<LineRange>,
    settings: &config::LibrarySection,
) -> (Output, usize) {
    let count = |kind| audited.findings.iter().filter(|finding| finding.kind == kind).count();
    let total = audited.findings.len();
    let is_coverage_short = !coverage.reaches(settings.coverage_min_ratio);
    let is_gain_high =
        gain.is_some_and(|gain| gain >= settings.marginal_gain_min) && !coverage.uncovered.is_empty();
    let needs_full_scan = is_coverage_short || total > 0 || is_gain_high;
    // Lines that were scanned already are not suggested again.
    let scan_coverage = Coverage::new(audited.source_lines, scanned.clone());
    let seen = Coverage::new(
        audited.source_lines,
        scanned.into_iter().chain(coverage.covered.iter().copied()).collect(),
    );
    let first = seen.uncovered.first().or_else(|| scan_coverage.uncovered.first());
    let action = match first.filter(|_| needs_full_scan) {
        Some(first) => NextAction::call(
            "vault_scan",
            0.8,
            json!({ "path": audited.source_path, "cursor": { "start_line": first.start_line } }),
        ),
        None => NextAction::stop(if needs_full_scan { 0.5 } else { 0.9 }),
    };
    let output = Output {
        rootless_nodes: count(FindingKind::RootlessNode),
        orphan_branches: count(FindingKind::OrphanBranch),
        one_way_refs: count(FindingKind::OneWayRef),
        coverage_ratio: is_cited.then(|| coverage.ratio()),
        uncovered_ranges_count: coverage.uncovered.len(),
        marginal_gain: gain,
        needs_forced_full_scan: needs_full_scan,
        next_actions: vec![action],
        findings: audited.findings.into_iter().take(MAX_SHOWN_FINDINGS).collect(),
        artifact_path: audited.artifact_path,
        source_path: audited.source_path,
    };
    (output, total)
}
