//! Comparisons (AとBの違い, A vs B): which terms of a question belong to which side.

use super::base_forms::ENDING_NOUNS;
use super::terms::Term;
use super::tokens::{Token, is_hiragana, tokens};
use super::words::is_stop_word;

/// The maximum number of sides. Each side is ranked on its own, and more of them would not fit among the first five.
pub const MAX_SIDES: usize = 4;
/// The maximum number of words of one side, so that a sentence is not taken for one.
const MAX_SIDE_WORDS: usize = 4;

/// The maximum number of terms of a comparison. A longer text is an essay rather than a comparison, and is not searched
/// for one.
const MAX_COMPARED_TERMS: usize = 64;

/// The terms of each side of a comparison, as texts. A term of several sides belongs to none.
pub type Sides = Vec<Vec<String>>;

/// The sides of a comparison; empty where a question compares nothing. The terms are in the order of the question, and
/// may repeat.
pub fn sides_of(normal: &str, terms: &[Term]) -> Sides {
    let terms: Vec<&Term> = terms.iter().filter(|term| !term.range.is_empty()).collect();
    if terms.len() > MAX_COMPARED_TERMS {
        return Sides::new();
    }
    let groups = match english_groups(normal, &terms) {
        groups if groups.is_empty() => japanese_groups(normal, &terms),
        groups => groups,
    };
    let is_shared = |text: &str| {
        let has = |group: &&Vec<String>| group.iter().any(|other| other == text);
        groups.iter().filter(has).count() > 1
    };
    let own = |group: &Vec<String>| -> Vec<String> {
        group.iter().filter(|text| !is_shared(text)).cloned().collect()
    };
    let sides: Sides = groups.iter().map(own).collect();
    if sides.len() < 2 || sides.iter().any(Vec::is_empty) { Sides::new() } else { sides }
}

/// Words that state a comparison, and say nothing else.
const COMPARING_WORDS: &[&str] = &[
    "vs",
    "versus",
    "difference",
    "differences",
    "between",
    "compare",
    "compared",
    "comparing",
    "comparison",
    "differ",
    "differs",
    "different",
    "better",
    "違い",
    "違う",
    "違っ",
    "違",
    "相違",
    "相違点",
    "差",
    "差異",
    "比較",
    "比べ",
    "使い分",
    "使い分け",
    "どちら",
    "どっち",
];

/// Whether a word states a comparison.
pub fn is_comparing_word(word: &str) -> bool {
    COMPARING_WORDS.contains(&word)
}

/// The terms of each side of an English comparison, or of one that is written with `vs`.
fn english_groups(normal: &str, terms: &[&Term]) -> Sides {
    let words = tokens(normal);
    let found = versus(&words)
        .or_else(|| between(&words))
        .or_else(|| compare(&words))
        .or_else(|| differ(&words))
        .or_else(|| choice(&words));
    let texts = |side: &[Token<'_>]| -> Vec<String> {
        let (Some(first), Some(last)) = (side.first(), side.last()) else { return Vec::new() };
        let inside = terms
            .iter()
            .filter(|term| first.range.start <= term.range.start && term.range.end <= last.range.end);
        inside.map(|term| term.text().to_owned()).filter(|text| !is_comparing_word(text)).collect()
    };
    let sides = found.unwrap_or_default();
    let mut sides: Sides = sides.into_iter().take(MAX_SIDES).map(texts).collect();
    // Of `rail or air travel`, only the words next to the join are compared: both are about travel.
    let count = sides.iter().map(Vec::len).min().unwrap_or_default();
    for (at, side) in sides.iter_mut().enumerate() {
        if at == 0 {
            side.drain(..side.len() - count);
        }
        side.truncate(count);
    }
    sides
}

type Groups<'a> = Vec<&'a [Token<'a>]>;

/// `A vs B`.
fn versus<'a>(words: &'a [Token<'a>]) -> Option<Groups<'a>> {
    let joins: Vec<usize> =
        (0..).zip(words).filter(|(_, word)| matches!(word.word, "vs" | "versus")).map(|(at, _)| at).collect();
    let first = *joins.first()?;
    let mut groups = vec![side_before(words, first)];
    groups.extend(joins.iter().map(|at| side_after(words, at + 1)));
    Some(groups)
}

/// `difference between A and B`, also of more than two.
fn between<'a>(words: &'a [Token<'a>]) -> Option<Groups<'a>> {
    let at = words.iter().position(|word| word.word == "between")?;
    let compares = |word: &Token<'_>| {
        matches!(
            word.word,
            "difference"
                | "differences"
                | "differ"
                | "comparison"
                | "compare"
                | "choose"
                | "choice"
                | "distinguish"
                | "distinction"
        )
    };
    words.iter().any(compares).then(|| list_from(words, at + 1, &["and", "or"]))
}

/// `compare A with B`, `comparison of A and B`, `A compared to B`.
fn compare<'a>(words: &'a [Token<'a>]) -> Option<Groups<'a>> {
    let at = words
        .iter()
        .position(|word| matches!(word.word, "compare" | "comparing" | "compared" | "comparison"))?;
    let next = words.get(at + 1).map_or("", |word| word.word);
    if words.get(at)?.word == "compared" {
        return matches!(next, "to" | "with")
            .then(|| vec![side_before(words, at), side_after(words, at + 2)]);
    }
    let start = at + 1 + usize::from(next == "of");
    let groups = list_from(words, start, &["and", "with", "to", "against"]);
    (groups.len() > 1).then_some(groups)
}

/// `how does A differ from B`, `is A different from B`.
fn differ<'a>(words: &'a [Token<'a>]) -> Option<Groups<'a>> {
    let at = words.iter().position(|word| matches!(word.word, "differ" | "differs" | "different"))?;
    let next = words.get(at + 1)?.word;
    matches!(next, "from" | "to" | "than").then(|| vec![side_before(words, at), side_after(words, at + 2)])
}

/// `A or B, which is faster`, `which is better, A or B`, `should I use A or B`.
fn choice<'a>(words: &'a [Token<'a>]) -> Option<Groups<'a>> {
    let at = words.iter().position(|word| word.word == "or")?;
    let groups = vec![side_before(words, at), side_after(words, at + 1)];
    let (one, other) = (groups.first()?, groups.last()?);
    let end_of = |side: &[Token<'_>]| side.last().map(|word| word.range.end);
    let after: Vec<&str> =
        words.iter().filter(|word| Some(word.range.start) > end_of(other)).map(|word| word.word).collect();
    let start = one.first()?.range.start;
    let before: Vec<&Token<'_>> = words.iter().filter(|word| word.range.start < start).collect();
    let asks_after = after.first() == Some(&"which") && other.last().is_some_and(|word| word.ends_clause);
    let asks_before =
        before.iter().any(|word| word.word == "which") && before.last().is_some_and(|word| word.ends_clause);
    let asks_better = words.iter().any(|word| word.word == "better");
    let prefers = before
        .windows(2)
        .any(|pair| matches!(pair, [one, other] if one.word == "should" && other.word == "i"));
    (asks_after || asks_before || asks_better || prefers).then_some(groups)
}

/// The words of a side that ends before a position.
fn side_before<'a>(words: &'a [Token<'a>], end: usize) -> &'a [Token<'a>] {
    let mut start = end;
    while let Some(before) = start.checked_sub(1)
        && let Some(word) = words.get(before)
        && end - start < MAX_SIDE_WORDS
        && !is_stop_word(word.word)
        && !is_comparing_word(word.word)
        && !word.ends_clause
    {
        start = before;
    }
    words.get(start..end).unwrap_or_default()
}

/// The words of a side that begins at a position, or after an article there.
fn side_after<'a>(words: &'a [Token<'a>], mut start: usize) -> &'a [Token<'a>] {
    while words.get(start).is_some_and(|word| is_article(word.word)) {
        start += 1;
    }
    let mut end = start;
    while let Some(word) = words.get(end)
        && end - start < MAX_SIDE_WORDS
        && !is_stop_word(word.word)
        && !is_comparing_word(word.word)
    {
        end += 1;
        if word.ends_clause {
            break;
        }
    }
    words.get(start..end).unwrap_or_default()
}

/// The sides of a list such as `A, B and C`.
fn list_from<'a>(words: &'a [Token<'a>], mut at: usize, joins: &[&str]) -> Groups<'a> {
    let mut groups = Vec::new();
    loop {
        let side = side_after(words, at);
        let Some(last) = side.last() else { return groups };
        let next = words.iter().position(|word| word.range.start > last.range.start).unwrap_or(words.len());
        groups.push(side);
        let is_joined = words.get(next).is_some_and(|word| joins.contains(&word.word));
        match (is_joined, last.ends_clause) {
            (true, _) => at = next + 1,
            (false, true) if next < words.len() => at = next,
            _ => return groups,
        }
    }
}

fn is_article(word: &str) -> bool {
    matches!(word, "a" | "an" | "the" | "my" | "our" | "your" | "using" | "use")
}

/// Words that reveal a Japanese comparison.
const MARKERS: &[&str] =
    &["違い", "違う", "違っ", "違", "比較", "比べ", "相違", "差異", "使い分け", "どちら", "どっち"];
/// What joins the sides, the longer first.
const JOINS: &[&str] = &[
    "と比較して",
    "と比べて",
    "に比べて",
    "と比べ",
    "に比べ",
    "または",
    "および",
    "もしくは",
    "と",
    "や",
    "か",
    "・",
    "、",
    "/",
];

/// The terms of each side of a Japanese comparison.
fn japanese_groups(normal: &str, terms: &[&Term]) -> Sides {
    if !MARKERS.iter().any(|marker| normal.contains(marker)) {
        return Sides::new();
    }
    // What states the comparison, or is too general to be a side, belongs to none.
    let is_side = |term: &&&Term| !is_comparing_word(term.text());
    let terms: Vec<&Term> = terms.iter().filter(is_side).copied().collect();
    let mut groups: Vec<Vec<&Term>> = vec![Vec::new()];
    let mut last: Option<&Term> = None;
    for term in terms {
        let between = last.map(|last| normal.get(last.range.end..term.range.start).unwrap_or_default());
        if between.is_some_and(joins_sides) || between.is_some_and(|between| contrasts(normal, between, term))
        {
            groups.push(Vec::new());
        }
        groups.last_mut().into_iter().for_each(|group| group.push(term));
        last = Some(term);
    }
    if groups.len() < 2 {
        return Sides::new();
    }
    // With more than one own term in the middle, what follows the second join is another list.
    let repeats = |term: &Term| {
        ENDING_NOUNS.contains(&term.text())
            || groups.iter().filter(|group| group.iter().any(|other| other.text() == term.text())).count() > 1
    };
    let own = |group: &[&Term]| -> Vec<String> {
        group.iter().filter(|term| !repeats(term)).map(|term| term.text().to_owned()).collect()
    };
    let own: Vec<Vec<String>> = groups.iter().map(|group| own(group)).collect();
    let middle = own.get(1..own.len() - 1).unwrap_or_default();
    let count = middle.iter().position(|group| group.len() != 1).map_or(own.len(), |at| at + 2);
    let sides = own.iter().take(count.min(MAX_SIDES)).enumerate();
    // Next to the join are the terms that are compared; what precedes or follows them is shared.
    sides
        .map(|(at, group)| if at == 0 { group.last() } else { group.first() }.cloned().into_iter().collect())
        .collect()
}

/// Whether the text between two terms joins the sides of a comparison.
fn joins_sides(between: &str) -> bool {
    let between = between.trim();
    let Some(before) = JOINS.iter().find_map(|join| between.strip_suffix(join)) else { return false };
    // 〜すると and 〜いと state a condition; as okurigana, and in とき and 場合, Hiragana belongs to the term.
    let is_condition = between.ends_with('と') && before.ends_with(['る', 'す', 'い', 'だ']);
    let belongs = |character: char| is_hiragana(character) || "時際方人者場合前後中 ]".contains(character);
    !is_condition && before.chars().count() <= 8 && before.chars().all(belongs)
}

/// `AはBとどう違う`: は stands between the sides, and the second is followed by と.
fn contrasts(normal: &str, between: &str, term: &Term) -> bool {
    let after = normal.get(term.range.end..).unwrap_or_default();
    let after = after.trim_start_matches(is_okurigana_like);
    let follows = [
        "とどう",
        "と何が",
        "とどこが",
        "とは何が",
        "とはどう",
        "と違",
        "とどのように",
        "と比べ",
        "と比較",
        "より",
    ];
    matches!(between.trim(), "は" | "が") && follows.iter().any(|follow| after.starts_with(follow))
}

const fn is_okurigana_like(character: char) -> bool {
    is_hiragana(character) && !matches!(character, 'と' | 'よ')
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
