//! Segmentation of a Japanese question into terms without a dictionary: by script, and by function words.

use std::ops::Range;
use std::sync::LazyLock;

use annai_language::{JAPANESE, UNITS};

use crate::query::script::{Script, script};
use crate::query::terms::Role;
use crate::query::words::{function_word_prefixes, function_word_suffixes, is_okurigana, is_stop_noun};

/// Consecutive characters of one script, and their position in bytes.
struct Run {
    script: Script,
    characters: Vec<char>,
    start: usize,
}

impl Run {
    fn end(&self) -> usize {
        self.start + self.characters.iter().map(|character| character.len_utf8()).sum::<usize>()
    }

    fn byte(&self, character: usize) -> usize {
        self.start
            + self.characters.iter().take(character).map(|character| character.len_utf8()).sum::<usize>()
    }
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((start, character)) = characters.next() {
        let is_letter = |letter: Option<&char>| letter.is_some_and(char::is_ascii_alphabetic);
        let before = runs.last().and_then(|run| run.characters.last());
        // The hyphen of `wi-fi` belongs to the word.
        let joins =
            character == '-' && is_letter(before) && is_letter(characters.peek().map(|(_, next)| next));
        let script = if joins { Script::Word } else { script(character) };
        match runs.last_mut() {
            Some(run) if run.script == script => run.characters.push(character),
            _ => runs.push(Run { script, characters: vec![character], start }),
        }
    }
    runs
}

/// A question whose connectives are written without Kanji, so that they separate terms.
pub fn with_plain_connectives(text: String) -> String {
    JAPANESE.connectives.iter().fold(text, |text, (connective, plain)| match text.contains(connective) {
        true => text.replace(connective, plain),
        false => text,
    })
}

/// The counters: units and other words that form one term with the number before them, the longest first.
static COUNTERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let units = UNITS.iter().flat_map(|unit| &unit.joined);
    let mut counters: Vec<_> = units.chain(&JAPANESE.counters).map(String::as_str).collect();
    counters.sort_by_key(|counter| std::cmp::Reverse(counter.len()));
    counters
});

/// The counter that a text begins with; empty where it begins with none.
fn counter_at(text: &str) -> &'static str {
    COUNTERS.iter().find(|counter| text.starts_with(**counter)).copied().unwrap_or_default()
}

/// The terms of a question without spaces, as byte ranges, and the role of each.
pub fn terms(text: &str) -> Vec<(Range<usize>, Role)> {
    let runs = runs(text);
    let mut found: Vec<(Range<usize>, Role)> = Vec::new();
    // The term that is being assembled.
    let mut open: Option<Range<usize>> = None;
    let mut close = |open: &mut Option<Range<usize>>, role| {
        found.extend(open.take().map(|range| (range, role)));
    };
    let mut index = 0;
    // The end of what an earlier term has already consumed, which may lie inside a run.
    let mut taken = 0;
    while let Some(run) = runs.get(index) {
        let start = run.start.max(taken);
        let next = runs.get(index + 1);
        match run.script {
            Script::Word if run.characters.iter().all(char::is_ascii_digit) => {
                let after = text.get(run.end()..).unwrap_or_default();
                let unit = counter_at(after);
                let ordinal = text.get(..run.start).is_some_and(|before| before.ends_with('第'));
                let first = if ordinal { run.start - '第'.len_utf8() } else { run.start };
                if let Some(open) = &mut open {
                    open.end = open.end.min(first);
                }
                close(&mut open, Role::Soft);
                let end = run.end() + unit.len();
                open = Some(first..end);
                close(&mut open, if unit.is_empty() && !ordinal { Role::Soft } else { Role::Must });
                taken = end;
            }
            Script::Kanji if run.characters.first() == Some(&'何') && start == run.start => {
                // 何日, 何回: this is what the question asks, not what to search for.
                close(&mut open, Role::Soft);
                let after = start + '何'.len_utf8();
                let rest = text.get(after..).unwrap_or_default();
                taken = after + counter_at(rest).len();
                if run.end() > taken {
                    open = Some(taken..run.end());
                }
            }
            Script::Word | Script::Katakana | Script::Kanji if run.end() > start => match &mut open {
                Some(open) if open.end == start => open.end = run.end(),
                _ => {
                    close(&mut open, Role::Soft);
                    open = Some(start..run.end());
                }
            },
            Script::Hiragana if run.end() > start => {
                let skipped = run.characters.iter().take_while({
                    let mut at = run.start;
                    move |character| {
                        let before = at < start;
                        at += character.len_utf8();
                        before
                    }
                });
                let from = skipped.count();
                segment_hiragana(run, from, next, &mut open, &mut close);
            }
            Script::Other => close(&mut open, Role::Soft),
            _ => {}
        }
        index += 1;
    }
    close(&mut open, Role::Soft);
    found.retain(|(range, _)| {
        range.start < range.end
            && text.get(range.clone()).is_some_and(|term| !is_stop_noun(term) && !is_one_kana(term))
    });
    found
}

fn is_one_kana(term: &str) -> bool {
    let mut characters = term.chars();
    characters.next().is_some_and(|character| script(character) == Script::Hiragana)
        && characters.next().is_none()
}

/// Decides which part of a run of Hiragana is function words and which belongs to a term.
fn segment_hiragana(
    run: &Run,
    from: usize,
    next: Option<&Run>,
    open: &mut Option<Range<usize>>,
    close: &mut impl FnMut(&mut Option<Range<usize>>, Role),
) {
    let characters = run.characters.get(from..).unwrap_or_default();
    let at = |character: usize| run.byte(from + character);
    let tails = function_word_suffixes(characters);
    let after_kanji = open.as_ref().is_some_and(|open| open.end == at(0));
    let next_kanji = next.is_some_and(|next| next.script == Script::Kanji);
    let joins = |from: usize| tails.get(from).copied().unwrap_or_default();
    if after_kanji {
        // A single okurigana between Kanji that is neither a particle nor ends a verb: 申し込み, 取り消し.
        if let ([only], true) = (characters, next_kanji)
            && is_okurigana(*only)
            && !"にでとなのをはがもへてたるうくぐすつむぶ".contains(*only)
        {
            if let Some(open) = open {
                open.end = run.end();
            }
            return;
        }
        // Okurigana, then function words. A verb of one Kanji keeps its first okurigana, which tells it from a noun. も
        // alone is a particle, and with more okurigana it is not: 見積もり, 積もる.
        let is_ending = |part: &[char]| match part {
            ['も', rest @ ..] => !rest.is_empty() && rest.iter().all(|character| is_okurigana(*character)),
            part => part.iter().all(|character| is_okurigana(*character)),
        };
        let inflected =
            (0..=3).find(|count| characters.get(..*count).is_some_and(is_ending) && joins(*count));
        if let Some(count) = inflected {
            let short = open.as_ref().is_some_and(|open| open.end - open.start <= '漢'.len_utf8());
            let is_polite = count == 0 && matches!(characters, ['ま', 'す' | 'せ' | 'し', ..]);
            match open.as_mut().filter(|_| short) {
                Some(open) if count > 0 => open.end = at(1),
                // 出 alone would mean anything: 出ます is a verb.
                Some(open) if is_polite => open.end = at(2),
                _ => {}
            }
            close(open, Role::Soft);
            return;
        }
    } else if joins(0) {
        return close(open, Role::Soft);
    }
    // A word of its own, with function words before and after it.
    let heads = function_word_prefixes(characters);
    let latest = if after_kanji { characters.len() } else { 0 };
    let starts = (0..=latest).rev().filter(|start| heads.get(*start).copied().unwrap_or_default());
    let word = starts.into_iter().find_map(|start| {
        let first = characters.get(start)?;
        // No Japanese word begins with these, and none of two characters ends in these particles: ごみは is about ごみ.
        let is_inner = "んっゃゅょぁぃぅぇぉらりるれろ".contains(*first);
        let ends_in_particle = |end: usize| {
            end == start + 2 && characters.get(end - 1).is_some_and(|last| "はをへ".contains(*last))
        };
        let end = (start + 2..=characters.len()).find(|end| joins(*end) && !ends_in_particle(*end))?;
        (!is_inner).then_some(start..end)
    });
    match word {
        Some(word) => {
            if word.start > 0 || !after_kanji {
                close(open, Role::Soft);
            }
            let start = open.as_ref().map_or(at(word.start), |open| open.start);
            *open = Some(start..at(word.end));
            if at(word.end) < run.end() {
                close(open, Role::Soft);
            }
        }
        None => close(open, Role::Soft),
    }
}

#[cfg(test)]
#[path = "japanese_tests.rs"]
mod tests;
