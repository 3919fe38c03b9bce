//! Two answers to a question about what is allowed, required, included or done, of which one affirms what the other denies.

use std::collections::BTreeSet;

use super::super::ranking::covered_weight;
use super::super::terms::Term;
use super::super::tokens::is_hiragana_only;
use super::answers::Asked;
use super::polarity::{Concept, Polarity};
use super::section::{Difference, Section};
use super::statements::Statement;
use super::word_lists::{DECIDING, PERSONS};
use super::words::{Word, same_word};
use crate::index::stem;

/// The minimum share of the terms of a question, by weight, that an affirmation or denial of it contains itself.
const MIN_TERMS: f32 = 0.7;

impl Asked<'_> {
    /// Two statements of which one affirms what the question is about, and the other one denies it.
    pub fn denial(&self, one: &Section, other: &Section) -> Option<Difference> {
        if self.kinds.is_explicit {
            return None;
        }
        let (left, right) = (self.judgements(one), self.judgements(other));
        let pairs = left.iter().flat_map(|mine| right.iter().map(move |theirs| (mine, theirs)));
        let opposed = pairs.filter(|((_, mine), (_, theirs))| {
            mine.concept == theirs.concept && mine.is_affirmed != theirs.is_affirmed
        });
        let (mine, theirs) =
            opposed.map(|((mine, _), (theirs, _))| (*mine, *theirs)).find(|(mine, theirs)| {
                let (mine, theirs) = (one.statements.get(*mine), other.statements.get(*theirs));
                mine.zip(theirs)
                    .is_some_and(|(mine, theirs)| self.is_same_deed((&mine.0, one), (&theirs.0, other)))
            })?;
        let terms = one.statements.get(mine)?.1 & other.statements.get(theirs)?.1;
        Some(Difference { about: "yes / no".to_owned(), terms, one: mine, other: theirs })
    }

    /// The statements of a section that answer the question, as indexes, and what they affirm or deny.
    fn judgements(&self, section: &Section) -> Vec<(usize, Polarity)> {
        // Words such as `allowed` ask, and an answer says it in other words.
        let is_subject = |term: &Term| !DECIDING.contains(&stem(term.text()).as_str());
        let terms = (0..).zip(&self.query.terms).filter(|(_, term)| is_subject(term));
        let subject = terms.fold(0, |bits, (index, _): (u32, _)| bits | 1_u64 << index) & self.kinds.subject;
        if subject == 0 {
            return Vec::new();
        }
        let weight = |terms: u64| covered_weight(self.weights, terms & subject);
        let statements = section.statements.iter().enumerate();
        let is_judgement = |statement: &Statement| {
            let text = statement.sentence.text.as_str();
            let own = self.finder.terms_in(text) | self.verbs_in(text);
            weight(own) >= MIN_TERMS * weight(subject)
        };
        let judgements = statements.filter(|(_, (statement, _))| is_judgement(statement));
        judgements.map(|(index, (statement, _))| (index, self.polarity(statement))).collect()
    }

    /// The verbs of one Kanji in the question that a text has in another form: 飼え in 飼う and 飼育.
    fn verbs_in(&self, text: &str) -> u64 {
        let kanji = |term: &Term| {
            let mut letters = term.text().chars();
            let first = letters.next().filter(|letter| matches!(letter, '\u{4e00}'..='\u{9fff}'))?;
            let rest = letters.as_str();
            (!rest.is_empty() && is_hiragana_only(rest)).then_some(first)
        };
        let found = (0..)
            .zip(&self.query.terms)
            .filter(|(_, term)| kanji(term).is_some_and(|kanji| text.contains(kanji)));
        found.fold(0, |bits, (index, _): (u32, _)| bits | 1_u64 << index)
    }

    /// Whether two statements, of which one affirms what the other one denies, are about the same.
    fn is_same_deed(
        &self,
        (one, section): (&Statement, &Section),
        (other, against): (&Statement, &Section),
    ) -> bool {
        let is_done = self.polarity(one).concept == Concept::Happens;
        if (is_done && !self.negates_a_term(one) && !self.negates_a_term(other))
            || one.cues.is_exception
            || other.cues.is_exception
            || one.is_opposed_to(other)
        {
            return false;
        }
        let own = |one: &Statement, other: &Statement| {
            let is_own = |word: &&Word| {
                let text = word.text.as_str();
                !self.is_term(word)
                    && !PERSONS.contains(&text)
                    && !DECIDING.contains(&text)
                    && !other.words().iter().any(|known| same_word(&known.text, text))
            };
            distinct(one.words().iter().filter(is_own))
        };
        let terms = |one: &Statement| distinct(one.words().iter().filter(|word| self.is_term(word)));
        // Where each has words of its own, each may be about something else: in the rooms, in the garden. A denial in a long
        // sentence is often one of something else.
        (own(one, other) == 0 || own(other, one) == 0)
            && own(one, other) <= terms(one)
            && own(other, one) <= terms(other)
            && one.claims.is_empty() == other.claims.is_empty()
            && !self.has_own_condition((one, None), (other, against))
            && !self.has_own_condition((other, None), (one, section))
    }

    /// What a statement affirms or denies. A verb of the question in its potential form says what is possible: 持ち込めます.
    fn polarity(&self, statement: &Statement) -> Polarity {
        let known = statement.cues.polarity;
        let text = statement.sentence.text.as_str();
        let ending = self.query.terms.iter().find_map(|term| {
            let after = text.get(text.find(term.text())? + term.text().len()..)?;
            after.strip_prefix(['え', 'け', 'げ', 'せ', 'て', 'ね', 'べ', 'め', 'れ'])
        });
        let is_affirmed = match ending {
            Some(ending) if ending.starts_with("ます") || ending.starts_with('る') => true,
            Some(ending) if ending.starts_with("ません") || ending.starts_with("ない") => false,
            _ => return known,
        };
        if known.concept == Concept::Happens {
            Polarity { concept: Concept::Possible, is_affirmed }
        } else {
            known
        }
    }

    /// Whether a negation stands directly before a term: `overtime is not paid`.
    fn negates_a_term(&self, statement: &Statement) -> bool {
        let text = statement.sentence.text.as_str();
        let negated = text.match_indices(" not ").filter_map(|(at, not)| text.get(at + not.len()..));
        let first_word = |after: &str| after.split([' ', '.', ';', ',']).next().map(stem);
        negated
            .filter_map(first_word)
            .any(|word| self.query.terms.iter().any(|term| stem(term.text()) == word))
    }
}

/// The number of words, each counted once.
fn distinct<'a>(words: impl Iterator<Item = &'a Word>) -> usize {
    words.map(|word| word.text.as_str()).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
#[path = "yes_no_tests.rs"]
mod tests;
