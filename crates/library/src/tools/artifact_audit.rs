//! `artifact_audit`.

use std::time::Instant;

use annai_core::{
    Access, Call, Effect, Facts, Guide, Principal, Reply, Sponsor, Tool, ToolError, Widget, World,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::{AuditFinding, AuditReport, FindingKind, audit};
use crate::config;
use crate::paging::fitting;
use crate::ranges::{CitedRange, Coverage, LineRange, check_cited};
use crate::scans::CoverageStep;
use crate::scopes::LIBRARY_READ;
use crate::source_file::SourceArgument;
use crate::toolset::Library;
use crate::uncovered::{CoveredFile, artifact_place};
use annai_files::fs::RelPath;
use annai_search::reference::{NextAction, Ref};

/// The maximum number of findings in a reply. The counts include those that are left out, and `more`
/// says so.
const MAX_SHOWN_FINDINGS: usize = 200;

/// The maximum number of cited ranges that are remembered; those beyond it count as not cited in later reads.
const MAX_NOTED_RANGES: usize = 1000;

/// What to audit against what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The artifact to check, relative to the vault: Markdown with `source_lines: 3-9` under its headings, a Mermaid
    /// flowchart, or a JSON graph of nodes and edges. Text below a comment `<!-- source: manual_id/path#L3-9 rev -->`, as
    /// bridge_copy_section writes it, is checked against those lines of the manual. `derived:` marks an element whose
    /// values follow from what it cites.
    pub artifact_path: String,
    /// The vault file that the artifact was made from. Give either `source_path` or `source`.
    pub source_path: Option<String>,
    /// The source as a ref, for a file of a manual: `{"target": "manual", "manual_id": …, "path": …}` (instead of
    /// `source_path`).
    pub source: Option<Ref>,
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
    /// The id of the source's manual, for a file of a manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_manual_id: Option<String>,
    /// The number of elements that cite no lines of the source.
    pub rootless_nodes: usize,
    /// The number of unreachable nodes and of decisions with only one outgoing edge.
    pub orphan_branches: usize,
    /// The number of cross-references whose target does not exist or does not refer back.
    pub one_way_refs: usize,
    /// The number of values (numbers with units, dates, amounts, percentages, quoted text, `code`) that do not occur in the
    /// lines that their element cites, in any notation.
    pub unsupported_values: usize,
    /// The number of source comments whose file has changed since the text was copied, cannot be read, or has fewer lines.
    pub stale_sources: usize,
    /// The number of elements that are marked as derived (`derived:` in the text, or as a JSON field); their values are not
    /// checked.
    pub derived_count: usize,
    /// The share of the source's lines that is cited, from 0 to 1; null when no lines are cited.
    #[schemars(range(min = 0, max = 1))]
    pub coverage_ratio: Option<f64>,
    /// The share of the source's lines whose text this server has handed out to you, from 0 to 1; null for anonymous
    /// callers. It does not replace a citation.
    #[schemars(range(min = 0, max = 1))]
    pub read_coverage_ratio: Option<f64>,
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
    /// The problems to fix, one entry each, at most 200, as far as they fit into the reply.
    pub findings: Vec<AuditFinding>,
    /// Whether findings were left out; the counts include them.
    pub more: bool,
}

/// Check an artifact against its source and return the problems: elements that cite no source lines, values that do not occur
/// in the cited lines, unreachable nodes, decisions with only one way out, and unresolved cross-references.
pub struct ArtifactAudit;

impl Tool for ArtifactAudit {
    const FACTS: Facts = Facts {
        name: "artifact_audit",
        title: "Audit an artifact / 成果物を監査",
        description: "Check an artifact against its source and return the problems: elements that cite no source lines; numbers, dates, amounts, quotations and code that do not occur in the cited lines; copied text whose manual has changed; unreachable nodes; decisions with only one way out; and unresolved cross-references.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
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
        let source = SourceArgument::new("source_path", input.source_path.as_deref(), input.source)?;
        let given = input.cited_ranges.as_deref().map(check_cited).transpose()?;
        let principal = call.identity().principal();
        let output = set
            .compute(move |state, cancellation| {
                let file = source.open(&state.vault, &state.manuals)?;
                let audited = audit(&state.vault, &state.manuals, &artifact, &file)?;
                let ranges = given.unwrap_or_else(|| audited.cited.clone());
                let is_cited = !ranges.is_empty();
                let coverage = Coverage::new(audited.source_lines, ranges);
                let chars = source.count_chars(&state.vault, &state.manuals, &coverage.covered)?;
                let finding = audited.findings.first();
                let finding = finding.map(|finding| (audited.artifact_path.clone(), finding.line));
                let version = file.version();
                let scan = state.scans.update(&principal, &version, Instant::now(), |record| {
                    record.is_audited = true;
                    record.finding = finding;
                });
                cancellation.check()?;
                let reading = SourceReading {
                    scanned: scan.scanned,
                    has_ledger: principal != Principal::Anonymous,
                    gain: marginal_gain(&coverage, chars),
                    is_cited,
                    manual_id: file.manual_id,
                };
                let (output, findings) = report(audited, &coverage, reading, &state.settings);
                // Reads of the source that follow complete the coverage by the citations.
                let is_reading = |action: &NextAction| matches!(action.kind, "vault_scan" | "manual_read");
                let leads_to_source = output.next_actions.iter().any(is_reading);
                state.scans.update(&principal, &version, Instant::now(), |record| {
                    // Where everything was read or cited, the lines that were only cited are read too.
                    let read = record.scanned.clone();
                    let all = coverage.covered.iter().chain(&read).copied().collect();
                    let is_seen = Coverage::new(coverage.total_lines, all).uncovered.is_empty();
                    let cited = coverage.covered.iter().take(if is_seen { 0 } else { MAX_NOTED_RANGES });
                    let step = CoverageStep { cited: cited.copied().collect(), read };
                    record.completing = leads_to_source.then_some(step);
                });
                Ok((output, findings))
            })
            .await?;
        call.note("path", &output.0.artifact_path);
        call.note("coverage_ratio", output.0.coverage_ratio);
        call.note("findings", output.1);
        let (mut output, _) = output;
        output.next_actions = NextAction::served(output.next_actions, call);
        Ok(Reply::new(output))
    }
}

/// The marginal gain: cited ranges per token of cited text; `None` when nothing is cited.
fn marginal_gain(coverage: &Coverage, cited_chars: usize) -> Option<f64> {
    let tokens = cited_chars.div_ceil(4);
    (tokens > 0).then(|| (coverage.covered.len() as f64 / tokens as f64 * 10_000.0).round() / 10_000.0)
}

/// What is known about the source besides its coverage.
struct SourceReading {
    /// The lines that were handed out to the caller.
    scanned: Vec<LineRange>,
    /// Whether what is handed out to the caller is remembered.
    has_ledger: bool,
    gain: Option<f64>,
    /// Whether any line is cited.
    is_cited: bool,
    /// The manual; none for the vault.
    manual_id: Option<String>,
}

/// The output, and the number of all findings.
fn report(
    audited: AuditReport,
    coverage: &Coverage,
    reading: SourceReading,
    settings: &config::LibrarySection,
) -> (Output, usize) {
    let SourceReading { scanned, has_ledger, gain, is_cited, manual_id } = reading;
    let count = |kind| audited.findings.iter().filter(|finding| finding.kind == kind).count();
    let total = audited.total_findings;
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
    let source = CoveredFile {
        manual_id: manual_id.as_deref(),
        path: &audited.source_path,
        total_lines: audited.source_lines,
        max_chunk_lines: settings.vault_scan_max_chunk_lines,
    };
    let action = match (first.filter(|_| needs_full_scan), audited.findings.first()) {
        (Some(first), _) => source.read(*first, 0.8),
        // The source was read in full, so the artifact has to be fixed: the action shows the place of the first finding.
        (None, Some(finding)) => artifact_place(&audited.artifact_path, finding.line),
        (None, None) => NextAction::stop(if needs_full_scan { 0.5 } else { 0.9 }),
    };
    let (rootless_nodes, orphan_branches, one_way_refs) =
        (count(FindingKind::RootlessNode), count(FindingKind::OrphanBranch), count(FindingKind::OneWayRef));
    let stale_sources = count(FindingKind::StaleSource);
    let findings = audited.findings.into_iter().take(MAX_SHOWN_FINDINGS).collect();
    let findings = fitting(findings, settings.hard_max_chars);
    let output = Output {
        rootless_nodes,
        orphan_branches,
        one_way_refs,
        unsupported_values: audited.unsupported,
        stale_sources,
        derived_count: audited.derived,
        coverage_ratio: is_cited.then(|| coverage.ratio()),
        read_coverage_ratio: has_ledger.then(|| scan_coverage.ratio()),
        uncovered_ranges_count: coverage.uncovered.len(),
        marginal_gain: gain,
        needs_forced_full_scan: needs_full_scan,
        next_actions: vec![action],
        more: findings.len() < total,
        findings,
        artifact_path: audited.artifact_path,
        source_path: audited.source_path,
        source_manual_id: manual_id,
    };
    (output, total)
}
