//! Holds an artifact against its source: which lines it rests on, and what is to be mended.

use std::collections::{HashMap, HashSet};

use super::marks::Mark;
use super::{Artifact, Crossing, Drawn, Element, Finding, Kind};
use crate::ranges::LineRange;

/// The lines that an artifact rests on, and what is to be mended.
pub fn judge(mut artifact: Artifact, source_lines: u64) -> (Vec<LineRange>, Vec<Finding>) {
    let claimed = give_marks_to_nodes(&mut artifact);
    let Artifact { elements, graphs, crossings, mut findings, marks } = artifact;
    // Every mark counts as cited, also one that stands before the first heading.
    let named = marks.iter().flat_map(|(.., mark)| mark.ranges.iter().copied());
    let own = elements.iter().flat_map(|element| element.cites.iter().map(|(_, range)| *range));
    let cited = named.chain(own).filter(|range| is_within(range, source_lines)).collect();
    for element in &elements {
        judge_element(element, &claimed, source_lines, &mut findings);
    }
    if elements.is_empty() {
        judge_loose_marks(&marks, source_lines, &mut findings);
    }
    for drawn in &graphs {
        judge_graph(drawn, &elements, &mut findings);
    }
    judge_crossings(&crossings, &elements, &mut findings);
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings.dedup();
    (cited, findings)
}

/// Whether a range names lines of a source that has so many.
fn is_within(range: &LineRange, source_lines: u64) -> bool {
    (1..=range.end_line).contains(&range.start_line) && range.end_line <= source_lines
}

/// An element must rest on lines of the source.
fn judge_element(
    element: &Element,
    claimed: &HashSet<usize>,
    source_lines: u64,
    findings: &mut Vec<Finding>,
) {
    // A heading owns the marks of the nodes below it too; theirs are judged there.
    let is_own = |line: usize| element.in_graph || !claimed.contains(&line);
    let wrong = element.cites.iter().find(|(line, range)| is_own(*line) && !is_within(range, source_lines));
    if let Some(unreadable) = &element.unreadable {
        let what = format!("its source_lines `{unreadable}` are no lines; write them as 3-9, 12");
        findings.push(Finding::at(Kind::NotUnderstood, element.line, Some(&element.id), &what));
    }
    if let Some((_, LineRange { start_line, end_line })) = wrong {
        let what = format!(
            "it names the lines {start_line}-{end_line} of a source that has {source_lines}; name the ones it rests on"
        );
        findings.push(Finding::at(Kind::RootlessNode, element.line, Some(&element.id), &what));
    } else if element.cites.is_empty() && element.unreadable.is_none() {
        let what = "no lines of the source; add source_lines: first-last, or remove it";
        findings.push(Finding::at(Kind::RootlessNode, element.line, Some(&element.id), what));
    }
}

/// The marks of an artifact without elements belong to none, and must name lines of the source all the same.
fn judge_loose_marks(marks: &[(usize, String, Mark)], source_lines: u64, findings: &mut Vec<Finding>) {
    for (line, _, mark) in marks {
        let wrong = mark.ranges.iter().find(|range| !is_within(range, source_lines));
        if wrong.is_some() || mark.unreadable.is_some() {
            let what = "its source_lines are no lines of the source; write them as 3-9, 12";
            findings.push(Finding::at(Kind::NotUnderstood, *line, None, what));
        }
    }
}

/// Every node must be within reach, and every decision needs two ways out.
fn judge_graph(drawn: &Drawn, elements: &[Element], findings: &mut Vec<Finding>) {
    let Drawn { graph, drawn, start, places } = drawn;
    let element = |node: usize| places.get(&node).and_then(|element| elements.get(*element));
    for node in start.map(|start| graph.unreachable(start)).unwrap_or_default() {
        if let Some(element) = element(node) {
            let what = "it cannot be reached from the start; link it or remove it";
            findings.push(Finding::at(Kind::OrphanBranch, element.line, Some(&element.id), what));
        }
    }
    for (node, ways) in graph.undecided(drawn) {
        if let Some(element) = element(node) {
            let ways = if ways == 1 { "a single way" } else { "no way" };
            let what = format!("a decision with {ways} out; a decision needs at least two");
            findings.push(Finding::at(Kind::OrphanBranch, element.line, Some(&element.id), &what));
        }
    }
}

/// Every reference must be answered.
fn judge_crossings(crossings: &[Crossing], elements: &[Element], findings: &mut Vec<Finding>) {
    let ways: HashSet<_> = crossings.iter().map(|crossing| (crossing.from, crossing.to)).collect();
    for crossing in crossings {
        let back = crossing.to.is_some_and(|to| ways.contains(&(to, Some(crossing.from))));
        if let (false, Some(from)) = (back, elements.get(crossing.from)) {
            let what = match crossing.to.and_then(|to| elements.get(to)) {
                Some(to) => format!("it refers to {}, which does not refer back; add the way back", to.id),
                None => format!("it refers to {}, which is not there; mend or remove it", crossing.named),
            };
            findings.push(Finding::at(Kind::OneWayRef, from.line, Some(&from.id), &what));
        }
    }
}

/// Marks belong to the nodes of a graph that stand on their line, or whose id their line
/// starts with. Gives the lines whose marks found such an owner.
fn give_marks_to_nodes(artifact: &mut Artifact) -> HashSet<usize> {
    let mut by_line: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, element) in artifact.elements.iter().enumerate().filter(|(_, element)| element.in_graph) {
        by_id.entry(element.id.clone()).or_default().push(index);
        if !element.marked_in_label {
            element.own_lines.iter().for_each(|line| by_line.entry(*line).or_default().push(index));
        }
    }
    let mut claimed = HashSet::new();
    for (line, words, mark) in &artifact.marks {
        // Of several diagrams with the same ids, the last one before the mark is meant.
        let named = by_id.get(leading_id(words)).and_then(|nodes| {
            let before =
                |node: &&usize| artifact.elements.get(**node).is_some_and(|element| element.line <= *line);
            nodes.iter().rev().find(before).or(nodes.first())
        });
        let named = named.into_iter();
        let standing = by_line.get(line).into_iter().flatten();
        let mut owners: Vec<_> = named.chain(standing).copied().collect();
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            if let Some(element) = artifact.elements.get_mut(owner) {
                claimed.insert(*line);
                element.take(*line, Some(mark.clone()));
            }
        }
    }
    claimed
}

/// The id that a line starts with, behind what makes it an item of a list, a quote or a row.
fn leading_id(line: &str) -> &str {
    let marks = |letter: char| letter.is_whitespace() || "-*+%|>`\"'_・•[]()".contains(letter);
    let start = line.trim_start_matches(marks);
    let numbered = start.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let start = match numbered.strip_prefix(['.', ')']) {
        Some(rest) if numbered.len() < start.len() => rest.trim_start_matches(marks),
        _ => start.strip_prefix("x] ").unwrap_or(start),
    };
    let end = start
        .find(|letter: char| !(letter.is_alphanumeric() || "_-./#".contains(letter)))
        .unwrap_or(start.len());
    start.get(..end).unwrap_or_default().trim_end_matches(['.', '-'])
}
