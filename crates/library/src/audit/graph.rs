//! Directed graphs: which nodes are unreachable, and which decisions have too few outgoing edges.

use std::collections::{HashMap, HashSet};

/// A graph of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes, in the order in which they appear.
    pub nodes: Vec<GraphNode>,
    /// The edges, as pairs of node indexes.
    pub edges: Vec<(usize, usize)>,
    index: HashMap<String, usize>,
}

/// A node of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphNode {
    /// Its id.
    pub id: String,
    /// Whether it is a decision, which needs several outgoing edges.
    pub is_decision: bool,
    /// Whether it represents a subgraph, and is not an element itself.
    pub is_subgraph: bool,
}

impl Graph {
    /// The index of the node with this id, which is added when it is new.
    pub fn node(&mut self, id: &str) -> usize {
        if let Some(known) = self.index.get(id) {
            return *known;
        }
        let index = self.nodes.len();
        self.index.insert(id.to_owned(), index);
        self.nodes.push(GraphNode { id: id.to_owned(), is_decision: false, is_subgraph: false });
        index
    }

    /// The index of the node with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// Marks a node as a decision.
    pub fn mark_decision(&mut self, node: usize) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.is_decision = true;
        }
    }

    /// The first node without incoming edges; when every node is on a cycle, the first node.
    pub fn first_root(&self) -> Option<usize> {
        let targets: HashSet<usize> =
            self.edges.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
        (0..self.nodes.len()).find(|node| !targets.contains(node)).or((!self.nodes.is_empty()).then_some(0))
    }

    /// The nodes that cannot be reached from `start`.
    pub fn unreachable(&self, start: usize) -> Vec<usize> {
        let mut successors: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in &self.edges {
            successors.entry(*from).or_default().push(*to);
        }
        let (mut reached, mut pending) = (HashSet::from([start]), vec![start]);
        while let Some(node) = pending.pop() {
            for next in successors.get(&node).into_iter().flatten() {
                if reached.insert(*next) {
                    pending.push(*next);
                }
            }
        }
        (0..self.nodes.len()).filter(|node| !reached.contains(node)).collect()
    }

    /// The decisions with fewer than two outgoing edges as drawn, and how many each has. An edge to itself counts.
    pub fn decisions_with_too_few_edges(&self, drawn_edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut out_degree: HashMap<usize, usize> = HashMap::new();
        for (from, _) in drawn_edges {
            *out_degree.entry(*from).or_default() += 1;
        }
        let degree = |node: usize| out_degree.get(&node).copied().unwrap_or_default();
        let decisions = self.nodes.iter().enumerate().filter(|(_, node)| node.is_decision);
        decisions.map(|(node, _)| (node, degree(node))).filter(|(_, degree)| *degree < 2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_self_loops_terminate() {
        let mut graph = Graph::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|id| graph.node(id));
        graph.edges = vec![(a, b), (b, a), (c, c), (b, d), (d, d)];
        graph.mark_decision(d);
        graph.mark_decision(b);
        assert_eq!(
            (graph.first_root(), graph.unreachable(a), graph.decisions_with_too_few_edges(&graph.edges)),
            (Some(c), vec![c], vec![(d, 1)])
        );
        assert_eq!((graph.node("a"), graph.find("z")), (a, None));
        assert_eq!(Graph::default().first_root(), None);
    }
}
