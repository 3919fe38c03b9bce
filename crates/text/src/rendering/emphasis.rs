//! Pairs the marks of emphasis: `*`, `_` and `~~`.

use super::edit::Edit;

/// The maximum number of marks that wait for their other half. Text with more is not emphasized but drawn.
const MAX_OPEN: usize = 64;
/// The number of waiting marks that a closing mark is compared with.
const MAX_COMPARED: usize = 8;

/// Marks that may begin emphasis.
#[derive(Debug, Clone, Copy)]
struct Opener {
    at: usize,
    /// How many of them are left.
    count: usize,
    /// How many they were.
    length: usize,
    may_close: bool,
}

/// A run of equal marks, with the characters around it.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The mark.
    pub mark: u8,
    /// The byte of the first one.
    pub at: usize,
    /// How many there are.
    pub count: usize,
    /// The character before them; white space at the start of a block.
    pub before: char,
    /// The character after them; white space at the end of a block.
    pub after: char,
}

impl Run {
    /// Whether the marks may open and may close emphasis. Unlike CommonMark, punctuation does not matter, because
    /// Japanese brackets stand next to letters: `**「語」**を`.
    fn roles(self) -> (bool, bool) {
        let Self { before, after, .. } = self;
        let (opens, closes) = (!after.is_whitespace(), !before.is_whitespace());
        match self.mark {
            // Not inside of words: `snake_case`.
            b'_' => (opens && !before.is_alphanumeric(), closes && !after.is_alphanumeric()),
            b'~' if self.count != 2 => (false, false),
            // A product.
            b'*' if self.count == 1 && before.is_ascii_digit() && after.is_ascii_digit() => (false, false),
            _ => (opens, closes),
        }
    }
}

/// The marks of a block that wait for their other half.
#[derive(Debug, Default)]
pub struct Emphasis {
    stars: Vec<Opener>,
    underscores: Vec<Opener>,
    tildes: Vec<Opener>,
}

impl Emphasis {
    /// Forgets the waiting marks at the end of a block; they are text.
    pub fn end_block(&mut self) {
        self.drop_from(0);
    }

    /// Adds a run of marks, and removes those that it closes from the text.
    pub fn add(&mut self, run: Run, edits: &mut Vec<Edit>) {
        let (may_open, may_close) = run.roles();
        let (mut at, mut count) = (run.at, run.count);
        while may_close && count > 0 {
            let Some(mut opener) = self.take_opener(run, may_open) else { break };
            let taken = count.min(opener.count);
            opener.count -= taken;
            let end = opener.at + opener.count;
            edits.push(Edit::new(end..end + taken, None));
            edits.push(Edit::new(at..at + taken, None));
            (at, count) = (at + taken, count - taken);
            if opener.count > 0 {
                self.openers(run.mark).push(opener);
            }
        }
        if may_open && count > 0 {
            let openers = self.openers(run.mark);
            if openers.len() >= MAX_OPEN {
                openers.drain(..MAX_OPEN / 2);
            }
            openers.push(Opener { at, count, length: run.count, may_close });
        }
    }

    fn openers(&mut self, mark: u8) -> &mut Vec<Opener> {
        match mark {
            b'*' => &mut self.stars,
            b'_' => &mut self.underscores,
            _ => &mut self.tildes,
        }
    }

    /// The nearest marks that a run closes. Marks of other kinds in between have lost their other half.
    fn take_opener(&mut self, run: Run, may_open: bool) -> Option<Opener> {
        // The rule of three of CommonMark: in `**a*b**` the single mark does not close the double one.
        let fits = |opener: &Opener| {
            let is_ambiguous = may_open || opener.may_close;
            let is_third = (opener.length + run.count).is_multiple_of(3);
            !(is_ambiguous && is_third && !(opener.length.is_multiple_of(3) && run.count.is_multiple_of(3)))
        };
        let openers = self.openers(run.mark);
        let passed = openers.iter().rev().take(MAX_COMPARED).position(fits)?;
        openers.truncate(openers.len() - passed);
        let opener = openers.pop()?;
        self.drop_from(opener.at);
        Some(opener)
    }

    /// Forgets the waiting marks from a byte on.
    fn drop_from(&mut self, at: usize) {
        for openers in [&mut self.stars, &mut self.underscores, &mut self.tildes] {
            while openers.last().is_some_and(|opener| opener.at >= at) {
                openers.pop();
            }
        }
    }
}
