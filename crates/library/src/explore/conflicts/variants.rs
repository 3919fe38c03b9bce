//! Whether two sections differ by design, because their headings or file names name different products, plans, editions or
//! years.

use super::super::place::{NodePlace, node_at};
use super::cues::Cues;
use super::word_lists::{
    DOCUMENTS, GROUPS, LETTERED, MEMBERS, NO_STATEMENT_FILES, NO_STATEMENT_HEADINGS, NUMBERED, ORDERS,
    SITUATIONS,
};
use super::words::{Word, words_of};
use crate::index::View;
use crate::text::normalize_text;

/// The headings of a section, and the names of its file and folders.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The normalized titles, from the top of the file down.
    pub titles: Vec<String>,
    /// The words of each title.
    pub headings: Vec<Vec<Word>>,
    /// What tells editions, products and plans apart in the titles and names.
    marks: Vec<String>,
    /// The folders and the name of the file, without its extension.
    path: Vec<String>,
}

impl Context {
    /// The context of a section.
    pub fn of(views: &[View], place: NodePlace) -> Self {
        let titles = titles(views, place);
        let file = node_at(views, place).and_then(|(segment, node)| segment.file_of(node));
        let path = normalize_text(file.map_or("", |file| file.path.as_str()));
        let name = path.rsplit_once('.').map_or(path.as_str(), |(name, _)| name);
        let path: Vec<String> = name.split('/').map(str::to_owned).collect();
        let mut marks: Vec<String> = titles.iter().chain(&path).flat_map(|text| marks_of(text)).collect();
        marks.sort_unstable();
        marks.dedup();
        Self { headings: titles.iter().map(|title| words_of(title, &[])).collect(), titles, marks, path }
    }

    /// Whether nothing is stated under such headings: examples, exercises and histories.
    pub fn states_nothing(&self) -> bool {
        let starts = |text: &str, names: &[&str]| names.iter().any(|name| text.starts_with(name));
        let mut words = self.headings.iter().flatten();
        words.any(|word| starts(&word.text, NO_STATEMENT_HEADINGS))
            || self.path.iter().any(|name| starts(name, NO_STATEMENT_FILES))
    }

    /// Whether another section differs by design.
    pub fn differs_by_design(&self, other: &Self) -> bool {
        let only = |one: &Self, other: &Self| -> Vec<String> {
            one.marks.iter().filter(|mark| !other.marks.contains(mark)).cloned().collect()
        };
        let (left, right) = (only(self, other), only(other, self));
        let is_edition = |mark: &String| mark.chars().any(|character| character.is_ascii_digit());
        if left.iter().chain(&right).any(is_edition) || (!left.is_empty() && !right.is_empty()) {
            return true;
        }
        if self.headings.iter().zip(&other.headings).any(|(one, other)| are_members_of_a_group(one, other)) {
            return true;
        }
        if self
            .titles
            .last()
            .zip(other.titles.last())
            .is_some_and(|(one, other)| are_steps(one, other) || are_names_of_code(one, other))
        {
            return true;
        }
        // Files of the same name in different folders, and sections of the same title in one file, are parallel.
        let is_same_file = self.path == other.path;
        let is_same_title = self.headings.len() > 1 && self.headings.last() == other.headings.last();
        let is_same_name = self.path.last() == other.path.last();
        if is_same_file { is_same_title } else { is_same_name }
    }

    /// Whether the titles of two sections take different sides of a contrast: before the end of the warranty, and after it.
    pub fn is_opposed_to(&self, other: &Self) -> bool {
        let sides = |context: &Self| context.titles.last().map_or(0, |title| Cues::of(title).contrasts);
        let both = sides(self) | sides(other);
        (0..SITUATIONS.len() + ORDERS.len()).any(|number| both >> (2 * number) & 3 == 3)
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

/// What tells editions, products and plans apart in a title or a name: years, versions, models, letters of plans, and
/// known words.
fn marks_of(text: &str) -> Vec<String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.');
    let mut marks = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, from) = text.split_at(text.len() - rest.len() + start);
        let (run, after) = from.split_at(from.find(|character| !is_part(character)).unwrap_or(from.len()));
        let parts = run.split('-').chain(std::iter::once(run));
        marks.extend(
            parts.filter(|part| is_mark(part, before.trim_end(), after.trim_start())).map(str::to_owned),
        );
        rest = after;
    }
    let words = words_of(text, &[]).into_iter().map(|word| word.text);
    let names = text.split(|character: char| !character.is_alphanumeric()).map(str::to_owned);
    marks.extend(words.chain(names).filter(|word| GROUPS.contains(&word.as_str())));
    marks
}

/// Whether a part of a title is a year, a version, a model or the letter of a plan.
fn is_mark(part: &str, before: &str, after: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let name = part.trim_end_matches(|character: char| character.is_ascii_digit() || character == '-');
    let is_year = digits == 4 && letters == 0 && (part.starts_with("19") || part.starts_with("20"));
    let is_model = letters > 0 && digits > 0 && !NUMBERED.contains(&name);
    let is_lettered = || LETTERED.iter().any(|kind| before.ends_with(kind) || after.starts_with(kind));
    let is_edition = || {
        ["版", "年度", "期"].iter().any(|unit| after.starts_with(unit))
            || ["バージョン", "version", "令和", "平成"].iter().any(|name| before.ends_with(name))
    };
    // 4.1 at the beginning or in `section 4.1` numbers a section; elsewhere, or with more parts, it is a version.
    let dots = part.trim_matches('.').matches('.').count();
    let is_numbered = || before.is_empty() || NUMBERED.iter().any(|name| before.ends_with(name));
    let is_version = digits > 1 && (dots > 1 || (dots == 1 && !is_numbered()));
    match (letters, digits) {
        (1, 0) => part.len() == 1 && is_lettered(),
        (0, _) => is_year || is_version || (digits > 0 && is_edition()),
        _ => is_model,
    }
}

/// Whether two titles are different names of code: `assert_nil` and `assert_not_nil`.
fn are_names_of_code(one: &str, other: &str) -> bool {
    let is_code =
        |title: &str| title.contains(['_', '(', '$', '`']) || title.starts_with(['.', '-', '@', ':']);
    one != other && is_code(one) && is_code(other)
}

/// Whether two titles number the steps of a course.
fn are_steps(one: &str, other: &str) -> bool {
    const STEPS: &[&str] =
        &["step", "ステップ", "手順", "練習", "演習", "exercise", "lesson", "day", "week", "phase", "stage"];
    let step = |title: &str| {
        STEPS.iter().find(|name| {
            let after = title.strip_prefix(**name).map(str::trim_start);
            after.is_some_and(|after| after.starts_with(|digit: char| digit.is_ascii_digit()))
        })
    };
    step(one).is_some_and(|name| step(other) == Some(name)) && one != other
}

/// Whether two titles name members of a group: the same noun with another word before it, or two kinds of persons, plans
/// or places.
fn are_members_of_a_group(one: &[Word], other: &[Word]) -> bool {
    let (Some(left), Some(right)) = (one.last(), other.last()) else { return false };
    let ends = |word: &Word, names: &[&str]| names.iter().any(|name| word.text.ends_with(name));
    let is_member = |word: &Word| ends(word, MEMBERS) && !word.text.ends_with("従業員");
    if left != right {
        return is_member(left) && is_member(right);
    }
    let has_own_word = |words: &[Word], others: &[Word]| {
        let before = words.len().checked_sub(2).and_then(|index| words.get(index));
        before.is_some_and(|word| !others.contains(word))
    };
    !ends(left, DOCUMENTS) && has_own_word(one, other) && has_own_word(other, one)
}

#[cfg(test)]
#[path = "variants_tests.rs"]
mod tests;
