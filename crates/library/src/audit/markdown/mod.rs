//! Reads Markdown artifacts: headings are the elements, Mermaid flowcharts in fenced code blocks are graphs, and links
//! between headings are cross-references.

mod blocks;

use self::blocks::{Blocks, blocks, is_mermaid};
use super::artifact::{Artifact, CrossReference, Element, SourceComment};
use super::flowchart::read_diagram;
use super::marks::{explicit_findings, source_lines_mark};
use crate::reading::Provenance;
use annai_core::cancellation::checkpoint;
use annai_text::{Anchors, Document, Format, Markdown, Node, NodeKind, percent_decoded};

/// Reads a Markdown artifact.
pub(super) fn read(text: &str, name: &str) -> Artifact {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Document { lines, nodes, .. } = Markdown.parse(text.to_owned(), name);
    let line = |number: usize| lines.text_of(text, number);
    let mut artifact = Artifact::default();
    // The text before the first heading is not an element.
    let headings =
        || nodes.iter().filter(|node| matches!(node.kind, NodeKind::Heading | NodeKind::PageBreak));
    artifact.elements = headings().map(|node| Element::new(&node.title, node.start_line)).collect();
    let starts: Vec<usize> = headings().map(|node| node.start_line).collect();
    let owner = |number: usize| starts.partition_point(|start| *start <= number).checked_sub(1);
    for number in 1..=lines.count() {
        checkpoint();
        let words = line(number);
        let found = source_lines_mark(words);
        let element = owner(number).and_then(|owner| artifact.elements.get_mut(owner));
        let element = element.unwrap_or(&mut artifact.preface);
        artifact.findings.extend(explicit_findings(words, number, Some(&element.id)));
        element.add_mark(number, found.clone());
        artifact.marks.extend(found.map(|mark| (number, words.to_owned(), mark)));
    }
    let Blocks { mut diagrams, links, claims, comments } = blocks(text, &lines);
    artifact.claims = claims;
    let is_blank = |number: usize| line(number).trim().is_empty();
    artifact.comments = source_comments(comments, &nodes, lines.count(), is_blank);
    diagrams.extend(colon_fenced_diagrams((1..=lines.count()).map(|number| (number, line(number)))));
    diagrams.sort_by_key(|diagram| diagram.first().map(|(number, _)| *number));
    diagrams.iter().for_each(|diagram| read_diagram(diagram, &mut artifact));
    note_comments(&mut artifact, &starts, lines.count());
    let anchors = Anchors::new(headings().map(|node| (node.title.as_str(), node.anchor.as_deref())));
    for (number, link) in links {
        checkpoint();
        let reference = owner(number).and_then(|from| cross_reference(from, &link, name, &anchors));
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

/// Notes for each element which source comments cover any of its lines. `starts` are the lines of the headings, whose
/// elements come first.
fn note_comments(artifact: &mut Artifact, starts: &[usize], last_line: usize) {
    let Artifact { elements, preface, comments, .. } = artifact;
    let covering = |first: usize, last: usize| -> Vec<usize> {
        let from = comments.partition_point(|comment| comment.last_line < first);
        let near = comments.iter().enumerate().skip(from).take_while(|(_, comment)| comment.line < last);
        let covers = |comment: &SourceComment| comment.first_line <= comment.last_line.min(last);
        near.filter(|(_, comment)| covers(comment)).map(|(index, _)| index).collect()
    };
    let end_before = |next: Option<&usize>| next.map_or(last_line, |next| next - 1);
    preface.comments = covering(1, end_before(starts.first()));
    for (index, element) in elements.iter_mut().enumerate() {
        let last = if element.is_graph_node { element.line } else { end_before(starts.get(index + 1)) };
        element.comments = covering(element.line, last);
    }
}

/// The diagrams between `::: mermaid` and `:::`, as Azure DevOps wikis write them.
fn colon_fenced_diagrams<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Vec<Vec<(usize, &'a str)>> {
    let (mut diagrams, mut open): (Vec<Vec<_>>, Option<Vec<_>>) = (Vec::new(), None);
    for (number, words) in lines {
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
    let (file, anchor) = link.split_once('#')?;
    if anchor.is_empty() || !(file.is_empty() || file == file_name) {
        return None;
    }
    let to = anchors.find(&percent_decoded(anchor));
    (to != Some(from)).then(|| CrossReference { from, to, target: format!("#{anchor}") })
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
