//! Values that are stated without a unit of their own or without a number: `6 tablets`, 3世代, `for a week`, 半年.

use super::super::words::is_stop_word;
use super::word_lists::GENERAL;
use crate::facts::{Fact, facts};
use crate::index::stem;

/// Gives the numbers without a unit the one that stands behind an adjective, or the noun that they count: `200 operating
/// hours`, `6 tablets`, `3世代`.
pub fn with_counted_nouns(text: &str, facts: Vec<Fact>) -> Vec<Fact> {
    let counted = |fact: Fact| match fact.unit.as_str() {
        "" => counted_noun(text, &fact).map(|(unit, size, end)| {
            let range = fact.range.start..end;
            let shown = text.get(range.clone()).unwrap_or_default().to_owned();
            Fact { unit, value: fact.value * size, shown, range }
        }),
        _ => Some(fact),
    };
    facts.into_iter().filter_map(counted).collect()
}

/// The unit or noun of a number without one, its size, and where it ends.
fn counted_noun(text: &str, fact: &Fact) -> Option<(String, f64, usize)> {
    let after = text.get(fact.range.end..)?;
    let kanji: String =
        after.chars().take_while(|letter| matches!(letter, '\u{4e00}'..='\u{9fff}')).collect();
    if !kanji.is_empty() && kanji.chars().count() <= 2 && !GENERAL.contains(&kanji.as_str()) {
        let end = fact.range.end + kanji.len();
        return Some((kanji, 1.0, end));
    }
    let mut end = fact.range.end;
    for (number, word) in after.strip_prefix(' ')?.split(' ').take(3).enumerate() {
        end += 1 + word.len();
        let bare = word.trim_end_matches(['.', ',', ';', ')', ':']);
        if bare.len() < 3 || !bare.bytes().all(|byte| byte.is_ascii_lowercase()) || is_stop_word(bare) {
            return None;
        }
        let close = end - (word.len() - bare.len());
        if let Some(unit) = facts(&format!("1 {bare}")).first().filter(|unit| !unit.unit.is_empty()) {
            return Some((unit.unit.clone(), unit.value, close));
        }
        // `3 free coffees` counts coffees.
        if number < 2 && bare.ends_with('s') && !bare.ends_with("ss") {
            return Some((stem(bare), 1.0, close));
        }
        if bare.len() < word.len() {
            return None;
        }
    }
    None
}

/// Spans of time that are named without a number: `for a week`, `a month ahead`, `once a year`, 半年. In `four times a year`
/// a year is no span.
pub fn spans_without_number(text: &str) -> Vec<Fact> {
    const SPANS: &[(&str, &str, f64)] = &[
        ("hour", "second", 3600.0),
        ("day", "day", 1.0),
        ("week", "day", 7.0),
        ("fortnight", "day", 14.0),
        ("month", "month", 1.0),
        ("year", "month", 12.0),
    ];
    const BEFORE: &[&str] = &[
        "for", "within", "after", "in", "than", "to", "once", "takes", "lasts", "last", "us", "every",
        "about",
    ];
    const AFTER: &[&str] = &["ahead", "before", "after", "later", "old", "long", "in advance"];
    const JAPANESE: &[(&str, &str, f64)] =
        &[("半年", "month", 6.0), ("半月", "day", 15.0), ("半日", "day", 0.5), ("ひと月", "month", 1.0)];
    let mut found = Vec::new();
    for (name, unit, value) in JAPANESE {
        found.extend(text.match_indices(name).map(|(start, shown)| Fact {
            unit: (*unit).to_owned(),
            value: *value,
            shown: shown.to_owned(),
            range: start..start + shown.len(),
        }));
    }
    let articles = ["a ", "an ", "every "].into_iter().flat_map(|article| text.match_indices(article));
    for (start, article) in articles {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + article.len()..).unwrap_or_default();
        let noun =
            ["whole ", "full ", "single "].iter().find_map(|word| after.strip_prefix(word)).unwrap_or(after);
        let Some((name, unit, value)) = SPANS.iter().find(|(name, ..)| noun.starts_with(name)) else {
            continue;
        };
        let rest = noun.get(name.len()..).unwrap_or_default();
        let is_word = (before.is_empty() || before.ends_with(' ')) && !rest.starts_with(char::is_alphabetic);
        let last = before.trim_end().rsplit(' ').next().unwrap_or_default();
        let is_span = article == "every "
            || BEFORE.contains(&last)
            || AFTER.iter().any(|word| rest.trim_start().starts_with(word));
        if is_word && is_span {
            // `an hour and a half`.
            let half = rest.strip_prefix(" and a half");
            let value = if half.is_some() { value * 1.5 } else { *value };
            let range = start..text.len() - half.unwrap_or(rest).len();
            let shown = text.get(range.clone()).unwrap_or_default().to_owned();
            found.push(Fact { unit: (*unit).to_owned(), value, shown, range });
        }
    }
    found
}
