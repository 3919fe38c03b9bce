//! Units: how they are written, what they measure, and how large they are.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::numerals::{Number, Style};

/// What a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A span of time, which may have several parts: `1時間30分`.
    Duration,
    /// Money, bytes, lengths and other measures.
    Measure,
    /// A counter. Languages count with different ones, or with none.
    Counter,
}

/// A unit in all its spellings.
#[derive(Debug)]
pub struct Unit {
    /// What values are compared in.
    pub name: &'static str,
    /// Its size in that.
    pub size: f64,
    /// What it measures.
    pub kind: Kind,
    /// The spellings that follow a number directly, longer ones first.
    pub joined: &'static [&'static str],
    /// The spellings that are whole words of Latin letters.
    pub words: &'static [&'static str],
    /// The letters that make another word of a joined spelling: 3分 is a time, 3分野 is not.
    pub not_before: &'static str,
    /// Whether Kanji numerals count with it. 一部 and 一本 are words.
    pub after_kanji: bool,
}

impl PartialEq for Unit {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

const fn unit(
    name: &'static str,
    size: f64,
    kind: Kind,
    joined: &'static [&'static str],
    words: &'static [&'static str],
) -> Unit {
    Unit { name, size, kind, joined, words, not_before: "", after_kanji: true }
}

impl Unit {
    const fn not_before(self, letters: &'static str) -> Self {
        Self { not_before: letters, ..self }
    }

    const fn only_after_digits(self) -> Self {
        Self { after_kanji: false, ..self }
    }
}

use Kind::{Counter, Duration, Measure};

/// What stands for the unit of a number that has none.
pub static NO_UNIT: Unit = unit("", 1.0, Counter, &[], &[]);

/// All units.
pub static UNITS: &[Unit] = &[
    // Spans of time. A year is 12 months; neither is a number of days.
    unit("second", 1e-9, Duration, &["ナノ秒"], &["ns", "nanosecond", "nanoseconds"]),
    unit("second", 1e-6, Duration, &["マイクロ秒"], &["us", "μs", "microsecond", "microseconds"]),
    unit("second", 1e-3, Duration, &["ミリ秒"], &["ms", "msec", "millisecond", "milliseconds"]),
    unit("second", 1.0, Duration, &["秒間", "秒"], &["s", "sec", "secs", "second", "seconds"])
        .not_before("速針"),
    unit("second", 60.0, Duration, &["分間", "分"], &["min", "mins", "minute", "minutes"])
        .not_before("割類野岐担解析散配裂別身率冊娩譲化母子離布科数量"),
    unit("second", 3600.0, Duration, &["時間"], &["h", "hr", "hrs", "hour", "hours"]).not_before("帯割"),
    unit("day", 1.0, Duration, &["暦日間", "暦日", "日間", "日"], &["d", "day", "days"])
        .not_before("本常程報光誌時記市町"),
    unit(
        "business day",
        1.0,
        Duration,
        &["営業日", "労働日", "稼働日", "就業日"],
        &["business day", "business days", "working day", "working days"],
    ),
    unit("day", 7.0, Duration, &["週間", "週"], &["week", "weeks", "wk", "wks"]).not_before("刊末報番"),
    unit(
        "month",
        1.0,
        Duration,
        &[
            "か月間",
            "ヶ月間",
            "カ月間",
            "ヵ月間",
            "ケ月間",
            "箇月間",
            "か月",
            "ヶ月",
            "カ月",
            "ヵ月",
            "ケ月",
            "箇月",
            "個月",
        ],
        &["month", "months"],
    ),
    unit(
        "month",
        12.0,
        Duration,
        &["か年", "ヶ年", "カ年", "箇年", "年間", "年"],
        &["year", "years", "yr", "yrs"],
    )
    .not_before("齢金代生表号末始次賀長功収俸輪"),
    unit("年度", 1.0, Counter, &["か年度", "年度"], &["fiscal year", "fiscal years"]),
    unit("歳", 1.0, Counter, &["歳", "才"], &["years old", "years of age", "year old"])
        .not_before("能出入費末月暮"),
    unit("泊", 1.0, Counter, &["泊"], &["night", "nights"]),
    // Money.
    unit("円", 1.0, Measure, &["円", "圓"], &["yen", "jpy"]).not_before("滑形高安周卓柱筒熟満"),
    unit("$", 1.0, Measure, &["米ドル", "ドル"], &["usd", "dollar", "dollars"]),
    unit("$", 0.01, Measure, &["セント"], &["cent", "cents"]).not_before("ラ"),
    unit("€", 1.0, Measure, &["ユーロ", "€"], &["eur", "euro", "euros"]),
    unit("£", 1.0, Measure, &["ポンド"], &["gbp"]),
    // Shares.
    unit("%", 1.0, Measure, &["パーセント", "%", "٪", "﹪"], &["percent", "per cent", "pct"])
        .not_before("ポ"),
    unit("%", 10.0, Measure, &["割"], &[]).not_before("合当振り"),
    unit(
        "% point",
        1.0,
        Measure,
        &["パーセントポイント", "%ポイント"],
        &["percentage point", "percentage points"],
    ),
    unit("point", 1.0, Measure, &["ポイント"], &["point", "points", "pt", "pts"]),
    unit("倍", 1.0, Measure, &["倍"], &["x", "fold"]).not_before("率数額"),
    // Amounts of data. 1 GB is 1000 MB, 1 GiB is 1024 MiB, and they differ.
    unit("bit", 1.0, Measure, &["ビット"], &["bit", "bits"]),
    unit("byte", 1.0, Measure, &["バイト"], &["byte", "bytes"]),
    unit("byte", 1e3, Measure, &["キロバイト"], &["kb", "kilobyte", "kilobytes"]),
    unit("byte", 1e6, Measure, &["メガバイト"], &["mb", "megabyte", "megabytes"]),
    unit("byte", 1e9, Measure, &["ギガバイト"], &["gb", "gigabyte", "gigabytes"]),
    unit("byte", 1e12, Measure, &["テラバイト"], &["tb", "terabyte", "terabytes"]),
    unit("byte", 1e15, Measure, &["ペタバイト"], &["pb", "petabyte", "petabytes"]),
    unit("byte", 1024.0, Measure, &["キビバイト"], &["kib", "ki", "kibibyte", "kibibytes"]),
    unit("byte", 1_048_576.0, Measure, &["メビバイト"], &["mib", "mi", "mebibyte", "mebibytes"]),
    unit("byte", 1_073_741_824.0, Measure, &["ギビバイト"], &["gib", "gi", "gibibyte", "gibibytes"]),
    unit("byte", 1_099_511_627_776.0, Measure, &["テビバイト"], &["tib", "ti", "tebibyte", "tebibytes"]),
    unit("bit/s", 1e3, Measure, &[], &["kbps"]),
    unit("bit/s", 1e6, Measure, &[], &["mbps"]),
    unit("bit/s", 1e9, Measure, &[], &["gbps"]),
    // Lengths, weights and other measures.
    unit(
        "m",
        1e-3,
        Measure,
        &["ミリメートル"],
        &["mm", "millimeter", "millimeters", "millimetre", "millimetres"],
    ),
    unit(
        "m",
        1e-2,
        Measure,
        &["センチメートル", "センチ"],
        &["cm", "centimeter", "centimeters", "centimetre", "centimetres"],
    ),
    unit("m", 1.0, Measure, &["メートル"], &["m", "meter", "meters", "metre", "metres"]),
    unit("m", 1e3, Measure, &["キロメートル"], &["km", "kilometer", "kilometers", "kilometre", "kilometres"]),
    unit("km/h", 1.0, Measure, &["km/h"], &["kmh", "kph"]),
    unit("km/h", 1.609_344, Measure, &[], &["mph"]),
    unit("m2", 1.0, Measure, &["平方メートル"], &["m2"]),
    unit("m3", 1.0, Measure, &["立方メートル"], &["m3"]),
    unit("g", 1e-3, Measure, &["ミリグラム"], &["mg", "milligram", "milligrams"]),
    unit("g", 1.0, Measure, &["グラム"], &["g", "gram", "grams"]),
    unit("g", 1e3, Measure, &["キログラム"], &["kg", "kilogram", "kilograms", "kilo", "kilos"]),
    unit("g", 1e6, Measure, &["トン"], &["ton", "tons", "tonne", "tonnes"]).not_before("ネ"),
    unit("キロ", 1.0, Measure, &["キロ"], &[]),
    unit("l", 1e-3, Measure, &["ミリリットル"], &["ml"]),
    unit("l", 1.0, Measure, &["リットル"], &["l", "liter", "liters", "litre", "litres"]),
    unit("hz", 1.0, Measure, &["ヘルツ"], &["hz"]),
    unit("hz", 1e3, Measure, &[], &["khz"]),
    unit("hz", 1e6, Measure, &[], &["mhz"]),
    unit("hz", 1e9, Measure, &[], &["ghz"]),
    unit("w", 1.0, Measure, &["ワット"], &["w", "watt", "watts"]),
    unit("w", 1e3, Measure, &["キロワット"], &["kw", "kilowatt", "kilowatts"]),
    unit("kwh", 1.0, Measure, &["キロワット時"], &["kwh"]),
    unit("v", 1.0, Measure, &["ボルト"], &["v", "volt", "volts"]),
    unit("px", 1.0, Measure, &["ピクセル"], &["px", "pixel", "pixels"]),
    unit("度", 1.0, Measure, &["度", "°c", "°"], &["degree", "degrees"])
        .not_before("目数合々")
        .only_after_digits(),
    // Counters.
    unit("人", 1.0, Counter, &["人", "名"], &["person", "persons", "people"])
        .not_before("間口事材称物工前古義簿刺詞寄"),
    unit("回", 1.0, Counter, &["回"], &["time", "times", "attempt", "attempts", "retry", "retries", "tries"])
        .not_before("線答収復路避転り想顧遊"),
    unit(
        "件",
        1.0,
        Counter,
        &["件", "項目"],
        &["item", "items", "case", "cases", "request", "requests", "record", "records", "entry", "entries"],
    )
    .not_before("名数"),
    unit("個", 1.0, Counter, &["個", "つ"], &["piece", "pieces", "object", "objects"])
        .not_before("人別室数所性体月年"),
    unit(
        "か所",
        1.0,
        Counter,
        &["か所", "ヶ所", "カ所", "ヵ所", "箇所", "個所"],
        &["place", "places", "location", "locations"],
    ),
    unit("台", 1.0, Counter, &["台"], &["device", "devices", "machine", "machines", "vehicle", "vehicles"])
        .not_before("帳風詞数"),
    unit("本", 1.0, Counter, &["本"], &[]).not_before("社人体部店文日質来格木松化件書").only_after_digits(),
    unit("枚", 1.0, Counter, &["枚"], &["sheet", "sheets"]).not_before("岩数挙"),
    unit("冊", 1.0, Counter, &["冊"], &["book", "books"]).not_before("子"),
    unit("部", 1.0, Counter, &["部"], &["copy", "copies"])
        .not_before("門署分品下長屋位会員構")
        .only_after_digits(),
    unit("点", 1.0, Counter, &["点"], &[]).not_before("検火在線滴灯数").only_after_digits(),
    unit("文字", 1.0, Counter, &["文字", "字"], &["character", "characters", "letter", "letters"])
        .not_before("列盤化体幕型"),
    unit("桁", 1.0, Counter, &["桁"], &["digit", "digits"]),
    unit("行", 1.0, Counter, &["行"], &["line", "lines", "row", "rows"])
        .not_before("政為動使員事程列末")
        .only_after_digits(),
    unit("ページ", 1.0, Counter, &["ページ", "頁"], &["page", "pages"]),
    unit("種類", 1.0, Counter, &["種類", "種"], &["kind", "kinds", "type", "types"])
        .not_before("別目")
        .only_after_digits(),
    unit("社", 1.0, Counter, &["社"], &["company", "companies"]).not_before("員会内長外屋宅債用名風"),
    unit("拠点", 1.0, Counter, &["拠点"], &["site", "sites"]),
    unit("世帯", 1.0, Counter, &["世帯"], &["household", "households"]),
    unit("頭", 1.0, Counter, &["頭", "匹"], &["animal", "animals"]).only_after_digits(),
    unit("段階", 1.0, Counter, &["段階"], &["stage", "stages"]),
    unit("日分", 1.0, Counter, &["日分"], &[]),
];

/// The words that may stand between a number and its unit without changing it.
const ADJECTIVES: [&str; 11] = [
    "calendar ",
    "consecutive ",
    "full ",
    "additional ",
    "more ",
    "paid ",
    "whole ",
    "successive ",
    "continuous ",
    "complete ",
    "extra ",
];

/// The units by the first letter of their joined spellings, longer spellings first.
static JOINED: LazyLock<HashMap<char, Vec<(&'static str, &'static Unit)>>> = LazyLock::new(|| {
    let mut by_letter: HashMap<char, Vec<(&'static str, &'static Unit)>> = HashMap::new();
    for unit in UNITS {
        for spelling in unit.joined {
            if let Some(first) = spelling.chars().next() {
                by_letter.entry(first).or_default().push((spelling, unit));
            }
        }
    }
    by_letter
        .values_mut()
        .for_each(|units| units.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len())));
    by_letter
});

/// The units by their whole words.
static WORDS: LazyLock<HashMap<&'static str, &'static Unit>> = LazyLock::new(|| {
    UNITS.iter().flat_map(|unit| unit.words.iter().map(move |word| (*word, unit))).collect()
});

/// The unit that follows a number, and its length with what stands before it.
pub fn unit_at(rest: &str, number: &Number) -> Option<(&'static Unit, usize)> {
    let after_space = || {
        let (unit, len) = joined_unit(rest.strip_prefix(' ')?, number.style)?;
        Some((unit, len + 1))
    };
    joined_unit(rest, number.style).or_else(after_space).or_else(|| word_unit(rest, number))
}

/// The unit that a text begins with, in a spelling without word boundaries.
fn joined_unit(text: &str, style: Style) -> Option<(&'static Unit, usize)> {
    let units = JOINED.get(&text.chars().next()?)?;
    let (spelling, unit) = units.iter().find(|(spelling, _)| text.starts_with(spelling))?;
    let next = text.get(spelling.len()..).and_then(|rest| rest.chars().next());
    // `%E6` in an address is no percentage.
    let is_code = *spelling == "%" && next.is_some_and(|next| next.is_ascii_alphanumeric());
    let is_other_word = is_code || next.is_some_and(|next| unit.not_before.contains(next));
    let fits = match style {
        Style::Digits => true,
        Style::Kanji => unit.after_kanji,
        Style::Words => *spelling == "%",
    };
    (fits && !is_other_word).then_some((*unit, spelling.len()))
}

/// The unit word that follows a number directly, after a space, or after a hyphen (`30-day`).
fn word_unit(rest: &str, number: &Number) -> Option<(&'static Unit, usize)> {
    let (gap, text) = match rest.strip_prefix([' ', '-']) {
        Some(text) => (1, text),
        None => (0, rest),
    };
    if number.style == Style::Kanji || !text.starts_with(|ch: char| ch.is_ascii_lowercase() || ch == 'μ') {
        return None;
    }
    let adjective =
        ADJECTIVES.iter().find(|word| gap > 0 && text.starts_with(**word)).map_or(0, |word| word.len());
    let text = text.get(adjective..)?;
    let whole = text.get(..word_len(text))?;
    // In `1h30m` the minutes follow without a space.
    let letters = whole.get(..whole.find(|ch: char| ch.is_ascii_digit()).unwrap_or(whole.len()))?;
    let is_joined = gap == 0 && WORDS.get(letters).is_some_and(|unit| unit.kind == Duration);
    let word = if is_joined { letters } else { whole };
    // Units of several words: business days, years old.
    let long = [
        "years of age",
        "years old",
        "year old",
        "business day",
        "working day",
        "fiscal year",
        "per cent",
        "percentage point",
    ];
    if let Some(start) = long.iter().find(|long| text.starts_with(**long)) {
        let whole = text.get(..start.len() + word_len(text.get(start.len()..)?))?;
        if let Some(unit) = WORDS.get(whole).filter(|_| gap > 0) {
            return Some((*unit, gap + adjective + whole.len()));
        }
    }
    let unit = WORDS.get(word)?;
    let fits = match (word, gap) {
        // `1990s` is a decade, and a letter after a space is seldom a unit.
        ("s", 0) => number.value < 1000.0,
        // 2D and 3D are shapes, and long ones with a `d` are identifiers.
        ("d", gap) => gap == 0 && number.value < 1000.0 && !matches!(number.value as u64, 2 | 3),
        ("v" | "w" | "x" | "ki" | "mi" | "gi" | "ti", gap) => gap == 0,
        // "37 time" is no number of times.
        (word, 1) if unit.kind == Counter && number.value != 1.0 && !rest.starts_with('-') => {
            word.ends_with('s') || word == "people"
        }
        (word, _) if word.len() == 1 => !rest.starts_with('-'),
        _ => true,
    };
    // "One time" and "one person" count nothing.
    let is_article = number.style == Style::Words && unit.kind == Counter && number.value <= 1.0;
    (fits && !is_article).then_some((*unit, gap + adjective + word.len()))
}

/// The length of the word that a text begins with.
pub fn word_len(text: &str) -> usize {
    text.find(|ch: char| !(ch.is_ascii_alphanumeric() || matches!(ch, '_' | 'μ'))).unwrap_or(text.len())
}

/// Whether a text spells a unit of this name and size out, as a column heading does for the numbers below it. The text is
/// normalized.
pub fn is_spelled_in(name: &str, size: f64, text: &str) -> bool {
    let same = UNITS.iter().filter(|unit| unit.name == name && unit.size == size);
    let mut spellings =
        same.flat_map(|unit| unit.joined.iter().chain(unit.words.iter().filter(|word| word.len() > 1)));
    spellings.any(|spelling| text.contains(spelling))
}
