//! Substring search for a term in a normalized text: exactly, or regardless of separators.

use memchr::memmem::Finder;

use crate::query::script::script;
use annai_text::is_separator;

/// How a text contains a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermFit {
    /// Character by character.
    Exact,
    /// With other separators, or without them.
    Loose,
}

/// A term, prepared to be searched for in many texts.
pub struct Needle {
    finder: Finder<'static>,
    /// Finds the term without its separators.
    bare: Finder<'static>,
}

impl Needle {
    /// Prepares a normalized term.
    pub fn new(term: &str) -> Self {
        let bare: String = term.chars().filter(|character| !is_separator(*character)).collect();
        Self {
            finder: Finder::new(term.as_bytes()).into_owned(),
            bare: Finder::new(bare.as_bytes()).into_owned(),
        }
    }

    /// Whether a text contains the term exactly.
    pub fn occurs_exactly_in(&self, text: &str) -> bool {
        self.finder.find(text.as_bytes()).is_some()
    }

    /// Whether a normalized text contains the term, and how.
    pub fn find(&self, text: &str) -> Option<TermFit> {
        if self.occurs_exactly_in(text) {
            return Some(TermFit::Exact);
        }
        self.find_loosely(text).map(|_| TermFit::Loose)
    }

    /// The length of the term in bytes.
    pub fn length(&self) -> usize {
        self.finder.needle().len()
    }

    /// The positions of all exact matches, in bytes.
    pub fn exact_positions<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.finder.find_iter(text.as_bytes())
    }

    /// The position of the first exact match, or else of the first loose one, in bytes.
    pub fn position(&self, text: &str) -> Option<usize> {
        self.finder.find(text.as_bytes()).or_else(|| self.find_loosely(text))
    }

    /// The position of the first match when separators are ignored. The text is read twice, however often its
    /// characters repeat, so that no text makes the search quadratic.
    fn find_loosely(&self, text: &str) -> Option<usize> {
        let bare: String = text.chars().filter(|character| !is_separator(*character)).collect();
        let at = self.bare.find(bare.as_bytes())?;
        let before = bare.get(..at)?.chars().count();
        let mut characters = text.char_indices().filter(|(_, character)| !is_separator(*character));
        characters.nth(before).map(|(at, _)| at)
    }
}

/// Whether a text contains a single character as a word of its own: where characters of the same script stand beside it, it
/// is a part of another word, as 象 in 対象.
pub fn stands_alone(character: char, text: &str) -> bool {
    text.match_indices(character).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        [before, after].into_iter().flatten().all(|beside| script(beside) != script(character))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use annai_text::normalize_text;

    #[test]
    fn separators_do_not_hide_a_term() {
        for (term, text, expected) in [
            ("給付金", "がん給付金を", Some(TermFit::Exact)),
            ("給付金", "給付・\n金", Some(TermFit::Loose)),
            ("サーバー", "サーバの", Some(TermFit::Loose)),
            ("user-id", "the userid", Some(TermFit::Loose)),
            ("userid", "user id", Some(TermFit::Loose)),
            ("給付金", "給付と金", None),
            ("", "a", Some(TermFit::Exact)),
        ] {
            assert_eq!(Needle::new(term).find(text), expected, "{term} in {text}");
        }
        assert_eq!(Needle::new("給付金").position("a給・付金"), Some(1));
    }

    #[test]
    fn a_character_beside_others_of_its_script_is_a_part_of_a_word() {
        for (character, text, expected) in [
            ('象', "象は大きい", true),
            ('象', "対象と象。", true),
            ('象', "対象の", false),
            ('税', "税率と消費税", false),
            ('円', "10円の", true),
            ('象', "大きい", false),
        ] {
            assert_eq!(stands_alone(character, text), expected, "{character} in {text}");
        }
    }

    #[test]
    fn the_position_is_that_of_the_exact_match_before_a_loose_one() {
        let position = |term: &str, text: &str| Needle::new(term).position(text);
        assert_eq!(position("userid", "user-id and userid"), Some(12));
        assert_eq!(position("userid", "a user-id"), Some(2));
        assert_eq!(position("userid", "user"), None);
    }

    proptest! {
        #[test]
        fn a_term_is_found_however_it_is_spelled_and_separated(
            before in "[x ]{0,5}",
            term in prop::collection::vec("[a-c給付金]", 1..6),
            separators in prop::collection::vec("[ ・/_-]{0,2}", 6),
            is_full_width in any::<bool>(),
        ) {
            let widen = |letter: &String| match (is_full_width, letter.as_str()) {
                (true, "a") => "Ａ".to_owned(),
                (true, "b") => "Ｂ".to_owned(),
                (true, "c") => "Ｃ".to_owned(),
                _ => letter.clone(),
            };
            let separated: String = term.iter().zip(&separators).map(|(letter, separator)| widen(letter) + separator).collect();
            let text = normalize_text(&format!("{before}{separated}x"));
            let needle = Needle::new(&term.concat());
            let fit = needle.find(&text);
            prop_assert!(fit.is_some(), "{text}");
            let position = needle.position(&text).unwrap();
            prop_assert!(text[position..].starts_with(term[0].as_str()));
            prop_assert_eq!(fit == Some(TermFit::Exact), text.contains(&term.concat()));
        }

        #[test]
        fn a_text_without_the_letters_of_a_term_never_matches(text in "[a-c ・-]{0,20}") {
            prop_assert_eq!(Needle::new("xyz").find(&text), None);
            prop_assert_eq!(Needle::new("xyz").position(&text), None);
        }
    }
}
