//! Reads Mermaid flowcharts into elements and graphs. Other diagrams are not audited, and are reported.

mod parser;
mod scanner;

use self::parser::Flowchart;
use super::artifact::{Artifact, Element};
use super::finding::AuditFinding;
use super::marks::source_lines_mark;
use annai_core::cancellation::checkpoint;

/// Reads a file that is a flowchart as a whole (`.mmd`).
pub(super) fn read_file(text: &str) -> Artifact {
    let lines: Vec<_> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    let mut artifact = Artifact::default();
    let marks = lines
        .iter()
        .filter_map(|(number, line)| Some((*number, (*line).to_owned(), source_lines_mark(line)?)));
    artifact.marks.extend(marks);
    read_diagram(&lines, &mut artifact);
    artifact
}

/// Reads a diagram, given its lines with their numbers.
pub(super) fn read_diagram(lines: &[(usize, &str)], artifact: &mut Artifact) {
    let lines = without_comments(lines);
    let Some((number, header)) = lines.first() else { return };
    let word = header.split([' ', ';', '\t']).find(|word| !word.is_empty()).unwrap_or_default();
    let mut report = |line, problem: String| {
        artifact.findings.push(AuditFinding::not_understood(line, &problem));
    };
    if !matches!(word, "flowchart" | "graph" | "flowchart-elk") {
        return report(
            *number,
            format!("the Mermaid diagram of type `{word}` was not audited; only flowcharts are supported"),
        );
    }
    let Flowchart { mut graph, problems } = Flowchart::parse(&lines);
    for (line, problem) in problems {
        report(line, format!("the flowchart could not be parsed: {problem}; correct or simplify it"));
    }
    for node in graph.nodes.iter_mut().filter(|node| !node.is_subgraph) {
        checkpoint();
        let line = node.lines.first().copied().unwrap_or(*number);
        let mut element = Element { is_graph_node: true, ..Element::new(&node.id, line) };
        node.label.lines().for_each(|label| element.add_mark(line, source_lines_mark(label)));
        (element.claims, element.is_derived) = artifact.claims.of_label(line, &node.label);
        node.element = Some(artifact.elements.len());
        artifact.elements.push(element);
    }
    artifact.graphs.push(graph);
}

/// The lines of a diagram without its front matter, directives, comments and blank lines.
fn without_comments<'a>(lines: &[(usize, &'a str)]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    // What ends the front matter or the directive that has begun.
    let mut until: Option<&str> = None;
    for (number, line) in lines {
        let words = line.trim();
        if until.is_none() && words == "---" && found.is_empty() {
            until = Some("---");
        } else if until.is_some() || words.starts_with("%%{") {
            let end = until.unwrap_or("}%%");
            until = (!words.contains(end)).then_some(end);
        } else if !words.is_empty() && !words.starts_with("%%") {
            found.push((*number, *line));
        }
    }
    found
}
