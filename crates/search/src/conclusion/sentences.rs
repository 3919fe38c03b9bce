//! Splits the text of a section into the sentences that can state something: prose, list items and cells of tables, but
//! neither code nor markup.

use annai_core::cancellation::checkpoint;
use annai_language::ENGLISH;
use std::ops::Range;

/// A sentence of a section, without inline markup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence {
    /// The text.
    pub text: String,
    /// The lines of the section that it stands on, counted from 0.
    pub lines: Range<usize>,
    /// Whether it is one cell of a table, with the other cells of its row and the heading of its column.
    pub is_cell: bool,
}

/// The maximum number of columns of a table that are looked at. A wider one is data rather than text.
const MAX_COLUMNS: usize = 12;
/// The maximum length of a sentence in bytes. A longer one is a list of values, or not prose.
const MAX_SENTENCE_BYTES: usize = 600;

/// The maximum length of the beginning of an item that names what it is about.
const MAX_LEAD_BYTES: usize = 80;

/// The sentences of a section, given its lines without those of its heading.
pub fn sentences<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Sentence> {
    let mut reader = SentenceReader::default();
    for (number, line) in lines.enumerate() {
        checkpoint();
        reader.line(number, line.trim());
    }
    reader.end_block();
    reader.found
}

/// Reads a section line by line.
#[derive(Default)]
struct SentenceReader<'a> {
    found: Vec<Sentence>,
    /// The paragraph that is being read, and its lines.
    paragraph: String,
    first_line: usize,
    last_line: usize,
    /// The headings of the columns of the table that is being read; empty where it has none, as in a part of a long table.
    header: Option<Vec<&'a str>>,
    /// The first row of a table, which is its heading only where a line of dashes follows.
    first_row: Option<(usize, Vec<&'a str>)>,
    /// The marks that open the code block that is being read.
    fence: Option<&'a str>,
    /// The paragraph before a list that says what its items are about.
    intro: String,
    is_item: Option<bool>,
    is_comment: bool,
    is_front_matter: bool,
}

impl<'a> SentenceReader<'a> {
    fn line(&mut self, number: usize, line: &'a str) {
        if self.skips(number, line) {
            return self.end_block();
        }
        if line.starts_with('|') {
            self.end_paragraph();
            return self.row(number, line);
        }
        self.end_table();
        let quoted = line.trim_start_matches(['>', ' ']);
        if quoted.is_empty() || quoted.starts_with("[!") {
            // An empty line of a quotation, or the mark of a note.
            return self.end_paragraph();
        }
        let (text, is_item) = without_item_mark(quoted);
        if is_item {
            self.end_paragraph();
        } else if self.paragraph.is_empty() {
            self.intro.clear();
        }
        if self.paragraph.is_empty() {
            self.is_item = Some(is_item);
        }
        if self.paragraph.is_empty() {
            self.first_line = number;
        } else if joins_with_space(&self.paragraph, text) {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(text);
        self.last_line = number;
    }

    /// Whether a line belongs to code, a comment, metadata or markup of its own.
    fn skips(&mut self, number: usize, line: &'a str) -> bool {
        if let Some(fence) = self.fence {
            if line.starts_with(fence) {
                self.fence = None;
            }
            return true;
        }
        if self.is_front_matter || (number == 0 && line == "---") {
            self.is_front_matter = number == 0 || line != "---";
            return true;
        }
        if self.is_comment || line.starts_with("<!--") {
            self.is_comment = !line.contains("-->");
            return true;
        }
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence)) {
            self.fence = Some(fence);
            return true;
        }
        let is_markup = line.starts_with('#')
            || line.starts_with(":::")
            || line.starts_with("{{")
            || line.starts_with("{%")
            || line.starts_with("$ ")
            || (line.starts_with('<') && line.ends_with('>'))
            || line.starts_with("[!")
            || (line.starts_with('[') && line.contains("]: "));
        line.is_empty() || is_markup
    }

    fn end_block(&mut self) {
        self.end_paragraph();
        self.end_table();
    }

    fn end_table(&mut self) {
        if let Some((number, cells)) = self.first_row.take() {
            self.cells(number, &cells);
        }
        self.header = None;
    }

    /// A row of a table: each of its cells after the first is a sentence, with the first cell and its column's heading.
    fn row(&mut self, number: usize, line: &'a str) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).take(MAX_COLUMNS).collect();
        if cells.iter().all(|cell| cell.chars().all(|mark| "-: ".contains(mark))) {
            if let Some((_, cells)) = self.first_row.take() {
                self.header = Some(cells);
            }
            return;
        }
        match (self.first_row.take(), &self.header) {
            (None, None) => {
                self.first_row = Some((number, cells));
                return;
            }
            (Some((first, row)), _) => {
                self.header = Some(Vec::new());
                self.cells(first, &row);
            }
            (None, Some(_)) => {}
        }
        self.cells(number, &cells);
    }

    /// The sentences of a row.
    fn cells(&mut self, number: usize, cells: &[&str]) {
        let Some((first, others)) = cells.split_first() else { return };
        for (column, cell) in (1..).zip(others) {
            let heading = self.header.as_ref().and_then(|header| header.get(column)).copied();
            let text = match heading.filter(|heading| !heading.is_empty()) {
                Some(heading) => without_markup(&format!("{first}, {heading}: {cell}")),
                None => without_markup(&format!("{first}: {cell}")),
            };
            if text.len() <= MAX_SENTENCE_BYTES {
                self.found.push(Sentence { text, lines: number..number + 1, is_cell: true });
            }
        }
    }

    /// Splits the paragraph into sentences.
    fn end_paragraph(&mut self) {
        let lines = self.first_line..self.last_line + 1;
        let paragraph = without_markup(&std::mem::take(&mut self.paragraph));
        // A paragraph that ends with a colon says what the items after it are about.
        if let (Some(false), Some(intro)) = (self.is_item, paragraph.strip_suffix([':', '：'])) {
            self.intro = intro.to_owned();
        }
        // The later sentences of an item are about what its beginning names: `Mail: sends alerts. Retired in May.`
        let lead =
            paragraph.split_once(": ").map(|(lead, _)| lead).filter(|lead| lead.len() <= MAX_LEAD_BYTES);
        for (number, text) in split(&paragraph).enumerate() {
            let is_item = self.is_item == Some(true);
            let intro = Some(self.intro.as_str()).filter(|intro| is_item && !intro.is_empty());
            let lead = lead.filter(|_| is_item && number > 0);
            let parts = [intro, lead, Some(text)];
            let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            if text.len() <= MAX_SENTENCE_BYTES {
                self.found.push(Sentence { text, lines: lines.clone(), is_cell: false });
            }
        }
    }
}

/// Whether two lines of a paragraph are joined with a space: not between Japanese characters.
fn joins_with_space(before: &str, after: &str) -> bool {
    let is_spaced = |character: Option<char>| character.is_some_and(|character| character.is_ascii());
    is_spaced(before.chars().next_back()) || is_spaced(after.chars().next())
}

/// A line without the mark of a list item, and whether it had one.
fn without_item_mark(line: &str) -> (&str, bool) {
    for mark in ["- ", "* ", "+ ", "・"] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (rest.trim_start(), true);
        }
    }
    let digits = line.len() - line.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let rest = line.get(digits..).unwrap_or_default();
    match rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')) {
        Some(rest) if (1..=3).contains(&digits) => (rest.trim_start(), true),
        _ => (line, false),
    }
}

/// The sentences of a paragraph.
fn split(paragraph: &str) -> impl Iterator<Item = &str> {
    let mut rest = paragraph;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = sentence_end(rest);
            let (sentence, after) = rest.split_at(end);
            rest = after.trim_start();
            let sentence = sentence.trim();
            if !sentence.is_empty() {
                return Some(sentence);
            }
        }
        None
    })
}

/// The end of the first sentence of a text, in bytes.
fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let after = at + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            // Full-width marks stand only in text as it is written; normalized text has the others.
            '。' | '．' | '！' | '？' | '；' => true,
            // A quoted question ends, unless a particle makes it a part of a sentence: 「出ますか」と聞かれた.
            ']' | '」' => {
                let is_question = text.get(..at).is_some_and(|before| before.ends_with(['か', '?', '？']));
                is_question && next.is_some_and(|next| !"とっはをのにもが、。".contains(next))
            }
            '.' | '!' | '?' | ';' => {
                next.is_none_or(|next| next == ' ' || !next.is_ascii())
                    && !is_abbreviation(text.get(..at).unwrap_or_default())
            }
            _ => false,
        };
        if ends {
            return after;
        }
    }
    text.len()
}

/// Whether a text ends in an abbreviation, whose full stop ends no sentence.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
    ENGLISH.abbreviations.contains(&word)
}

/// A text without emphasis, code marks and tags. What stands in code stays, between marks that tell it from prose. The text
/// of Markdown has no targets of links: it is rendered before.
pub fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        rest = match character {
            '`' => {
                let end = after.find('`').unwrap_or(after.len());
                out.push(CODE);
                out.extend(after.get(..end).unwrap_or_default().chars().filter(|inner| *inner != '`'));
                out.push(CODE);
                after.get(end + 1..).unwrap_or_default()
            }
            '*' | '~' => after,
            '<' if after.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/') => {
                after.find('>').and_then(|end| after.get(end + 1..)).unwrap_or(after)
            }
            _ => {
                out.push(character);
                after
            }
        };
    }
    out
}

/// Stands before and after code in a sentence.
pub const CODE: char = '`';

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
