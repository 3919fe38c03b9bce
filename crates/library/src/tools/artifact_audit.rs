//! `artifact_audit`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Principal, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::{AuditFinding, AuditReport, FindingKind, audit};
use crate::coverage::{CitedRange, Coverage, CoverageStep, artifact_place, check_cited};
use crate::paging::fitting;
use crate::reading::{LineRange, SourceArgument, SourceFile, read_lines};
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::{Library, LibraryState};
use annai_files::fs::RelPath;
use annai_search::reference::{NextAction, Ref};

/// The maximum number of findings in a reply. The counts include those that are left out, and `more`
/// says so.
const MAX_SHOWN_FINDINGS: usize = 200;

/// What to audit against what.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The artifact to check, relative to the vault: Markdown with `source_lines: 3-9` under its headings, a Mermaid
    /// flowchart, or a JSON graph of nodes and edges. Text below a comment `<!-- source: manual_id/path#L3-9 rev -->`, as
    /// bridge_copy_section writes it, is checked against those lines of the manual. `derived:` marks an element whose
    /// values follow from what it cites.
    artifact_path: String,
    /// The vault file that the artifact was made from. Give either `source_path` or `source`.
    source_path: Option<String>,
    /// The source as a ref, for a file of a manual: `{"target": "manual", "manual_id": …, "path": …}` (instead of
    /// `source_path`).
    source: Option<Ref>,
    /// The line ranges of the source that the artifact is based on (optional; default: the ranges that its
    /// `source_lines` marks name).
    #[schemars(length(max = 60_000))]
    cited_ranges: Option<Vec<CitedRange>>,
}

/// What was found.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Output {
    /// The artifact's path as it is stored.
    artifact_path: String,
    /// The source's path as it is stored.
    source_path: String,
    /// The id of the source's manual, for a file of a manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_manual_id: Option<String>,
    /// The number of elements that cite no lines of the source.
    rootless_nodes: usize,
    /// The number of unreachable nodes and of decisions with only one outgoing edge.
    orphan_branches: usize,
    /// The number of cross-references whose target does not exist or does not refer back.
    one_way_refs: usize,
    /// The number of values (numbers with units, dates, amounts, percentages, quoted text, `code`) that do not occur in the
    /// lines that their element cites, in any notation.
    unsupported_values: usize,
    /// The number of source comments whose file has changed since the text was copied, cannot be read, or has fewer lines.
    stale_sources: usize,
    /// The number of elements that are marked as derived (`derived:` in the text, or as a JSON field); their values are not
    /// checked.
    derived_count: usize,
    /// The share of the source's lines that is cited, from 0 to 1; null when no lines are cited.
    #[schemars(range(min = 0, max = 1))]
    coverage_ratio: Option<f64>,
    /// The share of the source's lines whose text this server has handed out to you, from 0 to 1; null for anonymous
    /// callers. It does not replace a citation.
    #[schemars(range(min = 0, max = 1))]
    read_coverage_ratio: Option<f64>,
    /// The number of line ranges of the source that are not cited.
    uncovered_ranges_count: usize,
    /// The number of cited ranges (after merging) divided by the estimated tokens of the cited text; null when
    /// nothing is cited.
    marginal_gain: Option<f64>,
    /// Whether the source should be read in full once more: the coverage is too low, a problem was found, or
    /// marginal_gain is high while lines are not covered.
    needs_forced_full_scan: bool,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    next_actions: Vec<NextAction>,
    /// The problems to fix, one entry each, at most 200, as far as they fit into the reply.
    findings: Vec<AuditFinding>,
    /// Whether findings were left out; the counts include them.
    more: bool,
}

pub(super) struct ArtifactAudit;

impl Tool for ArtifactAudit {
    const FACTS: Facts = facts(LibraryTool {
        name: "artifact_audit",
        title: "Audit an artifact / 成果物を監査",
        description: "Check an artifact against its source and return the problems: elements that cite no source lines; numbers, dates, amounts, quotations and code that do not occur in the cited lines; copied text whose manual has changed; unreachable nodes; decisions with only one way out; and unresolved cross-references.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "After writing an artifact, before you deliver it.",
        safe_defaults: r#"{"artifact_path":"artifacts/…","source_path":"…"}"#,
        common_errors: &[
            ("not_found", "both paths are relative to the vault; vault_ls lists the files"),
            ("invalid_parameter", "start_line is at least 1, and end_line is not less than start_line"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let artifact = RelPath::parse(&input.artifact_path)?;
        let source = SourceArgument::new("source_path", input.source_path.as_deref(), input.source)?;
        let given = input.cited_ranges.as_deref().map(check_cited).transpose()?;
        let principal = call.identity().principal();
        let (mut output, findings) = set
            .compute(move |state, cancellation| {
                let file = source.open(&state.vault, &state.manuals)?;
                let audited = audit(&state.vault, &state.manuals, &artifact, &file)?;
                cancellation.check()?;
                let findings = audited.total_findings;
                Ok((report(state, &principal, audited, &file, given)?, findings))
            })
            .await?;
        call.note("path", &output.artifact_path);
        call.note("coverage_ratio", output.coverage_ratio);
        call.note("findings", findings);
        output.next_actions = NextAction::served(output.next_actions, call);
        Ok(Reply::new(output))
    }
}

/// The output about an audit, which is remembered for the reads that follow. `given` are the cited lines that the caller named.
fn report(
    state: &LibraryState,
    principal: &Principal,
    audited: AuditReport,
    file: &SourceFile,
    given: Option<Vec<LineRange>>,
) -> Result<Output, ToolError> {
    let AuditReport { artifact_path, source_path, findings, total_findings, .. } = audited;
    let ranges = given.unwrap_or(audited.cited);
    let is_cited = !ranges.is_empty();
    let coverage = Coverage::new(file.lines, ranges);
    let mut chars = 0;
    read_lines(&state.vault, &state.manuals, file, &coverage.covered, &mut |_, line| {
        chars += line.trim_end_matches(['\n', '\r']).chars().count();
        true
    })?;
    let gain = marginal_gain(&coverage, chars);
    let first_finding = findings.first().map(|finding| (artifact_path.clone(), finding.line));
    let version = file.version();
    let scan = state.scans.update(principal, &version, Instant::now(), |record| {
        record.is_audited = true;
        record.finding.clone_from(&first_finding);
    });
    let is_gain_high =
        gain.is_some_and(|gain| gain >= state.settings.marginal_gain_min) && !coverage.uncovered.is_empty();
    let needs_full_scan =
        !coverage.reaches(state.settings.coverage_min_ratio) || total_findings > 0 || is_gain_high;
    // Lines that were scanned already are not suggested again.
    let read = Coverage::new(file.lines, scan.scanned.clone());
    let seen = Coverage::new(file.lines, [scan.scanned.as_slice(), &coverage.covered].concat());
    let next = seen.uncovered.first().or_else(|| read.uncovered.first()).filter(|_| needs_full_scan);
    let action = match (next, &first_finding) {
        (Some(next), _) => {
            state.covered_file(file.manual_id.as_deref(), &source_path, file.lines).read(*next, 0.8)
        }
        // The source was read in full, so the artifact has to be fixed: the action shows the place of the first finding.
        (None, Some((artifact, line))) => artifact_place(artifact, *line),
        (None, None) => NextAction::stop(if needs_full_scan { 0.5 } else { 0.9 }),
    };
    state.scans.update(principal, &version, Instant::now(), |record| {
        // Where everything was read or cited, the lines that were only cited are read too.
        let cited = if seen.uncovered.is_empty() { Vec::new() } else { coverage.covered.clone() };
        // Reads of the source that follow complete the coverage by the citations.
        record.completing = next.map(|_| CoverageStep { cited, read: record.scanned.clone() });
    });
    let count = |kind| findings.iter().filter(|finding| finding.kind == kind).count();
    let (rootless_nodes, orphan_branches) =
        (count(FindingKind::RootlessNode), count(FindingKind::OrphanBranch));
    let (one_way_refs, stale_sources) = (count(FindingKind::OneWayRef), count(FindingKind::StaleSource));
    let shown = findings.into_iter().take(MAX_SHOWN_FINDINGS).collect();
    let findings = fitting(shown, state.settings.hard_max_chars);
    Ok(Output {
        rootless_nodes,
        orphan_branches,
        one_way_refs,
        unsupported_values: audited.unsupported,
        stale_sources,
        derived_count: audited.derived,
        coverage_ratio: is_cited.then(|| coverage.ratio()),
        read_coverage_ratio: (*principal != Principal::Anonymous).then(|| read.ratio()),
        uncovered_ranges_count: coverage.uncovered.len(),
        marginal_gain: gain,
        needs_forced_full_scan: needs_full_scan,
        next_actions: vec![action],
        more: findings.len() < total_findings,
        findings,
        artifact_path,
        source_path,
        source_manual_id: file.manual_id.clone(),
    })
}

/// The marginal gain: cited ranges per token of cited text; `None` when nothing is cited.
fn marginal_gain(coverage: &Coverage, cited_chars: usize) -> Option<f64> {
    let tokens = cited_chars.div_ceil(4);
    (tokens > 0).then(|| (coverage.covered.len() as f64 / tokens as f64 * 10_000.0).round() / 10_000.0)
}
