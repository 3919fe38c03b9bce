//! Evidence: the values and the text of the lines that an artifact cites, indexed so that each line is read once, however
//! many elements cite it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::audit::claims::search_text;
use crate::reading::LineRange;
use annai_core::cancellation::checkpoint;
use annai_text::values::{
    Amount, DATE, FISCAL_YEAR, Item, MONTH, ORDINAL, SLASH, TIME, UnitKind, YEAR, YEAR_DAY, YEAR_MONTH,
    is_spelled_in, scan,
};
use annai_text::{kanji_number, kanji_numeral, normalize_line};

/// The maximum number of indexed values, which are held in memory.
const MAX_VALUES: usize = 2_000_000;
/// The maximum number of bytes that are searched for texts in one audit, so that it ends in time.
const MAX_SEARCHED_BYTES: usize = 1 << 30;

/// The unit under which every written number is indexed, whatever its unit is.
const ANY: &str = "#";
/// The units that count single things, in languages that have such counters.
const THINGS: [&str; 4] = ["件", "個", "点", "か所"];
/// The seconds of a day.
const DAY_SECONDS: f64 = 86_400.0;

/// A value as the index has it: equal values are equal, whatever rounding did to them.
type Key = (&'static str, i128);

fn key(unit: &'static str, value: f64) -> Key {
    // Saturates, which is fine: such values are not compared exactly.
    (unit, (value * 1e6).round() as i128)
}

/// The cited lines of one file.
#[derive(Debug, Default)]
pub(crate) struct FileEvidence {
    /// The name of the file, as findings show it.
    pub(crate) name: String,
    /// The lines on which each value stands, ascending.
    lines: HashMap<Key, Vec<u64>>,
    /// The search text of all cited lines.
    text: String,
    /// Each line with the byte of the text at which it begins.
    starts: Vec<(u64, usize)>,
    /// The runs of digits and of Kanji numerals in the text. A number whose run is not here stands nowhere, which saves the
    /// search for it.
    runs: HashSet<String>,
    values: usize,
}

/// Lines of a file that a value may stand on.
#[derive(Debug, Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) file: &'a FileEvidence,
    /// The lines, sorted and merged.
    pub(crate) ranges: Vec<LineRange>,
}

/// How many bytes may still be searched.
#[derive(Debug)]
pub(crate) struct EvidenceSearchBudget(usize);

impl Default for EvidenceSearchBudget {
    fn default() -> Self {
        Self(MAX_SEARCHED_BYTES)
    }
}

impl EvidenceSearchBudget {
    /// Takes so many bytes; `None` when that is more than is left, which spends the rest.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<()> {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(0);
        left.map(drop)
    }

    /// Takes what a search of these lines costs.
    fn take_search(&mut self, scopes: &[&Scope<'_>]) -> Option<()> {
        let cost = |scope: &&Scope<'_>| -> usize {
            scope.ranges.iter().map(|range| scope.file.text_of(range).len() + 16).sum()
        };
        self.take(scopes.iter().map(cost).sum())
    }
}

impl FileEvidence {
    pub(crate) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Adds a line; lines come in ascending order. Returns whether all of its values fit.
    pub(crate) fn add_line(&mut self, number: u64, line: &str) -> bool {
        checkpoint();
        let mut normal = String::new();
        normalize_line(line, &mut normal);
        self.starts.push((number, self.text.len()));
        let searched = search_text(line);
        for run in runs(&searched) {
            if !self.runs.contains(run) {
                self.runs.insert(run.to_owned());
            }
        }
        self.text.push_str(&searched);
        self.add_values(number, &normal);
        // Emphasis inside a value: `**30**日`.
        if normal.contains(['*', '`', '~']) {
            self.add_values(number, &normal.replace(['*', '`', '~'], ""));
        }
        self.values <= MAX_VALUES
    }

    fn add_values(&mut self, number: u64, normal: &str) {
        for item in scan(normal) {
            let Item::Amount(amount) = item else { continue };
            for key in keys_of(&amount) {
                let lines = self.lines.entry(key).or_default();
                if lines.last() != Some(&number) {
                    lines.push(number);
                    self.values += 1;
                }
            }
        }
    }

    fn has(&self, unit: &'static str, value: f64, ranges: &[LineRange]) -> bool {
        let Some(lines) = self.lines.get(&key(unit, value)) else { return false };
        let in_range = |range: &LineRange| {
            let after = lines.partition_point(|line| *line < range.start_line);
            lines.get(after).is_some_and(|line| *line <= range.end_line)
        };
        ranges.iter().any(in_range)
    }

    /// The bytes of the search text of a range of lines.
    fn bytes_of(&self, range: &LineRange) -> Range<usize> {
        let at = |line: u64| {
            let index = self.starts.partition_point(|(start, _)| *start < line);
            self.starts.get(index).map_or(self.text.len(), |(_, at)| *at)
        };
        at(range.start_line)..at(range.end_line.saturating_add(1))
    }

    /// The search text of a range of lines.
    fn text_of(&self, range: &LineRange) -> &str {
        self.text.get(self.bytes_of(range)).unwrap_or_default()
    }

    /// Whether a range of lines contains a text, whose first and last digit are not part of a longer number on their line.
    fn contains(&self, range: &LineRange, part: &str) -> bool {
        let bytes = self.bytes_of(range);
        let text = self.text.get(bytes.clone()).unwrap_or_default();
        let is_line_start = |at: usize| {
            let at = bytes.start + at;
            self.starts.binary_search_by_key(&at, |(_, start)| *start).is_ok()
        };
        let (first, last) = (part.starts_with(is_number), part.ends_with(is_number));
        memchr::memmem::find_iter(text.as_bytes(), part.as_bytes()).any(|at| {
            let end = at + part.len();
            let mut before = text.get(..at).unwrap_or_default().chars().rev();
            let (one, two) = (before.next(), before.next());
            let after = text.get(end..).unwrap_or_default();
            let is_decimal = |after: &str| {
                after.strip_prefix(['.', ',']).is_some_and(|after| after.starts_with(is_number))
            };
            let is_separated = matches!(one, Some('.' | ',')) && two.is_some_and(is_number);
            let continues_before = first && (one.is_some_and(is_number) || is_separated);
            let continues_after = last && (after.starts_with(is_number) || is_decimal(after));
            (!continues_before || is_line_start(at)) && (!continues_after || is_line_start(end))
        })
    }
}

/// The values that a cited amount supports: itself, the parts of a date, and what `4/1` may mean.
fn keys_of(amount: &Amount) -> Vec<Key> {
    let mut keys = vec![key(amount.unit, amount.value)];
    let numbers = amount.numbers.iter().filter(|number| number.is_finite());
    keys.extend(numbers.map(|number| key(ANY, *number)));
    let value = amount.value;
    match amount.unit {
        DATE => {
            keys.push(key(YEAR_MONTH, (value / 100.0).floor()));
            keys.push(key(YEAR_DAY, value % 10_000.0));
            keys.push(key(MONTH, (value / 100.0).floor() % 100.0));
        }
        YEAR_MONTH => keys.push(key(MONTH, value % 100.0)),
        YEAR_DAY => keys.push(key(MONTH, (value / 100.0).floor())),
        SLASH => {
            let [one, other, _] = amount.numbers;
            keys.push(key("%", one / other * 100.0));
            keys.push(key(YEAR_DAY, one * 100.0 + other));
            keys.push(key(YEAR_DAY, other * 100.0 + one));
        }
        _ => {}
    }
    keys
}

/// Whether an amount of an artifact stands on the lines of these scopes, in any notation. `next` is the letter that follows
/// it. `None` when the budget was spent before it was found.
pub(crate) fn supports_amount(
    scopes: &[&Scope<'_>],
    amount: &Amount,
    next: Option<char>,
    shown: &str,
    budget: &mut EvidenceSearchBudget,
) -> Option<bool> {
    let has = |unit, value| scopes.iter().any(|scope| scope.file.has(unit, value, &scope.ranges));
    let value = amount.value;
    let number = amount.numbers.first().copied().unwrap_or(value);
    let is_counter = amount.written_unit.is_some_and(|unit| unit.kind == UnitKind::Counter);
    let is_supported = has(amount.unit, value)
        || match amount.unit {
            "" | ORDINAL | YEAR | FISCAL_YEAR => has(ANY, value),
            "day" => has("second", value * DAY_SECONDS),
            "second" => has("day", value / DAY_SECONDS),
            // Statutes write 六月 for six months.
            "month" => has(MONTH, value),
            MONTH => has("month", value),
            "歳" => has("", value) || has("month", value * 12.0),
            YEAR_MONTH => has(MONTH, value % 100.0) && has(ANY, (value / 100.0).floor()),
            DATE => has(YEAR_DAY, value % 10_000.0) && has(ANY, (value / 10_000.0).floor()),
            SLASH => {
                let [one, other, _] = amount.numbers;
                has("%", one / other * 100.0)
                    || has(YEAR_DAY, one * 100.0 + other)
                    || (has(ANY, one) && has(ANY, other))
            }
            unit if THINGS.contains(&unit) => THINGS.iter().any(|thing| has(thing, value)) || has("", value),
            _ => is_counter && has("", value),
        };
    if is_supported {
        return Some(true);
    }
    // A number below a column heading with the unit, as in `料金(円) | 500`, or before the unit of another, as in `9-17時`.
    if has("", number) {
        let is_full_hour = amount.unit == TIME && value % 60.0 == 0.0;
        let spells_unit = |text: &str| match amount.written_unit {
            Some(unit) => is_spelled_in(unit, text),
            None => is_full_hour && text.contains('時'),
        };
        let is_spelled =
            |scope: &&Scope<'_>| scope.ranges.iter().any(|range| spells_unit(scope.file.text_of(range)));
        budget.take_search(scopes)?;
        if scopes.iter().any(is_spelled) {
            return Some(true);
        }
    }
    let mut written = vec![search_text(shown)];
    // 2段階 and 二段階.
    if let (Some(next), true) =
        (next.filter(|next| !next.is_ascii()), value.fract() == 0.0 && (1.0..10_000.0).contains(&value))
    {
        written.extend(kanji_numeral(value as u64).into_iter().map(|numeral| format!("{numeral}{next}")));
    }
    written.retain(|text| {
        let run = runs(text).next();
        run.is_none_or(|run| scopes.iter().any(|scope| scope.file.runs.contains(run)))
    });
    for text in written {
        if supports_text(scopes, &text, budget)? {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether a letter belongs to a number.
fn is_number(ch: char) -> bool {
    ch.is_numeric() || kanji_number(std::iter::once(ch)).is_some()
}

/// The runs of digits and Kanji numerals of a text.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|ch| !is_number(ch)).filter(|run| !run.is_empty())
}

/// Whether all of these texts stand on the lines of the scopes, as the parts of a quotation do.
pub(crate) fn supports_all(
    scopes: &[&Scope<'_>],
    texts: &[String],
    budget: &mut EvidenceSearchBudget,
) -> Option<bool> {
    for text in texts {
        if !supports_text(scopes, text, budget)? {
            return Some(false);
        }
    }
    Some(true)
}

/// Whether a search text stands on the lines of the scopes. A number is not part of a longer one.
fn supports_text(scopes: &[&Scope<'_>], text: &str, budget: &mut EvidenceSearchBudget) -> Option<bool> {
    budget.take_search(scopes)?;
    let in_scope = |scope: &&Scope<'_>| scope.ranges.iter().any(|range| scope.file.contains(range, text));
    Some(!text.is_empty() && scopes.iter().any(in_scope))
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
