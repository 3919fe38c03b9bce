//! Parses Mermaid flowcharts: nodes of every shape, links of every kind, and subgraphs. A statement that cannot be parsed
//! is reported as a problem, never guessed.

use std::collections::HashSet;

use super::scanner::{Link, Scanner};
use crate::audit::graph::Graph;
use annai_core::cancellation::checkpoint;

/// The maximum number of edges. `A & B --> C & D` multiplies, so that a short text could ask for millions. What exceeds
/// the limit is left out and reported as a finding.
const MAX_EDGES: usize = 200_000;
/// The maximum number of nodes, for the same reason and with the same consequence.
const MAX_NODES: usize = 50_000;
/// The maximum nesting of subgraphs: the nodes of each belong to all around it. What is deeper is left out and reported.
const MAX_SUBGRAPH_DEPTH: usize = 50;

/// The keywords of statements that only style or describe the diagram.
const STYLE_KEYWORDS: &[&str] =
    &["classDef", "class", "style", "linkStyle", "click", "direction", "accTitle", "accDescr"];

/// A parsed flowchart.
#[derive(Debug, Default)]
pub(super) struct Flowchart {
    /// Its nodes and edges; the first node is the start.
    pub(super) graph: Graph,
    /// The problems, each with its line.
    pub(super) problems: Vec<(usize, String)>,
}

/// A flowchart that is being parsed.
struct Parser<'a> {
    chart: Flowchart,
    rest: Scanner<'a>,
    text: &'a str,
    /// For each line its number, and the byte of the text at which it begins.
    lines: &'a [(usize, usize)],
    /// The subgraphs that have begun and not ended, each with its id and nodes.
    open_subgraphs: Vec<(String, Vec<usize>)>,
    /// The subgraphs that have ended.
    subgraphs: Vec<(String, Vec<usize>)>,
    /// The ids of links, which are not nodes.
    link_ids: HashSet<&'a str>,
    /// Whether a limit was reached, so that the rest was not read.
    is_full: bool,
}

impl Flowchart {
    /// Parses the lines of a flowchart, each with its number, the first being the header.
    pub(super) fn parse(lines: &[(usize, &str)]) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for (number, line) in lines {
            starts.push((*number, text.len()));
            text.push_str(line);
            text.push('\n');
        }
        let mut parser = Parser {
            chart: Self::default(),
            rest: Scanner(&text),
            text: &text,
            lines: &starts,
            open_subgraphs: Vec::new(),
            subgraphs: Vec::new(),
            link_ids: HashSet::new(),
            is_full: false,
        };
        parser.header();
        while !parser.is_at_end() {
            checkpoint();
            parser.statement();
        }
        parser.finish()
    }
}

impl<'a> Parser<'a> {
    /// Whether nothing but white space and semicolons is left, which are skipped.
    fn is_at_end(&mut self) -> bool {
        self.rest.0 = self.rest.after_space();
        while let Some(rest) = self.rest.0.strip_prefix(';') {
            self.rest.0 = Scanner(rest).after_space();
        }
        self.rest.0.is_empty()
    }

    /// The number of the line on which a part of the text begins, by what follows it.
    fn line_at(&self, rest: &str) -> usize {
        let at = self.text.len() - rest.len();
        let index = self.lines.partition_point(|(_, start)| *start <= at).saturating_sub(1);
        self.lines.get(index).map_or(0, |(number, _)| *number)
    }

    /// `flowchart TD`, and nothing after it.
    fn header(&mut self) {
        let start = self.rest.0;
        let header = self.rest.take_statement();
        let directions = ["TB", "TD", "BT", "RL", "LR", ">", "<", "^", "v"];
        let mut words = header.split_whitespace().skip(1);
        if !words.next().is_none_or(|word| directions.contains(&word)) || words.next().is_some() {
            self.report_unparsed(start, header);
        }
    }

    fn statement(&mut self) {
        let start = self.rest;
        let line = self.line_at(start.0);
        let statement = self.rest.take_statement();
        let word = statement.split_whitespace().next().unwrap_or_default();
        let after = statement.strip_prefix(word).unwrap_or_default().trim_start();
        let is_link = || after.starts_with('&') || Scanner(after).take_link().is_some();
        let keyword = word.trim_end_matches(':');
        match word {
            "subgraph" if self.open_subgraphs.len() >= MAX_SUBGRAPH_DEPTH => self.is_full = true,
            "subgraph" => {
                // `id [Title]`; a title alone may contain spaces, and no link can then refer to it.
                let id = after.split('[').next().unwrap_or_default().trim().trim_matches('"');
                self.open_subgraphs.push((id.to_owned(), Vec::new()));
            }
            "end" if after.is_empty() => self.end_subgraph(line),
            "accDescr" if after.starts_with('{') => {
                self.rest.0 = start.0.split_once('}').map_or("", |(_, rest)| rest);
            }
            _ if STYLE_KEYWORDS.contains(&keyword) && !is_link() => {}
            _ if word.split_once("@{").is_some_and(|(id, _)| self.link_ids.contains(id)) => {}
            _ => {
                self.rest = start;
                if self.flow().is_none() {
                    let unparsed = self.rest.take_statement();
                    self.report_unparsed(start.0, unparsed);
                }
            }
        }
    }

    fn end_subgraph(&mut self, line: usize) {
        let Some((id, members)) = self.open_subgraphs.pop() else {
            return self.chart.problems.push((line, "`end` without a subgraph".to_owned()));
        };
        // The nodes of a subgraph also belong to the subgraph around it.
        if let Some((_, outer)) = self.open_subgraphs.last_mut()
            && outer.len() + members.len() < MAX_NODES
        {
            outer.extend(&members);
        }
        self.subgraphs.push((id, members));
    }

    /// Nodes and the links between them: `A & B --> C -- yes --> D`. `None` when something cannot be parsed, which is left.
    fn flow(&mut self) -> Option<()> {
        let mut from = self.nodes()?;
        loop {
            checkpoint();
            let Some(link) = self.rest.take_link() else {
                // A statement ends with its line or with a semicolon.
                let ends = self.rest.0.trim_start_matches([' ', '\t', '\r']);
                return (ends.is_empty() || ends.starts_with(['\n', ';']) || ends.starts_with("%%"))
                    .then_some(());
            };
            self.link_ids.extend(link.id);
            let to = self.nodes()?;
            if from.len().saturating_mul(to.len()) + self.chart.graph.edges.len() > MAX_EDGES {
                self.is_full = true;
                return Some(());
            }
            for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (*one, *other))) {
                self.connect(one, other, &link);
            }
            from = to;
        }
    }

    /// Adds a link. One without an arrowhead can be followed both ways, but is drawn only once.
    fn connect(&mut self, one: usize, other: usize, link: &Link<'_>) {
        if link.is_invisible {
            return;
        }
        self.chart.graph.draw_edge(one, other);
        if link.has_head && link.has_tail {
            self.chart.graph.draw_edge(other, one);
        } else if !link.has_head {
            self.chart.graph.edges.push((other, one));
        }
    }

    /// One node, or several with `&` between them.
    fn nodes(&mut self) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        loop {
            let line = self.line_at(self.rest.after_space());
            let id = self.rest.take_id()?;
            let graph = &mut self.chart.graph;
            if graph.nodes.len() >= MAX_NODES && graph.find(id).is_none() {
                self.is_full = true;
                return None;
            }
            let index = graph.node(id);
            let (label, is_decision) = self.rest.take_shape()?;
            if let Some(node) = graph.nodes.get_mut(index) {
                node.is_decision |= is_decision;
                node.label.push_str(&label);
                node.label.push('\n');
                if node.lines.last() != Some(&line) {
                    node.lines.push(line);
                }
            }
            if let Some((_, members)) = self.open_subgraphs.last_mut() {
                members.push(index);
            }
            found.push(index);
            match self.rest.after_space().strip_prefix('&') {
                Some(rest) => self.rest.0 = rest,
                None => return Some(found),
            }
        }
    }

    /// Reports what could not be parsed in the statement that a text begins with.
    fn report_unparsed(&mut self, start: &str, unparsed: &str) {
        if self.is_full {
            return;
        }
        let line = self.line_at(start);
        let shown = |text: &str| text.chars().take(40).collect::<String>();
        let statement = shown(start.lines().next().unwrap_or_default().trim());
        let problem = match unparsed.is_empty() {
            true => format!("`{statement}` ends where a node should follow"),
            false => format!("`{}` in `{statement}`", shown(unparsed)),
        };
        self.chart.problems.push((line, problem));
    }

    /// Reports what is not complete, and connects the subgraphs.
    fn finish(mut self) -> Flowchart {
        if let Some((id, _)) = self.open_subgraphs.first() {
            let last = self.lines.last().map_or(0, |(number, _)| *number);
            self.chart.problems.push((last, format!("the subgraph {id} has no `end`")));
        }
        if self.is_full {
            let problem = format!(
                "it has more than {MAX_NODES} nodes or {MAX_EDGES} edges, or subgraphs nested more than {MAX_SUBGRAPH_DEPTH} deep; the rest was left out"
            );
            self.chart.problems.push((self.line_at(self.text), problem));
        }
        let Graph { edges, .. } = &self.chart.graph;
        let left: HashSet<usize> = edges.iter().map(|(from, _)| *from).collect();
        let entered: HashSet<usize> = edges.iter().map(|(_, to)| *to).collect();
        let graph = &mut self.chart.graph;
        for (id, members) in self.subgraphs {
            checkpoint();
            let Some(group) = graph.find(&id).filter(|group| !members.contains(group)) else { continue };
            if members.len() + graph.edges.len() > 2 * MAX_EDGES {
                continue;
            }
            if let Some(node) = graph.nodes.get_mut(group) {
                node.is_subgraph = true;
            }
            // A link to a subgraph leads to its nodes, and a link from it is one from each of them.
            if group == 0 || entered.contains(&group) {
                graph.edges.extend(members.iter().map(|member| (group, *member)));
            }
            if left.contains(&group) {
                graph.edges.extend(members.iter().map(|member| (*member, group)));
            }
        }
        self.chart
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
