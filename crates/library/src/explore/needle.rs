//! Whether a term stands in a text: as it is, or with separators between its letters.

use memchr::memmem::Finder;

use crate::text::is_separator;

/// How a term stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermFit {
    /// In normal form, letter by letter.
    Whole,
    /// With separators in between, or without its own.
    Loose,
}

/// A term, ready to be looked for in many texts.
pub struct Needle {
    finder: Finder<'static>,
    /// The same without separators.
    bare: Finder<'static>,
}

impl Needle {
    /// A term in normal form.
    pub fn new(term: &str) -> Self {
        let bare: String = term.chars().filter(|letter| !is_separator(*letter)).collect();
        Self {
            finder: Finder::new(term.as_bytes()).into_owned(),
            bare: Finder::new(bare.as_bytes()).into_owned(),
        }
    }

    /// Whether it stands in a text letter by letter.
    pub fn stands_in(&self, text: &str) -> bool {
        self.finder.find(text.as_bytes()).is_some()
    }

    /// Whether it stands in a text in normal form, and how.
    pub fn find(&self, text: &str) -> Option<TermFit> {
        if self.stands_in(text) {
            return Some(TermFit::Whole);
        }
        self.find_loosely(text).map(|_| TermFit::Loose)
    }

    /// Where it first stands, in bytes.
    pub fn place(&self, text: &str) -> Option<usize> {
        self.finder.find(text.as_bytes()).or_else(|| self.find_loosely(text))
    }

    /// Where it stands when separators do not count. The text is read twice, however often its letters repeat, so that no
    /// text makes the search quadratic.
    fn find_loosely(&self, text: &str) -> Option<usize> {
        let bare: String = text.chars().filter(|letter| !is_separator(*letter)).collect();
        let at = self.bare.find(bare.as_bytes())?;
        let before = bare.get(..at)?.chars().count();
        let mut letters = text.char_indices().filter(|(_, letter)| !is_separator(*letter));
        letters.nth(before).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_do_not_hide_a_term() {
        for (term, text, expected) in [
            ("給付金", "がん給付金を", Some(TermFit::Whole)),
            ("給付金", "給付・\n金", Some(TermFit::Loose)),
            ("サーバー", "サーバの", Some(TermFit::Loose)),
            ("user-id", "the userid", Some(TermFit::Loose)),
            ("userid", "user id", Some(TermFit::Loose)),
            ("給付金", "給付と金", None),
            ("", "a", Some(TermFit::Whole)),
        ] {
            assert_eq!(Needle::new(term).find(text), expected, "{term} in {text}");
        }
        assert_eq!(Needle::new("給付金").place("a給・付金"), Some(1));
    }
}
