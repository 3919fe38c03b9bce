//! Reads Markdown artifacts: headings are the elements, Mermaid flowcharts in fenced code blocks are graphs, and links
//! between headings are cross-references.

use std::collections::HashMap;

use super::artifact::{Artifact, ArtifactGraph, CrossReference, Element, SourceComment};
use super::blocks::{Blocks, blocks, is_mermaid};
use super::finding::{AuditFinding, FindingKind};
use super::flowchart::Flowchart;
use super::marks::{REPORTED_BY_ARTIFACT, explicit_marks, source_lines_mark};
use super::statements::is_flowchart;
use crate::cancellation::checkpoint;
use crate::provenance::Provenance;
use crate::text::{Anchors, LineIndex, Node, NodeKind, markdown_page, percent_decoded};

/// Reads a Markdown artifact.
pub fn read(text: &str, name: &str) -> Artifact {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineIndex::new(text);
    let line = |number: usize| lines.line(number).and_then(|range| text.get(range)).unwrap_or_default();
    let mut artifact = Artifact::default();
    let mut starts: Vec<usize> = Vec::new();
    let nodes = markdown_page(text, &lines, name).nodes;
    // The text before the first heading is not an element.
    let headings =
        || nodes.iter().filter(|node| matches!(node.kind, NodeKind::Heading | NodeKind::PageBreak));
    for node in headings() {
        starts.push(node.start_line);
        artifact.elements.push(Element::new(&node.title, node.start_line));
    }
    let owner = |number: usize| starts.partition_point(|start| *start <= number).checked_sub(1);
    for number in 1..=lines.count() {
        checkpoint();
        let words = line(number);
        let found = source_lines_mark(words);
        let element = owner(number).and_then(|owner| artifact.elements.get_mut(owner));
        let id = element.as_ref().map(|element| element.id.clone()).unwrap_or_default();
        element.unwrap_or(&mut artifact.preface).add_mark(number, found.clone());
        artifact.marks.extend(found.map(|mark| (number, words.to_owned(), mark)));
        for kind in explicit_marks(words) {
            artifact.findings.push(AuditFinding::at(kind, number, Some(&id), REPORTED_BY_ARTIFACT));
        }
    }
    let Blocks { diagrams, links, claims, comments, left_out_comment } = blocks(text, &lines);
    artifact.claims = claims;
    let is_blank = |number: usize| line(number).trim().is_empty();
    artifact.comments = source_comments(comments, &nodes, lines.count(), is_blank);
    if let Some(number) = left_out_comment {
        let problem = "this source comment and those below it were not checked, because there are too many; split the artifact";
        artifact.findings.push(AuditFinding::at(FindingKind::NotUnderstood, number, None, problem));
    }
    for diagram in diagrams.iter().chain(&colon_fenced_diagrams(text, &lines)) {
        read_diagram(diagram, &mut artifact);
    }
    artifact.note_comments(&starts, lines.count());
    let anchors = Anchors::new(headings().map(|node| (node.title.as_str(), node.anchor.as_deref())));
    for (number, link) in links {
        checkpoint();
        let Some(from) = owner(number) else { continue };
        let reference = cross_reference(from, &link, name, &anchors);
        artifact.cross_references.extend(reference);
    }
    artifact
}

/// The source comments with the lines that they cover: up to the next comment; where a heading stands directly below the
/// comment, up to the next heading of the same or a higher level, and otherwise up to the next heading.
fn source_comments(
    comments: Vec<(usize, Provenance)>,
    nodes: &[Node],
    last_line: usize,
    is_blank: impl Fn(usize) -> bool,
) -> Vec<SourceComment> {
    let next_lines: Vec<_> = comments.iter().skip(1).map(|(line, _)| *line).chain([last_line + 1]).collect();
    let comments = comments.into_iter().zip(next_lines);
    let covering = comments.map(|((line, source), next_comment)| {
        let first = (line + 1..next_comment).find(|number| !is_blank(*number)).unwrap_or(line + 1);
        let after = nodes.partition_point(|node| node.start_line <= line);
        let end = match nodes.get(after) {
            Some(node) if node.start_line == first => node.end_line,
            Some(node) => node.start_line - 1,
            None => last_line,
        };
        SourceComment { line, source, first_line: first, last_line: end.min(next_comment - 1) }
    });
    covering.collect()
}

/// The diagrams between `::: mermaid` and `:::`, as Azure DevOps wikis write them.
fn colon_fenced_diagrams<'a>(text: &'a str, lines: &LineIndex) -> Vec<Vec<(usize, &'a str)>> {
    let (mut diagrams, mut open): (Vec<Vec<_>>, Option<Vec<_>>) = (Vec::new(), None);
    for number in 1..=lines.count() {
        let words = lines.line(number).and_then(|range| text.get(range)).unwrap_or_default();
        match (&mut open, words.trim()) {
            (None, start) if start.strip_prefix(":::").is_some_and(is_mermaid) => open = Some(Vec::new()),
            (Some(_), ":::") => diagrams.extend(open.take()),
            (Some(diagram), _) => diagram.push((number, words)),
            _ => {}
        }
    }
    diagrams
}

/// The cross-reference of a link to a heading of the same file; `None` for every other link.
fn cross_reference(from: usize, link: &str, file_name: &str, anchors: &Anchors) -> Option<CrossReference> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    if anchor.is_empty() || !(file.is_empty() || file == file_name) {
        return None;
    }
    let to = anchors.find(&percent_decoded(anchor));
    (to != Some(from)).then(|| CrossReference { from, to, target: format!("#{anchor}") })
}

/// Reads a file that is a flowchart as a whole (`.mmd`).
pub fn read_flowchart(text: &str) -> Artifact {
    let lines: Vec<_> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    let mut artifact = Artifact::default();
    artifact.marks.extend(
        lines
            .iter()
            .filter_map(|(number, line)| Some((*number, (*line).to_owned(), source_lines_mark(line)?))),
    );
    read_diagram(&lines, &mut artifact);
    artifact
}

/// The lines of a diagram after its front matter, directives, comments and blank lines.
fn skip_preamble<'a, 'b>(mut lines: &'a [(usize, &'b str)]) -> &'a [(usize, &'b str)] {
    let is_comment = |line: &str| line.starts_with("%%") && !line.starts_with("%%{");
    // The lines after the first one that satisfies a condition; nothing when there is none.
    let after = |lines: &'a [(usize, &'b str)], is_end: &dyn Fn(&str) -> bool| {
        let end = lines.iter().position(|(_, line)| is_end(line)).map_or(lines.len(), |end| end + 1);
        lines.get(end..).unwrap_or_default()
    };
    while let Some(((_, line), rest)) = lines.split_first() {
        lines = match line.trim() {
            line if line.is_empty() || is_comment(line) => rest,
            "---" => after(rest, &|line| line.trim() == "---"),
            line if line.starts_with("%%{") => after(lines, &|line| line.contains("}%%")),
            _ => break,
        };
    }
    lines
}

/// The text of a label: without its quotes and markup, and of `@{ … }` only what it shows.
fn label_text(label: &str) -> String {
    let mut text = String::with_capacity(label.len());
    for line in label.lines() {
        let shown = match line.split_once("label:") {
            Some((before, shown))
                if before.is_empty() || before.contains("shape") || before.trim().is_empty() =>
            {
                shown
            }
            _ if line.trim_start().starts_with("shape:") => "",
            _ => line,
        };
        let shown = shown.trim().trim_matches(['"', '`']);
        text.push_str(
            &shown.replace("<br>", "\n").replace("<br/>", "\n").replace("<br />", "\n").replace("\\n", "\n"),
        );
        text.push('\n');
    }
    text
}

/// Reads a diagram. One that is not a flowchart is not audited, and is reported as a finding.
fn read_diagram(lines: &[(usize, &str)], artifact: &mut Artifact) {
    let lines = skip_preamble(lines);
    let Some((number, header)) = lines.first() else { return };
    let word = header.split([' ', ';', '\t']).find(|word| !word.is_empty()).unwrap_or_default();
    if !is_flowchart(word) {
        let problem =
            format!("the Mermaid diagram of type `{word}` was not audited; only flowcharts are supported");
        artifact.findings.push(AuditFinding::at(FindingKind::NotUnderstood, *number, None, &problem));
        return;
    }
    let chart = Flowchart::read(lines);
    for (number, problem) in &chart.problems {
        let problem = format!("the flowchart could not be parsed: {problem}; correct or simplify it");
        artifact.findings.push(AuditFinding::at(FindingKind::NotUnderstood, *number, None, &problem));
    }
    let mut elements_by_node = HashMap::new();
    for (index, node) in chart.graph.nodes.iter().enumerate().filter(|(_, node)| !node.is_subgraph) {
        checkpoint();
        let lines = chart.lines.get(index).cloned().unwrap_or_default();
        let first = lines.first().copied().unwrap_or(*number);
        let mut element = Element::new(&node.id, first);
        element.is_graph_node = true;
        element.own_lines = lines;
        let label = chart.labels.get(index).map(String::as_str).unwrap_or_default();
        label.lines().for_each(|label| element.add_mark(first, source_lines_mark(label)));
        (element.claims, element.is_derived) = artifact.claims.of_label(first, &label_text(label));
        element.has_mark_in_label = !element.citations.is_empty();
        elements_by_node.insert(index, artifact.elements.len());
        artifact.elements.push(element);
    }
    let start = (!chart.graph.nodes.is_empty()).then_some(0);
    artifact.graphs.push(ArtifactGraph {
        graph: chart.graph,
        drawn_edges: chart.drawn_edges,
        start,
        elements_by_node,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_a_heading_by_its_words_or_its_id() {
        let text = "---\ntitle: Own\n---\nbefore\n## A\n[b](#own) [c](#mine) [d](#none) [e](#page-2)\n## Own\n## C {#mine}\n## Page 2\nx\n";
        let artifact = read(text, "a.md");
        let ids: Vec<_> = artifact.elements.iter().map(|element| element.id.as_str()).collect();
        assert_eq!(ids, ["A", "Own", "C", "x"]);
        let targets: Vec<_> = artifact.cross_references.iter().map(|reference| reference.to).collect();
        assert_eq!(targets, [Some(1), Some(2), None, Some(3)]);
    }
}
