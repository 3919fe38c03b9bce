//! References that count from the place where they stand: 前条, 次章, `the previous section`. All texts are normalized.

use std::sync::LazyLock;

use annai_language::JAPANESE;
use regex::Regex;

use super::labels::Unit;
use crate::normalization::kanji_number;

/// The maximum number of parts before the own one that a reference names (前三条). One that names more means a whole
/// chapter.
const MAX_BEFORE: usize = 10;

/// A reference to a part of the document, counted from the own one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelativeReference {
    /// The kind of the part.
    pub unit: Unit,
    /// Which of them.
    pub step: ReferenceStep,
}

/// Where a part lies, seen from the own one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceStep {
    /// The part that contains the place.
    Own,
    /// This many parts before it.
    Before(usize),
    /// The part after it.
    After,
}

/// Relative references, and the articles and chapters that 同条 and 同章 may mean.
#[expect(clippy::expect_used, reason = "the pattern is part of the program, and a test compiles it")]
static RELATIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?<where>[前次本同])(?<count>\d+|[一二三四五六七八九十]+)?(?<unit>[条章節項])",
        r"|第 ?\d+(?:-\d+)* ?(?<named>[条章節])",
        r"|\b(?<english>previous|preceding|next|following|this)[ \n](?<part>section|chapter|article)\b",
    ))
    .expect("the pattern of relative references is valid")
});

/// The relative references of a text, each once, in order. 同条 behind another article means that one, which is followed
/// anyway.
pub fn relative_references(text: &str) -> Vec<RelativeReference> {
    let mut found: Vec<RelativeReference> = Vec::new();
    // The kinds of the parts that were named so far.
    let mut named: Vec<Unit> = Vec::new();
    for matched in RELATIVE.captures_iter(text) {
        let part = |name: &str| matched.name(name).map(|part| part.as_str());
        let behind = matched.get(0).and_then(|all| text.get(all.end()..)?.chars().next());
        let reference = match (part("where"), part("english")) {
            (Some(place), _) => {
                japanese(place, part("count"), part("unit").unwrap_or_default(), behind, &named)
            }
            (_, Some(place)) => Some(english(place, part("part").unwrap_or_default())),
            _ => None,
        };
        let unit = reference.map(|reference| reference.unit).or_else(|| unit_of(part("named")?));
        named.extend(unit.filter(|unit| !named.contains(unit)));
        found.extend(reference.filter(|reference| !found.contains(reference)));
    }
    found
}

fn japanese(
    place: &str,
    count: Option<&str>,
    unit: &str,
    behind: Option<char>,
    named: &[Unit],
) -> Option<RelativeReference> {
    // 同条件, 前条約 and 前項目 are other words.
    let is_word = behind.zip(JAPANESE.signs.get(unit)).is_some_and(|(ch, others)| others.contains(ch));
    let unit = unit_of(unit).filter(|_| !is_word)?;
    let count = match count {
        Some(count) if place == "前" => {
            let count = count.parse().ok().or_else(|| kanji_number(count.chars()))?;
            usize::try_from(count).ok().filter(|count| (1..=MAX_BEFORE).contains(count))?
        }
        // 本三条 and the like mean nothing.
        Some(_) => return None,
        None => 1,
    };
    let step = match place {
        "前" => ReferenceStep::Before(count),
        "次" => ReferenceStep::After,
        "同" if named.contains(&unit) => return None,
        _ => ReferenceStep::Own,
    };
    Some(RelativeReference { unit, step })
}

fn english(place: &str, part: &str) -> RelativeReference {
    let unit = match part {
        "chapter" => Unit::Chapter,
        "article" => Unit::Article,
        _ => Unit::Heading,
    };
    let step = match place {
        "previous" | "preceding" => ReferenceStep::Before(1),
        "next" | "following" => ReferenceStep::After,
        _ => ReferenceStep::Own,
    };
    RelativeReference { unit, step }
}

fn unit_of(name: &str) -> Option<Unit> {
    Some(match name {
        "条" => Unit::Article,
        "章" => Unit::Chapter,
        "節" => Unit::Section,
        "項" => Unit::Paragraph,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_name_a_part_and_a_step() {
        use ReferenceStep::{After, Before, Own};
        for (text, expected) in [
            ("前条の規定", &[(Unit::Article, Before(1))][..]),
            ("前三条及び前2条", &[(Unit::Article, Before(3)), (Unit::Article, Before(2))]),
            ("次条に定める", &[(Unit::Article, After)]),
            ("前章、次章、本章", &[(Unit::Chapter, Before(1)), (Unit::Chapter, After), (Unit::Chapter, Own)]),
            ("前節と次節", &[(Unit::Section, Before(1)), (Unit::Section, After)]),
            ("前項の場合、本条は", &[(Unit::Paragraph, Before(1)), (Unit::Article, Own)]),
            ("同条による", &[(Unit::Article, Own)]),
            // The article that was named is followed by its number.
            ("第5条第1項及び同条第2項", &[]),
            ("前条による。同条は", &[(Unit::Article, Before(1))]),
            (
                "see the previous\nsection and the next section",
                &[(Unit::Heading, Before(1)), (Unit::Heading, After)],
            ),
            ("in this chapter", &[(Unit::Chapter, Own)]),
            ("the following chapter", &[(Unit::Chapter, After)]),
            // Other words.
            ("同条件で、事前条件と前条約、前項目", &[]),
            ("前九十条", &[]),
            ("the following sections", &[]),
        ] {
            let found: Vec<_> =
                relative_references(text).iter().map(|found| (found.unit, found.step)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_long_text_has_few_references() {
        let text = "前条と次条、同章の前2項。第1条第2章".repeat(10_000);
        assert_eq!(relative_references(&text).len(), 4);
    }
}
