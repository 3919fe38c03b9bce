//! Claims: the values in the text of an element that its cited lines must contain — numbers, dates and amounts, quoted text,
//! and code.

mod quotes;
mod search_text;

pub(super) use self::quotes::{CODE_END, CODE_START};
use self::quotes::{Quote, blank, code_spans, quotes};
pub(super) use self::search_text::search_text;
use super::marks::{is_derived, mark_ranges, source_lines_mark};
use annai_text::values::{Amount, Item, Style, may_have_number_word, scan};
use annai_text::{Normalized, normalize_line, truncate_chars};

/// The maximum number of claims of an artifact, which are held in memory. What exceeds it is not checked, and reported.
const MAX_CLAIMS: usize = 200_000;
/// How many characters of a value are shown; the rest is left out.
const MAX_SHOWN_CHARS: usize = 60;
/// The shortest quotation that is checked, in characters. Shorter ones are signs.
const MIN_QUOTED_CHARS: usize = 2;

/// A value that the cited lines must contain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    pub(crate) line: usize,
    /// The value as the artifact writes it, shortened.
    pub(crate) shown: String,
    pub(crate) value: ClaimValue,
    /// Whether it is the first thing on its line.
    pub(crate) is_first: bool,
}

/// What has to occur in the cited lines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClaimValue {
    /// A number, with the letter that follows it.
    Amount(Amount, Option<char>),
    /// Search texts; a quotation with an ellipsis has several.
    Text(Vec<String>),
}

/// How a line of an artifact is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A heading, whose first number is its own.
    Heading,
    /// Other text.
    Prose,
    /// A line of a code block.
    Code,
}

/// The claims of an artifact, as its reader finds them.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// The claims of Markdown, sorted by line.
    pub(crate) found: Vec<Claim>,
    /// The lines that mark their element as derived.
    pub(crate) derived_lines: Vec<usize>,
    /// The line from which on claims were left out.
    pub(crate) left_out_from: Option<usize>,
    count: usize,
}

impl Claims {
    pub(crate) fn read_line(&mut self, line: usize, kind: LineKind, text: &str) {
        let mut found = Vec::new();
        let is_derived = self.read(line, kind, text, &mut found);
        self.found.append(&mut found);
        if is_derived && self.derived_lines.last() != Some(&line) {
            self.derived_lines.push(line);
        }
    }

    /// Reads the text of an element that has its own, such as the label of a node. Returns its claims, and whether it marks
    /// the element as derived.
    pub(crate) fn of_label(&mut self, line: usize, text: &str) -> (Vec<Claim>, bool) {
        let (mut found, mut is_derived) = (Vec::new(), false);
        for part in text.lines() {
            let mut words = String::with_capacity(part.len());
            for (index, part) in part.split('`').enumerate() {
                match index % 2 {
                    0 => words.push_str(part),
                    _ => words.extend([CODE_START].into_iter().chain(part.chars()).chain([CODE_END])),
                }
            }
            is_derived |= self.read(line, LineKind::Prose, &words, &mut found);
        }
        (found, is_derived)
    }

    /// Counts a value or a comment, and returns whether it still fits.
    pub(crate) fn has_room(&mut self, line: usize) -> bool {
        self.count += 1;
        if self.count > MAX_CLAIMS {
            self.left_out_from.get_or_insert(line);
        }
        self.count <= MAX_CLAIMS
    }

    fn add(&mut self, found: &mut Vec<Claim>, claim: Option<Claim>) {
        found.extend(claim.filter(|claim| self.has_room(claim.line)));
    }

    /// Adds the claims of a text, and returns whether it marks its element as derived.
    fn read(&mut self, line: usize, kind: LineKind, text: &str, found: &mut Vec<Claim>) -> bool {
        if self.count > MAX_CLAIMS {
            return false;
        }
        let is_mark = |text: &str| source_lines_mark(text).is_some();
        if kind == LineKind::Code {
            self.add(found, code_claim(line, text).filter(|_| !is_mark(text)));
            return false;
        }
        if is_plain(text) {
            return false;
        }
        // What is checked as code or as a quotation is blanked, so that its numbers are not checked again.
        let mut rest = text.to_owned();
        for range in code_spans(text) {
            let code = text.get(range.clone()).unwrap_or_default();
            if !is_mark(code) {
                self.add(found, code_claim(line, code));
                blank(&mut rest, range);
            }
        }
        for Quote { whole, inside } in quotes(text) {
            let inside = text.get(inside).unwrap_or_default();
            if !is_mark(inside) {
                self.add(found, quote_claim(line, inside, text.get(whole.clone()).unwrap_or_default()));
                blank(&mut rest, whole);
            }
        }
        let text = rest;
        let mut normal = String::new();
        normalize_line(&text, &mut normal);
        mark_ranges(&normal).into_iter().for_each(|range| blank(&mut normal, range));
        let amounts: Vec<_> = amounts(&normal, kind);
        if !amounts.is_empty() {
            let mapped = Normalized::new(&text);
            let start = normal.find(|ch: char| ch.is_alphanumeric()).unwrap_or_default();
            for amount in amounts {
                let is_first = amount.range.start == start;
                let original = mapped.original(amount.range.clone());
                let shown = shown(text.get(original).unwrap_or_default());
                let next = normal.get(amount.range.end..).and_then(|rest| rest.chars().next());
                self.add(
                    found,
                    Some(Claim { line, shown, value: ClaimValue::Amount(amount, next), is_first }),
                );
            }
        }
        is_derived(&normal)
    }
}

/// Whether a line has nothing to check: no digit, quotation or word for a number. Most lines of English text are like that.
fn is_plain(text: &str) -> bool {
    text.is_ascii()
        && !text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'\''))
        && !may_have_number_word(text)
        && !text.to_ascii_lowercase().contains("derived")
}

fn shown(text: &str) -> String {
    let (shown, is_all) = truncate_chars(text.trim(), MAX_SHOWN_CHARS);
    if is_all { shown.to_owned() } else { format!("{shown}…") }
}

/// The claim of code; none where it is too short or contains no letter.
fn code_claim(line: usize, code: &str) -> Option<Claim> {
    text_claim(line, vec![search_text(code)], code)
}

/// The claim of a quotation: its parts between ellipses, without the punctuation around them.
fn quote_claim(line: usize, inside: &str, whole: &str) -> Option<Claim> {
    let mut parts = vec![inside];
    for ellipsis in ["…", "...", "(中略)", "（中略）"] {
        parts = parts.into_iter().flat_map(|part| part.split(ellipsis)).collect();
    }
    let ends = |ch: char| ".,;:!?。、・".contains(ch);
    let parts = parts.into_iter().map(|part| search_text(part.trim().trim_matches(ends))).collect();
    text_claim(line, parts, whole)
}

fn text_claim(line: usize, mut parts: Vec<String>, whole: &str) -> Option<Claim> {
    parts.retain(|part| {
        part.chars().count() >= MIN_QUOTED_CHARS && part.contains(|ch: char| ch.is_alphanumeric())
    });
    let value = ClaimValue::Text(parts);
    (value != ClaimValue::Text(Vec::new())).then(|| Claim {
        line,
        shown: shown(&whole.replace([CODE_START, CODE_END], "")),
        value,
        is_first: false,
    })
}

/// The amounts of a normalized line that have to be supported: not the numbers of lists, sections and citations.
fn amounts(normal: &str, kind: LineKind) -> Vec<Amount> {
    let start = normal.find(|ch: char| ch.is_alphanumeric()).unwrap_or_default();
    let is_claim = |amount: &Amount| {
        let before = normal.get(..amount.range.start).and_then(|text| text.chars().next_back());
        let after = normal.get(amount.range.end..).unwrap_or_default();
        let is_one = amount.numbers.first() == Some(&1.0);
        if amount.unit.is_empty() {
            let is_first = amount.range.start == start;
            let is_list_number = is_first
                && (kind == LineKind::Heading
                    || after.starts_with(['.', ')', '、', ']', ':'])
                    || matches!(before, Some('(' | '[')));
            let is_citation =
                matches!(before, Some('[' | '(' | '^' | '<')) && after.starts_with([']', ')', '>']);
            let is_small_word = amount.style == Style::Words && amount.value < 10.0;
            return !(is_list_number || is_citation || is_small_word);
        }
        // 1人につき, 一人で and 1つの state no number.
        let is_rate = is_one
            && ["につき", "あたり", "当たり", "当り", "ごと", "毎", "単位"]
                .iter()
                .any(|word| after.starts_with(word));
        let is_alone =
            is_one && (amount.unit == "個" || (amount.unit == "人" && amount.style == Style::Kanji));
        !(is_rate || is_alone)
    };
    let amounts = scan(normal).into_iter().filter_map(|item| match item {
        Item::Amount(amount) => Some(amount),
        Item::Reference(_) => None,
    });
    amounts.filter(is_claim).collect()
}
