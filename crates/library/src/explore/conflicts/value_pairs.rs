//! Whether two values that answer the same question are about different things, by what stands around them.

use super::super::wanted::Wanted;
use super::bounds::{ends_with, starts_with};
use super::claims::{Claim, DURATION};
use super::cues::Cues;
use super::section::Section;
use super::statements::Statement;
use super::word_lists::{ORDERS, SITUATIONS};
use super::words::{Word, same_word};
use crate::index::stem;

/// The dimension of what costs nothing. It contradicts every price.
pub const FREE: &str = "free";

/// Whether two sections under the same heading each speak of what their own title names: charging the battery, and using it.
pub fn are_about_their_titles(
    (one, section): (&Statement, &Section),
    (other, against): (&Statement, &Section),
) -> bool {
    let has = |statement: &Statement, word: &Word| {
        statement.words().iter().any(|known| same_word(&known.text, &word.text))
    };
    let names_own = |one: &Statement, section: &Section, other: &Statement| {
        let title = section.context.headings.last();
        title.into_iter().flatten().any(|word| has(one, word) && !has(other, word))
    };
    section.context.is_sibling_of(&against.context)
        && names_own(one, section, other)
        && names_own(other, against, one)
}

/// Whether one value says that something is free, and the other one is a price.
pub fn is_free_and_priced(one: &Claim, other: &Claim) -> bool {
    let is_price = |claim: &Claim| Wanted::of_unit(&claim.dimension) == Wanted::MONEY && claim.value > 0.0;
    (one.dimension == FREE && is_price(other)) || (other.dimension == FREE && is_price(one))
}

/// Whether one value stands before an event and the other one does not: 14日前 and 14日後, 14日前 and 14日間.
pub fn are_on_other_sides(
    (one, claim): (&Statement, &Claim),
    (other, against): (&Statement, &Claim),
) -> bool {
    let side = |statement: &Statement, claim: &Claim| {
        let text = statement.sentence.text.as_str();
        let before = text.get(..claim.range.start).unwrap_or_default().trim_end();
        let after = text.get(claim.range.end..).unwrap_or_default().trim_start();
        let is_before = !ends_with(before, &[" for"])
            && starts_with(after, &["before", "prior", "ahead", "in advance", "to go before", "前"]);
        let is_after = starts_with(after, &["after", "later", "後"]) || ends_with(before, &[" after"]);
        if is_before {
            1
        } else if is_after {
            2
        } else {
            0
        }
    };
    // A time before an event says how early something is done, and not how long it takes.
    let (one, other) = (side(one, claim), side(other, against));
    (one == 1) != (other == 1) && claim.dimension == DURATION
}

/// Whether two sentences take different sides in what they say besides the values: for balances above and below a sum. The
/// words around a value only say whether it is a limit.
pub fn are_opposed_beside(
    (one, claim): (&Statement, &Claim),
    (other, against): (&Statement, &Claim),
) -> bool {
    let sides = |statement: &Statement, claim: &Claim| {
        let text = statement.sentence.text.as_str();
        let (before, after) = (text.get(..claim.range.start), text.get(claim.range.end..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        // Before a verb stands the subject, and no limit.
        let is_verb = ends_with(before.trim_end(), &[" is", " are"]);
        let cut = if is_verb { 0 } else { beside(before.chars().rev()) };
        let before = before.get(..before.len() - cut).unwrap_or_default();
        let after = after.get(beside(after.chars())..).unwrap_or_default();
        Cues::of(&format!("{before} {after}")).contrasts
    };
    let both = sides(one, claim) | sides(other, against);
    (0..SITUATIONS.len() + ORDERS.len()).any(|number| both >> (2 * number) & 3 == 3)
}

/// The length in bytes of what stands beside a value, given the characters from the nearest on: as many as `no more than`
/// takes, or six of a script without spaces.
fn beside(letters: impl Iterator<Item = char>) -> usize {
    const MAX_ASCII: usize = 14;
    const MAX_UNSPACED: usize = 6;
    let (mut ascii, mut unspaced) = (0, 0);
    let is_beside = |letter: &char| {
        ascii += usize::from(letter.is_ascii());
        unspaced += usize::from(!letter.is_ascii());
        ascii <= MAX_ASCII && unspaced <= MAX_UNSPACED && !matches!(letter, '、' | ',' | ';')
    };
    letters.take_while(is_beside).map(char::len_utf8).sum()
}

/// Whether two sentences state rates of different things: per person and per group.
pub fn rates_differ(one: &Statement, other: &Statement) -> bool {
    let basis = |statement: &Statement| {
        let after = statement.sentence.text.split_once(" per ")?.1;
        after.split([' ', '.', ',']).next().map(stem)
    };
    basis(one).zip(basis(other)).is_some_and(|(one, other)| one != other)
}
