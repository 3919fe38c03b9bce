//! Whether two answers speak of different things, by the words that stand beside the terms of the question.

use super::super::terms::{Form, FormKind, Term};
use super::super::wanted::Wanted;
use super::answers::{Asked, FREE_WORDS};
use super::compare::topics_differ;
use super::statements::Statement;
use super::word_lists::{PERSONS, VAGUE_TOPICS};
use super::words::{Word, same_word};
use crate::index::stem;

impl Asked<'_> {
    /// Whether two sentences speak of different things in words that contain a shared term or stand beside one:
    /// 入院給付金 and 通院給付金, 給付金の支払い and 給付金の申請.
    pub fn are_qualified_differently(&self, one: &Statement, other: &Statement, shared: u64) -> bool {
        let is_shared = |word: &Word| self.terms_of(shared).any(|term| is_form(term, &word.text));
        let positions = |statement: &Statement| -> Vec<usize> {
            let words = statement.words().iter().enumerate();
            words.filter(|(_, word)| is_shared(word)).map(|(index, _)| index).collect()
        };
        let (left, right) = (positions(one), positions(other));
        let at = |statement: &Statement, indexes: &[usize]| -> Vec<Word> {
            indexes.iter().filter_map(|index| statement.words().get(*index).cloned()).collect()
        };
        let (ours, theirs) = (at(one, &left), at(other, &right));
        let is_known =
            |word: &Word, others: &[Word]| others.iter().any(|other| same_word(&other.text, &word.text));
        if !ours.is_empty() && !theirs.is_empty() && !ours.iter().any(|word| is_known(word, &theirs)) {
            return true;
        }
        let is_general = |word: &Word| self.is_term(word) || PERSONS.contains(&word.text.as_str());
        if self.has_own_owner(one, other) || self.has_own_owner(other, one) {
            return true;
        }
        let has_own = |words: &[Word], others: &[Word]| {
            words.iter().any(|word| !is_general(word) && !is_known(word, others))
        };
        let (ours, theirs) = (at(one, &neighbors(one, &left)), at(other, &neighbors(other, &right)));
        let has_term = |topic: &[Word]| topic.iter().any(|word| self.is_term(word));
        let is_price_asked = self.kinds.kinds.has_any(Wanted::MONEY);
        let is_free = |text: &str| is_price_asked && FREE_WORDS.iter().any(|word| text.contains(word));
        // Who has something for free is often a group: 中学生以下の方は無料.
        let has_own_topic = |one: &Statement, other: &Statement| {
            is_free(&one.sentence.text)
                && one.topic().iter().any(|word| !is_general(word) && !is_known(word, other.words()))
        };
        if has_own_topic(one, other) || has_own_topic(other, one) {
            return true;
        }
        // A sentence with no term but in its headings is about its own topic, unless the other one knows that too.
        let is_similar = |word: &Word, other: &Word| {
            let first = |word: &Word| word.text.chars().take(2).collect::<String>();
            same_word(&word.text, &other.text) || (!word.text.is_ascii() && first(word) == first(other))
        };
        let has_other_topic = |one: &Statement, other: &Statement| {
            let topic = one.topic();
            let is_known = |word: &Word| other.words().iter().any(|known| is_similar(word, known));
            !topic.is_empty()
                && !one.words().iter().any(|word| self.is_term(word))
                && !topic.iter().any(|word| {
                    is_general(word) || VAGUE_TOPICS.contains(&word.text.as_str()) || is_known(word)
                })
        };
        if has_other_topic(one, other) || has_other_topic(other, one) {
            return true;
        }
        let is_vague = |topic: &[Word]| topic.iter().all(|word| VAGUE_TOPICS.contains(&word.text.as_str()));
        let topics = [one.topic(), other.topic()];
        (has_own(&ours, other.words()) && has_own(&theirs, one.words()))
            || (topics_differ(one, other) && !topics.iter().any(|topic| has_term(topic) || is_vague(topic)))
    }

    /// Whether a sentence says directly before a term whose it is or what is done with it, and the other sentence does not
    /// name that: 部長の日当, 雑誌の貸出, `charging the battery`.
    fn has_own_owner(&self, one: &Statement, other: &Statement) -> bool {
        let words = one.words();
        let text = one.sentence.text.as_str();
        words.windows(2).any(|pair| {
            let [owner, owned] = pair else { return false };
            let between = text.get(owner.range.end..owned.range.start);
            let is_deed = text.get(owner.range.clone()).is_some_and(|owner| owner.ends_with("ing"));
            (between == Some("の") || (is_deed && matches!(between, Some(" the " | " a " | " your "))))
                && self.is_term(owned)
                && !self.is_term(owner)
                && !PERSONS.contains(&owner.text.as_str())
                && !VAGUE_TOPICS.contains(&owner.text.as_str())
                && owner.text.chars().nth(1).is_some()
                // 本製品 and 当サービス are what the whole manual is about.
                && !owner.text.starts_with(['本', '当', '各', '全'])
                && !other.words().iter().any(|known| same_word(&known.text, &owner.text))
        })
    }

    fn terms_of(&self, terms: u64) -> impl Iterator<Item = &Term> {
        let is_set = move |index: usize| terms >> index & 1 == 1;
        self.query.terms.iter().enumerate().filter(move |(index, _)| is_set(*index)).map(|(_, term)| term)
    }

    pub fn is_term(&self, word: &Word) -> bool {
        self.query.terms.iter().any(|term| is_form(term, &word.text))
    }
}

/// Whether a word is a spelling of a term, or contains one.
fn is_form(term: &Term, word: &str) -> bool {
    let is_spelling = |form: &&Form| form.kind != FormKind::Synonym;
    let is_same = |form: &Form| same_word(&stem(&form.text), word) || word.contains(form.text.as_str());
    term.forms.iter().filter(is_spelling).any(is_same)
}

/// The words directly beside these ones that say which of several things is meant, as indexes: the word before, and a noun
/// behind の or `of`.
fn neighbors(statement: &Statement, words: &[usize]) -> Vec<usize> {
    let between = |first: usize, second: usize| {
        let (first, second) = (statement.words().get(first)?, statement.words().get(second)?);
        statement.sentence.text.get(first.range.end..second.range.start)
    };
    let is_before = |word: &usize| {
        matches!(
            between(*word, word + 1),
            Some("" | " " | "の" | "での" | "からの" | "への" | "あての" | "-")
        )
    };
    let is_after = |word: &usize| {
        matches!(
            between(word - 1, *word),
            Some("" | "の" | "-" | " a " | " an " | " the " | " of " | " of the " | " for " | " for the ")
        )
    };
    let before = words.iter().filter_map(|word| word.checked_sub(1)).filter(is_before);
    let after = words.iter().map(|word| word + 1).filter(is_after);
    before.chain(after).collect()
}
