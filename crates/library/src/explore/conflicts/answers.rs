//! Two answers to the question in different words: each section's best statement of a value that the question asks for.

use super::super::query::Query;
use super::super::ranking::covered_weight;
use super::super::terms::Term;
use super::super::wanted::Wanted;
use super::asked_kinds::AskedKinds;
use super::bounds::Bound;
use super::claims::{Claim, DURATION};
use super::compare::other_values_differ;
use super::section::{Difference, Section, TermFinder};
use super::statements::Statement;
use super::value_pairs::{
    FREE, are_about_their_titles, are_on_other_sides, are_opposed_beside, is_free_and_priced, rates_differ,
};
use super::words::same_word;
use crate::index::stem;

/// Answers in other words are compared among the best 6 candidates only: what ranks lower often answers another
/// question.
const MAX_ANSWERING: usize = 6;

/// Where a question asks for no kind of value, the minimum share of its terms, by weight, that an answer contains itself.
const MIN_TERMS_OF_ANSWER: f32 = 0.7;

/// The words that say so.
pub const FREE_WORDS: &[&str] = &[
    "free of charge",
    "for free",
    "at no cost",
    "no charge",
    "costs nothing",
    "is free",
    "are free",
    "無料",
    "無償",
    "料金はかかりません",
    "費用はかかりません",
    "料がかかりません",
    "料はかかりません",
    "費がかかりません",
    "いただきません",
    "いただいておりません",
];
/// The words that say that something never ends.
const UNENDING_WORDS: &[&str] = &[
    "never expire",
    "not expire",
    "no expiry",
    "no expiration",
    "never lapse",
    "indefinitely",
    "無期限",
    "期限はありません",
    "期限はない",
    "期限がありません",
    "失効しません",
    "失効しない",
];

/// What a question asks for.
pub struct Asked<'a> {
    /// The question.
    pub query: &'a Query,
    /// The weights of its terms.
    pub weights: &'a [f32],
    /// Finds its terms.
    pub finder: &'a TermFinder,
    /// The values and the subject that it names.
    pub kinds: AskedKinds,
}

/// The best statement of a section that answers the question, and its values.
struct Answer<'a> {
    index: usize,
    statement: &'a Statement,
    terms: u64,
    values: Vec<Claim>,
}

impl<'a> Asked<'a> {
    /// What a question with these weights of its terms asks for.
    pub fn new(query: &'a Query, weights: &'a [f32], finder: &'a TermFinder) -> Self {
        Self { query, weights, finder, kinds: AskedKinds::of(query) }
    }

    /// The answers of two sections, where they cannot both hold.
    pub fn difference(&self, one: &Section, other: &Section) -> Option<Difference> {
        if one.rank.max(other.rank) >= MAX_ANSWERING {
            return None;
        }
        self.value_difference(one, other).or_else(|| self.denial(one, other))
    }

    fn value_difference(&self, one: &Section, other: &Section) -> Option<Difference> {
        let (mine, theirs) = (self.answer(one)?, self.answer(other)?);
        let shared = mine.terms & theirs.terms;
        let (left, right) = (mine.statement, theirs.statement);
        let is_exception = left.cues.is_exception || right.cues.is_exception;
        if !self.are_about_the_same(&mine, &theirs)
            || is_exception
            || left.is_in_other_situation(right)
            || one.context.is_opposed_to(&other.context)
        {
            return None;
        }
        let pairs =
            || mine.values.iter().flat_map(|mine| theirs.values.iter().map(move |theirs| (mine, theirs)));
        if pairs().any(|(mine, theirs)| mine.dimension == theirs.dimension && mine.same_value(theirs)) {
            return None;
        }
        let (mine_stated, theirs_stated) = pairs().find(|(mine, theirs)| {
            (mine.contradicts(theirs) || is_free_and_priced(mine, theirs))
                && !other_values_differ((left, mine), (right, theirs))
                && !are_on_other_sides((left, mine), (right, theirs))
                && !are_opposed_beside((left, mine), (right, theirs))
        })?;
        let is_other_subject = self.has_own_condition((left, Some(mine_stated)), (right, other))
            || self.has_own_condition((right, Some(theirs_stated)), (left, one))
            || are_about_their_titles((left, one), (right, other))
            || rates_differ(left, right)
            || self.are_qualified_differently(left, right, shared);
        let about = format!("{} / {}", mine_stated.shown, theirs_stated.shown);
        (!is_other_subject).then_some(Difference {
            about,
            terms: shared,
            one: mine.index,
            other: theirs.index,
        })
    }

    /// Whether two answers are about the same: they have at least half of the subject in common, or count the same noun of
    /// the question.
    fn are_about_the_same(&self, one: &Answer<'_>, other: &Answer<'_>) -> bool {
        let subject = self.kinds.subject;
        let shared = (one.terms & other.terms & subject).count_ones();
        let is_counted = |claim: &Claim| {
            let is_noun = |term: &Term| stem(term.text()) == claim.dimension;
            self.query.terms.iter().any(is_noun)
                && other.values.iter().any(|value| value.dimension == claim.dimension)
        };
        let has = |answer: &Answer<'_>| answer.terms & self.kinds.head != 0;
        shared > 0
            && has(one) == has(other)
            && (shared * 2 >= subject.count_ones() || one.values.iter().any(is_counted))
    }

    /// Whether a statement has a condition that neither the other one, nor the headings above it, nor the question name.
    pub fn has_own_condition(
        &self,
        (statement, stated): (&Statement, Option<&Claim>),
        (other, section): (&Statement, &Section),
    ) -> bool {
        statement.has_condition_unknown_to(other, stated, &|word| {
            let mut titles = section.context.headings.iter().flatten();
            self.is_term(word) || titles.any(|known| same_word(&known.text, &word.text))
        })
    }

    /// The statement of a section with most of the terms among those with a value that is asked for. None where another
    /// one is as good and states other values.
    fn answer<'s>(&self, section: &'s Section) -> Option<Answer<'s>> {
        let weight = |terms: u64| covered_weight(self.weights, terms);
        let mut best: Option<(f32, Answer<'s>)> = None;
        let mut is_ambiguous = false;
        for (index, (statement, terms)) in section.statements.iter().enumerate() {
            let own_terms = self.finder.terms_in(&statement.sentence.text);
            let values = self.asked_values(statement, own_terms);
            if values.is_empty() {
                continue;
            }
            // The terms of the heading count less than those of the sentence.
            let score = weight(own_terms) + weight(*terms) / 2.0;
            match &best {
                Some((known, answer)) if score == *known => {
                    let is_known = |value: &Claim| answer.values.iter().any(|known| known.same_value(value));
                    is_ambiguous |= !values.iter().any(is_known);
                }
                Some((known, _)) if score < *known => {}
                _ => {
                    best = Some((score, Answer { index, statement, terms: *terms, values }));
                    is_ambiguous = false;
                }
            }
        }
        best.filter(|_| !is_ambiguous).map(|(_, answer)| answer)
    }

    /// The values of a statement with these terms that the question asks for.
    fn asked_values(&self, statement: &Statement, own_terms: u64) -> Vec<Claim> {
        let AskedKinds { kinds, is_explicit, subject, .. } = self.kinds;
        let weight = |terms: u64| covered_weight(self.weights, terms & subject);
        let is_answer = match (is_explicit, kinds.is_empty()) {
            (true, _) => true,
            // A noun of the question, such as `deposit` or 期間, names the kind of value.
            (false, false) => (own_terms & subject).count_ones() * 2 >= subject.count_ones(),
            // One word alone does not say which of its values is asked for.
            (false, true) => {
                subject.count_ones() > 1 && weight(own_terms) >= MIN_TERMS_OF_ANSWER * weight(subject)
            }
        };
        if !is_answer {
            return Vec::new();
        }
        let is_asked = |claim: &&Claim| kinds.is_empty() || self.kinds.has(&claim.dimension);
        let mut values: Vec<Claim> = statement.claims.iter().filter(is_asked).cloned().collect();
        match self.unmeasured_value(statement) {
            // 5,000円以上なら無料: the price says when it is free.
            Some(free) if free.dimension == FREE && !values.is_empty() => return Vec::new(),
            Some(value) if values.is_empty() => values.push(value),
            _ => {}
        }
        self.keep_nearest(statement, &mut values);
        values
    }

    /// That something is free where a price is asked for, or that it never ends where a length of time is.
    fn unmeasured_value(&self, statement: &Statement) -> Option<Claim> {
        let text = statement.sentence.text.as_str();
        let says = |words: &[&'static str]| words.iter().copied().find(|word| text.contains(word));
        let claim = |dimension: &str, value: f64, word: &str| Claim {
            dimension: dimension.to_owned(),
            value,
            bound: Bound::Exact,
            shown: word.to_owned(),
            words: 0..statement.words().len(),
            range: text.find(word).map_or(0..0, |start| start..start + word.len()),
        };
        let free = says(FREE_WORDS).filter(|_| self.kinds.kinds.has_any(Wanted::MONEY));
        let unending = says(UNENDING_WORDS)
            .filter(|_| self.kinds.kinds.has_any(Wanted::DURATION) || self.kinds.kinds.is_empty());
        free.map(|word| claim(FREE, 0.0, word))
            .or_else(|| unending.map(|word| claim(DURATION, f64::INFINITY, word)))
    }

    /// Of several values of a statement, keeps those that stand beside the most terms of the question: 大人800円、子ども300円.
    fn keep_nearest(&self, statement: &Statement, values: &mut Vec<Claim>) {
        let topic = statement.topic().len();
        let terms = |claim: &Claim| {
            let own = claim.words.start.max(topic)..claim.words.end;
            let words = statement.words().get(own).unwrap_or_default();
            words.iter().filter(|word| self.is_term(word)).count()
        };
        let most = values.iter().map(terms).max().unwrap_or(0);
        values.retain(|claim| terms(claim) == most);
    }
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
