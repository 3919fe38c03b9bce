//! Nodes and ways between them: which cannot be reached, and which decisions decide nothing.

use std::collections::{HashMap, HashSet};

/// A graph of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes, in the order in which they appear.
    pub nodes: Vec<Vertex>,
    /// Ways, as indexes of nodes.
    pub ways: Vec<(usize, usize)>,
    index: HashMap<String, usize>,
}

/// A node of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    /// Its id.
    pub id: String,
    /// Whether it is a question with several ways out.
    pub decision: bool,
    /// Whether it stands for a group of others, and is no element itself.
    pub group: bool,
}

impl Graph {
    /// The node of an id, added where it is new.
    pub fn node(&mut self, id: &str) -> usize {
        if let Some(known) = self.index.get(id) {
            return *known;
        }
        let index = self.nodes.len();
        self.index.insert(id.to_owned(), index);
        self.nodes.push(Vertex { id: id.to_owned(), decision: false, group: false });
        index
    }

    /// The node of an id, if there is one.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// Says that a node is a decision.
    pub fn decide(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.decision = true;
        }
    }

    /// The first node that nothing leads to; where everything is part of a circle, the first.
    pub fn first_root(&self) -> Option<usize> {
        let entered: HashSet<usize> =
            self.ways.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
        (0..self.nodes.len()).find(|node| !entered.contains(node)).or((!self.nodes.is_empty()).then_some(0))
    }

    /// The nodes that cannot be reached from one.
    pub fn unreachable(&self, start: usize) -> Vec<usize> {
        let mut out: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in &self.ways {
            out.entry(*from).or_default().push(*to);
        }
        let (mut reached, mut open) = (HashSet::from([start]), vec![start]);
        while let Some(node) = open.pop() {
            for next in out.get(&node).into_iter().flatten() {
                if reached.insert(*next) {
                    open.push(*next);
                }
            }
        }
        (0..self.nodes.len()).filter(|node| !reached.contains(node)).collect()
    }

    /// Decisions with fewer than two ways out as they are drawn, and how many each has. A way back to itself is one.
    pub fn undecided(&self, drawn: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut out: HashMap<usize, usize> = HashMap::new();
        for (from, _) in drawn {
            *out.entry(*from).or_default() += 1;
        }
        let ways = |node: usize| out.get(&node).copied().unwrap_or_default();
        let decisions = self.nodes.iter().enumerate().filter(|(_, node)| node.decision);
        decisions.map(|(node, _)| (node, ways(node))).filter(|(_, ways)| *ways < 2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_and_loops_end() {
        let mut graph = Graph::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|id| graph.node(id));
        graph.ways = vec![(a, b), (b, a), (c, c), (b, d), (d, d)];
        graph.decide(d);
        graph.decide(b);
        assert_eq!(
            (graph.first_root(), graph.unreachable(a), graph.undecided(&graph.ways)),
            (Some(c), vec![c], vec![(d, 1)])
        );
        assert_eq!((graph.node("a"), graph.find("z")), (a, None));
        assert_eq!(Graph::default().first_root(), None);
    }
}
