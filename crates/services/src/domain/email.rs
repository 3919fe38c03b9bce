//! E-mail addresses.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::MAX_EMAIL_CHARS;
use super::text::Problem;

/// An e-mail address as its owner writes it. Two addresses that differ only in case belong to one person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(!try_from, !into)]
pub struct Email(#[schemars(email, length(max = MAX_EMAIL_CHARS))] String);

impl Email {
    /// The address, if it has the form of one. White space around it is removed.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let text = text.trim();
        if text.len() > MAX_EMAIL_CHARS {
            return Err(Problem::new(format!("must have at most {MAX_EMAIL_CHARS} characters")));
        }
        let has_only_visible = !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        let is_address = text.rsplit_once('@').is_some_and(|(local, domain)| {
            !local.is_empty()
                && !local.contains('@')
                && domain.split('.').all(|label| !label.is_empty())
                && domain.contains(|letter: char| letter.is_alphanumeric())
        });
        if has_only_visible && is_address {
            Ok(Self(text.to_owned()))
        } else {
            Err(Problem::new("must be an e-mail address such as you@example.com"))
        }
    }

    /// The address as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address in lower case, by which a person is found. Only ASCII letters have another case here: other characters
    /// fold into ASCII ones (the Kelvin sign into k), and would lead into the account of somebody else.
    #[must_use]
    pub fn lower(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl TryFrom<String> for Email {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        Self::parse(&text)
    }
}

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_addresses_parse() {
        for right in
            ["a@b.example", " you+tag@Example.COM ", "\"quoted\"@example.com", "案内@例え.jp", "a@localhost"]
        {
            assert!(Email::parse(right).is_ok(), "{right}");
        }
        for wrong in
            ["", "a", "@b", "a@", "a@b@c.example", "a b@c.example", "a@b..c", "a\0@b.example", "a@.b"]
        {
            assert!(Email::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(Email::parse(&format!("{}@b.example", "a".repeat(300))).is_err());
    }

    #[test]
    fn case_does_not_tell_people_apart() {
        let lower = |text| Email::parse(text).unwrap().lower();
        assert_eq!(lower("You@Example.com"), lower("yOU@eXAMPLE.COM"));
        assert_ne!(lower("you@example.com"), lower("your@example.com"));
        assert_ne!(lower("kim@example.com"), lower("\u{212a}im@example.com"));
    }

    proptest! {
        #[test]
        fn what_parses_parses_again_and_its_lower_form_is_stable(text in "\\PC{0,12}@\\PC{1,12}") {
            if let Ok(email) = Email::parse(&text) {
                prop_assert_eq!(Email::parse(email.as_str()), Ok(email.clone()));
                let lower = email.lower();
                prop_assert_eq!(lower.to_ascii_lowercase(), lower);
            }
        }
    }
}
