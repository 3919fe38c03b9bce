//! The outline of a file: its articles, chapters, sections and paragraphs in order, and what a reference that counts from a
//! place means there.

use std::collections::HashMap;

use crate::index::{FileEntry, NodeEntry, Segment};
use annai_text::{ReferenceStep, Unit, leading_number, normalize_text, part_number};

/// The parts of a file that count together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Group {
    unit: Unit,
    /// The section that contains them, where they count from it.
    parent: Option<u32>,
}

/// A part: a section with a number.
#[derive(Debug, Clone, Copy)]
struct Part {
    node: u32,
    number: (u32, u32),
}

/// The numbered parts of a file.
#[derive(Debug, Default)]
pub struct Outline {
    groups: HashMap<Group, Vec<Part>>,
    /// The group of each part, and its index in it.
    places: HashMap<(Unit, u32), (Group, usize)>,
}

/// What a relative reference means in the file.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// These nodes of the file.
    Nodes(Vec<u32>),
    /// The part with this number, which is not in the file.
    Elsewhere(u32),
}

impl Outline {
    /// The outline of a file.
    pub fn new(segment: &Segment, file: &FileEntry) -> Self {
        let sections = segment.nodes_of(file).filter(|(_, node)| !node.is_continuation);
        let titled = sections.map(|(index, node)| (index, node, normalize_text(&node.title)));
        let titled: Vec<_> = titled.collect();
        let mut outline = Self::default();
        for (index, node, title) in &titled {
            let siblings = Group { unit: Unit::Heading, parent: node.parent };
            let count = outline.groups.get(&siblings).map_or(0, Vec::len);
            outline.add(siblings, *index, (u32::try_from(count).unwrap_or(u32::MAX), 0));
            match part_number(title) {
                Some((unit @ Unit::Paragraph, number)) => {
                    outline.add(Group { unit, parent: node.parent }, *index, number);
                }
                Some((unit, number)) => outline.add(Group { unit, parent: None }, *index, number),
                None => {}
            }
        }
        let has_articles = outline.groups.contains_key(&Group { unit: Unit::Article, parent: None });
        for (index, node, title) in &titled {
            let Some(number) = leading_number(title) else { continue };
            let is_in_article = node.parent.is_some_and(|parent| outline.has(Unit::Article, parent));
            // A plain number below an article is that of a paragraph; where no article is called so, it is an article.
            let unit = if is_in_article { Unit::Paragraph } else { Unit::Article };
            if is_in_article || !has_articles {
                outline.add(Group { unit, parent: node.parent }, *index, (number, 0));
            }
        }
        outline
    }

    fn add(&mut self, group: Group, node: u32, number: (u32, u32)) {
        let parts = self.groups.entry(group).or_default();
        self.places.insert((group.unit, node), (group, parts.len()));
        parts.push(Part { node, number });
    }

    fn has(&self, unit: Unit, node: u32) -> bool {
        self.places.contains_key(&(unit, node))
    }

    /// What a relative reference in a section means; none where it leads nowhere.
    pub fn meaning(
        &self,
        segment: &Segment,
        section: u32,
        unit: Unit,
        step: ReferenceStep,
    ) -> Option<Meaning> {
        let own = self.containing(segment, section, unit)?;
        if step == ReferenceStep::Own {
            return Some(Meaning::Nodes(vec![own]));
        }
        // An unnumbered chapter is counted by its heading.
        let counted = if self.has(unit, own) { unit } else { Unit::Heading };
        let (group, index) = self.places.get(&(counted, own))?;
        let parts = self.groups.get(group)?;
        let number = parts.get(*index)?.number;
        let nodes = match step {
            ReferenceStep::Before(count) => {
                let before = parts.get(..*index)?.iter().rev().take(count);
                rising(number, before, |next, last| next < last)
            }
            _ => rising(number, parts.get(index + 1..)?.iter().take(1), |next, last| next > last),
        };
        let is_numbered = matches!(counted, Unit::Article | Unit::Chapter);
        match step {
            _ if !nodes.is_empty() => Some(Meaning::Nodes(nodes)),
            ReferenceStep::Before(_) if is_numbered && number.0 > 1 => Some(Meaning::Elsewhere(number.0 - 1)),
            ReferenceStep::After if is_numbered => Some(Meaning::Elsewhere(number.0.saturating_add(1))),
            _ => None,
        }
    }

    /// The part of this kind that contains a section, or that it is.
    fn containing(&self, segment: &Segment, section: u32, unit: Unit) -> Option<u32> {
        if let Some(part) = above(segment, section).find(|node| self.has(unit, *node)) {
            return Some(part);
        }
        match unit {
            Unit::Chapter | Unit::Section => {
                self.heading_before(segment, section, unit).or_else(|| match unit {
                    // Without numbers, a chapter is what has no heading above it.
                    Unit::Chapter => above(segment, section).last(),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// The heading of the chapter of an article, where the headings of chapters and articles stand side by side.
    fn heading_before(&self, segment: &Segment, section: u32, unit: Unit) -> Option<u32> {
        let article = above(segment, section).find(|node| self.has(Unit::Article, *node))?;
        let last = |unit: Unit| {
            let parts = self.groups.get(&Group { unit, parent: None })?;
            let before = parts.partition_point(|part| part.node < article);
            Some(parts.get(before.checked_sub(1)?)?.node)
        };
        let parent = |node: u32| segment.node(node).map(|node| node.parent);
        let found = last(unit).filter(|found| parent(*found) == parent(article))?;
        // A section ends where the next chapter begins.
        let is_over = unit == Unit::Section && last(Unit::Chapter).is_some_and(|chapter| chapter > found);
        (!is_over).then_some(found)
    }
}

/// A section and those that contain it, innermost first.
fn above(segment: &Segment, section: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(section), |node| segment.node(*node)?.parent)
}

/// The nodes of parts as long as their numbers go on in one direction: where they do not, another rule begins.
fn rising<'a>(
    from: (u32, u32),
    parts: impl Iterator<Item = &'a Part>,
    goes_on: impl Fn((u32, u32), (u32, u32)) -> bool,
) -> Vec<u32> {
    let mut last = from;
    let following = parts.take_while(|part| {
        let is_next = goes_on(part.number, last);
        last = part.number;
        is_next
    });
    following.map(|part| part.node).collect()
}

/// The index of the section that a node belongs to: its own, or that of the first passage.
pub fn section_of(index: u32, node: &NodeEntry) -> u32 {
    node.parent.filter(|_| node.is_continuation).unwrap_or(index)
}
