//! Directed graphs: which nodes are unreachable, and which decisions have too few outgoing edges.

use std::collections::{HashMap, HashSet};

/// A graph of an artifact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    /// The nodes, in the order in which they appear.
    pub(crate) nodes: Vec<GraphNode>,
    /// The edges along which nodes are reached, as pairs of node indexes.
    pub(crate) edges: Vec<(usize, usize)>,
    /// The index of the node that it starts at.
    pub(crate) start: usize,
    index: HashMap<String, usize>,
}

/// A node of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GraphNode {
    pub(crate) id: String,
    /// The text that it shows.
    pub(crate) label: String,
    /// The lines of a flowchart on which it is mentioned.
    pub(crate) lines: Vec<usize>,
    /// Whether it is a decision, which needs several outgoing edges.
    pub(crate) is_decision: bool,
    /// Whether it represents a subgraph, and is not an element itself.
    pub(crate) is_subgraph: bool,
    /// The number of outgoing edges as they are drawn: an undirected link once, and none that a subgraph implies.
    pub(crate) ways_out: usize,
    /// The index of its element in the artifact.
    pub(crate) element: Option<usize>,
}

impl Graph {
    /// The index of the node with this id, which is added when it is new.
    pub(crate) fn node(&mut self, id: &str) -> usize {
        if let Some(known) = self.index.get(id) {
            return *known;
        }
        let index = self.nodes.len();
        self.index.insert(id.to_owned(), index);
        self.nodes.push(GraphNode { id: id.to_owned(), ..GraphNode::default() });
        index
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    /// Adds an edge that is drawn.
    pub(crate) fn draw_edge(&mut self, from: usize, to: usize) {
        self.edges.push((from, to));
        if let Some(node) = self.nodes.get_mut(from) {
            node.ways_out += 1;
        }
    }

    /// The first node without incoming edges; when every node is on a cycle, the first node.
    pub(crate) fn first_root(&self) -> usize {
        let targets: HashSet<usize> =
            self.edges.iter().filter(|(from, to)| from != to).map(|(_, to)| *to).collect();
        (0..self.nodes.len()).find(|node| !targets.contains(node)).unwrap_or_default()
    }

    pub(crate) fn unreachable(&self) -> impl Iterator<Item = &GraphNode> {
        let mut successors: HashMap<usize, Vec<usize>> = HashMap::new();
        for (from, to) in &self.edges {
            successors.entry(*from).or_default().push(*to);
        }
        let (mut reached, mut pending) = (HashSet::from([self.start]), vec![self.start]);
        while let Some(node) = pending.pop() {
            for next in successors.get(&node).into_iter().flatten() {
                if reached.insert(*next) {
                    pending.push(*next);
                }
            }
        }
        self.nodes.iter().enumerate().filter(move |(index, _)| !reached.contains(index)).map(|(_, node)| node)
    }

    /// The decisions with fewer than two outgoing edges as drawn. An edge to itself counts.
    pub(crate) fn one_way_decisions(&self) -> impl Iterator<Item = &GraphNode> {
        self.nodes.iter().filter(|node| node.is_decision && node.ways_out < 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_self_loops_terminate() {
        let mut graph = Graph::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|id| graph.node(id));
        for (from, to) in [(a, b), (b, a), (c, c), (b, d), (d, d)] {
            graph.draw_edge(from, to);
        }
        (graph.nodes[b].is_decision, graph.nodes[d].is_decision) = (true, true);
        let ids = |nodes: Vec<&GraphNode>| nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>();
        graph.start = a;
        assert_eq!((graph.first_root(), ids(graph.unreachable().collect())), (c, vec!["c".to_owned()]));
        assert_eq!(ids(graph.one_way_decisions().collect()), ["d"]);
        assert_eq!((graph.node("a"), graph.find("z")), (a, None));
        assert_eq!(Graph::default().first_root(), 0);
    }
}
