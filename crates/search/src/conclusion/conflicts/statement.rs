//! What a sentence states, as far as its wording shows: its frame, which is its words with a slot in place of each value and
//! opposite, and what stands in the slots. Sentences of the same frame are the same but for their slots and negations.

use annai_language::{ENGLISH, JAPANESE, Opposites};

use crate::conclusion::sentences::{CODE, Sentence};
use crate::index::stem;
use crate::query::script::{Script, script};
use crate::query::words::is_stop_word;
use annai_text::values::{FISCAL_YEAR, Fact, MONTH, ORDINAL, SLASH, YEAR, facts};

/// The minimum size of the words that say on their own what a sentence is about, in characters of Kanji and Katakana; an
/// English word counts for two. A shorter sentence, such as `Default: 5 seconds`, is about what its heading names.
const MIN_CONTENT: usize = 4;
/// The maximum relative difference of lengths of time that are the same: a month has 28 to 31 days.
const DURATION_TOLERANCE: f64 = 0.04;
/// The longest ending of a Japanese sentence that only inflects its verb: できるようにすることもできます.
const MAX_ENDING_CHARS: usize = 24;

/// The first pair of opposites: must and may. Both sides mean the same where both are denied.
const OBLIGATION: usize = 0;

/// The pairs of opposites; those of bounds follow them.
fn opposites() -> impl Iterator<Item = &'static Opposites> {
    ENGLISH.opposites.iter().chain(&JAPANESE.opposites)
}

/// Whether a pair is one of bounds, which contradict each other only beside the same value.
fn is_bound(pair: usize) -> bool {
    pair >= opposites().count()
}

/// What a sentence states.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The sentence.
    pub sentence: Sentence,
    /// Its words in order, with a mark for each slot.
    pub frame: String,
    /// Whether the words alone say what it is about.
    pub is_complete: bool,
    /// What stands in the slots.
    slots: Vec<Slot>,
    /// The number of negations.
    negations: usize,
    /// Whether a Japanese bound stands behind a number without a unit: 4以上, 10万以上.
    has_bounded_number: bool,
}

/// What stands in a slot of a frame.
#[derive(Debug, Clone, PartialEq)]
struct Slot {
    content: Content,
    /// The text as it is written.
    shown: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Content {
    /// A value in the unit of its dimension, which is a part of the frame, and how much equal values may differ.
    Value(f64, f64),
    /// A side of a pair of opposites.
    Opposite { pair: usize, is_second: bool },
}

impl Statement {
    /// What a sentence states; none where nothing in it could be contradicted.
    pub fn of(sentence: Sentence) -> Option<Self> {
        let text = sentence.text.as_str();
        let is_open = text.ends_with([':', '?']) || text.trim_end_matches('。').ends_with('か');
        if is_open || is_example(text) {
            return None;
        }
        let mut reader = StatementReader::default();
        let mut start = 0;
        for fact in facts(text)
            .into_iter()
            .map(|fact| with_sign_and_noun(text, fact))
            .filter(|fact| is_value(text, fact))
        {
            reader.read(text.get(start..fact.range.start).unwrap_or_default(), false);
            start = fact.range.end;
            reader.value(&fact);
        }
        reader.read(text.get(start..).unwrap_or_default(), true);
        let StatementReader { frame, slots, negations, has_bounded_number, content } = reader;
        let points = ENGLISH.pointers.iter().chain(&JAPANESE.pointers).any(|pointer| text.contains(pointer));
        let is_complete = content >= MIN_CONTENT && !points;
        (content > 0).then_some(Self { sentence, frame, is_complete, slots, negations, has_bounded_number })
    }

    /// What two statements of the same frame differ in; none where both can hold. Where more than one thing differs, they
    /// are about different cases: 勤続3年の者は5日, 勤続5年の者は7日.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let pairs = self.slots.iter().zip(&other.slots);
        let differing: Vec<_> = pairs.filter(|(one, other)| !one.content.is_same(other.content)).collect();
        let denials = self.negations.abs_diff(other.negations);
        match (differing.as_slice(), denials) {
            ([], 1) => Some("yes / no".to_owned()),
            ([(one, other)], _) if one.content.can_differ(self, denials) => {
                Some(format!("{} / {}", one.shown, other.shown))
            }
            _ => None,
        }
    }

    /// Whether two statements of the same frame say the same.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let mut pairs = self.slots.iter().zip(&other.slots);
        self.negations == other.negations && pairs.all(|(one, other)| one.content.is_same(other.content))
    }
}

impl Content {
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Value(one, tolerance), Self::Value(other, _)) => {
                (one - other).abs() <= one.abs().max(other.abs()) * tolerance
            }
            _ => self == other,
        }
    }

    /// Whether a statement can be contradicted here, by one with so many more or fewer negations.
    fn can_differ(self, statement: &Statement, denials: usize) -> bool {
        let is_value = |slot: &Slot| matches!(slot.content, Self::Value(..));
        match self {
            Self::Opposite { pair, .. } if pair == OBLIGATION => denials == 1 || statement.negations == 0,
            Self::Opposite { pair, .. } if is_bound(pair) => {
                denials == 0 && (statement.has_bounded_number || statement.slots.iter().any(is_value))
            }
            _ => denials == 0,
        }
    }
}

/// Whether a text gives an example.
pub fn is_example(text: &str) -> bool {
    ENGLISH.examples.iter().chain(&JAPANESE.examples).any(|word| text.contains(word))
}

/// Whether a fact is a value with a unit, rather than a bare number, a part of a name, code or an address, or a year that
/// says which edition a sentence is about.
fn is_value(text: &str, fact: &Fact) -> bool {
    let is_context = matches!(fact.unit.as_str(), "" | ORDINAL | YEAR | FISCAL_YEAR | MONTH | SLASH);
    let before = text.get(..fact.range.start).unwrap_or_default();
    let after = text.get(fact.range.end..).unwrap_or_default();
    let is_code = before.matches(CODE).count() % 2 == 1;
    let is_in_name = |character: char| character.is_ascii_alphanumeric() || "/_=#.:".contains(character);
    let is_part =
        before.ends_with(is_in_name) || before.ends_with('-') || after.starts_with(['/', '_', '=', '-']);
    !is_context && !is_code && !is_part && !fact.shown.ends_with('つ')
}

/// A fact with the sign before it and, where it has no unit, with the English noun that it counts: `up to 16 networks`. A
/// number after a name belongs to the name, as in `HTTP 404 errors`.
fn with_sign_and_noun(text: &str, mut fact: Fact) -> Fact {
    let before = text.get(..fact.range.start).unwrap_or_default();
    let after = text.get(fact.range.end..).and_then(|after| after.strip_prefix(' ')).unwrap_or_default();
    let noun = after.split(|next: char| !next.is_ascii_alphabetic()).next().unwrap_or_default();
    let is_plural = noun.len() > 3 && noun.ends_with('s') && !noun.ends_with("ss") && !is_stop_word(noun);
    let is_counted = before.trim_end().rsplit(' ').next().is_some_and(is_stop_word);
    if fact.unit.is_empty() && is_plural && is_counted {
        fact.range.end += 1 + noun.len();
        fact.unit = stem(noun);
    }
    let has_sign = |before: &str| !before.ends_with(|last: char| last.is_ascii_alphanumeric());
    if before.strip_suffix('-').is_some_and(has_sign) {
        fact.range.start -= 1;
        fact.value = -fact.value;
    }
    fact.shown = text.get(fact.range.clone()).unwrap_or_default().to_owned();
    fact
}

/// Reads the words of a sentence into its frame.
#[derive(Default)]
struct StatementReader {
    frame: String,
    slots: Vec<Slot>,
    negations: usize,
    has_bounded_number: bool,
    content: usize,
}

/// The script of a character in a sentence, where signs may belong to a word.
fn script_in_sentence(character: char) -> Script {
    match script(character) {
        Script::Other if "_'’-./+#@:$~=<>&".contains(character) => Script::Word,
        script => script,
    }
}

impl StatementReader {
    /// A value. Lengths of time have one dimension, and so are compared whatever their unit.
    fn value(&mut self, fact: &Fact) {
        let days = match fact.unit.as_str() {
            "second" => Some(1.0 / 86_400.0),
            "day" => Some(1.0),
            "month" => Some(30.4375),
            _ => None,
        };
        self.content += if days.is_none() && fact.unit.is_ascii() && fact.unit.len() > 3 { 2 } else { 0 };
        let (unit, size, tolerance) = match days {
            Some(days) => ("duration", days, DURATION_TOLERANCE),
            None => (fact.unit.as_str(), 1.0, 1e-9),
        };
        self.slot(unit, Content::Value(fact.value * size, tolerance), fact.shown.clone());
    }

    fn slot(&mut self, kind: &str, content: Content, shown: String) {
        self.literal("[");
        self.frame.push_str(kind);
        self.slots.push(Slot { content, shown });
    }

    /// A word that both sentences must have.
    fn literal(&mut self, word: &str) {
        if !word.is_empty() {
            self.frame.push(' ');
            self.frame.push_str(word);
        }
    }

    /// The words of a text between two values.
    fn read(&mut self, text: &str, ends_sentence: bool) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some((code, after)) = rest.strip_prefix(CODE).and_then(|code| code.split_once(CODE)) {
                self.literal(code);
                self.content += 2;
                rest = after;
                continue;
            }
            let kind = script_in_sentence(first);
            let length =
                rest.find(|next| script_in_sentence(next) != kind || next == CODE).unwrap_or(rest.len());
            let (run, after) = rest.split_at(length.max(first.len_utf8()));
            rest = after;
            match kind {
                Script::Word => self.english(run.trim_matches(['.', ':', '-', '\'', '’', '/'])),
                Script::Katakana => {
                    self.content += run.chars().count();
                    self.literal(run.trim_end_matches('ー'));
                }
                Script::Kanji => self.kanji(run),
                Script::Hiragana => {
                    let is_last =
                        ends_sentence && !after.chars().any(|next| script_in_sentence(next) != Script::Other);
                    self.hiragana(run, is_last);
                }
                Script::Other => {}
            }
        }
    }

    fn english(&mut self, word: &str) {
        let contracted = word.strip_suffix("n't").or_else(|| word.strip_suffix("n’t"));
        let (base, is_negated) = match (word, contracted) {
            ("cannot", _) => ("can", true),
            (_, Some("ca")) => ("can", true),
            (_, Some("wo")) => ("will", true),
            (_, Some(base)) => (base, true),
            (word, None) => (word, false),
        };
        let is_in = |words: &[String]| words.iter().any(|word| word == base);
        if is_in(&ENGLISH.negations) {
            self.negations += 1;
            return;
        }
        self.negations += usize::from(is_negated);
        if base.is_empty() || is_in(&ENGLISH.grammar) {
            return;
        }
        self.content += if is_stop_word(base) { 0 } else { 2 };
        match opposite(|known| known == base) {
            Some((pair, is_second, _)) => self.opposite(pair, is_second, base),
            None => self.literal(&stem(base)),
        }
    }

    fn opposite(&mut self, pair: usize, is_second: bool, shown: &str) {
        self.slot(&pair.to_string(), Content::Opposite { pair, is_second }, shown.to_owned());
    }

    /// A run of Kanji, in which an opposite may be a part of a compound. 前 and 後 are so only at its end.
    fn kanji(&mut self, run: &str) {
        self.content += run.chars().count();
        let (mut word, mut rest) = (0, run);
        while let Some(first) = rest.chars().next() {
            let at = run.len() - rest.len();
            let found = opposite(|known| {
                rest.starts_with(known) && (known.len() > first.len_utf8() || known.len() == rest.len())
            });
            let Some((pair, is_second, known)) = found else {
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
                continue;
            };
            self.literal(run.get(word..at).unwrap_or_default());
            self.has_bounded_number |=
                is_bound(pair) && self.frame.contains(|known: char| known.is_ascii_digit());
            self.opposite(pair, is_second, known);
            rest = rest.get(known.len()..).unwrap_or_default();
            word = at + known.len();
        }
        self.literal(run.get(word..).unwrap_or_default());
    }

    /// A run of Hiragana. The last one inflects the verb, and says whether it is denied.
    fn hiragana(&mut self, run: &str, is_last: bool) {
        if !is_last || run.chars().nth(MAX_ENDING_CHARS).is_some() {
            return self.literal(run.trim_end_matches(|last| JAPANESE.particles.contains(last)));
        }
        // 9時から and 9時まで do not only inflect.
        for bound in ["から", "まで"].into_iter().filter(|bound| run.contains(bound)) {
            self.literal(bound);
        }
        let affirmative = JAPANESE.affirmative_endings.iter();
        let ending = affirmative.fold(run.to_owned(), |run, known| run.replace(known, ""));
        let negative = JAPANESE.negative_endings.iter();
        self.negations += negative.map(|known| ending.matches(known).count()).sum::<usize>();
    }
}

/// The longest word of the pairs of opposites that fits: its pair, its side, and the word.
fn opposite(fits: impl Fn(&str) -> bool) -> Option<(usize, bool, &'static str)> {
    let pairs = opposites().chain(ENGLISH.bounds.iter().chain(&JAPANESE.bounds)).enumerate();
    let words = pairs.flat_map(|(pair, (first, second))| {
        let first = first.iter().map(move |word| (pair, false, word.as_str()));
        first.chain(second.iter().map(move |word| (pair, true, word.as_str())))
    });
    words.filter(|(.., word)| fits(word)).max_by_key(|(.., word)| word.len())
}
