//! Word lists of English and Japanese and the units of both, as data: `en.yaml`, `ja.yaml` and `units.yaml` beside this crate's
//! source. Nothing else has word lists, and nothing here decides what they mean for a search.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use annai_core::config::yaml;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Two lists of words that mean the opposite of each other.
pub type Opposites = (Vec<String>, Vec<String>);

/// What reveals the intent of a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the intents")]
pub struct IntentWords {
    pub exceptions: Vec<String>,
    pub compare: Vec<String>,
    pub eligibility: Vec<String>,
    pub procedure: Vec<String>,
    pub definition: Vec<String>,
}

/// What asks for a value of each kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the kinds")]
pub struct ValueWords {
    pub money: Vec<String>,
    pub duration: Vec<String>,
    pub age: Vec<String>,
    pub size: Vec<String>,
    pub percent: Vec<String>,
    pub count: Vec<String>,
}

/// How a section is worded that answers a question of an intent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the names are those of the intents")]
pub struct AnswerWords {
    pub definition: Vec<String>,
    pub procedure: Vec<String>,
    pub eligibility: Vec<String>,
}

/// The lists of English. What each is for stands in `en.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each list is described in en.yaml")]
pub struct English {
    pub stop_words: HashSet<String>,
    pub weak_words: HashSet<String>,
    pub everything_words: Vec<String>,
    pub everything_phrases: Vec<String>,
    pub values: ValueWords,
    pub intents: IntentWords,
    pub answers: AnswerWords,
    pub exceptions: Vec<String>,
    pub negations: Vec<String>,
    pub denials: Vec<String>,
    pub opposites: Vec<Opposites>,
    pub bounds: Vec<Opposites>,
    pub grammar: Vec<String>,
    pub examples: Vec<String>,
    pub pointers: Vec<String>,
    pub editions: Vec<String>,
    pub versions: Vec<String>,
    pub abbreviations: HashSet<String>,
    pub irregular_forms: BTreeMap<String, String>,
    pub numbers: BTreeMap<String, f64>,
    pub scales: BTreeMap<String, f64>,
    pub fractions: BTreeMap<String, f64>,
    pub months: Vec<String>,
    pub ambiguous_months: Vec<String>,
    pub fiscal_years: Vec<String>,
    pub ordinal_suffixes: Vec<String>,
    pub half_days: BTreeMap<String, f64>,
    pub unit_adjectives: Vec<String>,
    pub numeral_words: Vec<String>,
    pub numbered_parts: Vec<String>,
}

/// The lists of Japanese. What each is for stands in `ja.yaml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each list is described in ja.yaml")]
pub struct Japanese {
    pub function_words: Vec<String>,
    pub okurigana: String,
    pub stop_words: HashSet<String>,
    pub weak_words: HashSet<String>,
    pub counters: Vec<String>,
    pub connectives: BTreeMap<String, String>,
    pub everything_words: Vec<String>,
    pub everything_compounds: Vec<String>,
    pub values: ValueWords,
    pub intents: IntentWords,
    pub answers: AnswerWords,
    pub exceptions: Vec<String>,
    pub negative_endings: Vec<String>,
    pub affirmative_endings: Vec<String>,
    pub opposites: Vec<Opposites>,
    pub bounds: Vec<Opposites>,
    pub particles: String,
    pub examples: Vec<String>,
    pub pointers: Vec<String>,
    pub editions: Vec<String>,
    pub rule_names: Vec<String>,
    pub numerals: BTreeMap<String, f64>,
    pub eras: BTreeMap<String, f64>,
    pub half_days: BTreeMap<String, f64>,
    pub signs: BTreeMap<String, String>,
    pub after_branches: String,
    pub numeral_words: Vec<String>,
    pub before_one: String,
    pub vague_kanji: String,
    pub formal_numerals: String,
    pub after_ten_minutes: Vec<String>,
    pub numbered_parts: Vec<String>,
    pub numbering_signs: Vec<String>,
}

/// What a unit measures.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// A span of time, which may have several parts: `1時間30分`.
    Duration,
    /// Money, bytes, lengths and other measures.
    #[default]
    Measure,
    /// A counter. Languages count with different ones, or with none.
    Counter,
}

/// A unit in all its spellings, which `units.yaml` describes.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is described in units.yaml")]
pub struct Unit {
    pub name: String,
    #[serde(default = "one")]
    pub size: f64,
    #[serde(default)]
    pub kind: UnitKind,
    #[serde(default)]
    pub joined: Vec<String>,
    #[serde(default)]
    pub words: Vec<String>,
    #[serde(default)]
    pub direct: Vec<String>,
    #[serde(default)]
    pub signs: Vec<String>,
    #[serde(default)]
    pub not_before: String,
    #[serde(default)]
    pub digits_only: bool,
    #[serde(default)]
    pub parts: BTreeMap<String, f64>,
}

const fn one() -> f64 {
    1.0
}

/// The units.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Units {
    units: Vec<Unit>,
}

/// The lists of English.
pub static ENGLISH: LazyLock<English> = LazyLock::new(|| load(include_str!("../en.yaml")));
/// The lists of Japanese.
pub static JAPANESE: LazyLock<Japanese> = LazyLock::new(|| load(include_str!("../ja.yaml")));
/// All units.
pub static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(|| {
    let mut units = written_units();
    for unit in &mut units {
        let has_plural = |word: &&String| word.len() > 3 && word.is_ascii() && !word.ends_with('s');
        let plurals: Vec<_> = unit.words.iter().filter(has_plural).map(|word| format!("{word}s")).collect();
        unit.words.extend(plurals);
    }
    units
});

/// The units as they are written in the file.
fn written_units() -> Vec<Unit> {
    load::<Units>(include_str!("../units.yaml")).units
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and a test reads them")]
fn load<T: DeserializeOwned>(text: &str) -> T {
    let document = yaml::read(text).expect("a file of word lists is YAML");
    serde_json::from_value(Value::Object(document.values)).expect("a file of word lists has its lists")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word of a file, with the name of its list.
    fn words(text: &str) -> Vec<(String, String)> {
        fn collect(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
            match value {
                Value::String(word) => found.push((name.to_owned(), word.clone())),
                // The word is the key of its number.
                Value::Number(_) => {
                    let (list, word) = name.split_once('.').unwrap();
                    found.push((list.to_owned(), word.to_owned()));
                }
                Value::Array(values) => values.iter().for_each(|value| collect(name, value, found)),
                Value::Object(values) => {
                    values.iter().for_each(|(key, value)| collect(&format!("{name}.{key}"), value, found));
                }
                other => panic!("{name}: {other} is no word"),
            }
        }
        let mut found = Vec::new();
        for (name, value) in &yaml::read(text).unwrap().values {
            collect(name, value, &mut found);
        }
        found
    }

    #[test]
    fn every_list_is_loaded_and_holds_each_word_once() {
        assert!(ENGLISH.stop_words.contains("the") && JAPANESE.function_words.contains(&"から".to_owned()));
        for text in [include_str!("../en.yaml"), include_str!("../ja.yaml")] {
            let words = words(text);
            let mut seen = HashSet::new();
            // The base of an irregular form, and the plain form of a connective, stand for several.
            let repeats =
                |name: &str| name.starts_with("irregular_forms.") || name.starts_with("connectives.");
            for entry in words.iter().filter(|(name, _)| !repeats(name)) {
                assert!(!entry.1.is_empty() && entry.1.to_lowercase() == entry.1, "{entry:?}");
                assert!(seen.insert(entry), "{entry:?} stands there twice");
            }
        }
    }

    #[test]
    fn no_spelling_belongs_to_two_units() {
        assert!(UNITS.iter().any(|unit| unit.name == "second" && unit.size == 60.0));
        let mut seen = HashSet::new();
        for unit in UNITS.iter() {
            for spelling in unit.joined.iter().chain(&unit.words).chain(&unit.direct) {
                assert!(!spelling.is_empty() && spelling.to_lowercase() == *spelling, "{spelling}");
                assert!(seen.insert(spelling), "{spelling}");
            }
        }
    }

    #[test]
    fn there_are_no_more_words_than_somebody_can_read() {
        let spellings = |unit: &Unit| {
            unit.joined.len() + unit.words.len() + unit.direct.len() + unit.signs.len() + unit.parts.len()
        };
        let units: usize = written_units().iter().map(spellings).sum();
        let files = [include_str!("../en.yaml"), include_str!("../ja.yaml")];
        let count = units + files.into_iter().map(|text| words(text).len()).sum::<usize>();
        assert!(count <= 1_500, "{count} words");
    }
}
