//! `vault_coverage`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Principal, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::{CitedRange, Coverage, CoverageStep, artifact_place, check_cited};
use crate::paging::fitting;
use crate::reading::{LineRange, SourceArgument};
use crate::scopes::LIBRARY_READ;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::toolset::Library;
use annai_files::fs::RelPath;
use annai_search::reference::{NextAction, Ref};

/// The file and the cited lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's path, relative to the vault. Give either `path` or `source`.
    path: Option<String>,
    /// The file as a ref, for a file of a manual: `{"target": "manual", "manual_id": …, "path": …}` (instead of
    /// `path`).
    source: Option<Ref>,
    /// The line ranges that were read or cited, in any order; they may overlap. The caller keeps track of them; the
    /// last next_action of vault_scan contains them.
    #[schemars(length(max = 60_000))]
    cited_ranges: Vec<CitedRange>,
    /// The artifact that was made from the file (optional): a vault file whose elements cite lines of it. The next
    /// action is then to audit it.
    artifact_path: Option<String>,
}

/// What is covered.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The file's path as it is stored.
    path: String,
    /// The id of the manual, for a file of a manual.
    #[serde(skip_serializing_if = "Option::is_none")]
    manual_id: Option<String>,
    /// The number of lines in the file.
    total_lines: u64,
    /// The number of lines that are covered.
    covered_lines: u64,
    /// The share of the lines that is covered, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    coverage_ratio: f64,
    /// The covered line ranges, merged and sorted, as far as they fit into the reply.
    covered_ranges: Vec<LineRange>,
    /// The line ranges that are not covered, sorted, as far as they fit into the reply.
    uncovered_ranges: Vec<LineRange>,
    /// Whether ranges were left out because they do not fit; the counts include them.
    more: bool,
    /// The share of the lines whose text this server has handed out to you, from 0 to 1; null for anonymous callers. It
    /// does not replace a citation.
    #[schemars(range(min = 0, max = 1))]
    read_coverage_ratio: Option<f64>,
    /// Whether coverage_ratio reaches the server's COVERAGE_MIN_RATIO (default 0.9).
    meets_min_coverage: bool,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    next_actions: Vec<NextAction>,
}

pub(crate) struct VaultCoverage;

impl Tool for VaultCoverage {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_coverage",
        title: "Prove coverage / 網羅率を確かめる",
        description: "Compute which lines of a file of the vault or of a manual are covered by the given line ranges and which are not. The next actions lead through the uncovered lines.",
        effect: Effect::Read,
        access: Access::Local(LIBRARY_READ),
        when: "After reading or citing a file, to see which lines are missing.",
        safe_defaults: r#"{"path":"…","cited_ranges":[{"start_line":1,"end_line":80}]}"#,
        common_errors: &[
            ("invalid_parameter", "start_line is at least 1, and end_line is not less than start_line"),
            ("not_found", "vault_ls lists the files"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let source = SourceArgument::new("path", input.path.as_deref(), input.source)?;
        let ranges = check_cited(&input.cited_ranges)?;
        let artifact = input.artifact_path.as_deref().map(RelPath::parse).transpose()?;
        if let Some(artifact) = &artifact {
            set.state.vault.check_readable(artifact)?;
        }
        let min_ratio = set.state.settings.coverage_min_ratio;
        let (principal, artifact_path) = (call.identity().principal(), artifact.clone());
        let has_ledger = principal != Principal::Anonymous;
        let (source, coverage, scan) = set
            .read(move |state, _| {
                let source = source.open(&state.vault, &state.manuals)?;
                let coverage = Coverage::new(source.lines, ranges);
                // The citations and the artifact are remembered for the reads that complete the coverage.
                let is_complete = coverage.reaches(min_ratio);
                let scan = state.scans.update(&principal, &source.version(), Instant::now(), |record| {
                    let cited = coverage.covered.clone();
                    record.completing = (!is_complete).then(|| CoverageStep { cited, read: Vec::new() });
                    record.artifact =
                        artifact_path.map(|artifact| artifact.as_str().to_owned()).or(record.artifact.take());
                });
                Ok((source, coverage, scan))
            })
            .await?;
        let total = coverage.total_lines;
        let meets_min_coverage = coverage.reaches(min_ratio);
        let file = set.state.covered_file(source.manual_id.as_deref(), &source.path, total);
        let action = match (coverage.uncovered.first().filter(|_| !meets_min_coverage), &artifact) {
            (Some(first), _) => file.read(*first, 0.9),
            // An audit of this version of the source has run already: what it found is to be fixed.
            (None, _) if scan.is_audited => match &scan.finding {
                Some((artifact, line)) => artifact_place(artifact, *line),
                None => NextAction::stop(0.7),
            },
            (None, Some(artifact)) => {
                let artifact = ("artifact_path".to_owned(), artifact.as_str().into());
                let params = [artifact, file.as_argument("source_path")].into_iter().collect();
                NextAction::call("artifact_audit", 0.8, params)
            }
            (None, None) => NextAction::without_params("artifact_audit", 0.5),
        };
        let max_chars = set.state.settings.hard_max_chars / 2;
        let shown = |ranges: &[LineRange]| fitting(ranges.to_vec(), max_chars);
        let (covered_ranges, uncovered_ranges) = (shown(&coverage.covered), shown(&coverage.uncovered));
        let more =
            covered_ranges.len() + uncovered_ranges.len() < coverage.covered.len() + coverage.uncovered.len();
        call.note("path", &source.path);
        call.note("coverage_ratio", coverage.ratio());
        call.note("uncovered_ranges", coverage.uncovered.len());
        let read_coverage_ratio = has_ledger.then(|| Coverage::new(total, scan.scanned).ratio());
        let output = Output {
            path: source.path,
            manual_id: source.manual_id,
            read_coverage_ratio,
            total_lines: total,
            covered_lines: coverage.covered_lines,
            coverage_ratio: coverage.ratio(),
            covered_ranges,
            uncovered_ranges,
            more,
            meets_min_coverage,
            next_actions: NextAction::served(vec![action], call),
        };
        Ok(Reply::new(output))
    }
}
