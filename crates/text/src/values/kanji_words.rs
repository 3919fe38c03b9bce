//! Words that begin with a Kanji numeral and what looks like a unit, and are no amounts: 十分な, 一人一人, 六本木.

use super::numerals::Number;
use super::units::Unit;

/// Words that are no amounts, as they begin.
const WORDS: &str = "一人一人 一人ひとり 一人前 一円 一つ 一枚岩 一回り 一件落着 一日の長 一日一 一名様 一分一秒 \
    一泊二日 二人三脚 二日酔 二つ返事 二部 三日月 三日坊主 三日市 四日市 五日市 五分五分 六日町 \
    七日町 八日市 十日町 十人十色 十月十日 百人一首 百日紅 百分率 千歳 千分率 千人針 八百 万年 \
    四つ葉 三つ巴 四つ角";
/// The Kanji after which 一 belongs to the word before it: 同一人物, 統一日.
const BEFORE_ONE: &str = "同統唯均単画択随専逐純万";

/// What follows 十分 when it is ten minutes rather than "enough".
const AFTER_TEN_MINUTES: &str =
    "間 以内 以上 以下 未満 前 後 ごと 毎 おき 程度 ほど 経過 休憩 の休憩 を超 単位 ずつ";

/// The length of the word that a Kanji number with a unit is, when it is no amount. `text` begins with the number, `before`
/// is the letter before it, and `len` is the length of the number and its unit.
pub fn word_at(text: &str, before: Option<char>, number: &Number, unit: &Unit, len: usize) -> Option<usize> {
    let written = text.get(..number.len).unwrap_or_default();
    let whole = text.get(..len).unwrap_or_default();
    let after = text.get(len..).unwrap_or_default();
    // A known word may be longer than the number: 一人一人.
    let known = WORDS.split(' ').find(|word| text.starts_with(word) && word.len() > number.len);
    if let Some(word) = known {
        return Some(word.len());
    }
    // A placeholder: 〇日以内.
    let is_placeholder = written.chars().all(|ch| ch == '〇');
    let is_end_of_word =
        written.starts_with('一') && before.is_some_and(|before| BEFORE_ONE.contains(before));
    // One formal numeral alone is a word, such as 参 and 拾; in amounts of money it is a numeral.
    let is_formal = matches!(written, "参" | "參" | "伍" | "陸" | "漆" | "捌" | "肆" | "拾" | "玖");
    let is_enough = whole == "十分" && !AFTER_TEN_MINUTES.split(' ').any(|next| after.starts_with(next));
    (is_placeholder || is_end_of_word || is_enough || (is_formal && unit.name != "円")).then_some(len)
}
