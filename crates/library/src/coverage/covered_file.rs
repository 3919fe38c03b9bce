//! Leads a caller through the lines of a file that are not covered yet, and only through them.

use serde_json::{Value, json};

use crate::coverage::line_coverage::Coverage;
use crate::coverage::scan_store::{CoverageStep, ScanRecord};
use crate::paging::fitting;
use crate::reading::LineRange;
use annai_search::reference::NextAction;

/// The maximum length of the ranges in a suggested call, in characters of JSON, so that the reply stays small.
const MAX_RANGES_CHARS: usize = 5000;

/// How many lines after that of a finding are shown.
const SHOWN_LINES: usize = 10;

/// A file of the vault or of a manual whose coverage is being completed.
pub(crate) struct CoveredFile<'a> {
    /// The manual; none for the vault.
    pub(crate) manual_id: Option<&'a str>,
    pub(crate) path: &'a str,
    pub(crate) total_lines: u64,
    /// The maximum number of lines that vault_scan returns at once.
    pub(crate) max_chunk_lines: u64,
}

impl CoveredFile<'_> {
    /// Suggests reading the first lines that are neither cited nor read since; when there are none, computing the coverage.
    pub(crate) fn next(&self, scan: &ScanRecord) -> NextAction {
        let lines = scan.completing.as_ref().map_or_else(|| scan.scanned.clone(), CoverageStep::lines);
        let coverage = Coverage::new(self.total_lines, lines.clone());
        match coverage.uncovered.first() {
            Some(range) => self.read(*range, 0.9),
            None => match (&scan.finding, scan.is_audited) {
                // The source was read for an audit: what that found is to be fixed.
                (Some((artifact, line)), true) => artifact_place(artifact, *line),
                _ => self.coverage(lines, scan.artifact.as_deref()),
            },
        }
    }

    /// How many lines from this one on are not covered, while a coverage is being completed.
    pub(crate) fn uncovered_from(&self, line: u64, scan: &ScanRecord) -> Option<u64> {
        let step = scan.completing.as_ref()?;
        let coverage = Coverage::new(self.total_lines, step.lines());
        let range =
            coverage.uncovered.iter().find(|range| (range.start_line..=range.end_line).contains(&line));
        Some(range.map_or(1, |range| range.end_line + 1 - line).min(self.max_chunk_lines))
    }

    pub(crate) fn read(&self, range: LineRange, confidence: f64) -> NextAction {
        match self.manual_id {
            Some(manual_id) => {
                let lines = json!({ "start": range.start_line, "end": range.end_line });
                let params = json!({ "manual_id": manual_id, "path": self.path, "lines": lines });
                NextAction::call("manual_read", confidence, params)
            }
            None => {
                let cursor = json!({ "start_line": range.start_line });
                let chunk_lines = range.count().min(self.max_chunk_lines);
                let params = json!({ "path": self.path, "cursor": cursor, "chunk_lines": chunk_lines });
                NextAction::call("vault_scan", confidence, params)
            }
        }
    }

    /// Suggests computing the coverage by these lines.
    pub(crate) fn coverage(&self, lines: Vec<LineRange>, artifact: Option<&str>) -> NextAction {
        let cited = json!(fitting(lines, MAX_RANGES_CHARS));
        let artifact = artifact.map(|artifact| ("artifact_path".to_owned(), artifact.into()));
        let params = [("cited_ranges".to_owned(), cited), self.as_argument("path")];
        NextAction::call("vault_coverage", 0.9, params.into_iter().chain(artifact).collect())
    }

    /// The argument that names the file: its ref, or its path in the vault as the argument `path_argument`.
    pub(crate) fn as_argument(&self, path_argument: &str) -> (String, Value) {
        let Some(manual_id) = self.manual_id else { return (path_argument.to_owned(), self.path.into()) };
        let source = json!({ "target": "manual", "manual_id": manual_id, "path": self.path });
        ("source".to_owned(), source)
    }
}

/// Suggests reading the part of an artifact that has to be fixed.
pub(crate) fn artifact_place(artifact: &str, line: usize) -> NextAction {
    let range = json!({ "start_line": line.max(1), "end_line": line + SHOWN_LINES });
    NextAction::call("vault_read", 0.8, json!({ "path": artifact, "range": range }))
}
