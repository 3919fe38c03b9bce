//! Japanese words that direct whoever answers: 教えてください, 詳しく, お願いします.

use std::ops::Range;

/// Japanese verbs that direct where they end a clause, with or without a polite ending.
const STEMS: &[&str] = &[
    "教えて",
    "おしえて",
    "説明して",
    "解説して",
    "調べて",
    "しらべて",
    "探して",
    "検索して",
    "挙げて",
    "列挙して",
    "まとめて",
    "要約して",
    "示して",
    "見せて",
    "紹介して",
    "案内して",
    "抜き出して",
    "抽出して",
    "書き出して",
    "知らせて",
    "答えて",
    "回答して",
    "リストアップして",
    "ピックアップして",
    "一覧にして",
    "表にして",
    "箇条書きにして",
    "知りたい",
    "しりたい",
    "聞きたい",
    "伺いたい",
    "教わりたい",
    "お願いします",
    "お願いいたします",
    "お願い致します",
    "おねがいします",
    "すみません",
    "すいません",
    "ありがとう",
    "下さい",
    "ください",
    "如何",
];
/// The same as nouns, which direct only with a polite ending: お知らせ alone is a notice.
const POLITE_STEMS: &[&str] =
    &["ご教示", "ご教授", "ご説明", "お教え", "ご紹介", "ご案内", "お知らせ", "ご回答", "お調べ", "お聞かせ"];
/// Polite endings, the longer first where one begins with another.
const ENDINGS: &[&str] = &[
    "いただけませんか",
    "いただけますか",
    "いただけると幸いです",
    "いただけると助かります",
    "いただけると嬉しいです",
    "いただきたい",
    "いただけない",
    "いただけ",
    "頂けませんか",
    "頂けますか",
    "頂けると幸いです",
    "頂きたい",
    "もらえませんか",
    "もらえますか",
    "もらえない",
    "もらえる",
    "もらいたい",
    "くれませんか",
    "くれますか",
    "くれない",
    "くれる",
    "くれ",
    "ください",
    "下さい",
    "ほしい",
    "欲しい",
    "願います",
    "お願いします",
    "お願いいたします",
    "お願い致します",
    "おねがいします",
    "と思っています",
    "と思います",
    "と思う",
    "ちょうだい",
    "頂戴",
    "ございました",
    "ございます",
    "のですが",
    "んですが",
    "のです",
    "んです",
    "のだが",
    "でしょうか",
    "ですか",
    "です",
    "ませ",
    "みて",
    "が",
    "か",
    "ね",
    "よ",
    "な",
];
/// Adverbs that say how to answer, before a word that directs or at the end of a clause.
const ADVERBS: &[&str] = &[
    "詳しく",
    "くわしく",
    "分かりやすく",
    "わかりやすく",
    "簡単に",
    "簡潔に",
    "具体的に",
    "手短に",
    "丁寧に",
    "箇条書きで",
    "一覧で",
    "どうか",
    "どうぞ",
    "よろしく",
    "宜しく",
    "ぜひ",
];

/// The words that direct in Japanese, as byte ranges.
pub fn japanese_ranges(normal: &str) -> Vec<Range<usize>> {
    if normal.is_ascii() {
        return Vec::new();
    }
    let mut ranges = Vec::new();
    for (stems, needs_ending) in [(STEMS, false), (POLITE_STEMS, true)] {
        for (start, stem) in stems.iter().flat_map(|stem| normal.match_indices(stem)) {
            let bare = start + stem.len();
            let end = after_endings(normal, bare);
            let ending = normal.get(bare..end).unwrap_or_default();
            let is_request = ending.contains("ください") || ending.contains("下さい");
            if (is_clause_end(normal, end) || is_request) && (end > bare || !needs_ending) {
                ranges.push(before_adverbs(normal, start)..end);
            }
        }
    }
    // An adverb that ends a clause directs too: the verb is left out.
    for (start, adverb) in ADVERBS.iter().flat_map(|adverb| normal.match_indices(adverb)) {
        let end = start + adverb.len();
        if is_clause_end(normal, end) {
            ranges.push(before_adverbs(normal, start)..end);
        }
    }
    ranges
}

/// The maximum number of endings, or of adverbs and particles, that belong to one word that directs; nobody says more.
const MAX_CHAIN: usize = 8;

/// The position behind the polite endings that begin here.
fn after_endings(normal: &str, mut at: usize) -> usize {
    for _ in 0..MAX_CHAIN {
        let rest = normal.get(at..).unwrap_or_default();
        match ENDINGS.iter().find(|ending| rest.starts_with(**ending)) {
            Some(ending) => at += ending.len(),
            None => break,
        }
    }
    at
}

/// Particles that lead from the subject to a word that directs.
const PARTICLES: &[&str] = &["について", "に関して", "のことを", "を"];

/// The position before the adverbs and particles that end here.
fn before_adverbs(normal: &str, mut at: usize) -> usize {
    for _ in 0..MAX_CHAIN {
        let before = normal.get(..at).unwrap_or_default().trim_end_matches([' ', '、']);
        match ADVERBS.iter().chain(PARTICLES).find(|adverb| before.ends_with(**adverb)) {
            Some(adverb) => at = before.len() - adverb.len(),
            None => break,
        }
    }
    at
}

fn is_clause_end(normal: &str, at: usize) -> bool {
    let next = normal.get(at..).and_then(|rest| rest.chars().next());
    next.is_none_or(|next| " 、。!?.,;:)]".contains(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_hold_normalized_words_each_once() {
        for list in [STEMS, POLITE_STEMS, ENDINGS, ADVERBS, PARTICLES] {
            let words: std::collections::HashSet<_> = list.iter().collect();
            assert_eq!(words.len(), list.len());
            assert!(list.iter().all(|word| *word == annai_text::normalize_text(word)));
        }
        // An ending behind one that it begins with would never be found.
        for (at, ending) in ENDINGS.iter().enumerate() {
            assert!(!ENDINGS[..at].iter().any(|earlier| ending.starts_with(earlier)), "{ending}");
        }
    }
}
