//! The base of a compound: 休職中 is about 休職, and 支払方法 about 支払.

use super::japanese::without_okurigana;
use super::terms::FormKind;
use super::tokens::is_hiragana;
use crate::index::{Class, class};

/// The weight of the base of a term that only adds a time or a state to it.
const STATE_WEIGHT: f32 = 0.6;
/// The weight of the base of a compound with a noun that alone would be no term.
const COMPOUND_WEIGHT: f32 = 0.45;
/// The weight of a base whose meaning the suffix changes.
const FRAGMENT_WEIGHT: f32 = 0.3;
/// The minimum number of characters of a base: one Kanji alone would mean anything.
const MIN_BASE_CHARS: usize = 2;

/// Suffixes that add a time or a state, the longer first: what is said of the base holds for the term.
const STATES: &[&str] = &[
    "期間中",
    "最中",
    "当日",
    "直後",
    "直前",
    "前後",
    "以降",
    "以前",
    "以後",
    "済み",
    "済",
    "中",
    "時",
    "後",
    "前",
    "際",
    "様",
];
/// Suffixes that make another word, which the base is only a part of: 契約者, 安全性.
const FRAGMENTS: &[&str] = &["者", "的", "性", "化", "用", "先", "側", "別", "等"];

/// Nouns that tell how to answer where they end a question as a word of their own, and mean nothing for the search. In
/// a compound they are a part of a term.
pub const ENDING_NOUNS: &[&str] = &[
    "方法",
    "やり方",
    "仕方",
    "手順",
    "必要",
    "可能",
    "条件",
    "理由",
    "違い",
    "違う",
    "違",
    "相違",
    "相違点",
    "差異",
    "比較",
    "意味",
    "場合",
    "時",
    "際",
    "事",
    "件",
    "点",
    "詳細",
    "一覧",
    "有無",
    "可否",
    "要否",
    "大丈夫",
    "meaning",
    "mean",
    "means",
    "difference",
    "differences",
];

/// The base of a term in a script without spaces, with its weight and kind.
pub fn base_of(term: &str) -> Option<(String, f32, FormKind)> {
    if !term.chars().any(|character| class(character) == Class::Unspaced) {
        return None;
    }
    let compound = ENDING_NOUNS.iter().filter(|noun| noun.chars().count() > 1);
    let base = compound.into_iter().find_map(|noun| base_before(term, noun));
    if let Some(base) = base {
        return Some((base, COMPOUND_WEIGHT, FormKind::Base));
    }
    let groups =
        [(STATES, STATE_WEIGHT, FormKind::Synonym), (FRAGMENTS, FRAGMENT_WEIGHT, FormKind::Fragment)];
    groups.into_iter().find_map(|(suffixes, weight, kind)| {
        let base = suffixes.iter().find_map(|suffix| base_before(term, suffix))?;
        Some((base, weight, kind))
    })
}

/// The base before a suffix, without its okurigana: 申し込み後 is about 申込.
fn base_before(term: &str, suffix: &str) -> Option<String> {
    let base = term.strip_suffix(suffix)?;
    let stem = base.trim_end_matches(is_hiragana);
    // A base that is written in Hiragana alone has no stem.
    let base = if stem.is_empty() { base } else { stem };
    let is_long = base.chars().count() >= MIN_BASE_CHARS;
    is_long.then(|| without_okurigana(base).unwrap_or_else(|| base.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_has_a_base() {
        for (term, expected) in [
            ("休職中", Some(("休職", FormKind::Synonym))),
            ("入院時", Some(("入院", FormKind::Synonym))),
            ("退職後", Some(("退職", FormKind::Synonym))),
            ("契約前", Some(("契約", FormKind::Synonym))),
            ("試用期間中", Some(("試用", FormKind::Synonym))),
            ("使用済み", Some(("使用", FormKind::Synonym))),
            ("使用済", Some(("使用", FormKind::Synonym))),
            ("申し込み後", Some(("申込", FormKind::Synonym))),
            ("ダウンロード中", Some(("ダウンロード", FormKind::Synonym))),
            ("支払方法", Some(("支払", FormKind::Base))),
            ("支払い方法", Some(("支払", FormKind::Base))),
            ("リセット手順", Some(("リセット", FormKind::Base))),
            ("利用可能", Some(("利用", FormKind::Base))),
            ("契約者", Some(("契約", FormKind::Fragment))),
            ("安全性", Some(("安全", FormKind::Fragment))),
            ("申請用", Some(("申請", FormKind::Fragment))),
            ("勤務先", Some(("勤務", FormKind::Fragment))),
            // One character alone would mean anything.
            ("最後", None),
            ("名前", None),
            ("臨時", None),
            ("実際", None),
            ("方法", None),
            ("給付金", None),
            ("refund", None),
        ] {
            let base = base_of(term).map(|(base, _, kind)| (base, kind));
            assert_eq!(base, expected.map(|(base, kind)| (base.to_owned(), kind)), "{term}");
        }
    }

    #[test]
    fn a_base_weighs_less_than_its_term() {
        let weight = |term: &str| base_of(term).unwrap().1;
        assert!(1.0 > weight("休職中") && weight("休職中") > weight("支払方法"));
        assert!(weight("支払方法") > weight("契約者"));
    }
}
