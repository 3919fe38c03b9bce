//! Whether two sections say different things of the same term: other numbers or dates, or yes where the other says no.

use std::collections::HashSet;

use super::candidate::Candidate;
use super::facts::{Fact, facts, without_facts};
use super::needle::Needle;
use super::place::{NodePlace, node_at};
use super::query::Query;
use crate::index::{Key, View, tokens};
use crate::text::normalize_text;

/// Conflicts are searched among the best 20 candidates only: pairs grow quadratically, and 20 cover the hits that a
/// caller sees.
const CONFLICT_CANDIDATES: usize = 20;
/// The maximum number of sentences of a section that are compared, for the same reason; a longer section is compared by
/// its beginning.
const MAX_SENTENCES: usize = 60;
/// The maximum number of conflicts that are reported: the caller settles them one by one, and finds again.
const MAX_CONFLICTS: usize = 20;
/// The share of their words that two sentences must have in common to speak of the same thing.
const MIN_SIMILARITY: f32 = 0.6;
/// Sentences that share fewer words than this say what they speak of only together with their headings.
const MIN_SELF_CONTAINED: usize = 6;
/// Forms of a term that are worth less are synonyms, which may speak of something else.
const MIN_FORM_WEIGHT: f32 = 0.8;

/// Two sections that disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The better of the two.
    pub one: NodePlace,
    /// The other.
    pub other: NodePlace,
    /// The term, and what each says.
    pub about: String,
}

/// What a sentence states.
struct Statement<'a> {
    place: NodePlace,
    /// The headings that it stands under, without their numbers.
    heading: &'a str,
    /// The terms of the question in it.
    terms: u64,
    /// Its words without the numbers.
    words: HashSet<Key>,
    facts: Vec<Fact>,
    negative: bool,
}

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
            term.forms
                .iter()
                .filter(|form| form.weight > MIN_FORM_WEIGHT)
                .map(|form| Needle::new(&form.text))
                .collect()
        })
        .collect();
    let closely: Vec<_> =
        candidates.iter().filter(|candidate| candidate.terms != 0).take(CONFLICT_CANDIDATES).collect();
    let headings: Vec<String> = closely.iter().map(|candidate| heading(views, candidate.place)).collect();
    let mut statements: Vec<Statement<'_>> = Vec::new();
    for (candidate, heading) in closely.iter().zip(&headings) {
        let Some((segment, node)) = node_at(views, candidate.place) else { continue };
        let body = segment.text_of(node).lines().skip(node.heading_lines as usize);
        let sentences = body.flat_map(sentences).take(MAX_SENTENCES);
        statements
            .extend(sentences.filter_map(|sentence| state(sentence, candidate.place, heading, &needles)));
    }
    let mut found: Vec<Conflict> = Vec::new();
    for (index, one) in statements.iter().enumerate() {
        for other in statements.iter().skip(index + 1).filter(|other| other.place != one.place) {
            let shared = one.terms & other.terms;
            let known = |known: &Conflict| known.one == one.place && known.other == other.place;
            if shared == 0 || found.iter().any(known) || !are_alike(one, other) {
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

/// The headings from a section up, without what only numbers them.
fn heading(views: &[View], place: NodePlace) -> String {
    let (mut words, mut next) = (String::new(), Some(place));
    while let Some((segment, node)) = next.and_then(|place| node_at(views, place)) {
        words.extend(normalize_text(&node.title).chars().filter(|letter| letter.is_alphabetic()));
        words.push('/');
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

/// What a sentence states of the question's terms; none where it has none of them.
fn state<'a>(
    sentence: &str,
    place: NodePlace,
    heading: &'a str,
    needles: &[Vec<Needle>],
) -> Option<Statement<'a>> {
    let holds = |needles: &Vec<Needle>| needles.iter().any(|needle| needle.stands_in(sentence));
    let terms = needles.iter().enumerate().filter(|(_, needles)| holds(needles));
    let terms = terms.fold(0, |bits, (index, _)| bits | 1 << index);
    if terms == 0 {
        return None;
    }
    let mut bare = without_facts(sentence);
    let negative = NEGATIONS.iter().any(|negation| bare.contains(negation));
    for negation in NEGATIONS {
        bare = bare.replace(negation, " ");
    }
    let mut words = HashSet::new();
    tokens(&bare, &mut |key| {
        words.insert(key);
    });
    Some(Statement { place, heading, terms, words, facts: facts(sentence), negative })
}

/// Whether two sentences speak of the same thing: they share most of their words. A short one, such as a row of a table,
/// says of what only with its headings.
fn are_alike(one: &Statement<'_>, other: &Statement<'_>) -> bool {
    let common = one.words.intersection(&other.words).count();
    let all = one.words.union(&other.words).count().max(1);
    let alike = common as f32 / all as f32 >= MIN_SIMILARITY;
    alike && (common >= MIN_SELF_CONTAINED || (common > 0 && one.heading == other.heading))
}

/// What two alike statements disagree about.
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
    let opposite = one.negative != other.negative && values(&one.facts) == values(&other.facts);
    opposite.then(|| "yes / no".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::dictionary::Dictionary;

    fn clash(question: &str, one: &str, other: &str) -> Option<String> {
        let query = Query::new(question, None, &Dictionary::new(&[])).unwrap();
        let needles: Vec<Vec<Needle>> =
            query.terms.iter().map(|term| vec![Needle::new(term.text())]).collect();
        let place = |node| NodePlace { view: 0, segment: 0, node };
        let (one, other) =
            (state(one, place(1), "returns/", &needles)?, state(other, place(2), "returns/", &needles)?);
        (one.terms & other.terms != 0 && are_alike(&one, &other)).then(|| difference(&one, &other))?
    }

    #[test]
    fn other_numbers_and_opposites_are_conflicts() {
        for (question, one, other, expected) in [
            (
                "返品の期限",
                "返品は商品到着後14日以内に限ります",
                "返品は商品到着後三十日以内に限ります",
                Some("14日 / 三十日"),
            ),
            (
                "refund window",
                "the refund window is 14 days",
                "the refund window is 30 days",
                Some("14 days / 30 days"),
            ),
            (
                "timeout",
                "| timeout | 30 seconds |",
                "| timeout | 60 seconds |",
                Some("30 seconds / 60 seconds"),
            ),
            ("timeout", "| timeout | 60 seconds |", "| timeout | 1 minute |", None),
            ("retries", "the number of retries is 5", "the number of retries is 10", Some("5 / 10")),
            ("opening", "opening is at 9:00", "opening is at 10:00", Some("9:00 / 10:00")),
            (
                "launch",
                "the launch is on 2024-04-01",
                "the launch is on 2025/4/1",
                Some("2024-04-01 / 2025/4/1"),
            ),
            ("launch", "the launch is on april 1", "the launch is on may 1", Some("april 1 / may 1")),
            ("upload", "an upload has at most 10 mb", "an upload has at most 10 gb", Some("10 mb / 10 gb")),
            ("保証", "保証は購入から1年とします", "保証は購入から2年間とします", Some("1年 / 2年間")),
            ("price", "the price is $5 a month", "the price is $5.00 a month", None),
            ("返品の期限", "返品は商品到着後14日以内に限ります", "返品は商品到着後14日以内に限ります", None),
            ("返品", "返品の送料は500円です", "返品の窓口は平日9時から受け付けます", None),
            (
                "gift cards",
                "gift cards can be returned in any store",
                "gift cards cannot be returned in any store",
                Some("yes / no"),
            ),
        ] {
            let found = clash(question, one, other);
            assert_eq!(found.as_deref(), expected, "{one} / {other}");
        }
        assert_eq!(
            clash("ギフト券の返品", "ギフト券の返品は店頭で受け付ける", "ギフト券の返品は店頭で受け付けない")
                .as_deref(),
            Some("yes / no")
        );
    }
}
