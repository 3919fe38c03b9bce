//! A Markdown artifact: its headings are the elements, flowcharts in its fences are graphs, links between its headings are
//! cross-references.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::marks::{called, mark};
use super::mermaid::{Chart, is_flowchart};
use super::{Artifact, Crossing, Drawn, Element, Finding, Kind};
use crate::text::{LineIndex, find_anchor, markdown_nodes, percent_decoded};

/// Reads a Markdown artifact.
pub fn read(text: &str, name: &str) -> Artifact {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineIndex::new(text);
    let line = |number: usize| lines.line(number).and_then(|range| text.get(range)).unwrap_or_default();
    let mut artifact = Artifact::default();
    let mut starts: Vec<usize> = Vec::new();
    for node in markdown_nodes(text, &lines, name) {
        // What stands before the first heading is no element.
        let first = line(node.start_line).trim_start();
        if node.title != name || node.start_line > 1 || first.starts_with('#') {
            starts.push(node.start_line);
            artifact.elements.push(Element::new(&node.title, node.start_line));
        }
    }
    let owner = |number: usize| starts.partition_point(|start| *start <= number).checked_sub(1);
    for number in 1..=lines.count() {
        let words = line(number);
        let found = mark(words);
        let element = owner(number).and_then(|owner| artifact.elements.get_mut(owner));
        let id = element.as_ref().map(|element| element.id.clone()).unwrap_or_default();
        if let Some(element) = element {
            element.take(number, found.clone());
        }
        artifact.marks.extend(found.map(|mark| (number, words.to_owned(), mark)));
        for kind in called(words) {
            let what = "the artifact itself marks it so; settle it, then remove the mark";
            artifact.findings.push(Finding::at(kind, number, Some(&id), what));
        }
    }
    let (diagrams, links) = blocks(text, &lines);
    for diagram in &diagrams {
        draw(diagram, &mut artifact);
    }
    // Azure's wikis fence diagrams with colons.
    let mut colons: Option<Vec<(usize, &str)>> = None;
    for number in 1..=lines.count() {
        let words = line(number);
        match (&mut colons, words.trim()) {
            (None, start) if start.strip_prefix(":::").is_some_and(is_mermaid) => colons = Some(Vec::new()),
            (Some(_), ":::") => {
                draw(&colons.take().unwrap_or_default(), &mut artifact);
            }
            (Some(diagram), _) => diagram.push((number, words)),
            _ => {}
        }
    }
    for (number, target) in links {
        let (file, anchor) = target.split_once('#').unwrap_or((target.as_str(), ""));
        let Some(from) = owner(number).filter(|_| !anchor.is_empty() && (file.is_empty() || file == name))
        else {
            continue;
        };
        let titles = artifact.elements.iter().take(starts.len()).map(|element| element.id.as_str());
        let to = find_anchor(titles, &percent_decoded(anchor));
        if to != Some(from) {
            artifact.crossings.push(Crossing { from, to, named: format!("#{anchor}") });
        }
    }
    artifact
}

/// A flowchart in a file of its own.
pub fn read_chart(text: &str) -> Artifact {
    let lines: Vec<_> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    let mut artifact = Artifact::default();
    artifact
        .marks
        .extend(lines.iter().filter_map(|(number, line)| Some((*number, (*line).to_owned(), mark(line)?))));
    draw(&lines, &mut artifact);
    artifact
}

/// Lines of diagrams, and links with the lines that they stand on.
type Blocks<'a> = (Vec<Vec<(usize, &'a str)>>, Vec<(usize, String)>);

/// Finds diagrams and links, wherever Markdown has them.
fn blocks<'a>(text: &'a str, lines: &LineIndex) -> Blocks<'a> {
    let (mut diagrams, mut links) = (Vec::new(), Vec::new());
    let mut open: Option<Vec<(usize, &str)>> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if is_mermaid(&info) => {
                open = Some(Vec::new());
            }
            Event::Text(_) => {
                if let Some(diagram) = &mut open {
                    let part = text.get(range.clone()).unwrap_or_default();
                    let first = lines.line_at(range.start);
                    diagram.extend(part.lines().enumerate().map(|(index, line)| (first + index, line)));
                }
            }
            Event::End(TagEnd::CodeBlock) => diagrams.extend(open.take()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                links.push((lines.line_at(range.start), dest_url.to_string()));
            }
            _ => {}
        }
    }
    (diagrams, links)
}

/// Whether the words behind a fence say that it holds a diagram.
fn is_mermaid(info: &str) -> bool {
    let word = info.trim_start().trim_start_matches(['{', '.']);
    let end = word.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(word.len());
    word.get(..end).is_some_and(|word| word.eq_ignore_ascii_case("mermaid"))
}

/// Reads a diagram; one that is no flowchart is not audited, and that is said.
fn draw(lines: &[(usize, &str)], artifact: &mut Artifact) {
    let mut lines = lines;
    let skip = |lines: &mut &[(usize, &str)]| {
        let blank = |line: &str| line.is_empty() || (line.starts_with("%%") && !line.starts_with("%%{"));
        while let Some(((_, line), rest)) = lines.split_first() {
            match line.trim() {
                line if blank(line) => *lines = rest,
                // A diagram may have front matter and directives.
                "---" => {
                    let end = rest
                        .iter()
                        .position(|(_, line)| line.trim() == "---")
                        .map_or(rest.len(), |end| end + 1);
                    *lines = rest.get(end..).unwrap_or_default();
                }
                line if line.starts_with("%%{") => {
                    let end = lines
                        .iter()
                        .position(|(_, line)| line.contains("}%%"))
                        .map_or(lines.len(), |end| end + 1);
                    *lines = lines.get(end..).unwrap_or_default();
                }
                _ => break,
            }
        }
    };
    skip(&mut lines);
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
        let first = lines.first().copied().unwrap_or(*number);
        let mut element = Element::new(&node.id, first);
        element.in_graph = true;
        element.own_lines = lines;
        let label = chart.labels.get(index).map(String::as_str).unwrap_or_default();
        label.lines().for_each(|label| element.take(first, mark(label)));
        element.marked_in_label = !element.cites.is_empty();
        places.insert(index, artifact.elements.len());
        artifact.elements.push(element);
    }
    let start = (!chart.graph.nodes.is_empty()).then_some(0);
    artifact.graphs.push(Drawn { graph: chart.graph, drawn: chart.drawn, start, places });
}
