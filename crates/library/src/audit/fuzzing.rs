//! What fuzz targets expect of an audit.

use super::artifact::Artifact;
use super::structure::{check_structure, sort_findings};
use super::support::evidence::FileEvidence;
use super::support::origins::Origins;
use super::support::{check_support, needed_lines};
use super::{flowchart, json_graph, markdown};

/// Reads and audits a Markdown artifact.
pub(crate) fn read_markdown(text: &str) {
    check(text, markdown::read(text, "a.md"));
}

/// Reads and audits a file that is a flowchart, with or without its first line.
pub(crate) fn read_flowchart(text: &str) {
    let is_headed =
        ["flowchart", "graph", "---", "%%"].iter().any(|start| text.trim_start().starts_with(start));
    let text = if is_headed { text.to_owned() } else { format!("flowchart TD\n{text}") };
    check(&text, flowchart::read_file(&text));
}

/// Reads and audits a JSON artifact.
pub(crate) fn read_json(text: &str) {
    check(text, json_graph::read(text));
}

/// Audits an artifact against itself as its source. Whatever it refers to exists, and what it finds lies in it.
fn check(text: &str, mut artifact: Artifact) {
    let lines = annai_text::LineIndex::new(text);
    let count = lines.count() as u64;
    let elements = artifact.elements.len();
    for graph in &artifact.graphs {
        assert!(graph.nodes.iter().all(|node| node.element.is_none_or(|element| element < elements)));
    }
    for reference in &artifact.cross_references {
        assert!(reference.from < elements && reference.to.is_none_or(|to| to < elements));
    }
    let (cited, mut findings) = check_structure(&mut artifact, count);
    assert!(
        cited.iter().all(|range| (1..=range.end_line).contains(&range.start_line) && range.end_line <= count)
    );
    let mut file = FileEvidence::default();
    for range in needed_lines(&artifact, count) {
        for number in range.start_line..=range.end_line {
            let line = usize::try_from(number).ok().and_then(|number| lines.line(number)).unwrap_or_default();
            file.add_line(number, text.get(line).unwrap_or_default());
        }
    }
    let origins = Origins { file_of: vec![None; artifact.comments.len()], ..Origins::default() };
    let report = check_support(&artifact, &file, count, &origins);
    assert!(report.derived <= artifact.elements.len());
    findings.extend(report.findings);
    sort_findings(&mut findings);
    for finding in &findings {
        assert!((finding.line as u64) <= count.max(1), "{finding:?} of {count} lines");
    }
}
