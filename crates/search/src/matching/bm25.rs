//! BM25 over the index keys of a question: the idf of each key, and the scores of the keys of one form, node by node.

use std::collections::HashMap;

use crate::index::{Key, Posting, Segment, View};
use crate::query::Query;
use crate::query::terms::key_weight;
use crate::rules::{RuleGroup, Rules};

// The weights were found by measuring on questions of several kinds (`annai eval`); the ranking is not sensitive to any
// of them alone.
/// BM25's k1: how quickly further occurrences of a key stop adding to the score.
const K1: f32 = 1.2;
/// BM25's b: how strongly the score is normalized by length.
const B: f32 = 0.75;
/// Below this share of the average length a shorter text gains nothing more; otherwise one-line sections would win.
const MIN_LENGTH_RATIO: f32 = 0.3;
/// The maximum number of occurrences in the path that count, because a word that every level repeats says nothing new.
const MAX_PATH_OCCURRENCES: u32 = 3;

/// The collection statistics of all views together, which BM25 needs.
pub struct Statistics {
    /// The number of nodes.
    pub nodes: f32,
    average_length: f32,
    idf: HashMap<Key, f32>,
    rules: Rules,
}

/// The inverse document frequency of a key that `count` of `nodes` nodes contain.
pub fn idf(nodes: f32, count: f32) -> f32 {
    (1.0 + (nodes - count + 0.5).max(0.5) / (count + 0.5)).ln()
}

impl Statistics {
    /// Collects the document frequency of every key of some wordings of a question.
    pub fn new(views: &[View], wordings: &[&Query]) -> Self {
        let segments = || views.iter().flat_map(|view| &view.segments);
        let nodes = segments().map(|segment| segment.nodes.len()).sum::<usize>().max(1) as f32;
        let length: u64 = segments().map(|segment| segment.total_length()).sum();
        let mut known = HashMap::new();
        for query in wordings {
            let forms = query.terms.iter().chain(&query.negatives).flat_map(|term| &term.forms);
            for key in forms.flat_map(|form| &form.keys).chain(&query.keys) {
                known.entry(*key).or_insert_with(|| {
                    let count = segments().map(|segment| segment.count(*key)).sum::<usize>();
                    if count == 0 { 0.0 } else { idf(nodes, count as f32) }
                });
            }
        }
        let rules = wordings.first().map_or(Rules::default(), |question| question.rules);
        Self { nodes, average_length: (length as f32 / nodes).max(1.0), idf: known, rules }
    }

    /// The inverse document frequency of a key of the question.
    pub fn idf(&self, key: Key) -> f32 {
        self.idf.get(&key).copied().unwrap_or_default()
    }

    /// The inverse document frequency of a key, weighted by what the key says; 0 for a key that occurs nowhere.
    pub fn weighted_idf(&self, key: Key) -> f32 {
        self.idf(key) * if self.rules.has(RuleGroup::Hiragana) { key_weight(key) } else { 1.0 }
    }

    /// The BM25 score of a key with this inverse document frequency in one node.
    pub fn bm25(&self, segment: &Segment, posting: Posting, idf: f32) -> f32 {
        let length = segment.node(posting.node).map_or(0, |node| node.length) as f32;
        let length_ratio = (length / self.average_length).max(MIN_LENGTH_RATIO);
        let body = posting.body as f32 / (1.0 - B + B * length_ratio);
        let frequency = body + (posting.title + posting.path.min(MAX_PATH_OCCURRENCES)) as f32;
        idf * frequency * (K1 + 1.0) / (frequency + K1)
    }
}

/// What the keys of one form add up to in a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FormScore {
    /// The sum of their scores.
    pub sum: f32,
    /// How many of them the text has, the heading included.
    pub keys: u16,
    /// How many of them the heading has.
    pub titles: u16,
}

/// Adds up the scores of one form in each node of a segment. It is reused between forms and segments, so that nothing
/// is allocated for each of them.
#[derive(Default)]
pub struct ScoreAccumulator {
    sum: Vec<f32>,
    keys: Vec<u16>,
    titles: Vec<u16>,
    touched: Vec<u32>,
}

impl ScoreAccumulator {
    /// Makes room for the nodes of a segment.
    pub fn resize(&mut self, nodes: usize) {
        self.sum.resize(nodes, 0.0);
        self.keys.resize(nodes, 0);
        self.titles.resize(nodes, 0);
    }

    /// Adds the score of a key in a node.
    pub fn add(&mut self, posting: Posting, score: f32) {
        let node = posting.node as usize;
        let (Some(sum), Some(keys), Some(titles)) =
            (self.sum.get_mut(node), self.keys.get_mut(node), self.titles.get_mut(node))
        else {
            return;
        };
        if *sum == 0.0 {
            self.touched.push(posting.node);
        }
        *sum += score.max(f32::MIN_POSITIVE);
        *keys += u16::from(posting.body + posting.title > 0);
        *titles += u16::from(posting.title > 0);
    }

    /// Passes on what was added up for each node, and is empty afterwards.
    pub fn drain(&mut self, mut each: impl FnMut(u32, FormScore)) {
        for node in self.touched.drain(..) {
            let at = node as usize;
            if let (Some(sum), Some(keys), Some(titles)) =
                (self.sum.get_mut(at), self.keys.get_mut(at), self.titles.get_mut(at))
            {
                let (sum, keys) = (std::mem::take(sum), std::mem::take(keys));
                each(node, FormScore { sum, keys, titles: std::mem::take(titles) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_corpus::{manual, query};

    #[test]
    fn rare_keys_weigh_more_and_common_ones_never_less_than_zero() {
        assert!(idf(100.0, 1.0) > idf(100.0, 10.0));
        assert!(idf(100.0, 100.0) > 0.0);
    }

    #[test]
    fn the_accumulator_is_empty_after_it_was_drained() {
        let mut accumulator = ScoreAccumulator::default();
        accumulator.resize(3);
        let posting = Posting { node: 2, body: 1, title: 1, path: 0 };
        accumulator.add(posting, 0.5);
        accumulator.add(posting, 0.25);
        let mut drained = Vec::new();
        accumulator.drain(|node, score| drained.push((node, score)));
        accumulator.drain(|node, score| drained.push((node, score)));
        assert_eq!(drained, [(2, FormScore { sum: 0.75, keys: 2, titles: 2 })]);
    }

    /// The score of the only key of a question in the only node that contains it.
    fn score(text: &str, question: &str) -> f32 {
        let padding = "# Other\nwords of any other kind that fill a node to some length\n".repeat(8);
        let views = [manual("m", &[("z.md", text), ("other.md", &padding)])];
        let query = query(question);
        let statistics = Statistics::new(&views, &[&query]);
        let [key] = query.keys.as_slice() else { panic!("one key") };
        let segment = &views[0].segments[0];
        let [posting] = segment.find(*key).collect::<Vec<_>>()[..] else { panic!("one node") };
        statistics.bm25(segment, posting, statistics.idf(*key))
    }

    #[test]
    fn more_occurrences_add_less_and_less() {
        let times = |count: usize| score(&format!("# A\n{} y\n", "refund ".repeat(count)), "refund");
        let (one, two, three) = (times(1), times(2), times(3));
        assert!(one < two && two < three && three - two < two - one, "{one} {two} {three}");
    }

    #[test]
    fn a_long_text_counts_less_and_a_heading_more() {
        let filler = |count: usize| "filler ".repeat(count);
        let usual = score(&format!("# A\nrefund {}\n", filler(12)), "refund");
        assert!(score(&format!("# A\nrefund {}\n", filler(200)), "refund") < usual);
        assert!(score(&format!("# Refund\n{}\n", filler(13)), "refund") > usual);
        // Below a share of the average length, shorter is not better.
        assert_eq!(score("# A\nrefund\n", "refund"), score("# A\nrefund filler\n", "refund"));
    }

    #[test]
    fn the_idf_counts_all_views_together() {
        let views =
            [manual("m", &[("a.md", "# A\nrefund\n# B\nx\n")]), manual("n", &[("b.md", "# A\nrefund\n")])];
        let query = query("refund");
        let statistics = Statistics::new(&views, &[&query]);
        assert_eq!((statistics.nodes, statistics.idf(query.keys[0])), (3.0, idf(3.0, 2.0)));
        // A key that is not of the question has no weight.
        assert_eq!(statistics.idf(1), 0.0);
    }
}
