//! Whether two sections say different things of the same term: other numbers or dates, or yes where the other says no.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::loosely::Needle;
use super::matching::Place;
use super::query::Query;
use super::rank::{Candidate, at};
use crate::index::{Key, View, tokens};
use crate::text::kanji_number;

/// So many of the best are compared.
const CLOSELY: usize = 20;
/// So many sentences of a section.
const MOST_SENTENCES: usize = 60;
/// So many conflicts are told.
const MOST: usize = 20;
/// How much two sentences must have in common to speak of the same thing.
const ALIKE: f32 = 0.6;

/// Two sections that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The better of the two.
    pub one: Place,
    /// The other.
    pub other: Place,
    /// The term, and what each says.
    pub about: String,
}

/// What a sentence states.
struct Statement {
    place: Place,
    /// The terms of the question in it.
    terms: u64,
    /// Its words without the numbers.
    words: HashSet<Key>,
    /// Numbers with their units.
    facts: Vec<(String, String)>,
    negative: bool,
}

/// A number with its unit; the unit tells days from yen.
static FACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?<number>\d[\d,]*(?:\.\d+)?|[〇一二三四五六七八九十百千]+) ?(?<unit>%|か月|ヶ月|カ月|時間|週間|年間|日間|万円|千円|億円|日|年|月|円|歳|回|人|名|件|度|分|秒|時|週|割|倍|台|泊|(?:days?|hours?|minutes?|seconds?|weeks?|months?|years?|percent|ms|mb|gb|kb|kg|km|cm|mm|m|usd|dollars?|eur|euros?|times?|requests?|items?|characters?|bytes?|people|persons?|points?)\b)|[$€¥](?<money>\d[\d,]*(?:\.\d+)?)",
    )
    .ok()
});

/// What turns a statement into its opposite.
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

/// Finds the sections that disagree about a term of the question.
pub fn conflicts(views: &[View], query: &Query, candidates: &[Candidate]) -> Vec<Conflict> {
    let needles: Vec<Vec<Needle>> = query
        .terms
        .iter()
        .map(|term| {
            term.forms.iter().filter(|form| form.weight > 0.8).map(|form| Needle::new(&form.text)).collect()
        })
        .collect();
    let mut statements: Vec<Statement> = Vec::new();
    for candidate in candidates.iter().filter(|candidate| candidate.terms != 0).take(CLOSELY) {
        let Some((segment, node)) = at(views, candidate.place) else { continue };
        let sentences = sentences(segment.text_of(node));
        statements.extend(
            sentences.take(MOST_SENTENCES).filter_map(|sentence| state(sentence, candidate.place, &needles)),
        );
    }
    let mut found: Vec<Conflict> = Vec::new();
    for (index, one) in statements.iter().enumerate() {
        for other in statements.iter().skip(index + 1).filter(|other| other.place != one.place) {
            let shared = one.terms & other.terms;
            let known = |known: &Conflict| known.one == one.place && known.other == other.place;
            if shared == 0 || found.iter().any(known) || !are_alike(&one.words, &other.words) {
                continue;
            }
            let Some(difference) = difference(one, other) else { continue };
            let term = query.terms.get(shared.trailing_zeros() as usize).map_or("", |term| term.text());
            found.push(Conflict {
                one: one.place,
                other: other.place,
                about: format!("{term}: {difference}"),
            });
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive('。'))
        .flat_map(|part| part.split(". "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What a sentence states of the question's terms; none where it has none of them.
fn state(sentence: &str, place: Place, needles: &[Vec<Needle>]) -> Option<Statement> {
    let holds = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.find(sentence).is_some());
    let terms = needles.iter().enumerate().filter(|(_, needles)| holds(needles));
    let terms = terms.fold(0, |bits, (index, _)| bits | 1 << index);
    if terms == 0 {
        return None;
    }
    let pattern = FACT.as_ref()?;
    let facts = pattern.captures_iter(sentence).filter_map(|found| {
        let text = |name: &str| found.name(name).map(|part| part.as_str());
        let number = text("number").or_else(|| text("money"))?.replace(',', "");
        let number = kanji_number(number.chars()).map_or(number, |number| number.to_string());
        let unit = text("unit").unwrap_or("$").trim_end_matches('s');
        Some((unit.to_owned(), number))
    });
    let facts: Vec<_> = facts.collect();
    let plain = pattern.replace_all(sentence, " ");
    let mut words = HashSet::new();
    let mut bare = plain.into_owned();
    let negative = NEGATIONS.iter().any(|negation| bare.contains(negation));
    for negation in NEGATIONS {
        bare = bare.replace(negation, " ");
    }
    tokens(&bare, &mut |key| {
        words.insert(key);
    });
    Some(Statement { place, terms, words, facts, negative })
}

fn are_alike(one: &HashSet<Key>, other: &HashSet<Key>) -> bool {
    let common = one.intersection(other).count() as f32;
    let all = one.union(other).count() as f32;
    common >= 3.0 && common / all >= ALIKE
}

/// What two alike statements disagree about.
fn difference(one: &Statement, other: &Statement) -> Option<String> {
    for (unit, number) in &one.facts {
        let theirs: Vec<_> =
            other.facts.iter().filter(|(other, _)| other == unit).map(|(_, number)| number).collect();
        let ours: Vec<_> =
            one.facts.iter().filter(|(other, _)| other == unit).map(|(_, number)| number).collect();
        let apart = !theirs.is_empty() && !ours.iter().any(|number| theirs.contains(number));
        if let (true, Some(their)) = (apart, theirs.first()) {
            return Some(format!("{number} {unit} / {their} {unit}"));
        }
    }
    (one.negative != other.negative && one.facts == other.facts).then(|| "yes / no".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::dictionary::Dictionary;

    fn clash(question: &str, one: &str, other: &str) -> Option<String> {
        let query = Query::new(question, None, &Dictionary::new(&[])).unwrap();
        let needles: Vec<Vec<Needle>> =
            query.terms.iter().map(|term| vec![Needle::new(term.text())]).collect();
        let place = |node| Place { view: 0, segment: 0, node };
        let (one, other) = (state(one, place(1), &needles)?, state(other, place(2), &needles)?);
        (one.terms & other.terms != 0 && are_alike(&one.words, &other.words))
            .then(|| difference(&one, &other))?
    }

    #[test]
    fn other_numbers_and_opposites_are_conflicts() {
        for (question, one, other, expected) in [
            (
                "返品の期限",
                "返品は商品到着後14日以内に限ります",
                "返品は商品到着後三十日以内に限ります",
                Some("14 日 / 30 日"),
            ),
            (
                "refund window",
                "the refund window is 14 days",
                "the refund window is 30 days",
                Some("14 day / 30 day"),
            ),
            ("返品", "開封後の返品はできます", "開封後の返品はできません", None),
            (
                "gift cards",
                "gift cards can be returned in store",
                "gift cards cannot be returned in store",
                None,
            ),
            ("返品の期限", "返品は商品到着後14日以内に限ります", "返品は商品到着後14日以内に限ります", None),
            ("返品", "返品の送料は500円です", "返品の窓口は平日9時から受け付けます", None),
        ] {
            let found = clash(question, one, other);
            match expected {
                Some(expected) => assert_eq!(found.as_deref(), Some(expected), "{one} / {other}"),
                None => assert!(found.is_none_or(|found| found == "yes / no"), "{one} / {other}"),
            }
        }
        assert_eq!(
            clash("ギフト券の返品", "ギフト券の返品は店頭で受け付ける", "ギフト券の返品は店頭で受け付けない")
                .as_deref(),
            Some("yes / no")
        );
    }
}
