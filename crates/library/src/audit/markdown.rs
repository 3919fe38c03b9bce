//! A Markdown artifact: its headings are the elements, flowcharts in its fences are graphs, links between its headings are
//! cross-references.

use std::collections::HashMap;

use super::marks::{called, mark};
use super::mermaid::{Chart, is_flowchart};
use super::{Artifact, Crossing, Drawn, Element, Finding, Kind};
use crate::text::{LineIndex, slug};

/// A fence that is open: its sign, and the lines of a diagram where it holds one.
struct Fence<'a> {
    sign: &'a str,
    diagram: Option<Vec<(usize, &'a str)>>,
}

/// Reads a Markdown artifact.
pub fn read(text: &str, name: &str) -> Artifact {
    let lines = LineIndex::new(text);
    let nodes = crate::text::markdown_nodes(text, &lines, name);
    let line = |number: usize| lines.line(number).and_then(|range| text.get(range)).unwrap_or_default();
    let mut artifact = Artifact::default();
    let mut sections: Vec<(usize, usize)> = Vec::new();
    for node in &nodes {
        // What stands before the first heading is no element.
        let is_heading = !(node.start_line == 1 && node.title == name);
        if is_heading {
            sections.push((node.start_line, artifact.elements.len()));
            artifact.elements.push(Element::new(&node.title, node.start_line));
        }
    }
    let mut fence: Option<Fence<'_>> = None;
    let mut element: Option<usize> = None;
    for number in 1..=lines.count() {
        if let Ok(index) = sections.binary_search_by_key(&number, |(start, _)| *start) {
            element = sections.get(index).map(|(_, element)| *element);
        }
        let words = line(number);
        let owner = element.and_then(|element| artifact.elements.get_mut(element));
        let owner_id = owner.as_ref().map(|owner| owner.id.clone());
        if let Some(owner) = owner {
            owner.take(mark(words));
            if fence.is_none() {
                owner.links.extend(links(words));
            }
        }
        artifact.loose_marks.extend(mark(words).map(|mark| (number, words.to_owned(), mark)));
        if let Some(kind) = called(words) {
            let id = owner_id.unwrap_or_default();
            artifact.findings.push(Finding::at(
                kind,
                number,
                Some(&id),
                "the artifact itself marks it so; settle it, then remove the mark",
            ));
        }
        let trimmed = words.trim_start();
        match &mut fence {
            None => {
                let sign = ["```", "~~~"].into_iter().find(|sign| trimmed.starts_with(sign));
                fence = sign.map(|sign| {
                    let language = trimmed.trim_start_matches(['`', '~']).trim();
                    Fence { sign, diagram: (language == "mermaid").then(Vec::new) }
                });
            }
            Some(open)
                if trimmed.starts_with(open.sign)
                    && trimmed.trim_start_matches(['`', '~']).trim().is_empty() =>
            {
                if let Some(diagram) = fence.take().and_then(|fence| fence.diagram) {
                    draw(&diagram, &mut artifact);
                }
            }
            Some(open) => {
                if let Some(diagram) = &mut open.diagram {
                    diagram.push((number, words));
                }
            }
        }
    }
    if let Some(diagram) = fence.and_then(|fence| fence.diagram) {
        draw(&diagram, &mut artifact);
    }
    cross(&mut artifact);
    artifact
}

/// The anchors that a line links to, within the artifact.
fn links(line: &str) -> Vec<String> {
    let anchors = line.split("](#").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    let wiki =
        line.split("[[").skip(1).filter_map(|rest| Some(slug(rest.split_once("]]")?.0.split('|').next()?)));
    anchors.chain(wiki).collect()
}

/// Notes which sections link to which.
fn cross(artifact: &mut Artifact) {
    let mut slugs: HashMap<String, usize> = HashMap::new();
    for (index, element) in artifact.elements.iter().enumerate() {
        slugs.entry(slug(&element.id)).or_insert(index);
    }
    for (index, element) in
        artifact.elements.iter().enumerate().filter(|(_, element)| !element.links.is_empty())
    {
        for link in &element.links {
            let to = slugs.get(&slug(link)).copied();
            if to != Some(index) {
                artifact.crossings.push(Crossing { from: index, to, named: link.clone() });
            }
        }
    }
}

/// Reads a diagram; one that is no flowchart is not audited, and that is said.
fn draw(lines: &[(usize, &str)], artifact: &mut Artifact) {
    let mut lines = lines;
    // A diagram may have front matter.
    if let Some(((_, "---"), rest)) =
        lines.split_first().map(|((number, line), rest)| ((number, line.trim()), rest))
    {
        let end = rest.iter().position(|(_, line)| line.trim() == "---").map_or(rest.len(), |end| end + 1);
        lines = rest.get(end..).unwrap_or_default();
    }
    let is_content =
        |(_, line): &&(usize, &str)| !line.trim().is_empty() && !line.trim_start().starts_with("%%");
    let start = lines.iter().position(|line| is_content(&line)).unwrap_or(lines.len());
    let lines = lines.get(start..).unwrap_or_default();
    let Some((number, header)) = lines.first() else { return };
    let word = header.split([' ', ';', '\t']).find(|word| !word.is_empty()).unwrap_or_default();
    if !is_flowchart(word) {
        let what = format!("a mermaid diagram of the kind `{word}` was not audited; only flowcharts are");
        artifact.findings.push(Finding::at(Kind::NotUnderstood, *number, None, &what));
        return;
    }
    let chart = Chart::read(lines);
    for (number, what) in &chart.problems {
        let what = format!("the flowchart was not understood: {what}; mend it, or write it more simply");
        artifact.findings.push(Finding::at(Kind::NotUnderstood, *number, None, &what));
    }
    let mut places = HashMap::new();
    for (index, node) in chart.graph.nodes.iter().enumerate().filter(|(_, node)| !node.group) {
        let lines = chart.lines.get(index).cloned().unwrap_or_default();
        let mut element = Element::new(&node.id, lines.first().copied().unwrap_or(*number));
        element.in_graph = true;
        element.own_lines = lines;
        let label = chart.labels.get(index).map(String::as_str).unwrap_or_default();
        label.lines().for_each(|label| element.take(mark(label)));
        element.marked_in_label = !element.cites.is_empty();
        places.insert(index, artifact.elements.len());
        artifact.elements.push(element);
    }
    let start = (!chart.graph.nodes.is_empty()).then_some(0);
    artifact.graphs.push(Drawn { graph: chart.graph, start, places });
}
