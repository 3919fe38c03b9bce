//! Where a section stands, and whether two sections differ by design: their headings, folders or file names name different
//! products, plans, editions or years.

use annai_language::{ENGLISH, JAPANESE};
use std::ops::Range;

use super::statement::is_example;
use crate::index::View;
use crate::matching::place::{NodePlace, node_at};
use annai_text::normalize_text;
use annai_text::values::{Item, scan};

/// The headings of a section, and the names of its file and folders.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The normalized titles, from the top of the file down.
    pub titles: Vec<String>,
    /// The folders, and the name of the file without its extension.
    path: Vec<String>,
    /// The years, versions and editions that titles and names contain.
    editions: Vec<String>,
}

impl Context {
    /// The context of a section.
    pub fn of(views: &[View], place: NodePlace) -> Self {
        let titles = titles(views, place);
        let file = node_at(views, place).and_then(|(segment, node)| segment.file_of(node));
        let path = normalize_text(file.map_or("", |file| file.path.as_str()));
        let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name);
        let path: Vec<String> = name.split('/').map(str::to_owned).collect();
        let mut editions: Vec<String> =
            titles.iter().chain(&path).flat_map(|name| editions_in(name)).collect();
        editions.sort_unstable();
        editions.dedup();
        Self { titles, path, editions }
    }

    /// The heading of the section.
    pub fn title(&self) -> &str {
        self.titles.last().map_or("", String::as_str)
    }

    /// Whether it stands under a heading of examples.
    pub fn is_example(&self) -> bool {
        self.titles.iter().any(|title| is_example(title) || title == "例")
    }

    /// Whether another section differs by design. One edition that only one of them names is enough.
    pub fn differs_by_design(&self, other: &Self) -> bool {
        let is_same_file = self.path == other.path;
        let is_same_title = self.titles.len() > 1 && self.title() == other.title();
        let levels = self.titles.iter().zip(&other.titles).map(|(one, other)| (one.as_str(), other.as_str()));
        let mut titles = levels.chain([(self.title(), other.title())]);
        self.editions != other.editions
            || titles.any(|(one, other)| name_members_of_a_kind(one, other))
            // Sections of the same title in one file stand under different headings.
            || (is_same_file && is_same_title)
            || are_parallel(&self.path, &other.path)
    }

    /// Whether two sections have the same file and parent.
    pub fn is_sibling_of(&self, other: &Self) -> bool {
        let parents = |context: &'_ Self| context.titles.len().saturating_sub(1);
        self.path == other.path && self.titles.get(..parents(self)) == other.titles.get(..parents(other))
    }
}

/// The normalized titles from the top of the file down to a section.
fn titles(views: &[View], place: NodePlace) -> Vec<String> {
    let (mut titles, mut next) = (Vec::new(), Some(place));
    while let Some((_, node)) = next.and_then(|place| node_at(views, place)) {
        // A passage of a long section has the heading of its section.
        if !node.is_continuation {
            titles.push(normalize_text(&node.title));
        }
        next = node.parent.map(|node| NodePlace { node, ..place });
    }
    titles.reverse();
    titles
}

/// The words of a name: each character of Kanji and Katakana is one, because nothing separates Japanese words. Numbers of
/// chapters and articles, and the Hiragana at the end, say nothing.
fn words(name: &str) -> Vec<&str> {
    let number = name.find(|character: char| !character.is_ascii_digit() && character != '.');
    let (number, rest) = name.split_at(number.unwrap_or(0));
    // 3.2 of `3.2 Refunds` numbers a section; 3 of 3年生 is a part of its name.
    let name = if rest.starts_with(|next: char| !next.is_alphanumeric()) || number.ends_with('.') {
        rest
    } else {
        name
    };
    let numbers: Vec<Range<usize>> = references(name).collect();
    let is_latin = |character: char| character.is_ascii_alphanumeric();
    let mut words: Vec<&str> = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let start = name.len() - rest.len();
        let length = match is_latin(first) {
            true => rest.find(|next| !is_latin(next)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if (first.is_alphanumeric() || first == 'ー') && !numbers.iter().any(|range| range.contains(&start))
        {
            words.push(word);
        }
        rest = after;
    }
    let last = words.len() - words.iter().rev().take_while(|word| is_hiragana_only(word)).count();
    words.truncate(last);
    words
}

/// Where the numbers of chapters, articles, steps and the like stand in a name.
fn references(name: &str) -> impl Iterator<Item = Range<usize>> {
    scan(name).into_iter().filter_map(|item| match item {
        Item::Reference(range) => Some(range),
        Item::Amount(_) => None,
    })
}

/// Whether two names are the same but for one part that tells members of a kind apart: `Basic plan` and `Premium plan`,
/// 正社員の給与 and 契約社員の給与, `Grade 3` and `Grade 6`.
fn name_members_of_a_kind(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let shorter = one.len().min(other.len());
    let first = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let last = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let last = last.min(shorter - first);
    let own = |words: &[&str]| words.len() - first - last;
    let (mine, theirs) = (own(&one), own(&other));
    if mine == 0 || theirs == 0 {
        return false;
    }
    let is_japanese = one.iter().chain(&other).any(|word| !word.is_ascii());
    let is_sign = |words: &[&str]| {
        words.get(first).is_some_and(|word| {
            word.len() == 1 && word.is_ascii() || word.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let is_one_sign = mine == 1 && theirs == 1 && first > 0 && is_sign(&one) && is_sign(&other);
    // 社員 of 正社員 and 契約社員 is a kind; の案内 of 館内の案内 and 駐車場の案内 is none.
    let is_noun = one.get(one.len() - last).is_some_and(|word| !is_hiragana_only(word));
    // `Modify access tokens` and `Use access tokens` are about the same.
    let is_short = is_japanese || shorter == 2;
    let has_same_head = is_noun && is_short && last * 2 >= shorter && last > usize::from(is_japanese);
    let is_one_word = !is_japanese && mine == 1 && theirs == 1 && first > 1;
    is_one_sign || has_same_head || is_one_word
}

/// Whether two paths are the same but for one folder, or one is the other with a word more: `v1/terms` and `v2/terms`,
/// `install` and `install-windows`.
fn are_parallel(one: &[String], other: &[String]) -> bool {
    let pairs = one.iter().zip(other).enumerate();
    let mut differing = pairs.filter(|(_, (one, other))| one != other);
    let (Some((at, (mine, theirs))), None) = (differing.next(), differing.next()) else { return false };
    let is_folder = at + 1 < one.len();
    let adds_a_word = || {
        let (short, long) = if mine.len() < theirs.len() { (mine, theirs) } else { (theirs, mine) };
        long.strip_prefix(short.as_str()).is_some_and(|rest| rest.starts_with(['-', '_', '.']))
    };
    one.len() == other.len() && (is_folder || adds_a_word() || name_members_of_a_kind(mine, theirs))
}

/// The years, versions and editions in a title or name.
fn editions_in(name: &str) -> Vec<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '.';
    // The number of a step or a section is no version.
    let references: Vec<Range<usize>> = references(name).collect();
    let mut found = Vec::new();
    let is_in = |words: &[String], part: &str| words.iter().any(|word| word == part);
    let (mut before, mut rest) = ("", name);
    while let Some(start) = rest.find(is_part) {
        let (gap, from) = rest.split_at(start);
        let (part, after) = from.split_at(from.find(|next| !is_part(next)).unwrap_or(from.len()));
        let part = part.trim_matches('.');
        let is_first = before.is_empty() && gap.is_empty() && !after.is_empty();
        let end = name.len() - after.len();
        let is_numbered =
            !is_in(&ENGLISH.versions, before) && references.iter().any(|range| range.contains(&(end - 1)));
        if is_year(part) || (is_version(part, is_first) && !is_numbered) {
            found.push(part.to_owned());
        } else if is_in(&ENGLISH.editions, part) && !before.is_empty() {
            found.push(format!("{before} {part}"));
        }
        (before, rest) = (part, after);
    }
    let is_japanese = |character: char| !character.is_ascii() && character.is_alphanumeric();
    for run in name.split(|character: char| !is_japanese(character) && !character.is_ascii_alphanumeric()) {
        let is_edition = |noun: &String| {
            let letter = run.split_once(noun.as_str()).map(|(_, after)| after);
            (run.ends_with(noun.as_str()) && run.len() > noun.len())
                || letter.is_some_and(|after| (1..4).contains(&after.len()) && after.is_ascii())
        };
        found.extend(JAPANESE.editions.iter().any(is_edition).then(|| run.to_owned()));
    }
    found
}

/// Whether nothing but Hiragana and punctuation is in a text.
fn is_hiragana_only(text: &str) -> bool {
    text.chars()
        .all(|character| matches!(character, '\u{3041}'..='\u{3096}') || " 、。?!.,".contains(character))
}

fn is_year(part: &str) -> bool {
    part.len() == 4
        && part.bytes().all(|byte| byte.is_ascii_digit())
        && (part.starts_with("19") || part.starts_with("20"))
}

/// Whether a part of a name is a version: `v2`, `4.1`. At the beginning, 4.1 numbers a section.
fn is_version(part: &str, is_first: bool) -> bool {
    let has_mark = part.strip_prefix("ver").or_else(|| part.strip_prefix('v'));
    let number = has_mark.unwrap_or(part);
    let is_number = !number.is_empty()
        && number.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let dots = number.matches('.').count();
    is_number && (has_mark.is_some() || dots > 1 || (dots == 1 && !is_first))
}

#[cfg(test)]
#[path = "editions_tests.rs"]
mod tests;
