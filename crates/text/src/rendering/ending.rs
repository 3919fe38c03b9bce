//! Looks for the end of what spans several lines.

/// The marks that end something, and up to where they are known not to occur.
pub struct Ending {
    marks: &'static str,
    absent_until: usize,
}

impl Ending {
    /// The ending with these marks.
    pub const fn new(marks: &'static str) -> Self {
        Self { marks, absent_until: 0 }
    }

    /// The byte after the marks, between two bytes of a text. A search that fails is not repeated.
    pub fn after(&mut self, text: &str, start: usize, limit: usize) -> Option<usize> {
        if start < self.absent_until {
            return None;
        }
        let part = text.as_bytes().get(start..limit).unwrap_or_default();
        let found = memchr::memmem::find(part, self.marks.as_bytes());
        if found.is_none() {
            self.absent_until = limit;
        }
        found.map(|length| start + length + self.marks.len())
    }
}
