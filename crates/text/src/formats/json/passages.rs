//! Splits a JSON text into passages: values that are small enough to rank and to read on their own, each with its JSON
//! Pointer. One pass over the bytes, without recursion.

use std::collections::HashSet;
use std::ops::Range;

use super::pointer::{check, escaped, name_of, scalar_end, string_end, without_mark};
use annai_core::cancellation::Ticks;

/// The maximum number of passages of a text, so that a hostile file cannot fill the index; the rest of the text is one
/// further passage.
const MAX_PASSAGES: usize = 50_000;
/// The maximum number of containers around a passage, because every passage stores its pointer. A container that is deeper
/// is not split.
const MAX_DEPTH: usize = 100;
/// The maximum length of a pointer in bytes, for the same reason. A member whose pointer is longer is not split, and has the
/// pointer of its container.
const MAX_POINTER_BYTES: usize = 1000;

/// Splits a JSON text into the largest values of at most `max_chars` characters, in the order of the text. A container
/// that is larger is split into its members; a larger string stays one passage. Each passage is the pointer of its value,
/// and the bytes from the name of the member, or from the names of the containers that begin with it, to the end of the value;
/// so every name and every value is in exactly one passage.
///
/// `locate` finds the value of every pointer. Where several members have the same name, only the first one has a pointer of
/// its own, and the others have the pointer of their object. A text that is not JSON is one passage with an empty pointer.
pub fn passages(text: &str, max_chars: usize) -> Vec<(String, Range<usize>)> {
    let body = without_mark(text);
    let start = text.len() - body.len();
    if check(body).is_err() {
        return vec![(String::new(), 0..text.len())];
    }
    let mut splitter = Splitter { text, max_chars, counted: start, end: start, ..Splitter::default() };
    splitter.run(start);
    splitter.passages
}

/// How a container refers to one of its values.
#[derive(Debug, Default, Clone)]
enum PointerStep {
    /// The value is the whole text.
    #[default]
    Root,
    /// An element of an array.
    Index(usize),
    /// A member of an object: the bytes of its name.
    Name(Range<usize>),
}

/// A container whose end has not come yet.
#[derive(Default)]
struct Frame {
    /// How its own container refers to it.
    step: PointerStep,
    is_object: bool,
    /// The number of characters before it.
    chars_before: usize,
    /// The number of values that have ended.
    count: usize,
    /// The name of the current member.
    name: Option<Range<usize>>,
    /// The values that have ended, each with its last byte, as long as the container may be small.
    values: Vec<(PointerStep, usize)>,
    /// How the values become passages, once the container is known to be too large.
    split: Option<Split>,
}

/// A container that is too large for one passage.
struct Split {
    pointer: String,
    /// The names that have occurred.
    names: HashSet<String>,
    /// Whether it has passages of its own; otherwise it is one passage.
    mode: SplitMode,
    /// Whether any of its values has become a passage.
    has_passages: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitMode {
    /// Its values become passages.
    Values,
    /// It becomes one passage as a whole, because its values have no pointers.
    Whole,
    /// It is part of a container that becomes one passage.
    Part,
}

#[derive(Default)]
struct Splitter<'a> {
    text: &'a str,
    max_chars: usize,
    /// The number of characters before the byte `counted`.
    chars: usize,
    counted: usize,
    /// The open containers, outermost first.
    frames: Vec<Frame>,
    /// The number of leading frames that are too large for one passage.
    large: usize,
    /// The end of the last passage.
    end: usize,
    passages: Vec<(String, Range<usize>)>,
}

impl Splitter<'_> {
    fn run(&mut self, start: usize) {
        let bytes = self.text.as_bytes();
        // How many containers are open below the deepest frame.
        let (mut at, mut deeper) = (start, 0_usize);
        let mut ticks = Ticks::default();
        while let Some(byte) = bytes.get(at) {
            ticks.tick();
            let next = match byte {
                b'"' => string_end(bytes, at),
                b'{' | b'[' | b'}' | b']' | b',' | b':' => at + 1,
                _ if byte.is_ascii_whitespace() => at + 1,
                _ => scalar_end(bytes, at),
            };
            match byte {
                b'{' | b'[' if deeper > 0 || self.frames.len() == MAX_DEPTH => deeper += 1,
                b'{' | b'[' => self.open(at, *byte == b'{'),
                b'}' | b']' if deeper > 0 => {
                    deeper -= 1;
                    if deeper == 0 {
                        self.end_value(next);
                    }
                }
                b'}' | b']' => self.close(next),
                b',' | b':' => {}
                _ if deeper > 0 || byte.is_ascii_whitespace() => {}
                b'"' if self.frames.last().is_some_and(|frame| frame.is_object && frame.name.is_none()) => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.name = Some(at..next);
                    }
                }
                _ => self.end_value(next),
            }
            if self.passages.len() >= MAX_PASSAGES {
                self.finish_early();
                return;
            }
            at = next;
        }
    }

    /// The number of characters before a byte, which is not before the last one that was asked for.
    fn chars_before(&mut self, byte: usize) -> usize {
        let passed = self.text.get(self.counted..byte).unwrap_or_default();
        self.chars += passed.chars().count();
        self.counted = byte.max(self.counted);
        self.chars
    }

    /// How the innermost container refers to the value that begins or ends here.
    fn step(&self) -> PointerStep {
        match self.frames.last() {
            None => PointerStep::Root,
            Some(frame) => match frame.name.clone() {
                Some(name) => PointerStep::Name(name),
                None => PointerStep::Index(frame.count),
            },
        }
    }

    fn open(&mut self, at: usize, is_object: bool) {
        let (step, chars_before) = (self.step(), self.chars_before(at));
        self.frames.push(Frame { step, is_object, chars_before, ..Frame::default() });
    }

    fn close(&mut self, end: usize) {
        self.split_large(end);
        let Some(frame) = self.frames.pop() else { return };
        self.large = self.large.min(self.frames.len());
        match frame.split {
            None => self.add_value(frame.step, end),
            Some(split) => {
                if split.mode == SplitMode::Whole || (split.mode == SplitMode::Values && !split.has_passages)
                {
                    self.push(split.pointer, end);
                }
                self.count_value();
            }
        }
    }

    /// A value that is not a frame ends.
    fn end_value(&mut self, end: usize) {
        self.split_large(end);
        let step = self.step();
        self.add_value(step, end);
    }

    /// Keeps a small value, or makes it a passage when its container is too large for one.
    fn add_value(&mut self, step: PointerStep, end: usize) {
        match self.frames.last_mut() {
            None => self.push(String::new(), end),
            Some(frame) if frame.split.is_none() => frame.values.push((step, end)),
            Some(_) => {
                let parent = self.frames.len() - 1;
                self.emit(parent, &step, end);
            }
        }
        self.count_value();
    }

    fn count_value(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.count += 1;
            frame.name = None;
        }
    }

    /// Splits the open containers that have more characters than a passage may have up to here.
    fn split_large(&mut self, end: usize) {
        let chars = self.chars_before(end);
        while let Some(frame) = self.frames.get_mut(self.large)
            && chars - frame.chars_before > self.max_chars
        {
            let (step, values) = (frame.step.clone(), std::mem::take(&mut frame.values));
            let (pointer, mode) = match self.large.checked_sub(1) {
                None => (String::new(), SplitMode::Values),
                Some(parent) => self.pointer(parent, &step),
            };
            let split = Split { pointer, names: HashSet::new(), mode, has_passages: false };
            if let Some(frame) = self.frames.get_mut(self.large) {
                frame.split = Some(split);
            }
            for (step, end) in values {
                self.emit(self.large, &step, end);
            }
            self.large += 1;
        }
    }

    /// Makes a value of a container that is split a passage.
    fn emit(&mut self, parent: usize, step: &PointerStep, end: usize) {
        let (pointer, mode) = self.pointer(parent, step);
        if mode != SplitMode::Part {
            self.push(pointer, end);
        }
    }

    /// The pointer of a value of a container that is split and has a passage of it now, and how the value is split.
    fn pointer(&mut self, parent: usize, step: &PointerStep) -> (String, SplitMode) {
        let text = self.text;
        let split = self.frames.get_mut(parent).and_then(|frame| frame.split.as_mut());
        let Some(split) = split.filter(|split| split.mode == SplitMode::Values) else {
            return (String::new(), SplitMode::Part);
        };
        split.has_passages = true;
        let token = match step {
            PointerStep::Root => Some(String::new()),
            PointerStep::Index(index) => Some(index.to_string()),
            PointerStep::Name(name) => text
                .get(name.clone())
                .and_then(name_of)
                .filter(|name| {
                    name.len() <= MAX_POINTER_BYTES && split.names.insert(name.clone().into_owned())
                })
                .map(|name| escaped(&name)),
        };
        let fits = |token: &String| split.pointer.len() + 1 + token.len() <= MAX_POINTER_BYTES;
        match token.filter(fits) {
            Some(token) => (format!("{}/{token}", split.pointer), SplitMode::Values),
            None => (split.pointer.clone(), SplitMode::Whole),
        }
    }

    /// Adds a passage that ends here. It begins after the last one, without the punctuation between them.
    fn push(&mut self, pointer: String, end: usize) {
        let between = self.text.get(self.end..end).unwrap_or_default();
        let is_punctuation = |ch: char| ch.is_ascii_whitespace() || matches!(ch, ',' | ']' | '}');
        let start = end - between.trim_start_matches(is_punctuation).len();
        self.passages.push((pointer, start..end));
        self.end = end;
    }

    /// Makes the rest of the text one passage of the whole text.
    fn finish_early(&mut self) {
        let end = self.text.trim_end().len();
        let rest = self.text.get(self.end..end).unwrap_or_default();
        if rest.chars().any(|ch| !ch.is_ascii_whitespace() && !matches!(ch, ',' | ']' | '}')) {
            self.push(String::new(), end);
        }
    }
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;
