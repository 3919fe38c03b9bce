//! The value that a question asks for, and whether a sentence states such a value.

use super::sentences::Sentence;
use super::wanted::Wanted;
use super::words::is_stop_word;
use crate::index::stem;
use annai_text::values::{DATE, FISCAL_YEAR, Fact, MONTH, TIME, YEAR, YEAR_DAY, YEAR_MONTH, facts};

/// The value that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedValue {
    /// The kinds of values.
    kinds: Wanted,
    /// What is counted, where a number of things is asked for: stems of English nouns, or the units of counters. Empty
    /// where it is not known.
    counted: Vec<String>,
}

/// English phrases that ask for a value.
const PHRASES: &[(Wanted, &str)] = &[
    (Wanted::MONEY, "how much|price|cost|costs|fee|fees|how expensive|amount|spending limit"),
    (
        Wanted::DURATION,
        "how long|how often|how soon|how frequently|how quickly|timeout|interval|retention|how fast|deadline",
    ),
    (Wanted::AGE, "how old|minimum age|maximum age"),
    (
        Wanted::SIZE,
        "how large|how big|how far|how high|how heavy|how tall|size|capacity|weight|how hot|how cold|temperature",
    ),
    (Wanted::PERCENT, "percent|percentage|what share"),
    (Wanted::COUNT, "number of"),
];
/// Japanese nouns that ask for a value wherever they stand, before a particle or at the end.
const NOUNS: &[(Wanted, &str)] = &[
    (
        Wanted::MONEY,
        "値段|料金|価格|費用|金額|手数料|運賃|入館料|入場料|参加費|会費|保険料|単価|利用料|使用料|年会費|月額|年額|送料|家賃",
    ),
    (Wanted::COUNT, "点数|件数|個数|人数|回数|台数|枚数|最大値|最小値|最大数|上限数|部数|便数"),
    (Wanted::DURATION, "間隔|頻度|所要時間"),
    (Wanted::PERCENT, "利率|割合|比率"),
];
/// The maximum number of words after `how many` that name what is counted.
const MAX_NOUNS: usize = 4;
/// Units of time that can follow `how many`.
const TIMES: &str = "seconds minutes hours days weeks months years nights";

impl AskedValue {
    /// The value that a normalized question asks for; none where it asks for something else.
    pub fn of(question: &str, wanted: Wanted) -> Option<Self> {
        // いつ and `when` may also be answered by an event.
        let is_open = wanted.has_any(Wanted::EVENT);
        let mut kinds = if is_open { Wanted::default() } else { wanted.only(Wanted::MEASURED) };
        let phrases =
            PHRASES.iter().filter(|(_, phrases)| phrases.split('|').any(|word| has_words(question, word)));
        let nouns = NOUNS.iter().filter(|(_, nouns)| nouns.split('|').any(|noun| has_noun(question, noun)));
        for (kind, _) in phrases.chain(nouns) {
            kinds = kinds.with(*kind);
        }
        let mut counted = Vec::new();
        for lead in ["how many ", "number of "] {
            let Some((_, after)) = question.split_once(lead) else { continue };
            let nouns: Vec<&str> =
                after.split(' ').take_while(|word| !is_stop_word(word)).take(MAX_NOUNS).collect();
            if nouns.first().is_some_and(|first| TIMES.split(' ').any(|time| time == *first)) {
                kinds = kinds.without(Wanted::COUNT).with(Wanted::DURATION);
            } else {
                kinds = kinds.with(Wanted::COUNT);
                let bare = |noun: &str| stem(noun.trim_matches(|mark: char| !mark.is_alphanumeric()));
                counted.extend(nouns.into_iter().map(bare));
            }
        }
        counted.extend(question.match_indices('何').filter_map(|(at, asking)| {
            // 何人 asks for what 3人 states.
            let stated = format!("3{}", question.get(at + asking.len()..)?);
            let fact = facts(&stated).into_iter().next().filter(|fact| fact.range.start == 0)?;
            (Wanted::of_unit(&fact.unit) == Wanted::COUNT && !fact.unit.is_empty()).then_some(fact.unit)
        }));
        (!kinds.is_empty()).then_some(Self { kinds, counted })
    }

    /// Whether a sentence states such a value.
    pub fn is_stated_in(&self, sentence: &Sentence) -> bool {
        let text = sentence.text.as_str();
        facts(text).iter().any(|fact| self.is_value(text, fact, sentence.is_cell))
    }

    fn is_value(&self, text: &str, fact: &Fact, is_cell: bool) -> bool {
        let kind = Wanted::of_unit(&fact.unit);
        // `one extension per line` names one rather than to count them.
        if fact.shown.starts_with("one ") {
            return false;
        }
        if kind != Wanted::COUNT {
            return self.kinds.has_any(kind);
        }
        if !self.kinds.has_any(Wanted::COUNT) {
            return false;
        }
        let is_counted = |word: &String| self.counted.iter().any(|noun| *noun == stem(word));
        let after = text.get(fact.range.end..).unwrap_or_default();
        self.counted.is_empty()
            || self.counted.contains(&fact.unit)
            || first_words(&fact.shown, 4).iter().any(is_counted)
            || first_words(after, 3).iter().any(is_counted)
            || (is_cell && first_words(text, 12).iter().any(is_counted))
    }
}

/// The first words of a text.
fn first_words(text: &str, count: usize) -> Vec<String> {
    let words = text.split(|mark: char| !mark.is_alphanumeric()).filter(|word| !word.is_empty());
    words.take(count).map(str::to_owned).collect()
}

/// Whether a text has these English words, not as a part of others.
fn has_words(text: &str, words: &str) -> bool {
    let is_edge =
        |character: Option<char>| character.is_none_or(|character| !character.is_ascii_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + words.len()..));
        is_edge(before.and_then(|before| before.chars().next_back()))
            && is_edge(after.and_then(|after| after.chars().next()))
    })
}

/// Whether a text has a Japanese noun before a particle or at its end.
fn has_noun(text: &str, noun: &str) -> bool {
    text.match_indices(noun).any(|(at, _)| {
        let after = text.get(at + noun.len()..).unwrap_or_default();
        after.is_empty() || after.starts_with(['は', 'を', 'が', 'と', 'や', '、', ' ', '?', '。', 'に'])
    })
}

impl Wanted {
    /// The kind of a value with a unit.
    pub fn of_unit(unit: &str) -> Self {
        match unit {
            "second" | "day" | "month" | "business day" => Self::DURATION,
            "円" | "$" | "€" | "£" => Self::MONEY,
            "%" => Self::PERCENT,
            "歳" => Self::AGE,
            TIME => Self::TIME,
            DATE | YEAR | YEAR_DAY | YEAR_MONTH | MONTH | FISCAL_YEAR => Self::DATE,
            "byte" | "bit" | "bit/s" | "km/h" | "m" | "m2" | "m3" | "g" | "l" | "度" => Self::SIZE,
            _ => Self::COUNT,
        }
    }
}

#[cfg(test)]
#[path = "asked_value_tests.rs"]
mod tests;
