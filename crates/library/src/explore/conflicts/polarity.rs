//! Whether a sentence affirms or denies: allowed or forbidden, required or not, included or not, charged or free.

use std::ops::Range;

use Concept::{BorneByCaller, Charged, Happens, Included, Possible, Required};

/// What a sentence affirms or denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Polarity {
    /// What is affirmed or denied.
    pub concept: Concept,
    /// Whether it is affirmed.
    pub is_affirmed: bool,
}

/// What a rule can affirm or deny of its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concept {
    /// It is possible or allowed.
    Possible,
    /// It is required.
    Required,
    /// It belongs to what is covered.
    Included,
    /// It costs money.
    Charged,
    /// The customer, user or employee pays for it, rather than the company.
    BorneByCaller,
    /// It is so, or is done.
    Happens,
}

/// The maximum number of characters after the word that decides in a Japanese sentence: です, ものとする, ので。
const MAX_ENDING_CHARS: usize = 7;

impl Polarity {
    /// What a sentence affirms or denies, given the word that decides, as an index into [`POLARITIES`].
    pub fn new(text: &str, deciding: Option<usize>) -> Self {
        match deciding.and_then(|index| POLARITIES.get(index)) {
            Some((_, concept, is_affirmed)) => {
                Self { concept: *concept, is_affirmed: *is_affirmed && !has_negated_subject(text) }
            }
            None => Self { concept: Happens, is_affirmed: !is_negated(text) },
        }
    }

    /// Whether a word at this place can decide: a Japanese word in the middle of a sentence says nothing about the whole.
    pub fn decides_at(text: &str, word: Range<usize>) -> bool {
        let is_english = text.get(word.clone()).is_some_and(str::is_ascii);
        let rest = text.get(word.end..).unwrap_or_default();
        // A clause that gives a reason is a statement of its own: 返品できますので、ご相談ください。
        let ends_clause = ["ので、", "ため、", "が、", "から、"].iter().any(|end| rest.starts_with(end));
        is_english || ends_clause || rest.chars().nth(MAX_ENDING_CHARS).is_none()
    }
}

/// Whether the verb of a sentence is negated.
fn is_negated(text: &str) -> bool {
    let end = text.trim_end_matches(['。', '.', ' ']);
    let is_japanese = ["ない", "ません", "ないこと", "ないものとする", "なくなります", "なくなる"]
        .iter()
        .any(|word| end.ends_with(word));
    let english = ["not ", "n't ", "never "];
    // `Not at all: it is paid` denies something else.
    let idioms = ["not at all", "not really", "not only"];
    let rest = idioms.iter().find_map(|idiom| text.strip_prefix(idiom)).unwrap_or(text);
    is_japanese || english.iter().any(|word| rest.contains(word))
}

/// Whether an English sentence denies its verb before the subject: `no signature is required`.
fn has_negated_subject(text: &str) -> bool {
    let Some(at) = text.find("no ").filter(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b' '))
    else {
        return false;
    };
    let after: Vec<&str> = text.get(at..).unwrap_or_default().split(' ').skip(1).take(5).collect();
    let verbs = ["required", "needed", "necessary", "allowed", "permitted"];
    after.iter().any(|word| verbs.contains(&word.trim_end_matches(['.', ','])))
}

/// The words that affirm or deny. Of words that end at the same place, the longest counts.
pub const POLARITIES: &[(&str, Concept, bool)] = &[
    ("対象外", Included, false),
    ("対象となりません", Included, false),
    ("対象とならない", Included, false),
    ("対象になりません", Included, false),
    ("対象にならない", Included, false),
    ("対象としない", Included, false),
    ("対象としません", Included, false),
    ("対象ではな", Included, false),
    ("含まない", Included, false),
    ("含みません", Included, false),
    ("含まれない", Included, false),
    ("含まれません", Included, false),
    ("含めない", Included, false),
    ("not covered", Included, false),
    ("not included", Included, false),
    ("not include", Included, false),
    ("excluded", Included, false),
    ("しなければならない", Required, true),
    ("しなければなりません", Required, true),
    ("なければな", Required, true),
    ("なければいけ", Required, true),
    ("なくてはな", Required, true),
    ("必要はありません", Required, false),
    ("必要はない", Required, false),
    ("必要ありません", Required, false),
    ("必要としない", Required, false),
    ("必要としません", Required, false),
    ("不要", Required, false),
    ("要しない", Required, false),
    ("要しません", Required, false),
    ("要りません", Required, false),
    ("いりません", Required, false),
    ("なくてもよい", Required, false),
    ("なくても構", Required, false),
    ("not required", Required, false),
    ("not need", Required, false),
    ("no need", Required, false),
    ("not necessary", Required, false),
    ("not mandatory", Required, false),
    ("optional", Required, false),
    ("not have to", Required, false),
    ("不可", Possible, false),
    ("できません", Possible, false),
    ("できない", Possible, false),
    ("できず", Possible, false),
    ("られません", Possible, false),
    ("られない", Possible, false),
    ("認めない", Possible, false),
    ("認めません", Possible, false),
    ("許可しない", Possible, false),
    ("許されない", Possible, false),
    ("禁止", Possible, false),
    ("禁じ", Possible, false),
    ("てはならない", Possible, false),
    ("ではならない", Possible, false),
    ("てはなりません", Possible, false),
    ("ではなりません", Possible, false),
    ("てはいけ", Possible, false),
    ("cannot", Possible, false),
    ("can not", Possible, false),
    ("can't", Possible, false),
    ("may not", Possible, false),
    ("must not", Possible, false),
    ("not allowed", Possible, false),
    ("not permitted", Possible, false),
    ("not possible", Possible, false),
    ("not supported", Possible, false),
    ("not accepted", Possible, false),
    ("prohibited", Possible, false),
    ("forbidden", Possible, false),
    ("客様の負担", BorneByCaller, true),
    ("客様負担", BorneByCaller, true),
    ("客様が負担", BorneByCaller, true),
    ("自己負担", BorneByCaller, true),
    ("本人負担", BorneByCaller, true),
    ("本人の負担", BorneByCaller, true),
    ("利用者の負担", BorneByCaller, true),
    ("利用者が負担", BorneByCaller, true),
    ("借主の負担", BorneByCaller, true),
    ("借主が負担", BorneByCaller, true),
    ("従業員の負担", BorneByCaller, true),
    ("customer bears", BorneByCaller, true),
    ("customer pays", BorneByCaller, true),
    ("tenant pays", BorneByCaller, true),
    ("tenant bears", BorneByCaller, true),
    ("your own expense", BorneByCaller, true),
    ("customer's expense", BorneByCaller, true),
    ("会社が負担", BorneByCaller, false),
    ("会社の負担", BorneByCaller, false),
    ("会社負担", BorneByCaller, false),
    ("当社が負担", BorneByCaller, false),
    ("当社の負担", BorneByCaller, false),
    ("弊社が負担", BorneByCaller, false),
    ("弊社の負担", BorneByCaller, false),
    ("当店が負担", BorneByCaller, false),
    ("当店の負担", BorneByCaller, false),
    ("貸主が負担", BorneByCaller, false),
    ("貸主の負担", BorneByCaller, false),
    ("we pay for", BorneByCaller, false),
    ("we bear", BorneByCaller, false),
    ("company pays", BorneByCaller, false),
    ("company bears", BorneByCaller, false),
    ("landlord pays", BorneByCaller, false),
    ("landlord bears", BorneByCaller, false),
    ("at our expense", BorneByCaller, false),
    ("無料", Charged, false),
    ("無償", Charged, false),
    ("free of charge", Charged, false),
    ("at no cost", Charged, false),
    ("no charge", Charged, false),
    ("有料", Charged, true),
    ("有償", Charged, true),
    ("対象", Included, true),
    ("含む", Included, true),
    ("含みます", Included, true),
    ("含まれ", Included, true),
    ("含め", Included, true),
    ("covered", Included, true),
    ("included", Included, true),
    ("必要", Required, true),
    ("必須", Required, true),
    ("要する", Required, true),
    ("要します", Required, true),
    ("required", Required, true),
    ("mandatory", Required, true),
    ("must", Required, true),
    ("has to", Required, true),
    ("have to", Required, true),
    ("needs", Required, true),
    ("可能", Possible, true),
    ("できます", Possible, true),
    ("できる", Possible, true),
    ("られます", Possible, true),
    ("られる", Possible, true),
    ("認める", Possible, true),
    ("認めます", Possible, true),
    ("許可する", Possible, true),
    ("てもよい", Possible, true),
    ("て構いません", Possible, true),
    ("てかまいません", Possible, true),
    ("差し支えありません", Possible, true),
    ("認められ", Possible, true),
    ("許可され", Possible, true),
    ("許され", Possible, true),
    ("大丈夫", Possible, true),
    ("禁じられ", Possible, false),
    ("禁止され", Possible, false),
    ("not entitled", Possible, false),
    ("entitled", Possible, true),
    ("welcome", Possible, true),
    ("fine to", Possible, true),
    ("can ", Possible, true),
    ("may ", Possible, true),
    ("allowed", Possible, true),
    ("permitted", Possible, true),
    ("possible", Possible, true),
    ("accepted", Possible, true),
    ("supported", Possible, true),
    ("not support", Possible, false),
    ("supports", Possible, true),
];

#[cfg(test)]
#[path = "polarity_tests.rs"]
mod tests;
