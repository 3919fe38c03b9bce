//! What fuzz targets do with artifacts.

use super::artifact::Artifact;
use super::checks::{check_structure, sort_findings};
use super::{json, markdown};

/// Reads and checks a Markdown artifact.
pub fn read_markdown(text: &str) {
    check(markdown::read(text, "a.md"));
    check(markdown::read(&format!("```mermaid\n{text}\n```\n"), "a.md"));
}

/// Reads and checks a file that is a flowchart.
pub fn read_flowchart(text: &str) {
    check(markdown::read_flowchart(text));
    check(markdown::read_flowchart(&format!("flowchart TD\n{text}")));
}

/// Reads and checks a JSON artifact.
pub fn read_json(text: &str) {
    check(json::read(text));
}

fn check(mut artifact: Artifact) {
    let (_, mut findings) = check_structure(&mut artifact, 100);
    sort_findings(&mut findings);
}
