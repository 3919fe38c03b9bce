//! The Porter stemmer for English: `limits`, `limited` and `limiting` have the same stem.

use annai_language::ENGLISH;

/// The stem of a word. Words shorter than three characters, or with characters other than a to z, are returned
/// unchanged.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut word = Word(base_of_irregular(word).to_owned());
    word.plurals();
    word.past_and_progress();
    if word.0.ends_with('y') && has_vowel(word.before(1)) {
        word.replace(1, "i");
    }
    word.replace_longest(STEP_2, 0);
    word.replace_longest(STEP_3, 0);
    word.long_endings();
    word.last_letters();
    word.0
}

/// The base of an irregular form; any other word is returned unchanged.
/// The base of an irregular form; any other word is its own.
fn base_of_irregular(word: &str) -> &str {
    ENGLISH.irregular_forms.get(word).map_or(word, String::as_str)
}

const STEP_2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

const STEP_3: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const STEP_4: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
];

/// Whether a word has this ending. Comparing the last character first makes the common case fast.
fn ends(word: &str, ending: &str) -> bool {
    word.as_bytes().last() == ending.as_bytes().last() && word.ends_with(ending)
}

/// A word that is being stemmed.
struct Word(String);

impl Word {
    fn before(&self, ending: usize) -> &str {
        self.0.get(..self.0.len().saturating_sub(ending)).unwrap_or_default()
    }

    fn replace(&mut self, ending: usize, by: &str) {
        self.0.truncate(self.0.len().saturating_sub(ending));
        self.0.push_str(by);
    }

    /// Step 1a.
    fn plurals(&mut self) {
        if self.0.ends_with("sses") || self.0.ends_with("ies") {
            self.replace(2, "");
        } else if self.0.ends_with('s') && !self.0.ends_with("ss") {
            self.replace(1, "");
        }
    }

    /// Step 1b.
    fn past_and_progress(&mut self) {
        if self.0.ends_with("eed") {
            if measure(self.before(3)) > 0 {
                self.replace(1, "");
            }
            return;
        }
        let ending = ["ed", "ing"].iter().find(|ending| ends(&self.0, ending)).map_or(0, |end| end.len());
        if ending == 0 || !has_vowel(self.before(ending)) {
            return;
        }
        self.replace(ending, "");
        let doubled = ends_doubled(&self.0) && !self.0.ends_with(['l', 's', 'z']);
        if ["at", "bl", "iz"].iter().any(|end| ends(&self.0, end))
            || (measure(&self.0) == 1 && is_short(&self.0))
        {
            self.0.push('e');
        } else if doubled {
            self.0.pop();
        }
    }

    /// Replaces the longest matching ending, if the measure of the rest is greater than `min_measure`.
    fn replace_longest(&mut self, endings: &[(&str, &str)], min_measure: usize) {
        let longest = endings.iter().filter(|(end, _)| ends(&self.0, end)).max_by_key(|(end, _)| end.len());
        if let Some((ending, by)) = longest
            && measure(self.before(ending.len())) > min_measure
        {
            self.replace(ending.len(), by);
        }
    }

    /// Step 4.
    fn long_endings(&mut self) {
        let longest = STEP_4.iter().filter(|end| ends(&self.0, end)).max_by_key(|end| end.len());
        if let Some(ending) = longest {
            let before = self.before(ending.len());
            if measure(before) > 1 && (*ending != "ion" || before.ends_with(['s', 't'])) {
                self.replace(ending.len(), "");
            }
        }
    }

    /// Step 5.
    fn last_letters(&mut self) {
        if self.0.ends_with('e') {
            let before = self.before(1);
            let measure = measure(before);
            if measure > 1 || (measure == 1 && !is_short(before)) {
                self.replace(1, "");
            }
        }
        if self.0.ends_with("ll") && measure(&self.0) > 1 {
            self.replace(1, "");
        }
    }
}

/// Whether each character is a consonant; `y` is one at the start and after a vowel.
fn consonants(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(false, |after_consonant, ch| {
        let consonant = match ch {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !*after_consonant,
            _ => true,
        };
        *after_consonant = consonant;
        Some(consonant)
    })
}

fn has_vowel(word: &str) -> bool {
    consonants(word).any(|consonant| !consonant)
}

/// Porter's measure: how often a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    let mut after_vowel = false;
    consonants(word)
        .filter(|consonant| {
            let is_transition = after_vowel && *consonant;
            after_vowel = !*consonant;
            is_transition
        })
        .count()
}

fn ends_doubled(word: &str) -> bool {
    let mut letters = word.bytes().rev();
    letters.next() == letters.next() && consonants(word).last() == Some(true)
}

/// Whether a word ends with consonant, vowel, consonant other than w, x or y.
fn is_short(word: &str) -> bool {
    let kinds: Vec<_> = consonants(word).collect();
    kinds.ends_with(&[true, false, true]) && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn irregular_forms_have_the_stem_of_their_base() {
        for (form, base) in
            [("sent", "send"), ("children", "child"), ("overridden", "override"), ("kept", "keep")]
        {
            assert_eq!(stem(form), stem(base), "{form}");
        }
        assert_eq!(stem("left"), "left");
    }

    #[test]
    fn stems_match_the_porter_stemmer() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("hopping", "hop"),
            ("filing", "file"),
            ("falling", "fall"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("organization", "organ"),
            ("hopefulness", "hope"),
            ("electrical", "electr"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("rate", "rate"),
            ("is", "is"),
            ("日本", "日本"),
            ("e104", "e104"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
        for forms in [
            ["limit", "limits", "limited"],
            ["configure", "configured", "configuring"],
            ["retry", "retries", "retried"],
        ] {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
    }

    proptest! {
        #[test]
        fn stems_are_never_empty_nor_longer(word in "[a-z]{1,20}") {
            let stem = stem(&word);
            prop_assert!(!stem.is_empty() && stem.len() <= word.len() + 1, "{stem}");
        }
    }
}
