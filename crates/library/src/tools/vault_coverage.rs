//! `vault_coverage`.

use std::time::Instant;

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::count_lines;
use crate::fs::RelPath;
use crate::ranges::{CitedRange, Coverage, LineRange, check_cited};
use crate::reference::NextAction;
use crate::toolset::{LIBRARY_READ, Library};
use crate::vault::check_not_reserved;

/// The maximum number of ranges in a reply, because more would fill the context of a model. The counts include all
/// ranges, and `annai/more` says when some are left out.
const MAX_SHOWN_RANGES: usize = 1000;
/// The maximum number of cited ranges of one call that are remembered; those beyond it count as not cited in later scans.
const MAX_NOTED_RANGES: usize = MAX_SHOWN_RANGES;

/// The file and the cited lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file's path, relative to the vault.
    pub path: String,
    /// The line ranges that were read or cited, in any order; they may overlap. The caller keeps track of them; the
    /// last next_action of vault_scan contains them.
    #[schemars(length(max = 60_000))]
    pub cited_ranges: Vec<CitedRange>,
    /// The artifact that was made from the file (optional): a vault file whose elements cite lines of it. The next
    /// action is then to audit it.
    pub artifact_path: Option<String>,
}

/// What is covered.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Output {
    /// The file's path as it is stored.
    pub path: String,
    /// The number of lines in the file.
    pub total_lines: u64,
    /// The number of lines that are covered.
    pub covered_lines: u64,
    /// The share of the lines that is covered, from 0 to 1.
    pub coverage_ratio: f64,
    /// The covered line ranges, merged and sorted.
    pub covered_ranges: Vec<LineRange>,
    /// The line ranges that are not covered, sorted.
    pub uncovered_ranges: Vec<LineRange>,
    /// Whether coverage_ratio reaches the server's COVERAGE_MIN_RATIO (default 0.9).
    pub meets_min_coverage: bool,
    /// The suggested next calls, most useful first. `stop` means that nothing is left to do.
    pub next_actions: Vec<NextAction>,
}

/// Compute which lines of a vault file are covered by the given line ranges and which are not.
pub struct VaultCoverage;

impl Tool for VaultCoverage {
    const FACTS: Facts = Facts {
        name: "vault_coverage",
        title: "Prove coverage / 網羅率を確かめる",
        description: "Compute which lines of a vault file are covered by the given line ranges and which are not.",
        effect: Effect::Read,
        world: World::Closed,
        access: Access::Local(LIBRARY_READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "After reading or citing a file, to see which lines are missing.",
            safe_defaults: r#"{"path":"…","cited_ranges":[{"start_line":1,"end_line":80}]}"#,
            common_errors: &[
                ("invalid_parameter", "start_line is at least 1, and end_line is not less than start_line"),
                ("not_found", "vault_ls lists the files"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        let ranges = check_cited(&input.cited_ranges)?;
        let artifact = input.artifact_path.as_deref().map(RelPath::parse).transpose()?;
        if let Some(artifact) = &artifact {
            check_not_reserved(artifact)?;
        }
        let min_ratio = set.state.settings.coverage_min_ratio;
        let (principal, artifact_path) = (call.identity().principal(), artifact.clone());
        let (path, coverage, audited) = set
            .read(move |state, _| {
                let source = count_lines(&state.vault, &path)?;
                let coverage = Coverage::new(source.lines, ranges);
                // The citations and the artifact are remembered for a scan that may follow.
                let scan =
                    state.scans.update(&principal, &source.path, &source.sha256, Instant::now(), |record| {
                        record.cited.extend(coverage.covered.iter().take(MAX_NOTED_RANGES));
                        record.artifact = artifact_path
                            .map(|artifact| artifact.as_str().to_owned())
                            .or(record.artifact.take());
                    });
                Ok((source.path, coverage, scan.is_audited))
            })
            .await?;
        let total = coverage.total_lines;
        let meets_min_coverage = coverage.reaches(min_ratio);
        let action = match (coverage.uncovered.first().filter(|_| !meets_min_coverage), &artifact) {
            (Some(first), _) => NextAction::call(
                "vault_scan",
                0.9,
                json!({ "path": path, "cursor": { "start_line": first.start_line } }),
            ),
            // An audit of this version of the source has run already, and would return the same.
            (None, _) if audited => NextAction::stop(0.7),
            (None, Some(artifact)) => NextAction::call(
                "artifact_audit",
                0.8,
                json!({ "artifact_path": artifact.as_str(), "source_path": path }),
            ),
            (None, None) => NextAction::without_params("artifact_audit", 0.5),
        };
        let more = coverage.covered.len().max(coverage.uncovered.len()) > MAX_SHOWN_RANGES;
        let shown = |ranges: &[LineRange]| ranges.iter().take(MAX_SHOWN_RANGES).copied().collect();
        call.note("path", &path);
        call.note("coverage_ratio", coverage.ratio());
        call.note("uncovered_ranges", coverage.uncovered.len());
        let output = Output {
            path,
            total_lines: total,
            covered_lines: coverage.covered_lines,
            coverage_ratio: coverage.ratio(),
            covered_ranges: shown(&coverage.covered),
            uncovered_ranges: shown(&coverage.uncovered),
            meets_min_coverage,
            next_actions: vec![action],
        };
        Ok(Reply::new(output).with_meta("annai/more", more))
    }
}
