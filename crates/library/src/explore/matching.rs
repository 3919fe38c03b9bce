//! Stages 0 and 1: which nodes hold which terms of a question, as they stand, loosely or by another name, and how well
//! that fits (BM25 over the node's own text, its heading and the headings above it).

use std::collections::HashMap;
use std::time::Instant;

use super::loosely::{Fit, Needle};
use super::query::{Form, Query, Role};
use crate::index::{Key, Posting, Segment, View, all_of};

// Found by measuring on questions of several kinds (`annai eval`); the ranking is not sensitive to any of them alone.
/// How soon more of the same tells nothing new, and how much longer texts are held against it.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.6;
/// Shorter texts, beside the average, gain no more by it.
const SHORTEST: f32 = 0.3;
/// What a heading, and the headings and names above it, are worth beside the text.
const TITLE: f32 = 1.5;
const PATH: f32 = 1.5;
const MOST_IN_PATH: u32 = 3;
/// What a term that must be there is worth beside one that should.
const MUST: f32 = 1.4;
/// What the letters between the terms of a question are worth beside theirs.
const BETWEEN: f32 = 0.3;
/// What a term is worth when its letters stand together, apart, and in part.
const TOGETHER: f32 = 1.25;
const APART: f32 = 0.8;
const PARTLY: f32 = 0.9;
/// A form that is worth less does not stand for its term.
const STANDS_FOR: f32 = 0.5;

/// A node that holds something of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place.
    pub place: Place,
    /// How well it fits.
    pub score: f32,
    /// The terms that stand in it as they are, as bits.
    pub whole: u64,
    /// The terms that stand in it loosely or by another name.
    pub loose: u64,
    /// The terms that stand in it in part.
    pub part: u64,
    /// The terms that stand in its heading.
    pub heading: u64,
}

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The collection, as an index into the views.
    pub view: u32,
    /// The segment, as an index into the view.
    pub segment: u32,
    /// The node, as an index into the segment.
    pub node: u32,
}

/// What the matching found.
#[derive(Default)]
pub struct Matched {
    /// In document order.
    pub hits: Vec<Hit>,
    /// Segments that there was no time for, as indexes of view and segment.
    pub missed: Vec<(u32, u32)>,
    /// How much each term tells, beside the others.
    pub weights: Vec<f32>,
    /// In how many nodes each term stands, in some form.
    pub counts: Vec<usize>,
}

/// Which nodes are looked at.
pub type Allowed<'a> = &'a dyn Fn(Place) -> bool;

/// How much keys tell.
struct Statistics {
    nodes: f32,
    average: f32,
    found: HashMap<Key, f32>,
}

impl Statistics {
    fn new(views: &[View], query: &Query) -> Self {
        let segments = || views.iter().flat_map(|view| &view.segments);
        let nodes = segments().map(|segment| segment.nodes.len()).sum::<usize>().max(1) as f32;
        let length: u64 = segments().map(|segment| segment.total_length()).sum();
        let mut found = HashMap::new();
        let forms = query.terms.iter().chain(&query.negatives).flat_map(|term| &term.forms);
        for key in forms.flat_map(|form| &form.keys).chain(&query.keys) {
            found.entry(*key).or_insert_with(|| {
                let count = segments().map(|segment| segment.count(*key)).sum::<usize>() as f32;
                (1.0 + (nodes - count + 0.5).max(0.5) / (count + 0.5)).ln()
            });
        }
        Self { nodes, average: (length as f32 / nodes).max(1.0), found }
    }

    fn rarity(&self, key: Key) -> f32 {
        self.found.get(&key).copied().unwrap_or_default()
    }

    /// How much a key in so many places is worth.
    fn worth(&self, segment: &Segment, posting: Posting, rarity: f32) -> f32 {
        let length = segment.node(posting.node).map_or(0, |node| node.length) as f32;
        let length = (length / self.average).max(SHORTEST);
        let body = posting.body as f32 / (1.0 - LENGTH + LENGTH * length);
        let often = body + posting.title as f32 * TITLE + posting.path.min(MOST_IN_PATH) as f32 * PATH;
        rarity * often * (SATURATION + 1.0) / (often + SATURATION)
    }
}

/// What a term is worth in each node of a segment; kept between terms so that nothing is allocated for each.
#[derive(Default)]
struct Scratch {
    sum: Vec<f32>,
    keys: Vec<u16>,
    titles: Vec<u16>,
    touched: Vec<u32>,
}

impl Scratch {
    fn fit(&mut self, nodes: usize) {
        self.sum.resize(nodes, 0.0);
        self.keys.resize(nodes, 0);
        self.titles.resize(nodes, 0);
    }

    fn add(&mut self, posting: Posting, worth: f32) {
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

    /// What was added, node by node; it is empty again afterwards.
    fn drain(&mut self, mut each: impl FnMut(u32, f32, u16, u16)) {
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

/// A node of the segment at hand.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    score: f32,
    /// What the term at hand is worth, at best.
    best: f32,
    whole: u64,
    loose: u64,
    part: u64,
    heading: u64,
}

impl Found {
    const fn is_hit(self) -> bool {
        self.whole | self.loose | self.part != 0
    }
}

/// Looks for the terms of a question in every segment, until the deadline.
pub fn matching(views: &[View], query: &Query, allowed: Allowed<'_>, deadline: Instant) -> Matched {
    let statistics = Statistics::new(views, query);
    let needles: Vec<Vec<Needle>> = query
        .terms
        .iter()
        .map(|term| term.forms.iter().map(|form| Needle::new(&form.text)).collect())
        .collect();
    let mut matched = Matched { counts: vec![0; query.terms.len()], ..Matched::default() };
    let mut scratch = Scratch::default();
    let mut looked_at = false;
    for (view_index, view) in (0..).zip(views) {
        for (segment_index, segment) in (0..).zip(&view.segments) {
            // One segment is always looked at, so that asking again gets on.
            if looked_at && Instant::now() >= deadline {
                matched.missed.push((view_index, segment_index));
                continue;
            }
            looked_at = true;
            if !holds_any(segment, query) {
                continue;
            }
            let place = |node| Place { view: view_index, segment: segment_index, node };
            let is_stale = |node: u32| {
                let file = segment.node(node).map_or(0, |node| node.file);
                !view.stale.is_empty() && view.stale.contains(&(segment_index as usize, file))
            };
            let keep = |node: u32| !is_stale(node) && allowed(place(node));
            let mut found = vec![Found::default(); segment.nodes.len()];
            scratch.fit(segment.nodes.len());
            for (index, (term, needles)) in query.terms.iter().zip(&needles).enumerate() {
                for (form, needle) in term.forms.iter().zip(needles) {
                    look(segment, form, &statistics, &mut scratch);
                    let sought = Sought {
                        form,
                        needle,
                        own: std::ptr::eq(form, term.forms.first().unwrap_or(form)),
                        phrase: term.phrase,
                        bit: 1 << index,
                    };
                    settle(segment, &sought, &mut scratch, &mut found);
                }
                let role = term.strength * if term.role == Role::Must { MUST } else { 1.0 };
                for found in &mut found {
                    found.score += role * std::mem::take(&mut found.best);
                }
            }
            for key in &query.keys {
                let rarity = statistics.rarity(*key) * BETWEEN;
                for posting in segment.find(*key) {
                    if let Some(found) = found.get_mut(posting.node as usize).filter(|found| found.is_hit()) {
                        found.score += statistics.worth(segment, posting, rarity);
                    }
                }
            }
            for negative in &query.negatives {
                for form in &negative.forms {
                    look(segment, form, &statistics, &mut scratch);
                    let needle = Needle::new(&form.text);
                    scratch.drain(|node, _, keys, _| {
                        if usize::from(keys) >= form.keys.len().max(1)
                            && segment
                                .node(node)
                                .is_some_and(|entry| needle.find(segment.text_of(entry)).is_some())
                            && let Some(found) = found.get_mut(node as usize)
                        {
                            *found = Found::default();
                        }
                    });
                }
            }
            for (node, found) in (0..).zip(found).filter(|(_, found)| found.is_hit()) {
                if keep(node) {
                    let Found { score, whole, loose, part, heading, .. } = found;
                    let (loose, part) = (loose & !whole, part & !(whole | loose));
                    matched.hits.push(Hit { place: place(node), score, whole, loose, part, heading });
                    for (index, count) in matched.counts.iter_mut().enumerate() {
                        *count += usize::from((whole | loose) >> index & 1 == 1);
                    }
                }
            }
        }
    }
    let weight = |(term, count): (&super::query::Term, &usize)| {
        let count = *count as f32;
        let rarity = (1.0 + (statistics.nodes - count + 0.5).max(0.5) / (count + 0.5)).ln();
        rarity * term.strength * if term.role == Role::Must { 1.5 } else { 1.0 }
    };
    matched.weights = query.terms.iter().zip(&matched.counts).map(weight).collect();
    matched
}

/// Whether a segment has anything of a question at all.
fn holds_any(segment: &Segment, query: &Query) -> bool {
    let mut forms = query.terms.iter().flat_map(|term| &term.forms);
    forms.any(|form| form.letter.is_some() || form.keys.iter().any(|key| segment.count(*key) > 0))
}

/// Gathers the nodes that are filed under the keys of a form.
fn look(segment: &Segment, form: &Form, statistics: &Statistics, scratch: &mut Scratch) {
    if let Some(letter) = form.letter {
        let found: Vec<_> = segment.find_all(all_of(letter)).collect();
        let rarity = (1.0 + statistics.nodes / (found.len() as f32 + 0.5)).ln() * 0.5;
        let mut last = u32::MAX;
        let mut sorted = found;
        sorted.sort_unstable_by_key(|posting| posting.node);
        for posting in sorted {
            if posting.node != last {
                scratch.add(posting, statistics.worth(segment, posting, rarity));
            }
            last = posting.node;
        }
    }
    for key in &form.keys {
        let rarity = statistics.rarity(*key);
        for posting in segment.find(*key) {
            scratch.add(posting, statistics.worth(segment, posting, rarity));
        }
    }
}

/// A form of a term.
struct Sought<'a> {
    form: &'a Form,
    needle: &'a Needle,
    /// Whether it is the term itself.
    own: bool,
    /// Whether its words count only together.
    phrase: bool,
    /// The term.
    bit: u64,
}

/// Decides for each node that was gathered whether the form stands there, and what that is worth.
fn settle(segment: &Segment, sought: &Sought<'_>, scratch: &mut Scratch, found: &mut [Found]) {
    let Sought { form, needle, own, phrase, bit } = *sought;
    let wanted = form.keys.len().max(1);
    // What means the same as a part of a term only does not stand for it.
    let bit = if form.weight < STANDS_FOR { 0 } else { bit };
    scratch.drain(|node, sum, keys, titles| {
        let (Some(entry), Some(found)) = (segment.node(node), found.get_mut(node as usize)) else { return };
        let held = usize::from(keys);
        let mut worth = sum * form.weight;
        if held >= wanted {
            // One key is enough to know; of several, it takes a look whether they stand together.
            let fit = if wanted == 1 { Some(Fit::Whole) } else { needle.find(segment.text_of(entry)) };
            match fit {
                Some(Fit::Whole) if own => found.whole |= bit,
                Some(_) => found.loose |= bit,
                None => worth *= APART,
            }
            match fit {
                Some(_) if wanted > 1 => worth *= TOGETHER,
                None if !phrase && (wanted > 2 || form.text.is_ascii()) => found.part |= bit,
                _ => {}
            }
            if usize::from(titles) >= wanted {
                found.heading |= bit;
            }
        } else if wanted >= 3 && held * 5 >= wanted * 3 && !phrase {
            found.part |= bit;
            worth *= PARTLY;
        }
        found.best = found.best.max(worth);
    });
}
