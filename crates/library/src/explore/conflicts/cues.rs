//! The words of the vocabulary that a sentence contains, found in one pass.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::polarity::{POLARITIES, Polarity};
use super::word_lists::{EXCEPTIONS, NO_STATEMENT, ORDERS, SITUATIONS};
use crate::facts::facts;

/// What the words of a sentence reveal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cues {
    /// Whether it gives an example, tells of the past or of plans, or speaks of others.
    pub states_nothing: bool,
    /// Whether it names an exception.
    pub is_exception: bool,
    /// The sides that it takes in the contrasts, first of situations and then of orders, two bits for each; none where it
    /// has both.
    pub contrasts: u64,
    /// What it affirms or denies.
    pub polarity: Polarity,
}

/// What a word is a cue for.
#[derive(Debug, Clone, Copy)]
enum Cue {
    NoStatement,
    Exception,
    /// The bit of a side of a contrast.
    Contrast(u64),
    /// The index of a polarity.
    Polarity(usize),
}

/// Finds the words; none where the automaton could not be built.
static FINDER: LazyLock<Option<(AhoCorasick, Vec<Cue>)>> = LazyLock::new(|| {
    let (mut words, mut cues): (Vec<&str>, Vec<Cue>) = (Vec::new(), Vec::new());
    let mut add = |word: &'static str, cue: Cue| {
        words.push(word);
        cues.push(cue);
    };
    NO_STATEMENT.iter().for_each(|word| add(word, Cue::NoStatement));
    EXCEPTIONS.iter().for_each(|word| add(word, Cue::Exception));
    for (number, (one, other)) in SITUATIONS.iter().chain(ORDERS).enumerate() {
        one.iter().for_each(|word| add(word, Cue::Contrast(1 << (2 * number))));
        other.iter().for_each(|word| add(word, Cue::Contrast(2 << (2 * number))));
    }
    for (index, (word, ..)) in POLARITIES.iter().enumerate() {
        add(word, Cue::Polarity(index));
    }
    Some((AhoCorasick::new(&words).ok()?, cues))
});

impl Cues {
    /// The cues of a normalized sentence.
    pub fn of(text: &str) -> Self {
        let (mut states_nothing, mut is_exception, mut contrasts) = (false, false, 0_u64);
        // The polarity whose word ends last, and of those the longest one.
        let mut last: Option<(usize, usize, usize)> = None;
        let found = FINDER.iter().flat_map(|(finder, cues)| {
            finder
                .find_overlapping_iter(text)
                .filter_map(|found| Some((found, *cues.get(found.pattern().as_usize())?)))
        });
        for (found, cue) in found {
            match cue {
                Cue::NoStatement => states_nothing |= !is_in_subordinate_clause(text, found.range()),
                Cue::Exception => is_exception |= !limits_a_value(text, found.range()),
                Cue::Contrast(side) => contrasts |= side,
                Cue::Polarity(index) => {
                    if Polarity::decides_at(text, found.range()) {
                        last = last.max(Some((found.end(), found.len(), index)));
                    }
                }
            }
        }
        for number in 0..SITUATIONS.len() + ORDERS.len() {
            let both = 3 << (2 * number);
            if contrasts & both == both {
                contrasts &= !both;
            }
        }
        let polarity = Polarity::new(text, last.map(|(.., index)| index));
        Self { states_nothing, is_exception, contrasts, polarity }
    }
}

/// Whether a past tense only tells what a rule refers to: `expires 90 days after it was created`.
fn is_in_subordinate_clause(text: &str, word: Range<usize>) -> bool {
    const SUBORDINATORS: &[&str] = &["after", "since", "when", "that", "which", "once", "until", "from"];
    let is_past = matches!(text.get(word.clone()), Some(" was " | " were "));
    let before = text.get(..word.start).unwrap_or_default();
    let clause = before.rsplit([',', ';']).next().unwrap_or_default();
    // The subject of the clause takes at most three words: `after the last one was sent`.
    is_past && clause.rsplit(' ').take(4).any(|word| SUBORDINATORS.contains(&word))
}

/// Whether a word only limits the value before it: 一台に限り, 14日以内に限り.
fn limits_a_value(text: &str, word: Range<usize>) -> bool {
    let mut before = text.get(..word.start).unwrap_or_default();
    for end in ["もの", "を超えない", "以下の", "以内の", "までの", "以内", "まで"] {
        before = before.strip_suffix(end).unwrap_or(before);
    }
    text.get(word) == Some("に限") && facts(before).last().is_some_and(|fact| fact.range.end == before.len())
}
