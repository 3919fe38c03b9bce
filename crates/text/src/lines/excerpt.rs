//! Excerpts: a range of lines from a text that arrives in pieces, with bounded memory; the other lines are only counted.

use super::cut::cut_length_within_line;
use super::line_index::truncate_chars;

/// The lines to extract, and the maximum number of characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExcerptRequest {
    /// The first line, counted from 1.
    pub first_line: u64,
    /// How many characters of the first line are left out.
    pub first_char: usize,
    /// The last line. A number beyond the end of the text means the last line.
    pub last_line: u64,
    /// The maximum number of characters.
    pub max_chars: usize,
}

/// The extracted lines: whole lines, or a part of a first line that alone exceeds the limit. The break at the end of the
/// last line is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, without the last line break.
    pub text: String,
    /// The number of characters in `text`.
    pub chars: usize,
    /// The last line in `text`; the line before the first one when there is none.
    pub last_line: u64,
    /// The last line whose end is in `text`; the line before the first one when there is none.
    pub complete_line: u64,
    /// The line and the character in it at which the text goes on; `None` at the end of the text.
    pub next: Option<(u64, usize)>,
    /// Whether the character limit was reached: requested text is missing.
    pub is_limited: bool,
    /// The number of lines in the whole text.
    pub total_lines: u64,
    /// The length of the first line in characters, when it is shorter than `first_char`.
    pub short_first_line: Option<usize>,
}

/// Builds an excerpt from the pieces of a text.
#[derive(Default)]
pub struct ExcerptBuilder {
    request: ExcerptRequest,
    excerpt: Excerpt,
    /// The number of the current line, counted from 1.
    line: u64,
    /// Whether any part of the current line has arrived.
    line_has_content: bool,
    /// The requested text of the current line, up to one character more than the limit.
    current: String,
    /// The number of characters in the requested text of the current line.
    current_chars: usize,
    /// How many characters of the first line are still to be left out.
    to_skip: usize,
    /// The line break before the current line.
    previous_break: &'static str,
    /// Whether the last piece ended with `\\r`, to which a `\\n` may belong.
    ends_with_cr: bool,
    /// Whether the limit was reached.
    is_full: bool,
}

impl ExcerptBuilder {
    /// A builder that has seen no text yet.
    pub fn new(request: ExcerptRequest) -> Self {
        let last_line = request.first_line.saturating_sub(1);
        let excerpt = Excerpt { last_line, complete_line: last_line, ..Excerpt::default() };
        Self { request, excerpt, line: 1, to_skip: request.first_char, ..Self::default() }
    }

    /// Adds the next piece of the text.
    pub fn push(&mut self, mut piece: &str) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.ends_with_cr) {
            match piece.strip_prefix('\n') {
                Some(rest) => {
                    self.end_line("\r\n");
                    piece = rest;
                }
                None => self.end_line("\r"),
            }
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', piece.as_bytes()) {
            let (line, rest) = piece.split_at(end);
            self.add_to_line(line);
            self.line_has_content = true;
            if rest.len() == 1 && rest == "\r" {
                // Only the next piece shows whether a line feed follows.
                self.ends_with_cr = true;
                return;
            }
            let line_break = match rest {
                rest if rest.starts_with("\r\n") => "\r\n",
                rest if rest.starts_with('\r') => "\r",
                _ => "\n",
            };
            self.end_line(line_break);
            piece = rest.get(line_break.len()..).unwrap_or_default();
        }
        if !piece.is_empty() {
            self.line_has_content = true;
            self.add_to_line(piece);
        }
    }

    /// The excerpt, after all pieces were added.
    pub fn finish(mut self) -> Excerpt {
        if self.ends_with_cr || self.line_has_content {
            self.end_line("");
        }
        let Excerpt { complete_line, total_lines, next, .. } = &mut self.excerpt;
        *total_lines = self.line - 1;
        if next.is_none() && *complete_line < *total_lines {
            *next = Some((*complete_line + 1, 0));
        }
        self.excerpt
    }

    fn is_requested(&self) -> bool {
        !self.is_full && self.line >= self.request.first_line && self.line <= self.request.last_line
    }

    fn add_to_line(&mut self, mut text: &str) {
        if !self.is_requested() {
            return;
        }
        if self.to_skip > 0 && self.line == self.request.first_line {
            let (skipped, is_all) = truncate_chars(text, self.to_skip);
            self.to_skip = if is_all { self.to_skip - skipped.chars().count() } else { 0 };
            text = text.get(skipped.len()..).unwrap_or_default();
        }
        let room = self.request.max_chars.saturating_add(1).saturating_sub(self.current_chars);
        self.current.push_str(truncate_chars(text, room).0);
        self.current_chars += text.chars().count();
    }

    fn end_line(&mut self, line_break: &'static str) {
        if self.is_requested() {
            let first = self.line == self.request.first_line;
            let before = if first { "" } else { self.previous_break };
            let chars = before.len() + self.current_chars;
            let excerpt = &mut self.excerpt;
            if first && self.to_skip > 0 {
                excerpt.short_first_line = Some(self.request.first_char - self.to_skip);
            }
            if excerpt.chars + chars <= self.request.max_chars {
                excerpt.text.push_str(before);
                excerpt.text.push_str(&self.current);
                excerpt.chars += chars;
                excerpt.last_line = self.line;
                excerpt.complete_line = self.line;
            } else {
                excerpt.next = Some((self.line, 0));
                if first {
                    // The first line alone exceeds the limit: without a part of it, a reader could never get past it.
                    self.current.truncate(cut_length_within_line(&self.current, self.request.max_chars));
                    excerpt.chars = self.current.chars().count();
                    excerpt.text.push_str(&self.current);
                    excerpt.last_line = self.line;
                    excerpt.next = Some((self.line, self.request.first_char.saturating_add(excerpt.chars)));
                }
                excerpt.is_limited = true;
                self.is_full = true;
            }
        }
        self.current.clear();
        self.current_chars = 0;
        self.previous_break = line_break;
        self.line_has_content = false;
        self.line += 1;
    }
}

#[cfg(test)]
#[path = "excerpt_tests.rs"]
mod tests;
