//! Reads Mermaid flowcharts: nodes of every shape, links of every kind, and subgraphs. A statement that cannot be parsed
//! is reported as a problem, never guessed.

use std::collections::HashSet;

use super::graph::Graph;
use super::statement_scanner::{LinkDirection, StatementScanner};
use super::statements::{MAX_STATEMENT_BYTES, statements};
use crate::cancellation::checkpoint;

/// A parsed flowchart.
#[derive(Debug, Default)]
pub struct Flowchart {
    /// Its nodes and edges; the first node is the start.
    pub graph: Graph,
    /// The lines on which each node is mentioned, by node index.
    pub lines: Vec<Vec<usize>>,
    /// The labels of each node, by node index.
    pub labels: Vec<String>,
    /// The edges as they are drawn: an undirected link once, and none that a subgraph implies.
    pub drawn_edges: Vec<(usize, usize)>,
    /// The problems, each with its line.
    pub problems: Vec<(usize, String)>,
    /// The subgraphs that have begun and not ended, each with its id and nodes.
    open_subgraphs: Vec<(String, Vec<usize>)>,
    /// The subgraphs that have ended.
    subgraphs: Vec<(String, Vec<usize>)>,
    /// Links without an arrowhead, which can be followed in both directions.
    undirected: Vec<(usize, usize)>,
    /// The ids of links, which are not nodes.
    link_ids: HashSet<String>,
    /// Whether a limit was reached, so that the rest was not read.
    is_full: bool,
}

/// The maximum number of edges. `A & B --> C & D` multiplies, so that a short text could ask for millions. What exceeds
/// the limit is left out and reported as a finding.
const MAX_EDGES: usize = 200_000;
/// The maximum number of nodes, for the same reason and with the same consequence.
const MAX_NODES: usize = 50_000;
/// The maximum nesting of subgraphs: the nodes of each belong to all around it. What is deeper is left out and reported.
const MAX_SUBGRAPH_DEPTH: usize = 50;

/// The keywords of statements that only style the diagram.
const STYLE_KEYWORDS: &[&str] =
    &["classDef", "class", "style", "linkStyle", "click", "direction", "accTitle", "accDescr"];

impl Flowchart {
    /// Reads the lines of a flowchart, each with its number, the first being the header.
    pub fn read(lines: &[(usize, &str)]) -> Self {
        let mut chart = Self::default();
        for (index, (number, statement)) in statements(lines).into_iter().enumerate() {
            checkpoint();
            match index {
                0 => chart.header(number, &statement),
                _ if statement.len() > MAX_STATEMENT_BYTES => {
                    chart
                        .problems
                        .push((number, format!("a statement of {} bytes is too long", statement.len())));
                }
                _ => chart.statement(number, &statement),
            }
        }
        if let Some((id, _)) = chart.open_subgraphs.first() {
            let last = lines.last().map_or(0, |(number, _)| *number);
            chart.problems.push((last, format!("the subgraph {id} has no `end`")));
        }
        if chart.is_full {
            let first = lines.first().map_or(0, |(number, _)| *number);
            chart.problems.push((
                first,
                format!("it has more than {MAX_NODES} nodes or {MAX_EDGES} edges; the rest was left out"),
            ));
        }
        chart.drawn_edges = chart.graph.edges.clone();
        chart.drawn_edges.extend(&chart.undirected);
        let undirected = std::mem::take(&mut chart.undirected);
        chart
            .graph
            .edges
            .extend(undirected.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]));
        chart.connect_subgraphs();
        chart
    }

    /// `flowchart TD`, and nothing after it.
    fn header(&mut self, line: usize, header: &str) {
        let mut words = header.split_whitespace().skip(1);
        let direction = words
            .next()
            .is_none_or(|word| matches!(word, "TB" | "TD" | "BT" | "RL" | "LR" | ">" | "<" | "^" | "v"));
        if !direction || words.next().is_some() {
            self.report_unparsed(line, header, header);
        }
    }

    fn statement(&mut self, line: usize, statement: &str) {
        let word = statement.split_whitespace().next().unwrap_or_default();
        match word {
            "" => {}
            "subgraph" if self.open_subgraphs.len() >= MAX_SUBGRAPH_DEPTH => {
                let problem = format!("subgraphs are nested more than {MAX_SUBGRAPH_DEPTH} deep");
                self.problems.push((line, problem));
                self.is_full = true;
            }
            "subgraph" => {
                let rest = statement.strip_prefix("subgraph").unwrap_or_default().trim();
                // `id [Title]`; a title alone may contain spaces, and no link can then refer to it.
                let id = rest.split('[').next().unwrap_or_default().trim().trim_matches('"').to_owned();
                self.open_subgraphs.push((id, Vec::new()));
            }
            "end" if statement == "end" => match self.open_subgraphs.pop() {
                Some((id, members)) => {
                    // The nodes of a subgraph also belong to the subgraph around it.
                    if let Some((_, outer)) = self.open_subgraphs.last_mut()
                        && outer.len() + members.len() < MAX_NODES
                    {
                        outer.extend(&members);
                    }
                    self.subgraphs.push((id, members));
                }
                None => self.problems.push((line, "`end` without a subgraph".to_owned())),
            },
            word if STYLE_KEYWORDS.contains(&word.trim_end_matches(':')) && !is_link(statement, word) => {}
            word if word.split_once("@{").is_some_and(|(id, _)| self.link_ids.contains(id)) => {}
            _ => self.flow(line, statement),
        }
    }

    /// Nodes and the links between them: `A & B --> C -- yes --> D`.
    fn flow(&mut self, line: usize, statement: &str) {
        let mut input = StatementScanner(statement);
        let Some(mut from) = self.nodes(line, &mut input) else {
            return self.report_unparsed(line, statement, input.0);
        };
        loop {
            input.skip_space();
            if input.0.is_empty() {
                return;
            }
            let Some(direction) = input.link(&mut self.link_ids) else {
                return self.report_unparsed(line, statement, input.0);
            };
            let Some(to) = self.nodes(line, &mut input) else {
                return self.report_unparsed(line, statement, input.0);
            };
            if from.len().saturating_mul(to.len()) + self.graph.edges.len() > MAX_EDGES {
                self.is_full = true;
                return;
            }
            for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (*one, *other))) {
                match direction {
                    LinkDirection::Forward => self.graph.edges.push((one, other)),
                    LinkDirection::Undirected => self.undirected.push((one, other)),
                    LinkDirection::Both => self.graph.edges.extend([(one, other), (other, one)]),
                    LinkDirection::Invisible => {}
                }
            }
            from = to;
        }
    }

    fn report_unparsed(&mut self, line: usize, statement: &str, rest: &str) {
        if self.is_full {
            return;
        }
        let shown = |text: &str| text.chars().take(40).collect::<String>();
        let problem = match rest.is_empty() {
            true => format!("`{}` ends where a node should follow", shown(statement)),
            false => format!("`{}` in `{}`", shown(rest), shown(statement)),
        };
        self.problems.push((line, problem));
    }

    /// One node, or several with `&` between them.
    fn nodes(&mut self, line: usize, input: &mut StatementScanner<'_>) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        loop {
            input.skip_space();
            let id = input.id()?;
            if self.graph.nodes.len() >= MAX_NODES && self.graph.find(id).is_none() {
                self.is_full = true;
                return None;
            }
            let node = self.graph.node(id);
            if self.lines.len() <= node {
                self.lines.resize_with(node + 1, Vec::new);
                self.labels.resize_with(node + 1, String::new);
            }
            let (label, decision) = input.shape()?;
            if decision {
                self.graph.mark_decision(node);
            }
            if let Some(labels) = self.labels.get_mut(node) {
                labels.push_str(label);
                labels.push('\n');
            }
            if let Some(lines) = self.lines.get_mut(node)
                && lines.last() != Some(&line)
            {
                lines.push(line);
            }
            if let Some((_, members)) = self.open_subgraphs.last_mut() {
                members.push(node);
            }
            input.skip_class();
            found.push(node);
            input.skip_space();
            match input.0.strip_prefix('&') {
                Some(rest) => input.0 = rest,
                None => return Some(found),
            }
        }
    }

    /// Adds the edges that a link to or from a subgraph implies for its nodes.
    fn connect_subgraphs(&mut self) {
        let mut left: HashSet<usize> = self.graph.edges.iter().map(|(from, _)| *from).collect();
        let mut entered: HashSet<usize> = self.graph.edges.iter().map(|(_, to)| *to).collect();
        for (id, members) in std::mem::take(&mut self.subgraphs) {
            checkpoint();
            let Some(group) = self.graph.find(&id).filter(|group| !members.contains(group)) else { continue };
            let is_entered = group == 0 || entered.contains(&group);
            let is_left = left.contains(&group);
            if members.len() + self.graph.edges.len() > 2 * MAX_EDGES {
                continue;
            }
            if let Some(node) = self.graph.nodes.get_mut(group) {
                node.is_subgraph = true;
            }
            for member in members {
                if is_entered {
                    self.graph.edges.push((group, member));
                    left.insert(group);
                    entered.insert(member);
                }
                if is_left {
                    self.graph.edges.push((member, group));
                    left.insert(member);
                    entered.insert(group);
                }
            }
        }
    }
}

/// Whether a statement's first word is a node that a link follows.
fn is_link(statement: &str, word: &str) -> bool {
    let after = statement.strip_prefix(word).unwrap_or_default().trim_start();
    word != "click"
        && ["-->", "---", "==>", "-.", "-- ", "<--", "&"].iter().any(|link| after.starts_with(link))
}

#[cfg(test)]
#[path = "flowchart_tests.rs"]
mod tests;
