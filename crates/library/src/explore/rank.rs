//! The order of what was found: the best first, judged by what a first look cannot see.

use std::collections::HashMap;

use super::matching::{Hit, Matched, Place};
use super::query::{Intent, Query};
use crate::index::{NodeEntry, Segment, View};
use crate::text::kanji_number;

// Found by measuring, as the weights of the matching are.
/// How much of a score hangs on how many of the terms are there, and what loose ones count.
const COVERAGE: f32 = 0.5;
const LOOSE: f32 = 0.6;
/// What it is worth that the rest of the file speaks of the terms.
const AROUND: f32 = 0.5;
/// What it is worth that the terms stand in the heading.
const TITLED: f32 = 0.2;
/// What it is worth to name a number with the unit that is asked for.
const MEASURED: f32 = 1.3;
/// A heading with nothing of its own below it answers little.
const BARE: f32 = 0.5;

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
            let coverage = covered(hit.whole) + LOOSE * covered(hit.loose | hit.part);
            let around = covered(files.get(&file(hit.place)).copied().unwrap_or_default());
            let score = hit.score
                * (1.0 - COVERAGE + COVERAGE * coverage)
                * (1.0 + AROUND * around)
                * (1.0 + TITLED * covered(hit.heading));
            (score, hit)
        })
        .collect();
    // Only the best are looked at closely.
    let closely = most.saturating_mul(2).max(100);
    let order = |one: &(f32, &Hit), other: &(f32, &Hit)| {
        other.0.total_cmp(&one.0).then(one.1.place.cmp(&other.1.place))
    };
    if hits.len() > closely {
        hits.select_nth_unstable_by(closely, order);
    }
    let closely = closely.min(hits.len());
    let (best, rest) = hits.split_at_mut(closely);
    for (score, hit) in best.iter_mut() {
        let Some((segment, node)) = at(views, hit.place) else { continue };
        if names_unit(segment.text_of(node), &query.units) {
            *score *= MEASURED;
        }
        if is_bare(segment, node) {
            *score *= BARE;
        }
    }
    best.sort_unstable_by(order);
    let candidate = |(score, hit): &(f32, &Hit)| {
        let signals = [
            (hit.heading != 0, Signals::HEADING),
            (hit.whole != 0, Signals::NORMALIZED),
            (hit.loose | hit.part != 0, Signals::LOOSE),
        ];
        let signals = signals
            .iter()
            .filter(|(is_set, _)| *is_set)
            .fold(Signals::default(), |all, (_, one)| all.with(*one));
        Candidate { place: hit.place, score: *score, signals, terms: hit.whole | hit.loose }
    };
    let candidates: Vec<_> = best.iter().take(most).map(candidate).collect();
    let mut left: Vec<_> = best.iter().skip(most).chain(rest.iter()).map(|(_, hit)| hit.place).collect();
    left.sort_unstable();
    (candidates, left)
}

/// Whether a text has a number with one of these units.
fn names_unit(text: &str, units: &[&str]) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || kanji_number(std::iter::once(letter)).is_some();
    units.iter().any(|unit| {
        text.match_indices(unit).take(64).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.trim_end_matches(' ').chars().next_back());
            let after =
                text.get(at + unit.len()..).and_then(|after| after.trim_start_matches(' ').chars().next());
            let sign = matches!(*unit, "$" | "€" | "usd" | "eur");
            before.is_some_and(is_digit) || (sign && after.is_some_and(|letter| letter.is_ascii_digit()))
        })
    })
}

/// Whether a section is worded as what the question wants would be.
pub fn is_worded_for(intent: Intent, text: &str) -> bool {
    let words: &[&str] = match intent {
        Intent::Definition => &[
            "とは",
            "をいう",
            "をいいます",
            "意味",
            "定義",
            " is a ",
            " is an ",
            " are ",
            " means ",
            " refers to ",
        ],
        Intent::Procedure => &[
            "\n1. ",
            "手順",
            "\n1) ",
            "①",
            "次の",
            "以下の",
            "step",
            "```",
            "\n$ ",
            "- ",
            "してください",
            "します",
        ],
        Intent::Eligibility => &["対象", "条件", "資格", "要件", "場合", "eligib", "qualif", "must ", "if "],
        Intent::Exceptions | Intent::Compare | Intent::Unknown => &[],
    };
    words.iter().any(|word| text.contains(word))
}

/// Whether a heading has nothing of its own below it.
pub fn is_bare(segment: &Segment, node: &NodeEntry) -> bool {
    segment.text_of(node).lines().skip(node.heading_lines as usize).all(|line| line.trim().is_empty())
}
