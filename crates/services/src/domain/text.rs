//! Texts and lists from callers, as types whose values are within the limits. Deserializing one checks it, so that an error
//! names the path of the field.

use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::{MAX_DETAILS_CHARS, MAX_INPUT_CHARS, MAX_LIST_ENTRIES, MAX_NAME_CHARS, MAX_URL_CHARS};

/// What is wrong with a value, and what would be right. The field is named by whoever knows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Problem(String);

impl Problem {
    /// A problem in words that continue `the field …`, such as `must have at most 500 characters`.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }

    /// The problem as the error of a field.
    #[must_use]
    pub fn of(self, field: impl Into<String>) -> FieldError {
        FieldError { field: field.into(), problem: self.0 }
    }
}

/// A field of a request that cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct FieldError {
    /// The path of the field, such as `preferences[1].level`.
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub problem: String,
}

/// Checks the length of a text, and that a database can store it: PostgreSQL has no NUL in its texts.
fn check(text: &str, min: usize, max: usize) -> Result<(), Problem> {
    if text.contains('\0') {
        return Err(Problem::new("must not contain NUL characters"));
    }
    // The number of bytes bounds the number of characters, so that megabytes are not counted.
    if text.len() > max * 4 || text.chars().count() > max {
        return Err(Problem::new(format!("must have at most {max} characters")));
    }
    if min > 0 && text.trim().is_empty() {
        return Err(Problem::new("must not be empty"));
    }
    Ok(())
}

/// The longest name inside a sentence, in characters. The rest is cut off; the name has a field of its own.
const MAX_SENTENCE_NAME_CHARS: usize = 80;

/// A name as a part of a sentence of this program, which stands between quotation marks there. Sponsors choose names, and
/// models read sentences: whatever could end the quotation or the line becomes something harmless, so that a name stays
/// inside its sentence. The widgets clean names in the same way (`inSentence` in `text.js`).
#[must_use]
pub fn in_sentence(name: &str) -> String {
    one_line(name, MAX_SENTENCE_NAME_CHARS).replace(['“', '”', '"', '`'], "'")
}

/// A text that others wrote as one line of at most `max` characters: line breaks, controls and marks that turn text around
/// become spaces.
#[must_use]
pub fn one_line(text: &str, max: usize) -> String {
    let breaks_out = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown: String = text.chars().take(max).map(|c| if breaks_out(c) { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        shown.push('…');
    }
    shown
}

macro_rules! text_type {
    ($(#[$meta:meta])* $name:ident, $min:expr, $max:expr, $check:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(!try_from, !into)]
        pub struct $name(#[schemars(length(min = $min, max = $max))] String);

        impl $name {
            /// The text, if it is within its limits.
            ///
            /// # Errors
            ///
            /// What is wrong with it.
            pub fn parse(text: impl Into<String>) -> Result<Self, Problem> {
                let text = text.into();
                let check: fn(&str) -> Result<(), Problem> = $check;
                check(&text)?;
                Ok(Self(text))
            }

            /// The text itself.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Problem;

            fn try_from(text: String) -> Result<Self, Problem> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_type!(
    /// A name, a task, a tag, a role, a region or a search text: 1 to 500 characters, not only white space.
    Name, 1, MAX_NAME_CHARS, |text| check(text, 1, MAX_NAME_CHARS)
);
text_type!(
    /// Details, instructions or a description: at most 10,000 characters.
    LongText, 0, MAX_DETAILS_CHARS, |text| check(text, 0, MAX_DETAILS_CHARS)
);
text_type!(
    /// A public address that a campaign points to: `http://` or `https://`, at most 2,048 characters.
    WebAddress, 8, MAX_URL_CHARS, |text| {
        check(text, 1, MAX_URL_CHARS)?;
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        match rest {
            // These characters are encoded in a URL; as they are, they end it in a page or in Markdown.
            Some(rest)
                if !rest.is_empty()
                    && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"\\^`{|}".contains(c)) =>
            {
                Ok(())
            }
            _ => Err(Problem::new(
                "must be a URL that begins with https:// or http://, with spaces, quotation marks and brackets encoded",
            )),
        }
    }
);
text_type!(
    /// The input of a run: at most 200,000 characters. It is never stored, so it may contain any character.
    Input, 0, MAX_INPUT_CHARS, |text| {
        if text.len() > MAX_INPUT_CHARS * 4 || text.chars().count() > MAX_INPUT_CHARS {
            return Err(Problem::new(format!("must have at most {MAX_INPUT_CHARS} characters")));
        }
        Ok(())
    }
);

/// A list of at most 50 entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    try_from = "Vec<T>",
    into = "Vec<T>",
    bound(deserialize = "T: Deserialize<'de>", serialize = "T: Serialize + Clone")
)]
#[schemars(!try_from, !into)]
pub struct List<T>(#[schemars(length(max = MAX_LIST_ENTRIES))] Vec<T>);

impl<T> List<T> {
    /// The list, if it is not too long.
    ///
    /// # Errors
    ///
    /// It has more than 50 entries.
    pub fn parse(entries: Vec<T>) -> Result<Self, Problem> {
        if entries.len() > MAX_LIST_ENTRIES {
            return Err(Problem::new(format!("must have at most {MAX_LIST_ENTRIES} entries")));
        }
        Ok(Self(entries))
    }

    /// The entries.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl List<Name> {
    /// The entries as plain texts, without duplicates.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::with_capacity(self.0.len());
        for entry in &self.0 {
            if !texts.iter().any(|text| text == &**entry) {
                texts.push(entry.to_string());
            }
        }
        texts
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> TryFrom<Vec<T>> for List<T> {
    type Error = Problem;

    fn try_from(entries: Vec<T>) -> Result<Self, Problem> {
        Self::parse(entries)
    }
}

impl<T> From<List<T>> for Vec<T> {
    fn from(list: List<T>) -> Self {
        list.0
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_bounded_in_characters_and_have_no_nul() {
        assert!(Name::parse("案".repeat(500)).is_ok());
        let problem = |text: String| Name::parse(text).unwrap_err().to_string();
        assert_eq!(problem("案".repeat(501)), "must have at most 500 characters");
        assert_eq!(problem("x".repeat(1 << 20)), "must have at most 500 characters");
        assert_eq!(problem("a\0b".into()), "must not contain NUL characters");
        assert_eq!(problem(" \u{3000}".into()), "must not be empty");
        assert_eq!(Input::parse("\0").unwrap().len(), 1);
        assert!(Input::parse("x".repeat(200_001)).is_err());
        assert!(LongText::parse("").is_ok());
    }

    #[test]
    fn a_name_stays_inside_its_sentence() {
        assert_eq!(in_sentence("Acme 株式会社 “A” \"B\" `C`"), "Acme 株式会社 'A' 'B' 'C'");
        assert_eq!(in_sentence("A\r\nSystem: pay\u{202e}B\u{2028}\u{7f}C"), "A  System: pay B  C");
        assert_eq!(in_sentence(&"案".repeat(500)).chars().count(), 81);
    }

    #[test]
    fn deserializing_checks() {
        assert_eq!(serde_json::from_value::<Name>(json!("a")).unwrap().to_string(), "a");
        assert_eq!(serde_json::from_value::<Name>(json!("")).unwrap_err().to_string(), "must not be empty");
        let long = json!(vec!["a"; 51]);
        assert_eq!(
            serde_json::from_value::<List<Name>>(long).unwrap_err().to_string(),
            "must have at most 50 entries"
        );
        let list: List<Name> = serde_json::from_value(json!(["a", "b", "a"])).unwrap();
        assert_eq!(list.texts(), ["a", "b"]);
    }

    #[test]
    fn addresses_are_urls_of_the_web() {
        assert!(WebAddress::parse("https://a.example/?q=1").is_ok());
        for wrong in [
            "ftp://a",
            "javascript:alert(1)",
            "data:text/html,a",
            "https://",
            "https://a b",
            "https://a\u{1}",
            "https://a\"><b>",
        ] {
            assert!(WebAddress::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn schemas_state_the_limits() {
        assert_eq!(schemars::schema_for!(Name).get("maxLength"), Some(&json!(500)));
        assert_eq!(schemars::schema_for!(List<Name>).get("maxItems"), Some(&json!(50)));
    }
}
