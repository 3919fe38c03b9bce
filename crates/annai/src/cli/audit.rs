//! `annai coverage` and `annai audit`: what of a source is covered, and what in an artifact rests on nothing, for people.

use std::io;
use std::path::Path;

use annai_core::ToolError;
use annai_library::{Audited, Coverage, LineRange, audit_files};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::terminal::{Colours, plain};
use super::{Failure, eval, print};
use crate::app::App;

/// How wide the bar is, and how many ranges are listed below it.
const CELLS: u64 = 60;
const MOST_RANGES: usize = 10;

/// A path as the tools want it: from the vault, also where it was typed or pasted from here.
fn from_vault(app: &App, path: &str) -> String {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let inside = real(Path::new(path)).zip(real(&app.library.vault_folder()));
    let inside = inside.and_then(|(path, vault)| Some(path.strip_prefix(vault).ok()?.display().to_string()));
    inside.filter(|_| !app.library.vault_folder().join(path).exists()).unwrap_or_else(|| path.to_owned())
}

/// Shows which lines of a file are covered.
pub(super) fn coverage(
    app: &App,
    file: &str,
    lines: Option<&str>,
    artifact: Option<&str>,
) -> Result<(), Failure> {
    let (file, artifact) = (from_vault(app, file), artifact.map(|path| from_vault(app, path)));
    let mut ranges = lines.map(parse).transpose()?.unwrap_or_default();
    if let Some(artifact) = &artifact {
        ranges.extend(audit_files(&app.library, artifact, &file).map_err(|error| failure(&error))?.cited);
    }
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let arguments = json!({ "path": file, "cited_ranges": ranges });
    let found = runtime.block_on(eval::call(&app.registry()?, "vault_coverage", arguments))?;
    let total = found.get("total_lines").and_then(Value::as_u64).unwrap_or_default();
    let coverage = Coverage::new(total, ranges);
    let place = app.library.vault_folder().join(found.get("path").and_then(Value::as_str).unwrap_or(&file));
    let colours = Colours::of(&io::stdout(), app.no_color);
    print(&picture(&coverage, &place, app.library.coverage_min_ratio, colours))?;
    Ok(())
}

/// Shows what in an artifact is to be mended. Fails when something is, so that scripts notice.
pub(super) fn run(app: &App, artifact: &str, source: &str) -> Result<(), Failure> {
    let audited = audit_files(&app.library, &from_vault(app, artifact), &from_vault(app, source))
        .map_err(|error| failure(&error))?;
    let colours = Colours::of(&io::stdout(), app.no_color);
    let vault = app.library.vault_folder();
    let place = super::find::nearby(&vault.join(&audited.artifact_path));
    let mut text = String::new();
    for finding in &audited.findings {
        let kind = colours.paint(33, finding.kind.name());
        let node = finding.node_id.as_deref().map(|node| format!("{node}: ")).unwrap_or_default();
        let what = plain(&format!("{node}{}", finding.what)).replace('\n', " ");
        text.push_str(&format!("{}:{}  {kind}  {what}\n", plain(&place), finding.line));
    }
    let Audited { source_lines, cited, findings, source_path, .. } = audited;
    let least = app.library.coverage_min_ratio;
    let coverage = Coverage::new(source_lines, cited);
    text.push_str(&picture(&coverage, &vault.join(source_path), least, colours));
    let enough = coverage.reaches(least);
    let verdict = match (findings.len(), enough) {
        (0, true) => format!("{} nothing to mend\n", colours.paint(32, "✓")),
        (0, false) => {
            format!("{} too little of the source is covered; read the rest\n", colours.paint(31, "✗"))
        }
        (count, _) => format!("{} {count} to mend\n", colours.paint(31, "✗")),
    };
    text.push_str(&verdict);
    print(&text)?;
    if findings.is_empty() && enough { Ok(()) } else { Err(Failure::new("")) }
}

fn failure(error: &ToolError) -> Failure {
    Failure::new(error.message())
}

/// `1-10,20-30`.
fn parse(text: &str) -> Result<Vec<LineRange>, Failure> {
    let refuse =
        |part: &str| Failure::usage(format!("--lines: expected ranges as in 1-10,20-30, got `{part}`"));
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

/// A bar of a file from its first line to its last, and what is not covered.
fn picture(coverage: &Coverage, file: &Path, least: f64, colours: Colours) -> String {
    let total = coverage.total_lines;
    let cells = CELLS.min(total);
    let cell = |index: u64| {
        let (first, last) = (index * total / cells + 1, (index + 1) * total / cells);
        let lines = last + 1 - first;
        let here = Coverage::new(last, coverage.covered.clone());
        let before = Coverage::new(first - 1, coverage.covered.clone());
        match here.covered_lines - before.covered_lines {
            0 => colours.paint(31, "░"),
            covered if covered < lines => colours.paint(33, "▒"),
            _ => colours.paint(32, "█"),
        }
    };
    let bar: String = (0..cells).map(cell).collect();
    let mark = if coverage.reaches(least) { colours.paint(32, "✓") } else { colours.paint(31, "✗") };
    let mut text = format!(
        "{}\n{bar}\n{mark} {} of {total} lines covered, {:.1} % (at least {:.0} %)\n",
        plain(&super::find::nearby(file)),
        coverage.covered_lines,
        coverage.ratio() * 100.0,
        least * 100.0
    );
    for range in coverage.uncovered.iter().take(MOST_RANGES) {
        let LineRange { start_line, end_line } = range;
        text.push_str(&format!(
            "  not covered: {}:{start_line} to {end_line}\n",
            plain(&super::find::nearby(file))
        ));
    }
    let more = coverage.uncovered.len().saturating_sub(MOST_RANGES);
    if more > 0 {
        text.push_str(&format!("  and {more} more ranges\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let range = |start_line, end_line| LineRange { start_line, end_line };
        assert_eq!(parse("1-10, 20").unwrap(), [range(1, 10), range(20, 20)]);
        for wrong in ["", "a", "3-1", "0-2", "1-2-3", "1,,2"] {
            assert!(parse(wrong).unwrap_err().message.starts_with("--lines: expected ranges"), "{wrong}");
        }
    }

    #[test]
    fn the_bar_shows_what_is_covered() {
        let coverage = Coverage::new(120, vec![LineRange { start_line: 1, end_line: 61 }]);
        let text = picture(&coverage, Path::new("a.md"), 0.9, Colours::Off);
        let expected = format!("{}▒{}", "█".repeat(30), "░".repeat(29));
        assert_eq!(text.lines().nth(1), Some(expected.as_str()));
        assert!(
            text.contains("✗ 61 of 120 lines covered, 50.8 % (at least 90 %)")
                && text.contains("a.md:62 to 120")
        );
        let empty = picture(&Coverage::new(0, Vec::new()), Path::new("a.md"), 0.9, Colours::Off);
        assert!(empty.contains("✓ 0 of 0 lines covered, 100.0 %"));
    }
}
