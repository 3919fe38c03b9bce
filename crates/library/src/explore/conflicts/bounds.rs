//! Whether a value is exact or a limit, by the words around it.

use crate::facts::Fact;

/// Whether a value is exact, or a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    Exact,
    AtMost,
    AtLeast,
    /// An approximate value. It is not compared.
    Loose,
}

/// What stands directly before and after a fact.
pub fn surroundings<'a>(text: &'a str, fact: &Fact) -> (&'a str, &'a str) {
    let before = text.get(..fact.range.start).unwrap_or_default().trim_end();
    let after = text.get(fact.range.end..).unwrap_or_default().trim_start();
    (before, after)
}

pub fn ends_with(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.ends_with(word))
}

pub fn starts_with(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// Whether a value is a limit, by the words around it.
pub fn bound(text: &str, fact: &Fact, next: Option<&Fact>) -> Bound {
    let text = next.map_or(text, |next| text.get(..next.range.start).unwrap_or(text));
    let (before, after) = surroundings(text, fact);
    let is_digit = |character: &char| character.is_ascii_digit();
    let near_after: String = after.chars().take(10).take_while(|next| !is_digit(next)).collect();
    let last: Vec<char> = before.chars().rev().take(14).take_while(|last| !is_digit(last)).collect();
    let near_before: String = last.into_iter().rev().collect();
    let says =
        |words: &[&str]| words.iter().any(|word| near_before.contains(word) || near_after.contains(word));
    if ends_with(before, &["no less than", "not less than", "no fewer than", "not earlier than"]) {
        Bound::AtLeast
    } else if let Some(limit) = comparison(before) {
        limit
    } else if ends_with(
        before,
        &["約", "およそ", "おおむね", "about", "around", "approximately", "roughly", "nearly", "~", "-"],
    ) || starts_with(after, &["程度", "前後", "ほど", "くらい", "ぐらい", "~", "- ", "or so"])
    {
        Bound::Loose
    } else if ends_with(before, AT_MOST_BEFORE) || starts_with(after, AT_MOST_AFTER) {
        Bound::AtMost
    } else if ends_with(before, AT_LEAST_BEFORE) || starts_with(after, AT_LEAST_AFTER) {
        Bound::AtLeast
    } else if says(&["上限", "限度"])
        || ["最大", "limit", "maximum"].iter().any(|word| near_before.contains(word))
    {
        Bound::AtMost
    } else {
        Bound::Exact
    }
}

/// The limit that a comparative before a value states: `larger than`, `not larger than`, `lighter than`.
fn comparison(before: &str) -> Option<Bound> {
    /// Comparatives of what is less. Every other one is of what is more.
    const LESS: &[&str] =
        &["smaller", "shorter", "lighter", "lower", "younger", "earlier", "sooner", "slower", "cheaper"];
    let mut words = before.strip_suffix(" than")?.rsplit(' ');
    let comparative = words.next().filter(|word| word.len() > 4 && word.ends_with("er"))?;
    if matches!(comparative, "rather" | "other" | "longer" | "later" | "fewer") && before.contains(" no ") {
        return None;
    }
    let is_less = LESS.contains(&comparative);
    let is_denied = words.take(4).any(|word| matches!(word, "not" | "never" | "no" | "cannot"));
    Some(if is_less == is_denied { Bound::AtLeast } else { Bound::AtMost })
}

const AT_MOST_BEFORE: &[&str] = &[
    "最大",
    "最長",
    "最高",
    "上限は",
    "上限を",
    "限度は",
    "限度を",
    "at most",
    "up to",
    "no more than",
    "not more than",
    "no longer than",
    "within",
    "maximum of",
    "maximum is",
    "max",
    "limited to",
    "limit of",
    "limit is",
    "not exceed",
    "not exceeding",
    "no later than",
    "less than",
    "under",
    "by",
];
const AT_MOST_AFTER: &[&str] = &[
    "以内",
    "以下",
    "まで",
    "未満",
    "を上限",
    "が上限",
    "を限度",
    "が限度",
    "を超え",
    "を越え",
    "を過ぎ",
    "を回る",
    "を回り",
    "に限",
    "or less",
    "or fewer",
    "at most",
    "maximum",
    "at the latest",
];
const AT_LEAST_BEFORE: &[&str] = &[
    "最低",
    "最小",
    "最短",
    "少なくとも",
    "下限は",
    "at least",
    "minimum of",
    "minimum is",
    "more than",
    "over",
    "exceeding",
];
const AT_LEAST_AFTER: &[&str] = &[
    "以上",
    "以後",
    "以降",
    "超",
    "を下回らない",
    "or more",
    "or older",
    "or above",
    "or longer",
    "or later",
    "and over",
    "and above",
    "minimum",
    "at least",
];
