//! BM25 over the keys of a question: how much each key tells, and what the keys of one form are worth node by node.

use std::collections::HashMap;

use super::query::Query;
use crate::index::{Key, Posting, Segment, View};

// The weights were found by measuring on questions of several kinds (`annai eval`); the ranking is not sensitive to any
// of them alone.
/// BM25's k1: how soon more occurrences of the same key add nothing new.
const K1: f32 = 1.2;
/// BM25's b: how much a long text is held against its occurrences.
const B: f32 = 0.6;
/// A text shorter than this share of the average length gains nothing more by being short.
const MIN_LENGTH_RATIO: f32 = 0.3;
/// What an occurrence in the heading is worth beside one in the text.
const HEADING_WEIGHT: f32 = 1.5;
/// What an occurrence in the headings above or in the file's name is worth beside one in the text.
const PATH_WEIGHT: f32 = 1.5;
/// The maximum number of occurrences in the path that count: a word that all levels repeat says it only once.
const MAX_PATH_OCCURRENCES: u32 = 3;

/// The statistics of all views together, which BM25 needs.
pub struct Statistics {
    /// The number of nodes.
    pub nodes: f32,
    average_length: f32,
    idf: HashMap<Key, f32>,
}

/// The inverse document frequency of what stands in `count` of `nodes` nodes.
pub fn idf(nodes: f32, count: f32) -> f32 {
    (1.0 + (nodes - count + 0.5).max(0.5) / (count + 0.5)).ln()
}

impl Statistics {
    /// Counts every key of a question.
    pub fn new(views: &[View], query: &Query) -> Self {
        let segments = || views.iter().flat_map(|view| &view.segments);
        let nodes = segments().map(|segment| segment.nodes.len()).sum::<usize>().max(1) as f32;
        let length: u64 = segments().map(|segment| segment.total_length()).sum();
        let mut known = HashMap::new();
        let forms = query.terms.iter().chain(&query.negatives).flat_map(|term| &term.forms);
        for key in forms.flat_map(|form| &form.keys).chain(&query.keys) {
            known.entry(*key).or_insert_with(|| {
                let count = segments().map(|segment| segment.count(*key)).sum::<usize>() as f32;
                idf(nodes, count)
            });
        }
        Self { nodes, average_length: (length as f32 / nodes).max(1.0), idf: known }
    }

    /// The inverse document frequency of a key of the question.
    pub fn idf(&self, key: Key) -> f32 {
        self.idf.get(&key).copied().unwrap_or_default()
    }

    /// The BM25 score of a key with this inverse document frequency in one node.
    pub fn bm25(&self, segment: &Segment, posting: Posting, idf: f32) -> f32 {
        let length = segment.node(posting.node).map_or(0, |node| node.length) as f32;
        let length_ratio = (length / self.average_length).max(MIN_LENGTH_RATIO);
        let body = posting.body as f32 / (1.0 - B + B * length_ratio);
        let frequency = body
            + posting.title as f32 * HEADING_WEIGHT
            + posting.path.min(MAX_PATH_OCCURRENCES) as f32 * PATH_WEIGHT;
        idf * frequency * (K1 + 1.0) / (frequency + K1)
    }
}

/// What one form is worth in each node of a segment. It is kept between forms and segments, so that nothing is allocated
/// for each of them.
#[derive(Default)]
pub struct Scratch {
    sum: Vec<f32>,
    keys: Vec<u16>,
    titles: Vec<u16>,
    touched: Vec<u32>,
}

impl Scratch {
    /// Makes room for the nodes of a segment.
    pub fn fit(&mut self, nodes: usize) {
        self.sum.resize(nodes, 0.0);
        self.keys.resize(nodes, 0);
        self.titles.resize(nodes, 0);
    }

    /// Adds what a key is worth in a node.
    pub fn add(&mut self, posting: Posting, worth: f32) {
        let node = posting.node as usize;
        let (Some(sum), Some(keys), Some(titles)) =
            (self.sum.get_mut(node), self.keys.get_mut(node), self.titles.get_mut(node))
        else {
            return;
        };
        if *sum == 0.0 {
            self.touched.push(posting.node);
        }
        *sum += worth.max(f32::MIN_POSITIVE);
        *keys += u16::from(posting.body + posting.title > 0);
        *titles += u16::from(posting.title > 0);
    }

    /// Hands out what was added, node by node, and is empty again afterwards.
    pub fn drain(&mut self, mut each: impl FnMut(u32, f32, u16, u16)) {
        for node in self.touched.drain(..) {
            let at = node as usize;
            if let (Some(sum), Some(keys), Some(titles)) =
                (self.sum.get_mut(at), self.keys.get_mut(at), self.titles.get_mut(at))
            {
                each(node, std::mem::take(sum), std::mem::take(keys), std::mem::take(titles));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_keys_tell_more_and_common_ones_never_less_than_nothing() {
        assert!(idf(100.0, 1.0) > idf(100.0, 10.0));
        assert!(idf(100.0, 100.0) > 0.0);
    }

    #[test]
    fn scratch_is_empty_after_it_was_drained() {
        let mut scratch = Scratch::default();
        scratch.fit(3);
        let posting = Posting { node: 2, body: 1, title: 1, path: 0 };
        scratch.add(posting, 0.5);
        scratch.add(posting, 0.25);
        let mut drained = Vec::new();
        scratch.drain(|node, sum, keys, titles| drained.push((node, sum, keys, titles)));
        scratch.drain(|node, sum, keys, titles| drained.push((node, sum, keys, titles)));
        assert_eq!(drained, [(2, 0.75, 2, 2)]);
    }
}
