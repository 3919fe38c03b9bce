//! Mermaid flowcharts: nodes of every shape, ways of every kind, subgraphs. What is not understood is said, never guessed.

use std::collections::HashSet;

use super::graph::Graph;
use super::statements::{find_unquoted, statements};
use super::strokes::Stroke;

/// A flowchart, read.
#[derive(Debug, Default)]
pub struct Chart {
    /// Its nodes and ways; the first node is the start.
    pub graph: Graph,
    /// On which lines each node stands, by its index.
    pub lines: Vec<Vec<usize>>,
    /// What the labels of each node say, by its index.
    pub labels: Vec<String>,
    /// The ways as they are drawn: from where to where.
    pub drawn: Vec<(usize, usize)>,
    /// What was not understood, and on which line.
    pub problems: Vec<(usize, String)>,
    /// The subgraphs that are open, and the ids of the nodes in each that was closed.
    open: Vec<(String, Vec<usize>)>,
    groups: Vec<(String, Vec<usize>)>,
    /// Links without a head, which lead both ways.
    back: Vec<(usize, usize)>,
    /// The ids of links, which are no nodes.
    link_ids: HashSet<String>,
    /// Whether it has more nodes and ways than are read.
    full: bool,
}

/// The maximum number of links. `A & B --> C & D` multiplies, so that a short text could ask for millions; charts beyond
/// this are not drawn by people. The rest is left out, and that is a finding.
const MAX_WAYS: usize = 200_000;
/// The maximum number of nodes, for the same reason and with the same consequence.
const MAX_NODES: usize = 50_000;
/// The maximum length of one statement. Reading one is quadratic at worst; a longer one is a finding.
const MAX_STATEMENT_BYTES: usize = 20_000;

/// How shapes open and close, the longer first, and whether they are a decision.
const SHAPES: &[(&str, &[&str], bool)] = &[
    ("(((", &[")))"], false),
    ("((", &["))"], false),
    ("([", &["])"], false),
    ("(", &[")"], false),
    ("[[", &["]]"], false),
    ("[(", &[")]"], false),
    ("[/", &["/]", "\\]"], false),
    ("[\\", &["\\]", "/]"], false),
    ("[", &["]"], false),
    ("{{", &["}}"], false),
    ("{", &["}"], true),
    (">", &["]"], false),
];

/// Statements about looks, which say nothing about the flow.
const LOOKS: &[&str] =
    &["classDef", "class", "style", "linkStyle", "click", "direction", "accTitle", "accDescr"];

/// Whether a diagram is a flowchart, by its first word.
pub fn is_flowchart(first_word: &str) -> bool {
    matches!(first_word, "flowchart" | "graph" | "flowchart-elk")
}

impl Chart {
    /// Reads the lines of a flowchart, each with its number, the first being the header.
    pub fn read(lines: &[(usize, &str)]) -> Self {
        let mut chart = Self::default();
        for (index, (number, statement)) in statements(lines).into_iter().enumerate() {
            match index {
                0 => chart.header(number, &statement),
                _ if statement.len() > MAX_STATEMENT_BYTES => {
                    chart.problems.push((number, format!("a statement of {} bytes", statement.len())));
                }
                _ => chart.statement(number, &statement),
            }
        }
        if let Some((id, _)) = chart.open.first() {
            let last = lines.last().map_or(0, |(number, _)| *number);
            chart.problems.push((last, format!("subgraph {id} has no end")));
        }
        if chart.full {
            let first = lines.first().map_or(0, |(number, _)| *number);
            chart.problems.push((
                first,
                format!("more than {MAX_NODES} nodes or {MAX_WAYS} ways; the rest was left out"),
            ));
        }
        chart.drawn = chart.graph.ways.clone();
        chart.drawn.extend(&chart.back);
        let undirected = std::mem::take(&mut chart.back);
        chart.graph.ways.extend(undirected.into_iter().flat_map(|(one, other)| [(one, other), (other, one)]));
        chart.join_groups();
        chart
    }

    /// `flowchart TD`, and nothing behind it.
    fn header(&mut self, line: usize, header: &str) {
        let mut words = header.split_whitespace().skip(1);
        let direction = words
            .next()
            .is_none_or(|word| matches!(word, "TB" | "TD" | "BT" | "RL" | "LR" | ">" | "<" | "^" | "v"));
        if !direction || words.next().is_some() {
            self.refuse(line, header, header);
        }
    }

    fn statement(&mut self, line: usize, statement: &str) {
        let word = statement.split_whitespace().next().unwrap_or_default();
        match word {
            "" => {}
            "subgraph" => {
                let rest = statement.strip_prefix("subgraph").unwrap_or_default().trim();
                // `id [Title]`; a title alone may have spaces, and is no id then.
                let id = rest.split('[').next().unwrap_or_default().trim().trim_matches('"').to_owned();
                self.open.push((id, Vec::new()));
            }
            "end" if statement == "end" => match self.open.pop() {
                Some((id, members)) => {
                    // What is inside a subgraph is inside the one around it too.
                    if let Some((_, around)) = self.open.last_mut()
                        && around.len() + members.len() < MAX_NODES
                    {
                        around.extend(&members);
                    }
                    self.groups.push((id, members));
                }
                None => self.problems.push((line, "an end without a subgraph".to_owned())),
            },
            word if LOOKS.contains(&word.trim_end_matches(':')) && !is_link(statement, word) => {}
            word if word.split_once("@{").is_some_and(|(id, _)| self.link_ids.contains(id)) => {}
            _ => self.flow(line, statement),
        }
    }

    /// Nodes and the ways between them: `A & B --> C -- yes --> D`.
    fn flow(&mut self, line: usize, statement: &str) {
        let mut input = Input(statement);
        let Some(mut from) = self.nodes(line, &mut input) else {
            return self.refuse(line, statement, input.0);
        };
        loop {
            input.skip_space();
            if input.0.is_empty() {
                return;
            }
            let Some(way) = input.way(&mut self.link_ids) else {
                return self.refuse(line, statement, input.0);
            };
            let Some(to) = self.nodes(line, &mut input) else { return self.refuse(line, statement, input.0) };
            if from.len().saturating_mul(to.len()) + self.graph.ways.len() > MAX_WAYS {
                self.full = true;
                return;
            }
            for (one, other) in from.iter().flat_map(|one| to.iter().map(move |other| (*one, *other))) {
                match way {
                    Way::There => self.graph.ways.push((one, other)),
                    Way::Back => self.back.push((one, other)),
                    Way::Both => self.graph.ways.extend([(one, other), (other, one)]),
                    Way::Unseen => {}
                }
            }
            from = to;
        }
    }

    fn refuse(&mut self, line: usize, statement: &str, rest: &str) {
        if self.full {
            return;
        }
        let shown = |text: &str| text.chars().take(40).collect::<String>();
        let what = match rest.is_empty() {
            true => format!("`{}` ends where a node should follow", shown(statement)),
            false => format!("`{}` in `{}`", shown(rest), shown(statement)),
        };
        self.problems.push((line, what));
    }

    /// One node, or several with `&` between them.
    fn nodes(&mut self, line: usize, input: &mut Input<'_>) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        loop {
            input.skip_space();
            let id = input.id()?;
            if self.graph.nodes.len() >= MAX_NODES && self.graph.find(id).is_none() {
                self.full = true;
                return None;
            }
            let node = self.graph.node(id);
            if self.lines.len() <= node {
                self.lines.resize_with(node + 1, Vec::new);
                self.labels.resize_with(node + 1, String::new);
            }
            let (label, decision) = input.shape()?;
            if decision {
                self.graph.decide(node);
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
            if let Some((_, members)) = self.open.last_mut() {
                members.push(node);
            }
            input.class();
            found.push(node);
            input.skip_space();
            match input.0.strip_prefix('&') {
                Some(rest) => input.0 = rest,
                None => return Some(found),
            }
        }
    }

    /// A way to a subgraph leads to what is in it, and a way from it starts at what is in it.
    fn join_groups(&mut self) {
        for (id, members) in std::mem::take(&mut self.groups) {
            let Some(group) = self.graph.find(&id).filter(|group| !members.contains(group)) else { continue };
            let entered = group == 0 || self.graph.ways.iter().any(|(_, to)| *to == group);
            let left = self.graph.ways.iter().any(|(from, _)| *from == group);
            if members.len() + self.graph.ways.len() > 2 * MAX_WAYS {
                continue;
            }
            if let Some(node) = self.graph.nodes.get_mut(group) {
                node.group = true;
            }
            for member in members {
                if entered {
                    self.graph.ways.push((group, member));
                }
                if left {
                    self.graph.ways.push((member, group));
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

/// Which way a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    /// Without a head.
    Back,
    /// With a head at each end.
    Both,
    /// Only there for the looks.
    Unseen,
}

struct Input<'a>(&'a str);

impl<'a> Input<'a> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// Letters, digits and a few signs; a hyphen only where no link begins with it.
    fn id(&mut self) -> Option<&'a str> {
        let mut end = 0;
        let mut letters = self.0.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let fits = match letter {
                '-' => !matches!(next, None | Some('-' | '.' | '>')),
                '=' => !matches!(next, None | Some('=')),
                '_' | '.' | '/' | '#' | '$' | '!' | '*' | '+' | '?' | '\'' | '\\' | '%' => true,
                letter => letter.is_alphanumeric(),
            };
            if !fits {
                break;
            }
            end = at + letter.len_utf8();
        }
        let (id, rest) = self.0.split_at(end);
        self.0 = rest;
        (!id.is_empty()).then_some(id)
    }

    /// The label of a shape, and whether the shape is a decision's; an empty one where there is no shape.
    fn shape(&mut self) -> Option<(&'a str, bool)> {
        if let Some(rest) = self.0.strip_prefix("@{") {
            let end = find_unquoted(rest, "}")?;
            let inside = rest.get(..end)?;
            self.0 = rest.get(end + 1..)?;
            let decision = ["diam", "decision", "diamond", "question"].iter().any(|shape| {
                inside.split([',', '\n']).any(|part| {
                    part.split_once(':').is_some_and(|(key, value)| {
                        key.trim() == "shape" && value.trim().trim_matches('"') == *shape
                    })
                })
            });
            return Some((inside, decision));
        }
        let Some((opening, closings, decision)) =
            SHAPES.iter().find(|(opening, ..)| self.0.starts_with(opening))
        else {
            return Some(("", false));
        };
        let inside = self.0.get(opening.len()..)?;
        // A quoted label may hold anything but a quote.
        let quoted = inside.trim_start().strip_prefix('"').and_then(|text| text.find('"'));
        let skip = quoted.map_or(0, |end| inside.len() - inside.trim_start().len() + 1 + end + 1);
        let close = closings
            .iter()
            .filter_map(|closing| Some((inside.get(skip..)?.find(closing)? + skip, closing.len())))
            .min();
        let (end, length) = close?;
        self.0 = inside.get(end + length..)?;
        Some((inside.get(..end)?, *decision))
    }

    fn class(&mut self) {
        if let Some(rest) = self.0.strip_prefix(":::") {
            self.0 = rest.trim_start_matches(|letter: char| {
                letter.is_alphanumeric() || letter == '_' || letter == '-'
            });
        }
    }

    /// A link, with its text. The id that it may have of its own is added to `link_ids`.
    fn way(&mut self, link_ids: &mut HashSet<String>) -> Option<Way> {
        self.skip_link_id(link_ids);
        let mut rest = self.0;
        let back = rest.starts_with('<');
        if let Some(after) = rest.strip_prefix(['<', 'x', 'o'])
            && after.starts_with(['-', '='])
        {
            rest = after;
        }
        if rest.starts_with("~~~") {
            self.0 = rest.trim_start_matches('~');
            return Some(Way::Unseen);
        }
        let stroke = Stroke::of(rest)?;
        let (end, head) = match stroke.plain_link(rest) {
            Some(link) => link,
            None => stroke.link_with_text(rest)?,
        };
        self.0 = rest.get(end..)?.trim_start();
        if let Some(text) = self.0.strip_prefix('|') {
            let end = find_unquoted(text, "|")?;
            self.0 = text.get(end + 1..)?;
        }
        Some(match (back, head) {
            (true, true) => Way::Both,
            (false, true) => Way::There,
            (_, false) => Way::Back,
        })
    }

    /// A link may have an id of its own: `e1@-->`.
    fn skip_link_id(&mut self, link_ids: &mut HashSet<String>) {
        let end =
            self.0.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(self.0.len());
        if let Some(rest) = self.0.get(end..).and_then(|rest| rest.strip_prefix('@'))
            && end > 0
            && rest.starts_with(['-', '=', '<', '~', 'x', 'o'])
        {
            link_ids.insert(self.0.get(..end).unwrap_or_default().to_owned());
            self.0 = rest;
        }
    }
}

#[cfg(test)]
#[path = "mermaid_tests.rs"]
mod tests;
