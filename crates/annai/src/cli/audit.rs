//! `annai coverage` shows which lines of a source file are covered; `annai audit` lists the problems of an artifact.

use std::io;
use std::path::Path;

use annai_core::finding::counted;
use annai_library::{AuditReport, Coverage, LineRange, audit_files};
use serde_json::{Value, json};

use super::call::Format;
use super::local_session::LocalSession;
use super::terminal::{Colors, cell, display_path};
use super::{Failure, print};
use crate::app::App;

/// The width of the coverage bar in characters; it fits into 80 columns. A longer file has several lines per character.
const BAR_WIDTH: u64 = 60;
/// The maximum number of uncovered ranges that are listed, so that the bar stays on the screen; the rest is counted.
const MAX_LISTED_RANGES: usize = 10;

/// The path relative to the vault, as the tools expect it. A path relative to the current folder is converted, because the
/// commands print such paths and people paste them back.
fn vault_path(app: &App, path: &str) -> String {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let inside = canonical(Path::new(path)).zip(canonical(&app.library.vault_folder()));
    let inside = inside.and_then(|(path, vault)| Some(path.strip_prefix(vault).ok()?.display().to_string()));
    inside.filter(|_| !app.library.vault_folder().join(path).exists()).unwrap_or_else(|| path.to_owned())
}

/// Shows which lines of a file are covered. The exit status is 1 when the coverage is too low.
pub(super) fn coverage(
    app: &App,
    file: &str,
    lines: Option<&str>,
    artifact: Option<&str>,
    format: Format,
) -> Result<(), Failure> {
    let (file, artifact) = (vault_path(app, file), artifact.map(|path| vault_path(app, path)));
    let mut ranges = lines.map(parse_ranges).transpose()?.unwrap_or_default();
    if let Some(artifact) = &artifact {
        ranges.extend(audit_files(&app.library, artifact, &file)?.cited);
    }
    let arguments = json!({ "path": file, "cited_ranges": ranges });
    let report = LocalSession::run(app, |session| session.call("vault_coverage", &arguments))?;
    let total = report.get("total_lines").and_then(Value::as_u64).unwrap_or_default();
    let coverage = Coverage::new(total, ranges);
    let min_ratio = app.library.coverage_min_ratio;
    if format == Format::Json {
        print(&format!("{report:#}\n"))?;
        return verdict(0, coverage.reaches(min_ratio));
    }
    let place = app.library.vault_folder().join(report.get("path").and_then(Value::as_str).unwrap_or(&file));
    let colors = Colors::of(&io::stdout(), app.color);
    print(&coverage_report(&coverage, &place, min_ratio, colors))?;
    verdict(0, coverage.reaches(min_ratio))
}

/// Lists the problems of an artifact. The exit status is 1 when there are any, or when the coverage is too low.
pub(super) fn run(app: &App, artifact: &str, source: &str, format: Format) -> Result<(), Failure> {
    let (artifact, source) = (vault_path(app, artifact), vault_path(app, source));
    let audited = audit_files(&app.library, &artifact, &source)?;
    if format == Format::Json {
        let arguments = json!({ "artifact_path": artifact, "source_path": source });
        let report = LocalSession::run(app, |session| session.call("artifact_audit", &arguments))?;
        print(&format!("{report:#}\n"))?;
        let coverage = Coverage::new(audited.source_lines, audited.cited);
        return verdict(audited.total_findings, coverage.reaches(app.library.coverage_min_ratio));
    }
    let colors = Colors::of(&io::stdout(), app.color);
    let vault = app.library.vault_folder();
    let place = display_path(&vault.join(&audited.artifact_path));
    let mut text = String::new();
    for finding in &audited.findings {
        let kind = colors.paint(33, finding.kind.name());
        let node = finding.node_id.as_deref().map(|node| format!("{node}: ")).unwrap_or_default();
        let what = cell(&format!("{node}{}", finding.problem));
        text.push_str(&format!("{}:{}  {kind}  {what}\n", cell(&place), finding.line));
    }
    let AuditReport { source_lines, cited, findings, total_findings, derived, source_path, .. } = audited;
    let left_out = total_findings - findings.len();
    if left_out > 0 {
        text.push_str(&format!("and {left_out} more unsupported values\n"));
    }
    let min_ratio = app.library.coverage_min_ratio;
    let coverage = Coverage::new(source_lines, cited);
    text.push_str(&coverage_report(&coverage, &vault.join(source_path), min_ratio, colors));
    let enough = coverage.reaches(min_ratio);
    if derived > 0 {
        let elements =
            if derived == 1 { "1 element is" } else { "{} elements are" }.replace("{}", &derived.to_string());
        text.push_str(&format!("  {elements} marked as derived, and not checked against the source\n"));
    }
    let summary = match (total_findings, enough) {
        (0, true) => format!("{} no problems found\n", colors.paint(32, "✓")),
        (0, false) => {
            format!(
                "{} the artifact cites too few lines of its source; cover the ranges above\n",
                colors.paint(31, "✗")
            )
        }
        (count, _) => format!("{} {} found\n", colors.paint(31, "✗"), counted(count, "problem")),
    };
    text.push_str(&summary);
    print(&text)?;
    verdict(total_findings, enough)
}

/// The exit status of a check; its output has said why.
fn verdict(problems: usize, is_covered: bool) -> Result<(), Failure> {
    if problems == 0 && is_covered { Ok(()) } else { Err(Failure::new("")) }
}

/// Parses line ranges such as `1-10,20-30` or `7`.
fn parse_ranges(text: &str) -> Result<Vec<LineRange>, Failure> {
    let refuse = |part: &str| {
        Failure::usage(format!("--lines: expected line ranges such as 1-10,20-30, got `{part}`"))
    };
    let range = |part: &str| {
        let (start, end) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|number| *number > 0);
        match (number(start), number(end)) {
            (Some(start_line), Some(end_line)) if start_line <= end_line => {
                Ok(LineRange { start_line, end_line })
            }
            _ => Err(refuse(part)),
        }
    };
    text.split(',').map(range).collect()
}

/// A bar that shows the file from its first line to its last, the share of covered lines, and the uncovered ranges.
fn coverage_report(coverage: &Coverage, file: &Path, min_ratio: f64, colors: Colors) -> String {
    let total = coverage.total_lines;
    let blocks = BAR_WIDTH.min(total);
    let block = |index: u64| {
        let (first, last) = (index * total / blocks + 1, (index + 1) * total / blocks);
        let lines = last + 1 - first;
        let here = Coverage::new(last, coverage.covered.clone());
        let before = Coverage::new(first - 1, coverage.covered.clone());
        match here.covered_lines - before.covered_lines {
            0 => colors.paint(31, "░"),
            covered if covered < lines => colors.paint(33, "▒"),
            _ => colors.paint(32, "█"),
        }
    };
    let bar: String = (0..blocks).map(block).collect();
    let mark = if coverage.reaches(min_ratio) { colors.paint(32, "✓") } else { colors.paint(31, "✗") };
    let mut text = format!(
        "{}\n{bar}\n{mark} {} of {total} lines covered, {:.1} % (required: {:.0} %)\n",
        cell(&display_path(file)),
        coverage.covered_lines,
        coverage.ratio() * 100.0,
        min_ratio * 100.0
    );
    for range in coverage.uncovered.iter().take(MAX_LISTED_RANGES) {
        let LineRange { start_line, end_line } = range;
        text.push_str(&format!("  not covered: {}:{start_line} to {end_line}\n", cell(&display_path(file))));
    }
    let more = coverage.uncovered.len().saturating_sub(MAX_LISTED_RANGES);
    if more > 0 {
        text.push_str(&format!("  and {more} more ranges\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ranges_are_parsed() {
        let range = |start_line, end_line| LineRange { start_line, end_line };
        assert_eq!(parse_ranges("1-10, 20").unwrap(), [range(1, 10), range(20, 20)]);
        for wrong in ["", "a", "3-1", "0-2", "1-2-3", "1,,2"] {
            assert!(
                parse_ranges(wrong).unwrap_err().message.starts_with("--lines: expected line ranges"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn the_report_shows_a_bar_the_ratio_and_the_uncovered_ranges() {
        let coverage = Coverage::new(120, vec![LineRange { start_line: 1, end_line: 61 }]);
        let text = coverage_report(&coverage, Path::new("a.md"), 0.9, Colors::Off);
        let expected = format!("{}▒{}", "█".repeat(30), "░".repeat(29));
        assert_eq!(text.lines().nth(1), Some(expected.as_str()));
        assert!(
            text.contains("✗ 61 of 120 lines covered, 50.8 % (required: 90 %)")
                && text.contains("a.md:62 to 120")
        );
        let empty = coverage_report(&Coverage::new(0, Vec::new()), Path::new("a.md"), 0.9, Colors::Off);
        assert!(empty.contains("✓ 0 of 0 lines covered, 100.0 %"));
    }
}
