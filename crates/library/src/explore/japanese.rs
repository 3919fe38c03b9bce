//! Where the terms of a Japanese question begin and end, without a dictionary: by script, and by the words that join.

use std::ops::Range;

use super::terms::Role;
use super::words::{inflects, is_empty_noun, joining_heads, joining_tails};

/// What a letter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Kanji,
    Katakana,
    Word,
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        '\u{3041}'..='\u{3096}' => Script::Hiragana,
        '\u{30a1}'..='\u{30fa}' | 'ー' => Script::Katakana,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '々'
        | '〇'
        | '〆'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Script::Kanji,
        _ if letter.is_alphanumeric() => Script::Word,
        _ => Script::Other,
    }
}

/// Letters in a row of one script, with where they stand in bytes.
struct Run {
    script: Script,
    letters: Vec<char>,
    start: usize,
}

impl Run {
    fn end(&self) -> usize {
        self.start + self.letters.iter().map(|letter| letter.len_utf8()).sum::<usize>()
    }

    fn byte(&self, letter: usize) -> usize {
        self.start + self.letters.iter().take(letter).map(|letter| letter.len_utf8()).sum::<usize>()
    }
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (start, letter) in text.char_indices() {
        match runs.last_mut() {
            Some(run) if run.script == script(letter) => run.letters.push(letter),
            _ => runs.push(Run { script: script(letter), letters: vec![letter], start }),
        }
    }
    runs
}

/// Units that a number before them belongs to, the longer first.
const UNITS: &[&str] = &[
    "か月", "ヶ月", "カ月", "箇月", "ケ月", "時間", "週間", "年間", "日間", "万円", "千円", "億円", "年度",
    "分間", "か国", "ヶ国", "日", "年", "月", "円", "歳", "才", "回", "人", "名", "件", "度", "分", "秒",
    "時", "週", "条", "章", "節", "項", "号", "編", "部", "版", "階", "割", "倍", "台", "本", "枚", "泊",
    "口", "級", "型", "個", "番", "代", "世紀",
];

/// The terms of a question without spaces, in bytes of it, and how much each matters.
pub fn terms(text: &str) -> Vec<(Range<usize>, Role)> {
    let runs = runs(text);
    let mut found: Vec<(Range<usize>, Role)> = Vec::new();
    // The term that is being put together.
    let mut open: Option<Range<usize>> = None;
    let mut close = |open: &mut Option<Range<usize>>, role| {
        found.extend(open.take().map(|range| (range, role)));
    };
    let mut index = 0;
    // Where a run was already taken in part.
    let mut taken = 0;
    while let Some(run) = runs.get(index) {
        let start = run.start.max(taken);
        let next = runs.get(index + 1);
        match run.script {
            Script::Word if run.letters.iter().all(char::is_ascii_digit) => {
                let after = text.get(run.end()..).unwrap_or_default();
                let unit = UNITS.iter().find(|unit| after.starts_with(**unit)).copied().unwrap_or_default();
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
            Script::Kanji if run.letters.first() == Some(&'何') && start == run.start => {
                // 何日, 何回: what is asked for, not what to look for.
                close(&mut open, Role::Soft);
                let after = start + '何'.len_utf8();
                let rest = text.get(after..).unwrap_or_default();
                let unit = UNITS.iter().find(|unit| rest.starts_with(**unit)).map_or(0, |unit| unit.len());
                taken = after + unit;
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
                let skipped = run.letters.iter().take_while({
                    let mut at = run.start;
                    move |letter| {
                        let before = at < start;
                        at += letter.len_utf8();
                        before
                    }
                });
                let from = skipped.count();
                hiragana(run, from, next, &mut open, &mut close);
            }
            Script::Other => close(&mut open, Role::Soft),
            _ => {}
        }
        index += 1;
    }
    close(&mut open, Role::Soft);
    found.retain(|(range, _)| {
        range.start < range.end
            && text.get(range.clone()).is_some_and(|term| !is_empty_noun(term) && !is_one_kana(term))
    });
    found
}

fn is_one_kana(term: &str) -> bool {
    let mut letters = term.chars();
    letters.next().is_some_and(|letter| script(letter) == Script::Hiragana) && letters.next().is_none()
}

/// Decides what of a run of Hiragana joins and what belongs to a term.
fn hiragana(
    run: &Run,
    from: usize,
    next: Option<&Run>,
    open: &mut Option<Range<usize>>,
    close: &mut impl FnMut(&mut Option<Range<usize>>, Role),
) {
    let letters = run.letters.get(from..).unwrap_or_default();
    let at = |letter: usize| run.byte(from + letter);
    let tails = joining_tails(letters);
    let after_kanji = open.as_ref().is_some_and(|open| open.end == at(0));
    let next_kanji = next.is_some_and(|next| next.script == Script::Kanji);
    let joins = |from: usize| tails.get(from).copied().unwrap_or_default();
    if after_kanji {
        // One letter between Kanji that inflects and does not join: 申し込み, 取り消し.
        if let ([only], true) = (letters, next_kanji)
            && inflects(*only)
            && !"にでとなのをはがもへてたる".contains(*only)
        {
            if let Some(open) = open {
                open.end = run.end();
            }
            return;
        }
        // What inflects the Kanji, then what joins. The first letter tells a verb of one Kanji from a noun.
        let inflected = (0..=3).find(|count| {
            letters.get(..*count).is_some_and(|part| part.iter().all(|letter| inflects(*letter)))
                && joins(*count)
        });
        if let Some(count) = inflected {
            let short = open.as_ref().is_some_and(|open| open.end - open.start <= '漢'.len_utf8());
            if let (true, true, Some(open)) = (short, count > 0, open.as_mut()) {
                open.end = at(1);
            }
            close(open, Role::Soft);
            return;
        }
    } else if joins(0) {
        return close(open, Role::Soft);
    }
    // A word of its own, with joining words before and behind it.
    let heads = joining_heads(letters);
    let latest = if after_kanji { letters.len() } else { 0 };
    let starts = (0..=latest).rev().filter(|start| heads.get(*start).copied().unwrap_or_default());
    let word = starts.into_iter().find_map(|start| {
        let first = letters.get(start)?;
        let small = matches!(first, 'ん' | 'っ' | 'ゃ' | 'ゅ' | 'ょ' | 'ぁ' | 'ぃ' | 'ぅ' | 'ぇ' | 'ぉ');
        let end = (start + 2..=letters.len()).find(|end| joins(*end))?;
        (!small).then_some(start..end)
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

/// A term without what inflects its Kanji: `支払い` as `支払`, `申し込み` as `申込`. None where that is the same or nothing.
pub fn without_inflections(term: &str) -> Option<String> {
    let letters: Vec<_> = term.chars().collect();
    let kanji = letters.iter().filter(|letter| script(**letter) == Script::Kanji).count();
    let kana = letters.iter().filter(|letter| script(**letter) == Script::Hiragana).count();
    let alternates = letters.first().is_some_and(|letter| script(*letter) == Script::Kanji)
        && letters.windows(2).all(|pair| !matches!(pair, [one, other] if script(*one) == Script::Hiragana && script(*other) == Script::Hiragana));
    let inflected = letters.iter().all(|letter| match script(*letter) {
        Script::Kanji => true,
        Script::Hiragana => inflects(*letter),
        _ => false,
    });
    (kanji >= 2 && kana >= 1 && alternates && inflected)
        .then(|| letters.into_iter().filter(|letter| script(*letter) == Script::Kanji).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        terms(text).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn questions_fall_into_their_terms() {
        for (question, expected) in [
            ("がん診断給付金の対象外になる条件", &["がん診断給付金", "対象外", "条件"][..]),
            ("保険料の払込みが遅れたらいつ失効しますか", &["保険料", "払込", "遅れ", "失効"]),
            ("足のけがで通院したときの給付", &["足", "けが", "通院", "給付"]),
            ("第3条の支払事由とは何ですか", &["第3条", "支払事由"]),
            ("30日以内に申し込みを取り消したい", &["30日", "以内", "申し込", "取り消"]),
            ("胃がんと乳がんの違い", &["胃がん", "乳がん", "違い"]),
            ("サーバーを再起動する方法", &["サーバー", "再起動", "方法"]),
            ("くすりの代金について", &["くすり", "代金"]),
            ("返品は何日以内ですか", &["返品", "以内"]),
        ] {
            assert_eq!(found(question), expected, "{question}");
        }
    }

    #[test]
    fn inflections_come_off() {
        assert_eq!(without_inflections("申し込み").as_deref(), Some("申込"));
        assert_eq!(without_inflections("支払い").as_deref(), Some("支払"));
        assert_eq!((without_inflections("胃がん"), without_inflections("給付")), (None, None));
    }

    proptest! {
        #[test]
        fn terms_lie_in_order_within_the_text(text in "[あ-んア-ヶ一二三日月年第条保険0-9a-z]{0,24}") {
            let mut last = 0;
            for (range, _) in terms(&text) {
                prop_assert!(range.start >= last && text.get(range.clone()).is_some_and(|term| !term.is_empty()));
                last = range.end;
            }
        }
    }
}
