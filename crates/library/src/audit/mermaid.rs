//! Mermaid flowcharts: nodes of every shape, ways of every kind, subgraphs. What is not understood is said, never guessed.

use super::graph::Graph;

/// A flowchart, read.
#[derive(Debug, Default)]
pub struct Chart {
    /// Its nodes and ways; the first node is the start.
    pub graph: Graph,
    /// On which lines each node stands, by its index.
    pub lines: Vec<Vec<usize>>,
    /// What the labels of each node say, by its index.
    pub labels: Vec<String>,
    /// What was not understood, and on which line.
    pub problems: Vec<(usize, String)>,
    /// The subgraphs that are open, and the ids of the nodes in each that was closed.
    open: Vec<(String, Vec<usize>)>,
    groups: Vec<(String, Vec<usize>)>,
}

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
    &["classDef", "class", "style", "linkStyle", "click", "direction", "accTitle", "accDescr", "title"];

/// Whether a diagram is a flowchart, by its first word.
pub fn is_flowchart(first_word: &str) -> bool {
    matches!(first_word, "flowchart" | "graph" | "flowchart-elk")
}

impl Chart {
    /// Reads the lines of a flowchart, each with its number, the first being the header.
    pub fn read(lines: &[(usize, &str)]) -> Self {
        let mut chart = Self::default();
        for (index, (number, line)) in lines.iter().enumerate() {
            let line = line.split("%%").next().unwrap_or_default();
            // The header may have statements behind it: `graph TD; A --> B`.
            for statement in statements(line).skip(usize::from(index == 0)) {
                chart.statement(*number, statement.trim());
            }
        }
        if let Some((id, _)) = chart.open.first() {
            let last = lines.last().map_or(0, |(number, _)| *number);
            chart.problems.push((last, format!("subgraph {id} has no end")));
        }
        chart.join_groups();
        chart
    }

    fn statement(&mut self, line: usize, statement: &str) {
        let word = statement.split_whitespace().next().unwrap_or_default();
        match word {
            "" => {}
            "subgraph" => {
                let rest = statement.strip_prefix("subgraph").unwrap_or_default().trim();
                let end = rest.find(['[', ' ']).filter(|_| !rest.starts_with('"')).unwrap_or(rest.len());
                let id = rest.get(..end).unwrap_or_default().trim_matches('"').to_owned();
                self.open.push((id, Vec::new()));
            }
            "end" if statement == "end" => match self.open.pop() {
                Some((id, members)) => {
                    // What is inside a subgraph is inside the one around it too.
                    if let Some((_, around)) = self.open.last_mut() {
                        around.extend(&members);
                    }
                    self.groups.push((id, members));
                }
                None => self.problems.push((line, "an end without a subgraph".to_owned())),
            },
            word if LOOKS.contains(&word.trim_end_matches(':')) => {}
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
            let Some(way) = input.way() else { return self.refuse(line, statement, input.0) };
            let Some(to) = self.nodes(line, &mut input) else { return self.refuse(line, statement, input.0) };
            for one in &from {
                for other in &to {
                    self.graph.ways.push((*one, *other));
                    if way == Way::Both {
                        self.graph.ways.push((*other, *one));
                    }
                }
            }
            from = to;
        }
    }

    fn refuse(&mut self, line: usize, statement: &str, rest: &str) {
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
            let entered = self.graph.ways.iter().any(|(_, to)| *to == group);
            let left = self.graph.ways.iter().any(|(from, _)| *from == group);
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

/// The statements of a line: `;` ends one, but not within quotes or brackets.
fn statements(line: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut depth) = (false, 0_i32);
    line.split(move |letter: char| {
        match letter {
            '"' => quoted = !quoted,
            '[' | '(' | '{' if !quoted => depth += 1,
            ']' | ')' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        letter == ';' && !quoted && depth <= 0
    })
}

/// Which way a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Both,
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
            let end = rest.find('}')?;
            let inside = rest.get(..end)?;
            self.0 = rest.get(end + 1..)?;
            let decision = ["diam", "decision", "diamond", "question"].iter().any(|shape| {
                inside.split(',').any(|part| {
                    part.split_once(':')
                        .is_some_and(|(key, value)| key.trim() == "shape" && value.trim() == *shape)
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

    /// A link, with its text.
    fn way(&mut self) -> Option<Way> {
        // A link may have an id of its own: `e1@-->`.
        if let Some((id, rest)) = self.0.split_once('@')
            && !id.is_empty()
            && id.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
            && rest.starts_with(['-', '=', '<', '~', 'x', 'o'])
        {
            self.0 = rest;
        }
        let mut rest = self.0;
        let back = rest.starts_with('<');
        if let Some(after) = rest.strip_prefix(['<', 'x', 'o'])
            && after.starts_with(['-', '='])
        {
            rest = after;
        }
        if rest.starts_with("~~~") {
            self.0 = rest.trim_start_matches('~');
            return Some(Way::There);
        }
        let line = if rest.starts_with("-.") {
            '.'
        } else if rest.starts_with("--") {
            '-'
        } else if rest.starts_with("==") {
            '='
        } else {
            return None;
        };
        let body = |text: &str| -> Option<(usize, bool)> {
            // The length of a whole link at the start of a text, and whether it has a head.
            let length = match line {
                '.' => {
                    let after = text.strip_prefix('-')?;
                    let dots = after.len() - after.trim_start_matches('.').len();
                    (dots > 0 && after.get(dots..)?.starts_with('-')).then_some(dots + 2)?
                }
                line => text.len() - text.trim_start_matches(line).len(),
            };
            let head = text
                .get(length..)
                .and_then(|rest| rest.chars().next())
                .filter(|head| matches!(head, '>' | 'x' | 'o'));
            let least = if line == '.' { 3 } else { 2 };
            match head {
                // `--` alone opens a text; `---` is a link without a head.
                None if line != '.' && length < 3 => None,
                Some('x' | 'o') if line != '.' && length < 2 => None,
                Some(_) if length >= least => Some((length + 1, true)),
                None if length >= 3 => Some((length, false)),
                _ => None,
            }
        };
        let (end, head) = match body(rest) {
            Some((length, head)) => (length, head),
            None => {
                // `-- text -->`: the link goes on behind its text.
                let inside = rest.get(2..)?;
                let closing = match line {
                    '.' => inside.find(".-").map(|at| {
                        (
                            at,
                            at + inside
                                .get(at..)
                                .map_or(0, |rest| rest.len() - rest.trim_start_matches('.').len()),
                        )
                    }),
                    '-' => inside.find("--").map(|at| (at, at)),
                    _ => inside.find("==").map(|at| (at, at)),
                };
                let (_, at) = closing?;
                let tail = inside.get(at..)?;
                let dashes = match line {
                    '.' | '-' => tail.len() - tail.trim_start_matches('-').len(),
                    line => tail.len() - tail.trim_start_matches(line).len(),
                };
                let head = tail.get(dashes..).is_some_and(|rest| rest.starts_with(['>', 'x', 'o']));
                (2 + at + dashes + usize::from(head), head)
            }
        };
        self.0 = rest.get(end..)?.trim_start();
        if let Some(text) = self.0.strip_prefix('|') {
            let end = text.find('|')?;
            self.0 = text.get(end + 1..)?;
        }
        Some(if back || !head { Way::Both } else { Way::There })
    }
}

#[cfg(test)]
#[path = "mermaid_tests.rs"]
mod tests;
