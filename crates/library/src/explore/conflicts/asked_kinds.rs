//! The kinds of values that a question asks for, by its question words or by a noun that names what is measured, and the
//! terms that say what it is about.

use super::super::query::Query;
use super::super::terms::Term;
use super::super::tokens::is_hiragana;
use super::super::wanted::Wanted;
use super::claims::DURATION;
use super::everyday_values::{FREQUENCY, WEEKDAY};

/// What is asked about a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedKinds {
    /// The kinds of values; empty where the question names none.
    pub kinds: Wanted,
    /// Whether question words ask for them, rather than a noun.
    pub is_explicit: bool,
    /// The terms that the question is about, as a bit set: without those that only name the measure or its bound.
    pub subject: u64,
    /// The last noun of a Japanese question, which says what of the subject is asked for: 延長 in 貸出の延長. Empty in other
    /// questions.
    pub head: u64,
}

/// A deadline is a day, an hour, or a length of time after something.
const DEADLINE: Wanted = Wanted::DURATION.with(Wanted::DATE).with(Wanted::TIME);

/// Nouns that name a measure and nothing else, and the kind of its values. `How large` and `size` ask for the same.
const MEASURES: &[(Wanted, &str)] = &[
    (
        Wanted::SIZE,
        "size sizes weight length height width capacity volume temperature speed 重さ 重量 大きさ 容量 温度 速度 高さ 長さ サイズ",
    ),
    (
        Wanted::DURATION,
        "duration period validity interval retention 期間 日数 年数 間隔 頻度 有効期間 保存期間 保管期間",
    ),
    (DEADLINE, "deadline 期限 締切 納期 有効期限"),
    (Wanted::MONEY, "price cost costs amount 値段 金額 価格 上限額 限度額"),
    (Wanted::COUNT, "number count 人数 回数 件数 個数 台数 枚数 冊数"),
    (Wanted::AGE, "age 年齢"),
    (Wanted::PERCENT, "percentage rate 割合 比率 率"),
];
/// The ends of nouns that name what is paid or how long something takes, and are a subject of their own: the deposit, the
/// notice period, 年会費.
const ATTRIBUTES: &[(Wanted, &str)] = &[
    (
        Wanted::MONEY,
        "deposit budget fee fees fare fine rent salary wage charge allowance compensation 料 料金 費 代 額 手当 時給 日給 月給 家賃 敷金 保証金 違約金 予算",
    ),
    (Wanted::DURATION, "notice warranty probation timeout 期間 期限 保証"),
    (Wanted::SIZE, "水温 室温 気温 容量 速度"),
    (Wanted::COUNT, "attempts retries"),
];
/// Words that ask for a bound of a value, which the value states in other words.
const BOUNDS: &str = "maximum minimum max min limit limits 上限 下限 最大 最小 最低 最高 限度";
/// Units of time that make a number of things a length of time: `how many vacation days`.
const TIMES: &str = "day days week weeks month months hour hours minute minutes year years";

impl AskedKinds {
    /// What a question asks for.
    pub fn of(query: &Query) -> Self {
        let is_in = |list: &str, term: &Term| list.split(' ').any(|word| word == term.text());
        let ends_in = |list: &str, term: &Term| {
            list.split(' ').any(|word| match word.is_ascii() {
                true => word == term.text(),
                false => term.text().ends_with(word),
            })
        };
        let mut kinds = query.wanted.only(Wanted::MEASURED);
        let is_explicit = !kinds.is_empty();
        for term in &query.terms {
            if kinds.has_any(Wanted::COUNT) && is_in(TIMES, term) {
                kinds = kinds.with(Wanted::DURATION);
            }
        }
        if !is_explicit {
            let lists = MEASURES.iter().filter(|(_, list)| query.terms.iter().any(|term| is_in(list, term)));
            let ends =
                ATTRIBUTES.iter().filter(|(_, list)| query.terms.iter().any(|term| ends_in(list, term)));
            kinds = lists.chain(ends).fold(kinds, |kinds, (kind, _)| kinds.with(*kind));
        }
        let is_measure = |term: &Term| {
            MEASURES.iter().any(|(_, list)| is_in(list, term))
                || is_in(BOUNDS, term)
                || is_in(TIMES, term)
                || term.text() == "per"
        };
        let deciding = query.deciding_terms();
        let terms = query.terms.iter().enumerate();
        let subject =
            terms.filter(|(_, term)| !is_measure(term)).fold(0, |bits, (index, _)| bits | 1_u64 << index)
                & deciding;
        let subject = if subject == 0 { deciding } else { subject };
        let is_noun = |term: &Term| !term.text().is_ascii() && !term.text().chars().any(is_hiragana);
        // One character, such as の, stands between the two.
        let follows = |term: &Term| {
            let is_before = |other: &Term| other.range.end + 'の'.len_utf8() == term.range.start;
            query.terms.iter().any(is_before)
        };
        let nouns = (0..).zip(&query.terms).filter(|(index, term)| {
            subject >> index & 1 == 1
                && is_noun(term)
                && follows(term)
                && term.text().chars().nth(1).is_some()
        });
        let head = nouns.last().map_or(0, |(index, _): (u32, _)| 1 << index);
        Self { kinds, is_explicit, subject, head }
    }

    /// Whether values of a dimension are asked for.
    pub fn has(&self, dimension: &str) -> bool {
        let kind = match dimension {
            DURATION => Wanted::DURATION,
            FREQUENCY => Wanted::DURATION.with(Wanted::COUNT),
            WEEKDAY => Wanted::DATE,
            unit => Wanted::of_unit(unit),
        };
        self.kinds.has_any(kind)
    }
}

#[cfg(test)]
#[path = "asked_kinds_tests.rs"]
mod tests;
