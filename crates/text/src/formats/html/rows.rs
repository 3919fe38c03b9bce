//! The rows of a reduced HTML file while it is read: text, lines, headings and links.

use std::ops::Range;

use crate::lines::truncate_chars;
use crate::sections::{Heading, Link, MAX_TITLE_CHARS};

/// The maximum number of headings of a file that become nodes. A page has some dozens; in a file with more, the text
/// after the last of them belongs to that one.
const MAX_HEADINGS: usize = 100_000;
/// How much of a page title is kept while it is read; a title is a line.
const MAX_TITLE_BYTES: usize = 4096;

/// What separates the next text from the text before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Gap {
    #[default]
    None,
    Space,
    /// A line break in the source. It means a space, but not between Japanese characters.
    SourceBreak,
    /// The borders of this many table cells.
    Cells(usize),
    /// The next text begins a row.
    Row,
}

/// A heading that is open.
#[derive(Debug, Clone, Copy)]
struct OpenHeading {
    level: u8,
    /// Where its text begins, once there is some.
    text_start: Option<usize>,
    /// Whether it is a node.
    is_node: bool,
}

/// The rows so far.
#[derive(Debug, Default)]
pub struct HtmlRows {
    pub text: String,
    /// The bytes of each original line up to that of the current row.
    pub lines: Vec<Range<usize>>,
    gap: Gap,
    /// Whether the next row is an item of a list.
    is_item: bool,
    /// The number of cells of the current table row.
    cells: usize,
    /// Whether the next line break is the one after the start tag of verbatim text, which is not part of it.
    skips_break: bool,
    open: Option<OpenHeading>,
    pub headings: Vec<Heading>,
    pub title: String,
    /// The line of the title.
    pub title_line: usize,
    has_title: bool,
    /// The targets of links with the number of headings before them.
    pub links: Vec<(usize, String)>,
    /// How many of them belong to the current section.
    section_links: usize,
}

impl HtmlRows {
    /// Adds text in which runs of white space mean one space. The line is the one on which the text ends.
    pub fn add_flowing(&mut self, text: &str, line: usize) {
        let mut line = line.saturating_sub(text.matches('\n').count());
        let is_space = |ch: char| matches!(ch, ' ' | '\t' | '\n' | '\r' | '\x0c');
        let mut rest = text;
        while !rest.is_empty() {
            let words = rest.trim_start_matches(is_space);
            let space = rest.get(..rest.len() - words.len()).unwrap_or_default();
            if !space.is_empty() && matches!(self.gap, Gap::None | Gap::Space) {
                let has_break = space.contains(['\n', '\r']);
                self.gap = if has_break && self.gap == Gap::None { Gap::SourceBreak } else { Gap::Space };
            }
            line += space.matches('\n').count();
            let end = words.find(is_space).unwrap_or(words.len());
            let (word, after) = words.split_at(end);
            if !word.is_empty() {
                self.add_word(word, line);
            }
            rest = after;
        }
    }

    fn add_word(&mut self, word: &str, line: usize) {
        let is_joined = self.gap == Gap::SourceBreak
            && self.text.chars().next_back().is_some_and(is_wide)
            && word.chars().next().is_some_and(is_wide);
        match self.gap {
            _ if self.text.is_empty() => self.start_row(line),
            Gap::Row => self.start_row(line),
            Gap::None => {}
            Gap::Space | Gap::SourceBreak if is_joined => {}
            Gap::Space | Gap::SourceBreak => self.text.push(' '),
            Gap::Cells(count) => (0..count).for_each(|_| self.text.push_str(" | ")),
        }
        if let Some(open) = &mut self.open
            && open.text_start.is_none()
        {
            open.text_start = Some(self.text.len());
        }
        self.text.push_str(word);
        (self.gap, self.skips_break) = (Gap::None, false);
    }

    /// Adds text that keeps its line breaks and spaces. The line is the one on which the text ends.
    pub fn add_verbatim(&mut self, text: &str, line: usize) {
        let breaks = text.matches('\n').count();
        for (number, part) in (0..).zip(text.split_inclusive('\n')) {
            let line = line.saturating_sub(breaks).saturating_add(number);
            let (content, has_break) =
                part.strip_suffix('\n').map_or((part, false), |content| (content, true));
            if content.is_empty() && std::mem::take(&mut self.skips_break) {
                continue;
            }
            self.skips_break = false;
            if content.is_empty() {
                if self.gap == Gap::Row {
                    // An empty line.
                    self.start_row(line);
                }
            } else {
                let is_heading = self.open.is_some();
                if is_heading { self.add_flowing(content, line) } else { self.add_word(content, line) }
            }
            if has_break {
                self.gap = if self.open.is_some() { Gap::Space } else { Gap::Row };
            }
        }
    }

    /// Begins a row on an original line.
    fn start_row(&mut self, line: usize) {
        if !self.lines.is_empty() {
            if let Some(last) = self.lines.last_mut() {
                last.end = self.text.len();
            }
            self.text.push('\n');
        }
        let start = self.text.len();
        while self.lines.len() < line.max(1) {
            self.lines.push(start..start);
        }
        match &mut self.open {
            Some(open) if open.text_start.is_none() => {
                (0..open.level).for_each(|_| self.text.push('#'));
                self.text.push(' ');
                open.is_node = self.headings.len() < MAX_HEADINGS;
                if open.is_node {
                    self.headings.push(Heading { level: open.level, start, lines: 1, ..Heading::default() });
                }
            }
            _ if self.is_item => self.text.push_str("- "),
            _ => {}
        }
        self.is_item = false;
        self.gap = Gap::None;
    }

    pub fn start_heading(&mut self, level: u8) {
        self.break_strongly();
        self.open = Some(OpenHeading { level, text_start: None, is_node: false });
        self.section_links = 0;
    }

    pub fn end_heading(&mut self) {
        if let Some(open) = self.open.take() {
            let words = open.text_start.and_then(|start| self.text.get(start..)).unwrap_or_default();
            // Documentation generators append a link to the heading itself.
            let words = words.trim().trim_end_matches(['¶', '\u{f0c1}']).trim();
            if let Some(heading) = self.headings.last_mut().filter(|_| open.is_node) {
                heading.title = truncate_chars(words, MAX_TITLE_CHARS).0.to_owned();
            }
        }
        (self.gap, self.is_item, self.cells) = (Gap::Row, false, 0);
    }

    /// Ends a heading that was not closed. An element that begins before its text is one around the text.
    fn end_unclosed_heading(&mut self) {
        if self.open.is_some_and(|open| open.text_start.is_some()) {
            self.end_heading();
        }
    }

    /// Begins a row, also inside a table cell.
    pub fn break_strongly(&mut self) {
        self.end_unclosed_heading();
        (self.gap, self.is_item, self.cells) = (Gap::Row, false, 0);
    }

    /// Begins a row, unless this is the start of a table cell.
    pub fn break_weakly(&mut self) {
        self.end_unclosed_heading();
        if !matches!(self.gap, Gap::Cells(_)) {
            self.gap = Gap::Row;
        }
    }

    /// A line break inside a paragraph. A heading stays on one row.
    pub fn break_line(&mut self) {
        if !matches!(self.gap, Gap::Cells(_) | Gap::Row) {
            self.gap = if self.open.is_some() { Gap::Space } else { Gap::Row };
        }
    }

    pub fn start_item(&mut self) {
        self.break_strongly();
        self.is_item = true;
    }

    pub fn start_verbatim(&mut self) {
        let is_item = self.is_item;
        self.break_strongly();
        (self.is_item, self.skips_break) = (is_item, true);
    }

    pub fn start_cell(&mut self) {
        if self.cells == 0 {
            self.break_strongly();
        } else {
            self.gap = Gap::Cells(if let Gap::Cells(count) = self.gap { count + 1 } else { 1 });
        }
        self.cells += 1;
    }

    pub fn add_title(&mut self, text: &str, line: usize) {
        if !self.has_title && self.title.len() < MAX_TITLE_BYTES {
            if self.title.trim().is_empty() {
                self.title_line = line.saturating_sub(text.trim_start().matches('\n').count());
            }
            self.title.push_str(text);
        }
    }

    pub fn end_title(&mut self) {
        self.has_title |= !self.title.trim().is_empty();
    }

    /// Adds the target of a link, unless it is a URL.
    pub fn add_link(&mut self, target: &str) {
        let target = target.trim();
        let scheme = target.split(['/', '?', '#']).next().unwrap_or_default();
        let is_external = scheme.contains(':') || target.starts_with("//");
        let is_kept = !target.is_empty() && target.len() <= Link::MAX_BYTES && !is_external;
        if is_kept && self.section_links < Link::MAX_COUNT {
            self.section_links += 1;
            let is_in_heading = self.open.is_some_and(|open| open.text_start.is_none());
            self.links.push((self.headings.len() + usize::from(is_in_heading), target.to_owned()));
        }
    }
}

/// Whether a character belongs to a script that is written without spaces.
const fn is_wide(ch: char) -> bool {
    matches!(ch, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}')
}
