//! The checks of an audit: which source lines an artifact cites, and which problems it has.

use std::collections::{HashMap, HashSet};

use super::artifact::{Artifact, CrossReference, Element, is_within};
use super::finding::{AuditFinding, FindingKind};
use super::graph::{Graph, GraphNode};
use super::marks::Mark;
use super::support::assign_claims;
use crate::reading::LineRange;
use annai_core::cancellation::checkpoint;

/// Hands the marks and the values of an artifact to their elements, and returns the source lines that it cites, and the
/// problems of its structure.
pub(super) fn check_structure(
    artifact: &mut Artifact,
    source_lines: u64,
) -> (Vec<LineRange>, Vec<AuditFinding>) {
    let assigned = assign_marks_to_nodes(artifact);
    assign_claims(artifact, &assigned);
    let mut findings = std::mem::take(&mut artifact.findings);
    let Artifact { elements, graphs, cross_references, marks, .. } = &*artifact;
    // Every mark counts as a citation, also one before the first heading.
    let named = marks.iter().flat_map(|(.., mark)| mark.ranges.iter().copied());
    let own = elements.iter().flat_map(|element| element.citations.iter().map(|(_, range)| *range));
    let cited = named.chain(own).filter(|range| is_within(range, source_lines)).collect();
    for element in elements {
        checkpoint();
        check_element(element, &assigned, source_lines, &mut findings);
    }
    if elements.is_empty() {
        let is_wrong = |mark: &Mark| {
            mark.unreadable.is_some() || mark.ranges.iter().any(|range| !is_within(range, source_lines))
        };
        let problem = "its source_lines are not lines of the source; write them as 3-9, 12";
        let wrong = marks.iter().filter(|(.., mark)| is_wrong(mark));
        findings.extend(wrong.map(|(line, ..)| AuditFinding::not_understood(*line, problem)));
    }
    for graph in graphs {
        check_graph(graph, elements, &mut findings);
    }
    check_cross_references(cross_references, elements, &mut findings);
    (cited, findings)
}

/// Puts findings into the order of their lines, each once.
pub(super) fn sort_findings(findings: &mut Vec<AuditFinding>) {
    findings.sort_by_key(|finding| (finding.line, finding.kind));
    findings.dedup();
}

/// An element must cite lines that the source has.
fn check_element(
    element: &Element,
    assigned: &HashMap<usize, Vec<usize>>,
    source_lines: u64,
    findings: &mut Vec<AuditFinding>,
) {
    // A heading also has the marks of the nodes below it; those are checked with their nodes.
    let is_own = |line: usize| element.is_graph_node || !assigned.contains_key(&line);
    let wrong =
        element.citations.iter().find(|(line, range)| is_own(*line) && !is_within(range, source_lines));
    if let Some(unreadable) = &element.unreadable {
        let problem = format!("its source_lines `{unreadable}` are not line numbers; write them as 3-9, 12");
        findings.push(element.finding(FindingKind::NotUnderstood, &problem));
    }
    if let Some((_, LineRange { start_line, end_line })) = wrong {
        let problem = format!(
            "it cites lines {start_line}-{end_line}, but the source has {source_lines} lines; cite the lines that it is based on"
        );
        findings.push(element.finding(FindingKind::RootlessNode, &problem));
    } else if element.citations.is_empty() && element.comments.is_empty() && element.unreadable.is_none() {
        let problem = "it cites no lines of the source; add source_lines: first-last, or remove it";
        findings.push(element.finding(FindingKind::RootlessNode, problem));
    }
}

/// Every node must be reachable, and every decision needs two outgoing edges.
fn check_graph(graph: &Graph, elements: &[Element], findings: &mut Vec<AuditFinding>) {
    let element = |node: &GraphNode| node.element.and_then(|element| elements.get(element));
    for element in graph.unreachable().filter_map(element) {
        let problem = "it cannot be reached from the start; link it or remove it";
        findings.push(element.finding(FindingKind::OrphanBranch, problem));
    }
    for node in graph.one_way_decisions() {
        let edges = if node.ways_out == 1 { "only one outgoing edge" } else { "no outgoing edge" };
        let problem = format!("a decision with {edges}; a decision needs at least two");
        findings.extend(element(node).map(|element| element.finding(FindingKind::OrphanBranch, &problem)));
    }
}

/// Every cross-reference must have a target that refers back.
fn check_cross_references(
    cross_references: &[CrossReference],
    elements: &[Element],
    findings: &mut Vec<AuditFinding>,
) {
    let links: HashSet<_> = cross_references.iter().map(|reference| (reference.from, reference.to)).collect();
    let is_returned = |reference: &CrossReference| {
        reference.to.is_some_and(|to| links.contains(&(to, Some(reference.from))))
    };
    for CrossReference { from, to, target } in
        cross_references.iter().filter(|reference| !is_returned(reference))
    {
        let problem = match to.and_then(|to| elements.get(to)) {
            Some(to) => format!("it refers to {}, which does not refer back; add the reference back", to.id),
            None => format!("it refers to {target}, which does not exist; correct or remove the reference"),
        };
        findings.extend(elements.get(*from).map(|from| from.finding(FindingKind::OneWayRef, &problem)));
    }
}

/// Assigns each mark to the graph nodes that are mentioned on its line, and to the node whose id its line starts with.
/// Returns the lines whose marks were assigned, each with its nodes.
fn assign_marks_to_nodes(artifact: &mut Artifact) -> HashMap<usize, Vec<usize>> {
    let Artifact { elements, graphs, marks, .. } = artifact;
    let mut by_line: HashMap<usize, Vec<usize>> = HashMap::new();
    // The nodes with an id, in the order of their lines.
    let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
    for node in graphs.iter().flat_map(|graph| &graph.nodes) {
        let Some(index) = node.element else { continue };
        by_id.entry(&node.id).or_default().push(index);
        // Where its own label cites lines, marks on the same line are not its own.
        if elements.get(index).is_some_and(|element| element.citations.is_empty()) {
            node.lines.iter().for_each(|line| by_line.entry(*line).or_default().push(index));
        }
    }
    let mut assigned: HashMap<usize, Vec<usize>> = HashMap::new();
    for (line, words, mark) in marks {
        checkpoint();
        // When several diagrams use the same id, the mark belongs to the last one before it.
        let named = by_id.get(leading_id(words)).and_then(|nodes| {
            let is_before = |node: &usize| elements.get(*node).is_some_and(|element| element.line <= *line);
            nodes.get(nodes.partition_point(is_before).saturating_sub(1))
        });
        let mut owners: Vec<_> =
            named.into_iter().chain(by_line.get(line).into_iter().flatten()).copied().collect();
        owners.sort_unstable();
        owners.dedup();
        for owner in owners {
            if let Some(element) = elements.get_mut(owner) {
                assigned.entry(*line).or_default().push(owner);
                element.add_mark(*line, Some(mark.clone()));
            }
        }
    }
    assigned
}

/// The id that a line starts with, after the markup of a list item, a quote or a table row.
fn leading_id(line: &str) -> &str {
    let marks = |ch: char| ch.is_whitespace() || "-*+%|>`\"'_・•[]()".contains(ch);
    let start = line.trim_start_matches(marks);
    let numbered = start.trim_start_matches(|ch: char| ch.is_ascii_digit());
    let start = match numbered.strip_prefix(['.', ')']) {
        Some(rest) if numbered.len() < start.len() => rest.trim_start_matches(marks),
        _ => start.strip_prefix("x] ").unwrap_or(start),
    };
    let end = start.find(|ch: char| !(ch.is_alphanumeric() || "_-./#".contains(ch))).unwrap_or(start.len());
    start.get(..end).unwrap_or_default().trim_end_matches(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(id: &str, line: usize, citations: &[(u64, u64)]) -> Element {
        let mut element = Element::new(id, line);
        let ranges = citations.iter().map(|(start, end)| LineRange { start_line: *start, end_line: *end });
        element.add_mark(line, Some(Mark { ranges: ranges.collect(), unreadable: None }));
        element
    }

    #[test]
    fn an_element_must_cite_lines_that_the_source_has() {
        let elements = vec![element("a", 1, &[(1, 2)]), element("b", 2, &[]), element("c", 3, &[(4, 9)])];
        let (cited, findings) = check_structure(&mut Artifact { elements, ..Artifact::default() }, 5);
        assert_eq!(cited, [LineRange { start_line: 1, end_line: 2 }]);
        let messages: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "line 2, b: it cites no lines of the source; add source_lines: first-last, or remove it",
                "line 3, c: it cites lines 4-9, but the source has 5 lines; cite the lines that it is based on",
            ]
        );
    }

    #[test]
    fn a_cross_reference_must_be_returned() {
        let elements = vec![element("a", 1, &[(1, 1)]), element("b", 2, &[(1, 1)])];
        let reference = |from, to| CrossReference { from, to, target: "x".to_owned() };
        let problems = |cross_references: Vec<CrossReference>| {
            let mut artifact =
                Artifact { elements: elements.clone(), cross_references, ..Artifact::default() };
            check_structure(&mut artifact, 1).1.into_iter().map(|finding| finding.problem).collect::<Vec<_>>()
        };
        assert_eq!(problems(vec![reference(0, Some(1)), reference(1, Some(0))]), Vec::<String>::new());
        let one_way = "it refers to b, which does not refer back; add the reference back";
        assert_eq!(problems(vec![reference(0, Some(1))]), [one_way]);
        let missing = "it refers to x, which does not exist; correct or remove the reference";
        assert_eq!(problems(vec![reference(0, None)]), [missing]);
    }

    #[test]
    fn the_leading_id_is_found_behind_markup() {
        for (line, id) in [
            ("- B source_lines: 2-3", "B"),
            ("  * `node-1`: source_lines: 2", "node-1"),
            ("3. C source_lines: 2", "C"),
            ("| D | source_lines: 2 |", "D"),
            ("- [x] E source_lines: 1", "E"),
            ("%% 開始 source_lines: 1", "開始"),
            ("", ""),
        ] {
            assert_eq!(leading_id(line), id, "{line}");
        }
    }
}
