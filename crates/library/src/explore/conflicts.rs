//! Finds sections that contradict each other about a term: different numbers or dates, or an affirmation and a
//! negation.

use std::collections::HashSet;

use super::candidate::Candidate;
use super::facts::{Fact, facts, without_facts};
use super::needle::Needle;
use super::place::{NodePlace, node_at};
use super::query::Query;
use crate::index::{Key, View, tokens};
use crate::text::normalize_text;

/// Conflicts are searched among the best 20 candidates only: pairs grow quadratically, and 20 cover the sections that a
/// caller sees.
const CONFLICT_CANDIDATES: usize = 20;
/// The maximum number of sentences of a section that are compared, for the same reason; of a longer section only the
/// beginning is compared.
const MAX_SENTENCES: usize = 60;
/// The maximum number of conflicts that are reported. The caller resolves them one by one, and a new find reports the
/// rest.
const MAX_CONFLICTS: usize = 20;
/// The minimum Jaccard similarity of two sentences that are about the same thing. With fewer shared words, different
/// numbers usually belong to different things.
const MIN_SIMILARITY: f32 = 0.6;
/// Sentences that share fewer than six words, such as rows of a table, are about the same thing only under equal
/// headings.
const MIN_SELF_CONTAINED: usize = 6;
/// Forms with a weight up to this are synonyms, which may mean something else; they are not compared.
const MIN_FORM_WEIGHT: f32 = 0.8;

/// Two sections that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The section with the better rank.
    pub one: NodePlace,
    /// The other section.
    pub other: NodePlace,
    /// The term, and the two statements about it.
    pub about: String,
}

/// What a sentence states about the terms.
struct Statement<'a> {
    place: NodePlace,
    /// The headings above it, without their numbers.
    heading: &'a str,
    /// The terms of the question that it contains, as a bit set.
    terms: u64,
    /// Its index keys, without facts and negations.
    words: HashSet<Key>,
    facts: Vec<Fact>,
    is_negative: bool,
}

/// The words that negate a statement.
const NEGATIONS: &[&str] = &[
    "ない",
    "ません",
    "不可",
    "対象外",
    "除く",
    "禁止",
    "できず",
    "せず",
    "not ",
    "cannot",
    "can't",
    "never",
    "n't ",
    "no longer",
    "prohibited",
    "forbidden",
];

/// Finds the sections that contradict each other about a term of the question.
pub fn conflicts(views: &[View], query: &Query, candidates: &[Candidate]) -> Vec<Conflict> {
    let needles: Vec<Vec<Needle>> = query
        .terms
        .iter()
        .map(|term| {
            term.forms
                .iter()
                .filter(|form| form.weight > MIN_FORM_WEIGHT)
                .map(|form| Needle::new(&form.text))
                .collect()
        })
        .collect();
    let compared: Vec<_> =
        candidates.iter().filter(|candidate| candidate.terms != 0).take(CONFLICT_CANDIDATES).collect();
    let headings: Vec<String> = compared.iter().map(|candidate| heading(views, candidate.place)).collect();
    let mut statements: Vec<Statement<'_>> = Vec::new();
    for (candidate, heading) in compared.iter().zip(&headings) {
        let Some((segment, node)) = node_at(views, candidate.place) else { continue };
        let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
        let sentences = body.flat_map(sentences).take(MAX_SENTENCES);
        statements.extend(
            sentences.filter_map(|sentence| statement_of(sentence, candidate.place, heading, &needles)),
        );
    }
    let mut found: Vec<Conflict> = Vec::new();
    for (index, one) in statements.iter().enumerate() {
        for other in statements.iter().skip(index + 1).filter(|other| other.place != one.place) {
            let shared = one.terms & other.terms;
            let known = |known: &Conflict| known.one == one.place && known.other == other.place;
            if shared == 0 || found.iter().any(known) || !are_similar(one, other) {
                continue;
            }
            let Some(difference) = difference(one, other) else { continue };
            let term = query.terms.get(shared.trailing_zeros() as usize).map_or("", |term| term.text());
            found.push(Conflict {
                one: one.place,
                other: other.place,
                about: format!("{term}: {difference}"),
            });
            if found.len() == MAX_CONFLICTS {
                return found;
            }
        }
    }
    found
}

/// The headings from a section upwards, letters only, so that their numbers do not matter.
fn heading(views: &[View], place: NodePlace) -> String {
    let (mut words, mut next) = (String::new(), Some(place));
    while let Some((segment, node)) = next.and_then(|place| node_at(views, place)) {
        // A passage of a long section has the heading of its section.
        if !node.is_continuation {
            words.extend(normalize_text(&node.title).chars().filter(|character| character.is_alphabetic()));
            words.push('/');
        }
        next =
            node.parent.map(|node| NodePlace { node, ..place }).filter(|_| segment.file_of(node).is_some());
    }
    words
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_inclusive('。')
        .flat_map(|part| part.split(". "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What a sentence states about the terms of the question; none where it contains none of them.
fn statement_of<'a>(
    sentence: &str,
    place: NodePlace,
    heading: &'a str,
    needles: &[Vec<Needle>],
) -> Option<Statement<'a>> {
    let contains = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.occurs_exactly_in(sentence));
    let terms = needles.iter().enumerate().filter(|(_, needles)| contains(needles));
    let terms = terms.fold(0, |bits, (index, _)| bits | 1 << index);
    if terms == 0 {
        return None;
    }
    let mut bare = without_facts(sentence);
    let is_negative = NEGATIONS.iter().any(|negation| bare.contains(negation));
    for negation in NEGATIONS {
        bare = bare.replace(negation, " ");
    }
    let mut words = HashSet::new();
    tokens(&bare, &mut |key| {
        words.insert(key);
    });
    Some(Statement { place, heading, terms, words, facts: facts(sentence), is_negative })
}

/// Whether two sentences are about the same thing: they share most of their words, and enough of them or their
/// headings.
fn are_similar(one: &Statement<'_>, other: &Statement<'_>) -> bool {
    let common = one.words.intersection(&other.words).count();
    let all = one.words.union(&other.words).count().max(1);
    let is_similar = common as f32 / all as f32 >= MIN_SIMILARITY;
    is_similar && (common >= MIN_SELF_CONTAINED || (common > 0 && one.heading == other.heading))
}

/// The difference between two similar statements; none where they agree.
fn difference(one: &Statement<'_>, other: &Statement<'_>) -> Option<String> {
    for ours in &one.facts {
        let of_unit = |facts: &[Fact]| -> Vec<f64> {
            facts.iter().filter(|fact| fact.unit == ours.unit).map(|fact| fact.value).collect()
        };
        let (mine, theirs) = (of_unit(&one.facts), of_unit(&other.facts));
        let agree = mine.iter().any(|value| theirs.iter().any(|other| (value - other).abs() < 1e-9));
        let first = other.facts.iter().find(|fact| fact.unit == ours.unit);
        if let (false, Some(their)) = (agree, first) {
            return Some(format!("{} / {}", ours.shown, their.shown));
        }
    }
    let values = |facts: &[Fact]| facts.iter().map(|fact| fact.value).collect::<Vec<_>>();
    let opposite = one.is_negative != other.is_negative && values(&one.facts) == values(&other.facts);
    opposite.then(|| "yes / no".to_owned())
}

#[cfg(test)]
#[path = "conflicts_tests.rs"]
mod tests;
