//! Whether a term stands in a text: as it is, or with separators between its letters.

use memchr::memmem::Finder;

use crate::text::is_separator;

/// How a term stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    Whole,
    /// With separators in between, or without its own.
    Loose,
}

/// A term to be looked for.
pub struct Needle {
    finder: Finder<'static>,
    /// Its letters without separators.
    letters: Vec<char>,
}

impl Needle {
    /// A term in normal form.
    pub fn new(term: &str) -> Self {
        let letters = term.chars().filter(|letter| !is_separator(*letter)).collect();
        Self { finder: Finder::new(term.as_bytes()).into_owned(), letters }
    }

    /// Whether it stands in a text in normal form.
    pub fn find(&self, text: &str) -> Option<Fit> {
        if self.finder.find(text.as_bytes()).is_some() {
            return Some(Fit::Whole);
        }
        self.find_loosely(text).map(|_| Fit::Loose)
    }

    /// Where it first stands, in bytes.
    pub fn place(&self, text: &str) -> Option<usize> {
        self.finder.find(text.as_bytes()).or_else(|| self.find_loosely(text))
    }

    fn find_loosely(&self, text: &str) -> Option<usize> {
        let first = *self.letters.first()?;
        let fits = |from: &str| {
            let mut wanted = self.letters.iter().peekable();
            for letter in from.chars() {
                match wanted.peek() {
                    None => return true,
                    Some(next) if **next == letter => drop(wanted.next()),
                    Some(_) if is_separator(letter) => {}
                    Some(_) => return false,
                }
            }
            wanted.peek().is_none()
        };
        text.match_indices(first).map(|(at, _)| at).find(|at| text.get(*at..).is_some_and(fits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_do_not_hide_a_term() {
        for (term, text, expected) in [
            ("給付金", "がん給付金を", Some(Fit::Whole)),
            ("給付金", "給付・\n金", Some(Fit::Loose)),
            ("サーバー", "サーバの", Some(Fit::Loose)),
            ("user-id", "the userid", Some(Fit::Loose)),
            ("userid", "user id", Some(Fit::Loose)),
            ("給付金", "給付と金", None),
            ("", "a", Some(Fit::Whole)),
        ] {
            assert_eq!(Needle::new(term).find(text), expected, "{term} in {text}");
        }
        assert_eq!(Needle::new("給付金").place("a給・付金"), Some(1));
    }
}
