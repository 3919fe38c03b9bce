//! Two statements in nearly the same words: with values that cannot both hold, or an affirmation and its denial.

use super::super::sentences::CODE;
use super::claims::Claim;
use super::polarity::Concept;
use super::statements::Statement;
use super::variants::Context;
use super::word_lists::PERSONS;
use super::words::{Likeness, Word, same_word};
use crate::facts::{DATE, MONTH, YEAR_DAY, YEAR_MONTH};

/// The minimum share of the words that two statements about the same thing have in common.
const MIN_SHARE: f64 = 0.5;
/// The minimum share of the words of the shorter one, where the other one says more.
const MIN_CONTAINMENT: f64 = 0.75;
/// The minimum number of words that they have in common.
const MIN_SHARED: usize = 2;
/// The minimum share of the words that an affirmation and its denial have in common. It is higher, because a denial in a
/// longer sentence is often one of something else.
const MIN_DENIED_SHARE: f64 = 0.6;
/// The minimum number of words that two sentences have in common of which one only negates the verb of the other, and
/// their minimum share: in a longer sentence, the negation may belong to something else.
const MIN_SHARED_OF_DEEDS: usize = 3;
const MIN_SHARE_OF_DEEDS: f64 = 0.85;

/// The values of two statements about the same thing that cannot both hold, as they are written.
pub fn value_difference(
    (one, above_one): (&Statement, &Context),
    (other, above_other): (&Statement, &Context),
) -> Option<String> {
    let pairs = one.claims.iter().flat_map(|mine| other.claims.iter().map(move |theirs| (mine, theirs)));
    let mut pairs = pairs.filter(|(mine, theirs)| mine.contradicts(theirs));
    let found = pairs.find(|(mine, theirs)| {
        let (left, right) = (one.words_of(mine), other.words_of(theirs));
        let like = Likeness::of(&with_title(left, above_one), &with_title(right, above_other));
        let differ = || {
            topics_differ(one, other) || (above_one.is_sibling_of(above_other) && subjects_differ(one, other))
        };
        is_same_subject(&like)
            && !differ()
            && !other_values_differ((one, mine), (other, theirs))
            && !one.has_own_condition(other)
            && !other.has_own_condition(one)
    });
    found.map(|(mine, theirs)| format!("{} / {}", mine.shown, theirs.shown))
}

/// Whether one statement affirms what the other one denies.
pub fn is_denial(one: &Statement, other: &Statement) -> bool {
    let (left, right) = (one.cues.polarity, other.cues.polarity);
    if left.concept != right.concept || left.is_affirmed == right.is_affirmed {
        return false;
    }
    let like = Likeness::of(&texts(one.words()), &texts(other.words()));
    let has_all = |one: &Statement, other: &Statement| {
        one.all_values().all(|value| other.all_values().any(|known| known.is_same(value)))
    };
    let has_code = |statement: &Statement| statement.sentence.text.contains(CODE);
    let is_same_deed = left.concept != Concept::Happens
        || (like.shared >= MIN_SHARED_OF_DEEDS
            && like.share() >= MIN_SHARE_OF_DEEDS
            && !has_code(one)
            && !has_code(other));
    is_same_subject(&like)
        && like.share() >= MIN_DENIED_SHARE
        && is_same_deed
        && !topics_differ(one, other)
        && has_all(one, other)
        && has_all(other, one)
        && !one.has_own_condition(other)
        && !other.has_own_condition(one)
}

fn texts(words: &[Word]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Whether two statements with these words are about the same thing: most words are the same, and no word takes the place
/// of another one.
fn is_same_subject(like: &Likeness) -> bool {
    let is_replaced = !like.only_one.is_empty() && !like.only_other.is_empty();
    let is_like = like.share() >= MIN_SHARE || like.containment() >= MIN_CONTAINMENT;
    like.shared >= MIN_SHARED && is_like && !is_replaced
}

/// The words of a claim and, where it has only one, as in `Maximum stay: 2 hours`, those of its heading.
fn with_title<'a>(mut words: Vec<&'a str>, context: &'a Context) -> Vec<&'a str> {
    if words.len() == 1 {
        words.extend(context.headings.last().into_iter().flatten().map(|word| word.text.as_str()));
    }
    words
}

/// Whether two statements also differ in another value, or in the bound of the same one: then they apply under different
/// conditions. A date in only one of them says when it applies.
pub fn other_values_differ(
    (one, claim): (&Statement, &Claim),
    (other, against): (&Statement, &Claim),
) -> bool {
    let mine: Vec<&Claim> = one.all_values().filter(|value| *value != claim).collect();
    let theirs: Vec<&Claim> = other.all_values().filter(|value| *value != against).collect();
    let is_date = |value: &&&Claim| matches!(value.dimension.as_str(), DATE | YEAR_MONTH | YEAR_DAY | MONTH);
    let has_date = |values: &[&Claim]| values.iter().find(is_date).is_some();
    has_date(&mine) != has_date(&theirs)
        || mine.iter().any(|value| {
            let mut comparable = theirs.iter().filter(|other| other.dimension == value.dimension).peekable();
            comparable.peek().is_some() && !comparable.any(|other| other.is_same(value))
        })
}

/// Whether the topics of two Japanese sentences differ: 借りる人は and 貸す側は.
pub fn topics_differ(one: &Statement, other: &Statement) -> bool {
    are_about_others((one, one.topic()), (other, other.topic()))
}

/// Whether the subjects of two English sentences differ: `the archive is kept` and `parcels are kept`. Sections that stand
/// side by side use the same words of different things.
fn subjects_differ(one: &Statement, other: &Statement) -> bool {
    are_about_others((one, one.subject()), (other, other.subject()))
}

fn are_about_others((one, mine): (&Statement, &[Word]), (other, theirs): (&Statement, &[Word])) -> bool {
    let named = |words: &[Word]| -> Vec<Word> {
        words.iter().filter(|word| !PERSONS.contains(&word.text.as_str())).cloned().collect()
    };
    let (left, right) = (named(mine), named(theirs));
    let is_known =
        |word: &Word, others: &[Word]| others.iter().any(|other| same_word(&other.text, &word.text));
    let is_shared = left.iter().any(|word| is_known(word, &right));
    let is_said = |topic: &[Word], by: &Statement| topic.iter().all(|word| is_known(word, by.words()));
    let is_swapped = is_said(&left, other) && is_said(&right, one);
    !left.is_empty() && !right.is_empty() && !is_shared && !is_swapped
}
