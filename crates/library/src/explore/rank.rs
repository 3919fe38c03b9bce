//! The order of what was found: the best first, judged by what a first look cannot see.

use std::collections::{HashMap, HashSet};

use super::matching::{Hit, Matched, Place};
use super::query::{Intent, Query};
use super::tuning::tune;
use crate::index::{Key, NodeEntry, Segment, View, stem, tokens};
use crate::text::normalize_text;

/// A node that is part of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its place.
    pub place: Place,
    /// How well it fits.
    pub score: f32,
    /// Why it is here.
    pub signals: Signals,
    /// The terms that stand in it, in some form.
    pub terms: u64,
}

/// Why a node was found, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signals(u8);

impl Signals {
    /// A term stands in its heading.
    pub const HEADING: Self = Self(1);
    /// A term stands in it as it is.
    pub const NORMALIZED: Self = Self(2);
    /// A term stands in it loosely, in part or by another name.
    pub const LOOSE: Self = Self(4);
    /// It speaks of an exception.
    pub const EXCEPTIONS: Self = Self(8);
    /// Another one points at it.
    pub const REFERENCE: Self = Self(16);
    const ALL: [(Self, &'static str); 5] = [
        (Self::HEADING, "heading"),
        (Self::NORMALIZED, "normalized"),
        (Self::LOOSE, "loose"),
        (Self::EXCEPTIONS, "exceptions"),
        (Self::REFERENCE, "reference"),
    ];

    /// Adds others.
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether all of these are among them.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Their names.
    pub fn names(self) -> Vec<String> {
        Self::ALL.iter().filter(|(signal, _)| self.has(*signal)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

/// The segment and the node of a place.
pub fn at(views: &[View], place: Place) -> Option<(&Segment, &NodeEntry)> {
    let segment = views.get(place.view as usize)?.segments.get(place.segment as usize)?;
    Some((segment, segment.node(place.node)?))
}

/// The best of what matched, best first, and the rest.
pub fn rank(views: &[View], query: &Query, matched: &Matched, most: usize) -> (Vec<Candidate>, Vec<Place>) {
    let total: f32 = matched.weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    let covered = |bits: u64| -> f32 {
        let weights = matched.weights.iter().enumerate();
        weights.filter(|(index, _)| bits >> index & 1 == 1).map(|(_, weight)| weight).sum::<f32>() / total
    };
    let keys: HashSet<Key> = query.terms.iter().flat_map(|term| &term.forms).flat_map(|form| &form.keys).copied().collect();
    // What the rest of a file speaks of tells what a section in it is about.
    let file = |place: Place| (place.view, place.segment, at(views, place).map_or(0, |(_, node)| node.file));
    let mut files: HashMap<(u32, u32, u32), u64> = HashMap::new();
    for hit in &matched.hits {
        *files.entry(file(hit.place)).or_default() |= hit.whole;
    }
    let mut hits: Vec<(f32, &Hit)> = matched
        .hits
        .iter()
        .map(|hit| {
            let coverage = covered(hit.whole) + tune("loosecov", 0.6) * covered(hit.loose);
            let around = covered(files.get(&file(hit.place)).copied().unwrap_or_default());
            let score = hit.score * (1.0 - tune("cov", 0.5) + tune("cov", 0.5) * coverage) * (1.0 + tune("file", 0.2) * around);
            (score, hit)
        })
        .collect();
    // Only the best are looked at closely.
    let closely = most.saturating_mul(2).clamp(100, 400);
    let order = |one: &(f32, &Hit), other: &(f32, &Hit)| other.0.total_cmp(&one.0).then(one.1.place.cmp(&other.1.place));
    if hits.len() > closely {
        hits.select_nth_unstable_by(closely, order);
    }
    let closely = closely.min(hits.len());
    let (best, rest) = hits.split_at_mut(closely);
    for (score, hit) in best.iter_mut() {
        let Some((segment, node)) = at(views, hit.place) else { continue };
        let close = closeness(segment.text_of(node), query, &matched.weights, hit.whole | hit.loose);
        *score *= title_fit(node, &keys) * fullness(segment, node) * (1.0 + tune("close", 0.2) * close);
    }
    best.sort_unstable_by(order);
    let candidate = |(score, hit): &(f32, &Hit)| {
        let signals = [
            (hit.heading != 0, Signals::HEADING),
            (hit.whole != 0, Signals::NORMALIZED),
            (hit.loose != 0, Signals::LOOSE),
        ];
        let signals = signals.iter().filter(|(is_set, _)| *is_set).fold(Signals::default(), |all, (_, one)| all.with(*one));
        Candidate { place: hit.place, score: *score, signals, terms: hit.whole | hit.loose }
    };
    let candidates: Vec<_> = best.iter().take(most).map(candidate).collect();
    let mut left: Vec<_> = best.iter().skip(most).chain(rest.iter()).map(|(_, hit)| hit.place).collect();
    left.sort_unstable();
    (candidates, left)
}

/// How close the terms of a question stand to each other in a text, 0 to 1: neighbours of the question count if they
/// are neighbours of the text.
fn closeness(text: &str, query: &Query, weights: &[f32], held: u64) -> f32 {
    let places: Vec<Option<Vec<usize>>> = query
        .terms
        .iter()
        .enumerate()
        .map(|(index, term)| {
            let term = (held >> index & 1 == 1).then(|| term.text())?;
            let start = if term.is_ascii() { stem(term) } else { term.to_owned() };
            let start = start.trim_end_matches(['e', 'i']).to_owned();
            Some(text.match_indices(start.as_str()).take(16).map(|(at, _)| at).collect())
        })
        .collect();
    let (mut sum, mut total) = (0.0, f32::MIN_POSITIVE);
    for (index, pair) in places.windows(2).enumerate() {
        let weight = weights.get(index).copied().unwrap_or_default().min(weights.get(index + 1).copied().unwrap_or_default());
        total += weight;
        if let [Some(one), Some(other)] = pair {
            let least = one.iter().flat_map(|one| other.iter().map(move |other| one.abs_diff(*other))).min();
            sum += least.map_or(0.0, |least| weight / (1.0 + least as f32 / tune("closedist", 40.0)));
        }
    }
    sum / total
}

/// A heading that says just what is asked for is worth more than one that says much else.
fn title_fit(node: &NodeEntry, keys: &HashSet<Key>) -> f32 {
    if node.heading_lines == 0 {
        return 1.0;
    }
    let (mut all, mut asked) = (0_u32, 0_u32);
    tokens(&normalize_text(&node.title), &mut |key| {
        all += 1;
        asked += u32::from(keys.contains(&key));
    });
    1.0 + tune("titlefit", 0.3) * asked as f32 / all.max(1) as f32
}

/// Whether a section is worded as what the question wants would be.
pub fn is_worded_for(intent: Intent, text: &str) -> bool {
    let words: &[&str] = match intent {
        Intent::Definition => &["とは", "をいう", "をいいます", "意味", "定義", " is a ", " is an ", " are ", " means ", " refers to "],
        Intent::Procedure => &["\n1. ", "手順", "\n1) ", "①", "次の", "以下の", "step", "```", "\n$ ", "- ", "してください", "します"],
        Intent::Eligibility => &["対象", "条件", "資格", "要件", "場合", "eligib", "qualif", "must ", "if "],
        Intent::Exceptions | Intent::Compare | Intent::Unknown => &[],
    };
    words.iter().any(|word| text.contains(word))
}

/// A heading with nothing of its own below it answers little.
fn fullness(segment: &Segment, node: &NodeEntry) -> f32 {
    let text = segment.text_of(node);
    let own = text.lines().skip(node.heading_lines as usize).map(|line| line.trim().len()).sum::<usize>();
    if own == 0 { tune("empty", 0.5) } else { 1.0 }
}
