//! The anchors of a file: the names by which links lead to its headings.

use std::collections::HashMap;

/// The headings of a file by their anchors.
#[derive(Debug, Default)]
pub struct Anchors {
    /// By explicit id.
    ids: HashMap<String, usize>,
    /// By the words of the heading. Those with the same words come in order.
    names: HashMap<String, Vec<usize>>,
    /// By the letters and digits of the heading.
    letters: HashMap<String, usize>,
}

impl Anchors {
    /// The anchors of headings, each with its words and its explicit id.
    pub fn new<'a>(headings: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Self {
        let mut anchors = Self::default();
        for (index, (words, id)) in headings.enumerate() {
            if let Some(id) = id {
                anchors.ids.entry(id.to_owned()).or_insert(index);
            }
            let name = slug(words);
            anchors.letters.entry(letters(&name)).or_insert(index);
            anchors.names.entry(name).or_default().push(index);
        }
        anchors
    }

    /// The index of the heading that an anchor names: by its explicit id, by its words, or as the nth heading with the same
    /// words (`-n`).
    pub fn find(&self, anchor: &str) -> Option<usize> {
        let wanted = slug(anchor);
        let first = |name: &str| self.names.get(name)?.first().copied();
        let named = match (self.ids.get(anchor).or_else(|| self.ids.get(&wanted)).copied(), first(&wanted)) {
            (Some(by_id), Some(by_name)) => Some(by_id.min(by_name)),
            (by_id, by_name) => by_id.or(by_name),
        };
        named.or_else(|| {
            let (name, number) = wanted.rsplit_once('-')?;
            self.names.get(name)?.get(number.parse::<usize>().ok()?).copied()
        })
    }

    /// The same, or else the first heading with the same letters and digits: some generators of sites keep the dots and
    /// underscores of a heading, and some write them as hyphens.
    pub fn find_loosely(&self, anchor: &str) -> Option<usize> {
        let by_letters = || self.letters.get(&letters(&slug(anchor))).copied();
        if anchor.is_empty() { None } else { self.find(anchor).or_else(by_letters) }
    }
}

fn letters(slug: &str) -> String {
    slug.chars().filter(|ch| ch.is_alphanumeric()).collect()
}

/// The anchor of a heading, in the spelling of GitHub.
pub fn slug(title: &str) -> String {
    let kept = title.trim().chars().filter(|ch| ch.is_alphanumeric() || matches!(ch, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|ch| if ch == ' ' { '-' } else { ch }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_anchor_of_a_heading_has_the_spelling_of_github() {
        assert_eq!(slug("Rate limits (v2)!"), "rate-limits-v2");
        assert_eq!(slug("第3条 支払"), "第3条-支払");
    }

    #[test]
    fn an_anchor_finds_its_heading_by_words_number_or_id() {
        let titles = ["Intro", "Same", "Same", "Own", "Other", "Other", "Other-1"];
        let id = |title: &str| (title == "Own").then_some("mine");
        let anchors = Anchors::new(titles.into_iter().map(|title| (title, id(title))));
        for (anchor, expected) in [
            ("same", Some(1)),
            ("same-1", Some(2)),
            // A heading with these words comes before the second one with the same words.
            ("other-1", Some(6)),
            ("mine", Some(3)),
            ("own", Some(3)),
            ("none-1", None),
            ("same-9", None),
            ("", None),
        ] {
            assert_eq!(anchors.find(anchor), expected, "{anchor}");
        }
    }

    #[test]
    fn an_anchor_with_other_separators_is_found_loosely() {
        let titles = ["config.active_support.bare", "`belongs_to`関連付け", "- - -"];
        let anchors = Anchors::new(titles.into_iter().map(|title| (title, None)));
        for (anchor, expected) in [
            ("config-active-support-bare", Some(0)),
            ("belongs-to関連付け", Some(1)),
            ("config-active", None),
            ("", None),
        ] {
            assert_eq!((anchors.find(anchor), anchors.find_loosely(anchor)), (None, expected), "{anchor}");
        }
    }

    #[test]
    fn as_many_anchors_as_headings_are_found_in_linear_time() {
        let titles: Vec<String> = (0..20_000).map(|number| format!("Heading {number}")).collect();
        let anchors = Anchors::new(titles.iter().map(|title| (title.as_str(), None)));
        assert!((0..20_000).all(|number| anchors.find(&format!("heading-{number}")) == Some(number)));
    }
}
