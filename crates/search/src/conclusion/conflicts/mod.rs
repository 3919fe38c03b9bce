//! Contradictions, by wording alone: two sentences of a manual that are the same but for a value, a negation or one of a pair
//! of opposites.
//!
//! `statement` reduces each sentence of the best sections to its frame; sentences of the same frame are found in a hash map
//! and compared; `editions` tells sections that differ by design. Precision
//! comes first: a false conflict costs a caller more than a missed one.

mod editions;
mod statement;

use std::collections::{BTreeMap, HashMap};

use self::editions::Context;
use self::statement::Statement;
use crate::conclusion::sentences::sentences;
use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::needle::Needle;
use crate::matching::place::{NodePlace, node_at};
use crate::query::Query;
use crate::query::terms::Form;
use crate::trace::Quote;
use annai_core::cancellation::checkpoint;

/// Conflicts are searched among the best 20 candidates only: they cover the sections that a caller sees.
const CONFLICT_CANDIDATES: usize = 20;
/// The maximum number of conflicts that are reported, and of variants. The caller resolves them one by one, and a new find
/// reports the rest.
const MAX_REPORTED: usize = 20;
/// The minimum number of frames that sections side by side have in common when they say the same things in turn, such as
/// the terms of two plans.
const MIN_PARALLEL: usize = 2;

/// Two sections that contradict each other, or differ by design.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The section with the better rank.
    pub one: NodePlace,
    /// The other section.
    pub other: NodePlace,
    /// The term of the question that the sentences or their headings contain, if any, and what they state differently.
    pub about: String,
    /// The two sentences.
    pub sentences: [Quote; 2],
}

/// The contradictions of a find.
#[derive(Debug, Default)]
pub struct Contradictions {
    /// The statements that cannot both hold.
    pub conflicts: Vec<Conflict>,
    /// The statements that differ because their sections are about other products, plans, editions or years.
    pub variants: Vec<Conflict>,
    /// Whether there are more of one kind than are listed.
    pub is_limited: bool,
}

/// A section among the best candidates.
struct Section {
    place: NodePlace,
    context: Context,
    statements: Vec<Statement>,
    /// The terms of the question in its headings, as a bit set.
    title_terms: u64,
}

/// A statement: the rank of its section, and its place in it.
type Position = (usize, usize);

/// Finds the statements of the best candidates that contradict each other.
pub fn contradictions(views: &[View], query: &Query, candidates: &[Candidate]) -> Contradictions {
    let terms = TermFinder::new(query);
    let best = candidates.iter().take(CONFLICT_CANDIDATES);
    let sections: Vec<Section> =
        best.filter_map(|candidate| Section::read(views, candidate.place, &terms)).collect();
    let mut found = Contradictions::default();
    for ((one, other), pairs) in differing_sections(&sections) {
        let (Some(one), Some(other)) = (sections.get(one), sections.get(other)) else { continue };
        let Some(conflict) =
            pairs.iter().find_map(|pair| conflict(views, query, &terms, (one, other), *pair))
        else {
            continue;
        };
        let list = match one.differs_by_design(other) {
            true => &mut found.variants,
            false => &mut found.conflicts,
        };
        match list.len() < MAX_REPORTED {
            true => list.push(conflict),
            false => found.is_limited = true,
        }
    }
    found
}

/// The statements of each two sections that have the same frame and do not agree, in the order of the sections.
fn differing_sections(sections: &[Section]) -> BTreeMap<(usize, usize), Vec<(usize, usize)>> {
    let mut frames: HashMap<(u32, &str, &str), Vec<Position>> = HashMap::new();
    for (rank, section) in sections.iter().enumerate() {
        for (index, statement) in section.statements.iter().enumerate() {
            let title = if statement.is_complete { "" } else { section.context.title() };
            let key = (section.place.view, title, statement.frame.as_str());
            frames.entry(key).or_default().push((rank, index));
        }
    }
    let statement = |(rank, index): Position| sections.get(rank)?.statements.get(index);
    let mut differing: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for positions in frames.values() {
        checkpoint();
        let of = |rank: usize| positions.iter().filter(move |position| position.0 == rank);
        let mut ranks: Vec<usize> = positions.iter().map(|position| position.0).collect();
        ranks.dedup();
        for (number, &one) in ranks.iter().enumerate() {
            for &other in ranks.iter().skip(number + 1) {
                let pairs = || of(one).flat_map(|mine| of(other).map(move |theirs| (*mine, *theirs)));
                let agree = |(mine, theirs)| {
                    statement(mine).zip(statement(theirs)).is_some_and(|(one, other)| one.agrees_with(other))
                };
                // A section that also says what the other one says gives several values for several cases.
                if !pairs().any(agree) {
                    let pairs = pairs().map(|((_, mine), (_, theirs))| (mine, theirs));
                    differing.entry((one, other)).or_default().extend(pairs);
                }
            }
        }
    }
    differing.values_mut().for_each(|pairs| pairs.sort_unstable());
    differing
}

/// The conflict between two statements of two sections, given as their indexes.
fn conflict(
    views: &[View],
    query: &Query,
    terms: &TermFinder,
    (one, other): (&Section, &Section),
    (mine, theirs): (usize, usize),
) -> Option<Conflict> {
    let (left, right) = (one.statements.get(mine)?, other.statements.get(theirs)?);
    let difference = left.difference(right)?;
    let terms = terms.terms_in(&left.sentence.text) | one.title_terms | other.title_terms;
    let term = query.terms.get(terms.trailing_zeros() as usize);
    Some(Conflict {
        one: one.place,
        other: other.place,
        about: term.map_or(String::new(), |term| format!("{}: ", term.text())) + &difference,
        sentences: [quote(views, one.place, left)?, quote(views, other.place, right)?],
    })
}

impl Section {
    /// The statements of a section about the terms of the question; none under a heading of examples.
    fn read(views: &[View], place: NodePlace, terms: &TermFinder) -> Option<Self> {
        let (segment, node) = node_at(views, place)?;
        let context = Context::of(views, place);
        if context.is_example() {
            return None;
        }
        let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
        let statements = sentences(body).into_iter().filter_map(|sentence| {
            checkpoint();
            Statement::of(sentence)
        });
        let title_terms = context.titles.iter().fold(0, |bits, title| bits | terms.terms_in(title));
        Some(Self { place, statements: statements.collect(), context, title_terms })
    }

    /// Whether another section differs by design.
    fn differs_by_design(&self, other: &Self) -> bool {
        self.context.differs_by_design(&other.context)
            || (self.context.is_sibling_of(&other.context) && self.is_parallel_to(other))
    }

    /// Whether two sections say the same things in turn.
    fn is_parallel_to(&self, other: &Self) -> bool {
        let has = |frame: &str| other.statements.iter().any(|statement| statement.frame == frame);
        let whole = self.statements.iter().filter(|statement| statement.is_complete);
        whole.filter(|statement| has(&statement.frame)).count() >= MIN_PARALLEL
    }
}

/// The sentence of a statement, with its lines in the file.
fn quote(views: &[View], place: NodePlace, statement: &Statement) -> Option<Quote> {
    let (segment, node) = node_at(views, place)?;
    let line = |number: usize| {
        let above = number + node.heading_lines as usize;
        let before: usize = segment.text_of(node).split_inclusive('\n').take(above).map(str::len).sum();
        segment.line_at(node, before)
    };
    let lines = &statement.sentence.lines;
    Some(Quote {
        text: statement.sentence.text.clone(),
        first_line: line(lines.start),
        last_line: line(lines.end.saturating_sub(1)),
    })
}

/// Finds the terms of a question in sentences, in any form.
struct TermFinder(Vec<Vec<Needle>>);

impl TermFinder {
    /// Prepares the terms of a question.
    fn new(query: &Query) -> Self {
        let needles = |forms: &[Form]| forms.iter().map(|form| Needle::new(&form.text)).collect();
        Self(query.terms.iter().map(|term| needles(&term.forms)).collect())
    }

    /// The terms that a text contains, as a bit set.
    fn terms_in(&self, text: &str) -> u64 {
        let contains = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.occurs_exactly_in(text));
        let found = self.0.iter().enumerate().filter(|(_, needles)| contains(needles));
        found.fold(0, |bits, (index, _)| bits | 1 << index)
    }
}

#[cfg(test)]
mod tests;
