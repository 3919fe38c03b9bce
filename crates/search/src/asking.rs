//! Words that only ask (何日以内, いくら, how many). They are no terms; they tell the kind of fact that is wanted.

use std::ops::Range;

use super::tokens::{Token, is_hiragana, is_hiragana_only, longest_phrase_at, tokens, without};
use super::wanted::Wanted;

/// What a question asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The question without the words that only ask, normalized.
    pub text: String,
    /// The kind of fact that is wanted.
    pub wanted: Wanted,
}

impl Asked {
    /// Takes the words that only ask from a normalized question.
    pub fn of(normal: &str) -> Self {
        let mut asking = Asking { wanted: Wanted::default(), ranges: Vec::new() };
        asking.add_english(&tokens(normal));
        if !normal.is_ascii() {
            asking.add_counters(normal);
            asking.add_phrases(normal);
        }
        if asking.wanted.is_empty() {
            asking.wanted = wanted_by_last_noun(normal);
        }
        Self { text: without(normal, &asking.ranges), wanted: asking.wanted }
    }
}

struct Asking {
    wanted: Wanted,
    ranges: Vec<Range<usize>>,
}

const DAY: Wanted = Wanted::DURATION.with(Wanted::DATE);

/// Counters after 何, the longer first where one begins with another, and what they ask for.
const COUNTERS: &[(Wanted, &str)] = &[
    (Wanted::DURATION, "営業日 日間 週間 週 か月 ヶ月 カ月 ヵ月 箇月 ケ月 か年 年間 時間 分間 秒間 秒"),
    (Wanted::DATE, "曜日 月 世紀 年度"),
    (DAY, "日 年"),
    (Wanted::AGE, "歳児 歳 才"),
    (Wanted::MONEY, "億円 万円 千円 円 ドル ユーロ"),
    (Wanted::PERCENT, "パーセント % 割 ポイント"),
    (
        Wanted::SIZE,
        "平方メートル キロメートル キロバイト キログラム キロ メートル メガバイト メガ ギガバイト ギガ センチ ミリ グラム \
         トン リットル 度 °c バイト ヘクタール 坪 ワット kg km kb m cm mm g mb gb mbps gbps ml l w v",
    ),
    (Wanted::TIME.with(Wanted::DURATION), "分"),
    (Wanted::TIME, "時"),
    (Wanted::COUNT.with(Wanted::DURATION), "泊"),
    (
        Wanted::COUNT,
        "名様 人 名 回 件 個 台 本 枚 冊 箱 口 通り 種類 箇所 か所 ヶ所 カ所 文字 字 桁 ページ 行 階 倍 段階 番目 番 号 章 \
         条 項 世代 品目 科目 社 店 か国 ヶ国 頭 匹 羽 杯 組 部 点 位 票 戸 棟 両 便 等級 級",
    ),
];
/// What may follow a counter and belongs to it.
const AFTER_COUNTERS: &[&str] = &[
    "以内",
    "以上",
    "以下",
    "以降",
    "以前",
    "未満",
    "程度",
    "前後",
    "前",
    "後",
    "目",
    "間",
    "分",
    "頃",
    "位",
    "くらい",
    "ぐらい",
    "ごろ",
];

/// Phrases that ask, and what for. Those that are short and could be a part of another word are taken from the question
/// by the segmentation, as function words.
const PHRASES: &[(&str, Wanted, bool)] = &[
    ("いくら", Wanted::MONEY, true),
    ("いくつ", Wanted::COUNT.with(Wanted::AGE), true),
    ("いつから", Wanted::WHEN, true),
    ("いつまで", Wanted::WHEN, true),
    ("いつごろ", Wanted::WHEN, true),
    ("いつ頃", Wanted::WHEN, true),
    ("いつ", Wanted::WHEN, false),
    ("どのくらい", Wanted::QUANTITY, true),
    ("どのぐらい", Wanted::QUANTITY, true),
    ("どれくらい", Wanted::QUANTITY, true),
    ("どれぐらい", Wanted::QUANTITY, true),
    ("どれほど", Wanted::QUANTITY, true),
    ("どれだけ", Wanted::QUANTITY, true),
    ("どの程度", Wanted::QUANTITY, true),
    ("どこ", Wanted::PLACE, false),
    ("誰", Wanted::PERSON, false),
    ("だれ", Wanted::PERSON, false),
    ("どなた", Wanted::PERSON, true),
];

/// Nouns that ask where they end a question, and what for.
const NOUNS: &[(Wanted, &str)] = &[
    (Wanted::MONEY, "料金 金額 費用 値段 価格 手数料 単価 月額 年額 代金"),
    (Wanted::DURATION, "日数 期間 年数 時間"),
    (Wanted::WHEN, "期限 締切 締め切り 時期 開始日"),
    (Wanted::AGE, "年齢"),
    (Wanted::PERCENT, "割合 比率 利率 割増率 料率"),
    (Wanted::COUNT.with(Wanted::SIZE), "文字数 桁数"),
    (Wanted::COUNT, "回数 人数 件数 個数 台数"),
    (Wanted::SIZE, "高さ 長さ 広さ 重さ 距離 重量 面積 容量 温度"),
    (Wanted::TIME, "時刻 営業時間"),
    (Wanted::PLACE, "場所 所在地 住所"),
    (Wanted::MONEY, "price cost costs fee fees fare"),
    (Wanted::WHEN, "deadline"),
    (Wanted::PERCENT, "percentage"),
    (Wanted::AGE, "age"),
];

impl Asking {
    /// 何 with a counter, as in 何日以内 and 何年何月.
    fn add_counters(&mut self, normal: &str) {
        for (start, what) in normal.match_indices('何') {
            let before = normal.get(..start).unwrap_or_default();
            if before.ends_with(['幾', '如']) {
                continue;
            }
            let after = start + what.len();
            let rest = normal.get(after..).unwrap_or_default();
            let tens = rest.len() - rest.trim_start_matches(['十', '百', '千']).len();
            let Some((mut wanted, counter)) = counter_at(rest.get(tens..).unwrap_or_default()) else {
                continue;
            };
            let counted = after + tens + counter.len();
            let mut end = counted;
            while let Some(more) = AFTER_COUNTERS
                .iter()
                .find(|more| normal.get(end..).is_some_and(|rest| rest.starts_with(**more)))
            {
                end += more.len();
            }
            // 何日以内 and 何年目 ask for a length of time, not for a date.
            if end > counted && wanted.has_any(Wanted::DURATION) {
                wanted = wanted.without(Wanted::DATE);
            }
            // 何度も and 何人も ask nothing, but 何日もらえますか does.
            let is_any =
                |rest: &str| rest.starts_with('も') && !rest.starts_with("もら") && !rest.starts_with("もど");
            if !normal.get(end..).is_some_and(is_any) {
                self.wanted = self.wanted.with(wanted);
            }
            self.ranges.push(start..after_taking(normal, end));
        }
    }

    /// Phrases such as いくら, where they begin a word.
    fn add_phrases(&mut self, normal: &str) {
        for (phrase, wanted, is_removed) in PHRASES {
            for (start, found) in normal.match_indices(phrase) {
                let before = normal.get(..start).and_then(|before| before.chars().next_back());
                let begins = before
                    .is_none_or(|before| !is_hiragana(before) || "はがをにでのもとへや".contains(before));
                let end = start + found.len();
                let rest = normal.get(end..).unwrap_or_default();
                // いつも and どこでも ask nothing.
                let is_any = rest.starts_with('も') || rest.starts_with("でも");
                if begins && !is_any {
                    self.wanted = self.wanted.with(*wanted);
                    self.ranges.extend(is_removed.then(|| start..after_taking(normal, end)));
                }
            }
        }
    }

    fn add_english(&mut self, tokens: &[Token<'_>]) {
        let mut at = 0;
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            let (count, wanted) = english_asking(rest, at == 0);
            self.wanted = self.wanted.with(wanted);
            self.ranges.extend(rest.iter().take(count).map(|token| token.range.clone()));
            at += count.max(1);
        }
    }
}

/// The position behind かかる, which asks for nothing more where it follows an asking word: いくらかかりますか.
fn after_taking(normal: &str, at: usize) -> usize {
    let rest = normal.get(at..).unwrap_or_default();
    let verb = ["", "の時間が", "時間が", "の費用が", "費用が"].iter().find_map(|object| {
        let verb = rest.strip_prefix(object).filter(|verb| verb.starts_with("かか"))?;
        let endings = ["かかりました", "かかります", "かかった", "かかって", "かかる", "かかり"];
        endings.iter().find_map(|ending| verb.strip_prefix(ending))
    });
    verb.map_or(at, |after| normal.len() - after.len())
}

/// The counter that a text begins with, and what it asks for.
fn counter_at(text: &str) -> Option<(Wanted, &'static str)> {
    let counters = COUNTERS
        .iter()
        .flat_map(|(wanted, counters)| counters.split_whitespace().map(|counter| (*wanted, counter)));
    let fits = |counter: &str| {
        let next = text.strip_prefix(counter).map(|rest| rest.chars().next());
        // A unit in letters is not the beginning of a word.
        next.is_some_and(|next| {
            !counter.is_ascii() || counter == "%" || next.is_none_or(|next| !next.is_ascii_alphanumeric())
        })
    };
    counters.filter(|(_, counter)| fits(counter)).max_by_key(|(_, counter)| counter.len())
}

/// Units after `how many`, and what they ask for.
const ENGLISH_UNITS: &[(Wanted, &[&str])] = &[
    (
        Wanted::DURATION,
        &["days", "hours", "minutes", "seconds", "weeks", "months", "years", "nights", "milliseconds"],
    ),
    (Wanted::COUNT, &["times"]),
    (Wanted::PERCENT, &["percent"]),
    (Wanted::MONEY, &["dollars", "euros", "yen"]),
    (
        Wanted::SIZE,
        &[
            "kilograms",
            "kilometres",
            "kilometers",
            "metres",
            "meters",
            "centimetres",
            "bytes",
            "megabytes",
            "gigabytes",
            "degrees",
        ],
    ),
];
/// Verbs that follow what was asked for.
const AUXILIARIES: &[&str] = &[
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "may", "must", "should", "will",
    "would", "am", "has", "have",
];

/// The number of words that only ask here, and what they ask for.
fn english_asking(words: &[Token<'_>], is_first: bool) -> (usize, Wanted) {
    let word = |at: usize| words.get(at).map_or("", |token| token.word);
    let is_asked = |word: &str| word.is_empty() || AUXILIARIES.contains(&word);
    match (word(0), word(1)) {
        ("how", "many") => {
            let unit = ENGLISH_UNITS.iter().find(|(_, units)| units.contains(&word(2)));
            unit.map_or((2, Wanted::COUNT), |(wanted, _)| (3, *wanted))
        }
        ("how", "much") => match word(2) {
            "time" => (3, Wanted::DURATION),
            "memory" | "storage" | "space" | "disk" | "ram" | "weight" => (2, Wanted::SIZE),
            next if is_asked(next) => (2, Wanted::MONEY),
            "money" => (3, Wanted::MONEY),
            _ => (2, Wanted::QUANTITY),
        },
        ("how", "long") => (2, Wanted::DURATION),
        ("how", "often" | "frequently") => (2, Wanted::COUNT.with(Wanted::DURATION).with(Wanted::EVENT)),
        ("how", "old") => (2, Wanted::AGE.with(Wanted::DURATION)),
        ("how", "soon" | "late" | "early" | "quickly") => (2, Wanted::WHEN),
        (
            "how",
            "far" | "high" | "tall" | "big" | "large" | "heavy" | "deep" | "wide" | "fast" | "hot" | "warm"
            | "cold",
        ) => (2, Wanted::SIZE.with(Wanted::COUNT)),
        ("what" | "which", "year" | "month" | "date" | "day" | "weekday") if is_asked(word(2)) => {
            (2, Wanted::DATE)
        }
        ("what", "time") if is_asked(word(2)) => (2, Wanted::TIME),
        ("what" | "which", "age") => (2, Wanted::AGE),
        ("what" | "which", "percentage" | "percent") => (2, Wanted::PERCENT),
        ("what" | "which", _) => {
            let kinds = [
                "what kind of",
                "what kinds of",
                "what type of",
                "what types of",
                "what sort of",
                "which kind of",
                "which type of",
            ];
            (longest_phrase_at(words, &kinds), Wanted::default())
        }
        // Elsewhere these words join clauses, and do not ask.
        ("when", next) if is_first && AUXILIARIES.contains(&next) => (0, Wanted::WHEN),
        ("where", next) if is_first && AUXILIARIES.contains(&next) => (0, Wanted::PLACE),
        ("who" | "whom", _) if is_first => (0, Wanted::PERSON),
        _ => (0, Wanted::default()),
    }
}

/// What a noun at the end of a question asks for, as in 手数料は.
fn wanted_by_last_noun(normal: &str) -> Wanted {
    let nouns = NOUNS.iter().flat_map(|(wanted, nouns)| nouns.split(' ').map(|noun| (*wanted, noun)));
    let ends = |noun: &str| {
        normal.rfind(noun).filter(|at| {
            let rest = normal.get(at + noun.len()..).unwrap_or_default();
            let before = normal.get(..*at).and_then(|before| before.chars().next_back());
            let is_word = !noun.is_ascii() || before.is_none_or(|before| before == ' ');
            is_hiragana_only(rest) && is_word
        })
    };
    // Of two nouns that end the question, the longer one names the fact.
    let found = nouns.filter(|(_, noun)| ends(noun).is_some()).max_by_key(|(_, noun)| noun.len());
    found.map_or(Wanted::default(), |(wanted, _)| wanted)
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
