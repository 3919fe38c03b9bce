//! The value that a question asks for, and whether a sentence states such a value.

use annai_language::{ENGLISH, JAPANESE, ValueWords};

use crate::index::stem;
use crate::query::words::is_stop_word;
use annai_text::values::{DATE, FISCAL_YEAR, Fact, MONTH, TIME, YEAR, YEAR_DAY, YEAR_MONTH, facts};

/// The maximum number of words after `how many` that name what is counted.
const MAX_NOUNS: usize = 4;

/// A kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Money,
    Duration,
    Age,
    Size,
    Percent,
    Count,
    Time,
    Date,
}

impl ValueKind {
    /// The kind of a value with a unit.
    fn of_unit(unit: &str) -> Self {
        match unit {
            "second" | "day" | "month" | "business day" => Self::Duration,
            "円" | "$" | "€" | "£" => Self::Money,
            "%" => Self::Percent,
            "歳" => Self::Age,
            TIME => Self::Time,
            DATE | YEAR | YEAR_DAY | YEAR_MONTH | MONTH | FISCAL_YEAR => Self::Date,
            "byte" | "bit" | "bit/s" | "km/h" | "m" | "m2" | "m3" | "g" | "l" | "度" => Self::Size,
            _ => Self::Count,
        }
    }
}

/// The value that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedValue {
    kinds: Vec<ValueKind>,
    /// What is counted, where a number of things is asked for: stems of English nouns, or the units of counters. Empty
    /// where it is not known.
    counted: Vec<String>,
}

impl AskedValue {
    /// The value that a normalized question asks for; none where it asks for something else.
    pub fn of(question: &str) -> Option<Self> {
        let mut asked = Self { kinds: Vec::new(), counted: Vec::new() };
        for (kind, words) in words_of(&ENGLISH.values) {
            asked.kinds.extend(words.iter().any(|words| has_words(question, words)).then_some(kind));
        }
        for (kind, words) in words_of(&JAPANESE.values) {
            asked.kinds.extend(words.iter().any(|noun| has_noun(question, noun)).then_some(kind));
        }
        for lead in ["how many ", "number of "] {
            let Some((_, after)) = question.split_once(lead) else { continue };
            let nouns: Vec<&str> =
                after.split(' ').take_while(|word| !is_stop_word(word)).take(MAX_NOUNS).collect();
            let first = nouns.first().copied().unwrap_or_default();
            // `how many days` asks for what `3 days` states.
            match facts(&format!("3 {first}")).first().map(|fact| ValueKind::of_unit(&fact.unit)) {
                Some(ValueKind::Count) | None => {
                    asked.kinds.push(ValueKind::Count);
                    let bare = |noun: &str| stem(noun.trim_matches(|mark: char| !mark.is_alphanumeric()));
                    asked.counted.extend(nouns.into_iter().map(bare));
                }
                Some(kind) => {
                    asked.kinds.retain(|known| *known != ValueKind::Count);
                    asked.kinds.push(kind);
                }
            }
        }
        for rest in question.split('何').skip(1) {
            // 何人 asks for what 3人 states.
            let stated = facts(&format!("3{rest}"));
            let Some(fact) = stated.first().filter(|fact| fact.range.start == 0 && !fact.unit.is_empty())
            else {
                continue;
            };
            // 何度も asks nothing, but 何日もらえますか does.
            let after = rest.get(fact.range.end - 1..).unwrap_or_default();
            if after.starts_with('も') && !after.starts_with("もら") {
                continue;
            }
            let kind = ValueKind::of_unit(&fact.unit);
            asked.kinds.push(kind);
            // 何日 may ask for a day of the month, too.
            asked.kinds.extend(rest.starts_with(['日', '月', '年']).then_some(ValueKind::Date));
            asked.counted.extend((kind == ValueKind::Count).then(|| fact.unit.clone()));
        }
        (!asked.kinds.is_empty()).then_some(asked)
    }

    /// Whether a sentence, or a cell of a table with its headings, states such a value.
    pub fn is_stated_in(&self, text: &str, is_cell: bool) -> bool {
        facts(text).iter().any(|fact| self.is_value(text, fact, is_cell))
    }

    fn is_value(&self, text: &str, fact: &Fact, is_cell: bool) -> bool {
        let kind = ValueKind::of_unit(&fact.unit);
        // `one extension per line` names one rather than to count them.
        if fact.shown.starts_with("one ") || !self.kinds.contains(&kind) {
            return false;
        }
        let is_counted = |word: &str| self.counted.iter().any(|noun| *noun == stem(word));
        let has_counted = |text: &str, count: usize| {
            let words = text.split(|mark: char| !mark.is_alphanumeric()).filter(|word| !word.is_empty());
            words.take(count).any(is_counted)
        };
        let after = text.get(fact.range.end..).unwrap_or_default();
        kind != ValueKind::Count
            || self.counted.is_empty()
            || self.counted.contains(&fact.unit)
            || has_counted(&fact.shown, 4)
            || has_counted(after, 3)
            || (is_cell && has_counted(text, 12))
    }
}

/// The words that ask for each kind.
const fn words_of(words: &ValueWords) -> [(ValueKind, &Vec<String>); 6] {
    [
        (ValueKind::Money, &words.money),
        (ValueKind::Duration, &words.duration),
        (ValueKind::Age, &words.age),
        (ValueKind::Size, &words.size),
        (ValueKind::Percent, &words.percent),
        (ValueKind::Count, &words.count),
    ]
}

/// Whether a text has these English words, not as a part of others.
fn has_words(text: &str, words: &str) -> bool {
    let is_edge = |letter: Option<char>| !letter.is_some_and(|letter| letter.is_ascii_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = text.split_at(at);
        let after = after.get(words.len()..).unwrap_or_default();
        is_edge(before.chars().next_back()) && is_edge(after.chars().next())
    })
}

/// Whether a text has a Japanese noun before a particle or at its end.
fn has_noun(text: &str, noun: &str) -> bool {
    text.match_indices(noun).any(|(at, _)| {
        let after = text.get(at + noun.len()..).unwrap_or_default();
        after.is_empty()
            || after.starts_with("です")
            || after.starts_with(|next| "はをがとや、 ?。にかで".contains(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_states_the_value_that_is_asked_for_or_not() {
        for (question, sentence, expected) in [
            ("how long is the window", "the window is 14 days", true),
            ("how long is the window", "the window costs $14", false),
            ("how many days is the window", "14 days", true),
            ("how many requests per minute", "at most 60 requests", true),
            ("how many requests per minute", "at most 60 users", false),
            ("what is the price", "it is $5", true),
            ("what is the price", "since 2019", false),
            ("返品は何日以内ですか", "14日以内", true),
            ("返品は何日以内ですか", "3人まで", false),
            ("何人まで参加できますか", "3人まで", true),
            ("手数料はいくら", "500円", true),
            ("手数料はいくら", "5日", false),
        ] {
            let text = annai_text::normalize_text(sentence);
            let asked = AskedValue::of(&annai_text::normalize_text(question)).expect(question);
            assert_eq!(asked.is_stated_in(&text, false), expected, "{question}: {text}");
        }
    }

    #[test]
    fn most_questions_ask_for_no_value() {
        for question in
            ["返品の窓口", "幾何学の本", "何度も失敗する", "what to do when the alarm rings", "priceless art"]
        {
            assert_eq!(AskedValue::of(question).map(|asked| asked.kinds), None, "{question}");
        }
    }
}
