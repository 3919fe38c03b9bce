//! Finds what a reader of a Markdown text does not see. It reads the text once, and nothing in it makes it read a part of
//! the text more than a few times.

use super::blocks::{Fence, LineKind, LineStart, opens_indented_text};
use super::definitions::Definitions;
use super::edit::Edit;
use super::emphasis::{Emphasis, Run};
use super::ending::Ending;
use super::entities::entity;
use super::lengths::{address_length, heading_id_length, run_length, shown_text};
use super::links::target_length;
use super::tags::Tag;
use crate::lines::{line_end, next_line};
use annai_core::cancellation::checkpoint;

/// The maximum number of brackets that wait for their other half.
const MAX_BRACKETS: usize = 64;
/// The maximum number of backticks that enclose code in a line.
const MAX_TICKS: usize = 16;
/// The width of white space before a line of code without marks.
const CODE_INDENT: usize = 4;

/// Reads a text from its start to its end.
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    edits: Vec<Edit>,
    definitions: Definitions,
    /// The end of the lines that belong together; emphasis, links, tags and code do not reach beyond it.
    block_end: usize,
    emphasis: Emphasis,
    /// The brackets that may begin a link: where they are, and how long they are with the mark of an image.
    brackets: Vec<(usize, usize)>,
    fence: Option<Fence>,
    /// Whether indented lines belong to a list item.
    is_in_list: bool,
    /// Whether an indented line is code here: after a blank line, but not in a list.
    may_be_code: bool,
    /// Up to where a number of backticks is known not to occur.
    absent_ticks: [usize; MAX_TICKS],
    comment: Ending,
    inline_comment: Ending,
    braced_comment: Ending,
    inline_braced_comment: Ending,
    angle_shortcode: Ending,
    percent_shortcode: Ending,
}

impl<'a> Scanner<'a> {
    /// A scanner of a text from a byte on.
    pub fn new(text: &'a str, start: usize) -> Self {
        Self {
            text,
            at: start,
            edits: Vec::new(),
            definitions: Definitions::of(text),
            block_end: 0,
            emphasis: Emphasis::default(),
            brackets: Vec::new(),
            fence: None,
            is_in_list: false,
            may_be_code: true,
            absent_ticks: [0; MAX_TICKS],
            comment: Ending::new("-->"),
            inline_comment: Ending::new("-->"),
            braced_comment: Ending::new("*/}"),
            inline_braced_comment: Ending::new("*/}"),
            angle_shortcode: Ending::new(">}}"),
            percent_shortcode: Ending::new("%}}"),
        }
    }

    /// The edits, without overlaps but not in order.
    pub fn edits(mut self) -> Vec<Edit> {
        while self.at < self.text.len() {
            checkpoint();
            let end = self.line();
            self.at = next_line(self.text.as_bytes(), end);
        }
        self.edits
    }

    /// Reads a line, and returns where it ends: later than it seems where something in it spans several lines.
    fn line(&mut self) -> usize {
        let end = line_end(self.text.as_bytes(), self.at);
        let line = self.text.get(self.at..end).unwrap_or_default();
        if let Some(fence) = self.fence {
            self.fence = Some(fence).filter(|fence| !fence.is_closed_by(line));
            return end;
        }
        let start = LineStart::of(line);
        match start.kind {
            LineKind::Blank => self.may_be_code = true,
            _ if self.may_be_code && !self.is_in_list && start.indent >= CODE_INDENT => {}
            LineKind::Rule => self.may_be_code = false,
            LineKind::Fence(fence) => (self.fence, self.may_be_code) = (Some(fence), false),
            LineKind::Definition => self.edits.push(Edit::new(self.at..end, None)),
            LineKind::Heading | LineKind::Item | LineKind::Row | LineKind::Text => {
                let is_outside = start.indent == 0 && self.may_be_code;
                match start.kind {
                    LineKind::Item => self.is_in_list = true,
                    LineKind::Text if opens_indented_text(line) => self.is_in_list = true,
                    LineKind::Text if !is_outside => {}
                    _ => self.is_in_list = false,
                }
                self.may_be_code = false;
                if start.kind != LineKind::Text || self.at >= self.block_end {
                    let is_one_line = matches!(start.kind, LineKind::Heading | LineKind::Row);
                    self.start_block(if is_one_line { end } else { self.block_end_after(end) });
                }
                let content = self.at + start.prefix;
                self.at = content;
                return self.inline(end, start.kind == LineKind::Heading);
            }
        }
        self.start_block(end);
        end
    }

    fn start_block(&mut self, end: usize) {
        self.emphasis.end_block();
        self.brackets.clear();
        self.block_end = end;
    }

    /// The end of the block that the line with this end belongs to.
    fn block_end_after(&self, mut end: usize) -> usize {
        let bytes = self.text.as_bytes();
        loop {
            let next = next_line(bytes, end);
            let line = self.text.get(next..line_end(bytes, next)).unwrap_or_default();
            if next >= bytes.len() || LineStart::of(line).kind != LineKind::Text {
                return end;
            }
            end = line_end(bytes, next);
        }
    }

    /// Reads the text of a line, and returns where it ends.
    fn inline(&mut self, mut end: usize, is_heading: bool) -> usize {
        let bytes = self.text.as_bytes();
        let mut is_first = true;
        while let Some(length) =
            bytes.get(self.at..end).and_then(|rest| rest.iter().position(|byte| is_special(*byte)))
        {
            let before = self.text.get(self.at..self.at + length).unwrap_or_default();
            is_first = is_first && before.trim().is_empty();
            self.at += length;
            self.special(is_first, is_heading);
            is_first = false;
            if self.at > end {
                end = line_end(bytes, self.at);
                if self.at > self.block_end {
                    self.start_block(self.block_end_after(end));
                }
            }
        }
        end
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..self.block_end.max(self.at)).unwrap_or_default()
    }

    fn remove(&mut self, length: usize, replacement: Option<char>) {
        self.edits.push(Edit::new(self.at..self.at + length, replacement));
        self.at += length;
    }

    /// Reads what begins with a special character, at least that character.
    fn special(&mut self, is_first: bool, is_heading: bool) {
        let rest = self.rest();
        let Some(first) = rest.bytes().next() else {
            self.at += 1;
            return;
        };
        match first {
            b'\\' if rest.as_bytes().get(1).is_some_and(u8::is_ascii_punctuation) => {
                self.remove(1, None);
                self.at += 1;
            }
            b'`' => self.code(),
            b'*' | b'_' | b'~' => self.marks(first),
            b'!' if rest.starts_with("![") => self.open_bracket(2),
            b'[' => self.open_bracket(1),
            b']' => self.close_bracket(),
            b'<' => self.angle(is_first),
            b'{' => self.brace(is_first, is_heading),
            b'&' => match entity(rest) {
                Some((character, length)) => self.remove(length, Some(character)),
                None => self.at += 1,
            },
            _ => self.at += 1,
        }
    }

    /// Code between backticks stays as it is. Backticks without their other half are text.
    fn code(&mut self) {
        let rest = self.rest();
        let count = run_length(rest.as_bytes(), b'`');
        self.at += count;
        let Some(absent_until) = self.absent_ticks.get_mut(count - 1).filter(|until| self.at >= **until)
        else {
            return;
        };
        let mut after = count;
        while let Some(length) = rest.get(after..).and_then(|rest| memchr::memchr(b'`', rest.as_bytes())) {
            after += length;
            let found = run_length(rest.as_bytes().get(after..).unwrap_or_default(), b'`');
            after += found;
            if found == count {
                self.at += after - count;
                return;
            }
        }
        *absent_until = self.block_end;
    }

    fn marks(&mut self, mark: u8) {
        let rest = self.rest();
        let count = run_length(rest.as_bytes(), mark);
        let after = rest.get(count..).and_then(|after| after.chars().next()).unwrap_or(' ');
        let run = Run { mark, at: self.at, count, before: self.character_before(), after };
        self.emphasis.add(run, &mut self.edits);
        self.at += count;
    }

    fn character_before(&self) -> char {
        self.text.get(..self.at).and_then(|before| before.chars().next_back()).unwrap_or(' ')
    }

    fn open_bracket(&mut self, length: usize) {
        if self.brackets.len() >= MAX_BRACKETS {
            self.brackets.drain(..MAX_BRACKETS / 2);
        }
        self.brackets.push((self.at, length));
        self.at += length;
    }

    /// Of a link, only the text stays.
    fn close_bracket(&mut self) {
        let after = self.rest().get(1..).unwrap_or_default();
        let Some((open, length)) = self.brackets.pop() else {
            self.at += 1;
            return;
        };
        let label = self.text.get(open + length..self.at).unwrap_or_default();
        if let Some(target) = target_length(after).or_else(|| self.label_length(label, after)) {
            self.edits.push(Edit::new(open..open + length, None));
            self.remove(1 + target, None);
        } else {
            self.at += 1;
        }
    }

    /// The length of the label behind the text of a link, `[label]`; 0 where the text itself is a label.
    fn label_length(&self, text: &str, after: &str) -> Option<usize> {
        if self.definitions.is_empty() {
            return None;
        }
        if let Some(inside) = after.strip_prefix('[') {
            let end = inside.find([']', '['])?;
            let label = inside.get(..end).filter(|label| !label.is_empty()).unwrap_or(text);
            let is_closed = inside.get(end..)?.starts_with(']');
            return (is_closed && self.definitions.has(label)).then_some(end + 2);
        }
        self.definitions.has(text).then_some(0)
    }

    /// Comments, addresses and tags.
    fn angle(&mut self, is_first: bool) {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            let (ending, limit) = match is_first {
                true => (&mut self.comment, self.text.len()),
                false => (&mut self.inline_comment, self.block_end),
            };
            if let Some(end) = ending.after(self.text, self.at + 4, limit) {
                return self.remove(end - self.at, None);
            }
        }
        if let Some(length) = address_length(rest) {
            return self.remove(length, Some(' '));
        }
        match Tag::at_start_of(rest, self.character_before()) {
            Some(tag) => self.remove(tag.length, tag.separates.then_some(' ')),
            None => self.at += 1,
        }
    }

    /// Comments of MDX, shortcodes, and ids of headings.
    fn brace(&mut self, is_first: bool, is_heading: bool) {
        let rest = self.rest();
        let (start, limit) = (self.at + 3, self.block_end);
        let end = match rest.get(..3) {
            Some("{/*") if is_first => self.braced_comment.after(self.text, start, self.text.len()),
            Some("{/*") => self.inline_braced_comment.after(self.text, start, limit),
            Some("{{<") => self.angle_shortcode.after(self.text, start, limit),
            Some("{{%") => self.percent_shortcode.after(self.text, start, limit),
            _ => heading_id_length(rest)
                .filter(|_| is_heading || self.is_underlined())
                .map(|length| self.at + length),
        };
        let Some(end) = end else {
            self.at += 1;
            return;
        };
        let removed = self.text.get(self.at..end).unwrap_or_default();
        match shown_text(removed).filter(|_| removed.starts_with("{{")) {
            Some((start, length)) => {
                self.remove(start, None);
                self.at += length;
                self.remove(end - self.at, None);
            }
            None => self.remove(end - self.at, None),
        }
    }

    /// Whether the next line makes this one a heading.
    fn is_underlined(&self) -> bool {
        let bytes = self.text.as_bytes();
        let next = next_line(bytes, line_end(bytes, self.at));
        let line = self.text.get(next..line_end(bytes, next)).unwrap_or_default();
        LineStart::of(line).kind == LineKind::Rule
    }
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, b'\\' | b'`' | b'*' | b'_' | b'~' | b'!' | b'[' | b']' | b'<' | b'{' | b'&')
}
