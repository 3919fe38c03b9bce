//! Stage 3: follows references to the sections that they point at: links and anchors, numbered parts by their label, names,
//! and references that count from the place where they stand.

use std::collections::{HashMap, HashSet};

use crate::index::{Key, NodeEntry, Segment, View, label};
use crate::matching::NodeFilter;
use crate::matching::candidate::{Candidate, MatchKind, Signals};
use crate::matching::place::{FilePlace, NodePlace, file_at, file_of, node_at};
use crate::stages::outline::{Meaning, Outline, section_of};
use crate::stages::page_paths::PagePaths;
use annai_core::cancellation::checkpoint;
use annai_text::{
    Anchors, NodeKind, RelativeReference, Unit, named, normalize_text, percent_decoded, references,
    relative_references, title_labels,
};

/// The maximum number of sections with the same label. A label such as `step 1` that more sections have does not tell
/// which one is meant, and is not followed.
const MAX_SAME_LABEL: usize = 3;
/// The score of a section that is referred to, as a share of the score of the section that refers to it. Tuned with
/// `annai eval`.
const REFERENCE_SHARE: f32 = 0.3;

/// What references are looked up in. Each table is built once for a find, when a reference first needs it.
struct Lookup<'a> {
    views: &'a [View],
    /// The files of each view by their paths.
    pages: HashMap<u32, PagePaths<'a>>,
    /// The sections of each view with a label, in document order.
    labelled: HashMap<(u32, Key), Vec<NodePlace>>,
    /// The numbered parts of a file.
    outlines: HashMap<FilePlace, Outline>,
    /// The anchors of a file, and its sections, which they name by their indexes.
    anchors: HashMap<FilePlace, (Anchors, Vec<u32>)>,
}

/// Marks the candidates that other candidates refer to, and returns the other sections that candidates refer to.
pub fn add_references(
    views: &[View],
    candidates: &mut [Candidate],
    allowed: NodeFilter<'_>,
) -> Vec<Candidate> {
    let mut referred: HashMap<NodePlace, f32> = HashMap::new();
    let mut lookup = Lookup::new(views);
    for candidate in candidates.iter() {
        checkpoint();
        for target in lookup.targets(candidate.place).unwrap_or_default() {
            if target != candidate.place && allowed(target) {
                let score = referred.entry(target).or_default();
                *score = score.max(candidate.score * REFERENCE_SHARE);
            }
        }
    }
    for candidate in candidates.iter_mut() {
        if referred.remove(&candidate.place).is_some() {
            candidate.signals = candidate.signals.with(Signals::REFERENCE);
        }
    }
    let mut added: Vec<_> = referred
        .into_iter()
        .map(|(place, score)| Candidate {
            place,
            score,
            signals: Signals::REFERENCE,
            terms: 0,
            kind: MatchKind::Reference,
            is_outside: false,
        })
        .collect();
    added.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.place.cmp(&other.place)));
    added
}

impl<'a> Lookup<'a> {
    fn new(views: &'a [View]) -> Self {
        Self {
            views,
            pages: HashMap::new(),
            labelled: HashMap::new(),
            outlines: HashMap::new(),
            anchors: HashMap::new(),
        }
    }

    /// The sections that a node refers to.
    fn targets(&mut self, place: NodePlace) -> Option<HashSet<NodePlace>> {
        let (segment, node) = node_at(self.views, place)?;
        let file_place = file_of(self.views, place)?;
        let body = body(segment, node);
        let own = title_labels(&normalize_text(&node.title));
        let mut found = HashSet::new();
        for name in references(body).into_iter().chain(named(body)).filter(|name| !own.contains(name)) {
            found.extend(self.labelled(file_place, &name));
        }
        for reference in relative_references(body) {
            found.extend(self.relative(place, node, reference));
        }
        let links = node.links.iter().filter_map(|link| self.linked(file_place, link));
        found.extend(links);
        Some(found)
    }

    /// The sections that have a label: those of the same file, else those of the same manual.
    fn labelled(&mut self, file: FilePlace, name: &str) -> Vec<NodePlace> {
        let Some(nodes) = file_at(self.views, file).map(|(_, entry)| entry.nodes.clone()) else {
            return Vec::new();
        };
        let everywhere = self.with_label(file.view, label(name));
        let first_of = |node| NodePlace { view: file.view, segment: file.segment, node };
        let start = everywhere.partition_point(|place| *place < first_of(nodes.start));
        let end = everywhere.partition_point(|place| *place < first_of(nodes.end));
        let here = everywhere.get(start..end).unwrap_or_default();
        let found = if here.is_empty() { everywhere } else { here };
        if found.len() <= MAX_SAME_LABEL { found.to_vec() } else { Vec::new() }
    }

    /// The sections of a view with a label, in document order.
    fn with_label(&mut self, view_index: u32, key: Key) -> &[NodePlace] {
        let views = self.views;
        self.labelled.entry((view_index, key)).or_insert_with(|| {
            let Some(view) = views.get(view_index as usize) else { return Vec::new() };
            let mut places = Vec::new();
            for (number, segment) in (0..).zip(&view.segments) {
                let is_stale = |node: u32| {
                    let file = segment.node(node).map_or(0, |node| node.file);
                    !view.stale.is_empty() && view.stale.contains(&(number as usize, file))
                };
                let nodes = segment.find(key).map(|posting| posting.node).filter(|node| !is_stale(*node));
                places.extend(nodes.map(|node| NodePlace { view: view_index, segment: number, node }));
            }
            places
        })
    }

    /// The sections that a reference means which counts from the place where it stands.
    fn relative(
        &mut self,
        place: NodePlace,
        node: &NodeEntry,
        reference: RelativeReference,
    ) -> Vec<NodePlace> {
        let views = self.views;
        let Some(file_place) = file_of(views, place) else { return Vec::new() };
        let Some((segment, file)) = file_at(views, file_place) else { return Vec::new() };
        let outline = self.outlines.entry(file_place).or_insert_with(|| Outline::new(segment, file));
        let section = section_of(place.node, node);
        match outline.meaning(segment, section, reference.unit, reference.step) {
            Some(Meaning::Nodes(nodes)) => {
                let others = nodes.into_iter().filter(|found| *found != section);
                others.map(|node| NodePlace { node, ..place }).collect()
            }
            Some(Meaning::Elsewhere(number)) => {
                let forms = match reference.unit {
                    Unit::Chapter => [format!("第{number}章"), format!("chapter {number}")],
                    _ => [format!("第{number}条"), format!("article {number}")],
                };
                let mut found = forms.iter().map(|form| self.labelled(file_place, form));
                // Among several rules of a manual, it is unknown which one goes on in another file.
                found.find(|found| !found.is_empty()).filter(|found| found.len() == 1).unwrap_or_default()
            }
            None => Vec::new(),
        }
    }

    /// The section that a link in a file leads to; none where it leads out of the manual or nowhere.
    fn linked(&mut self, from: FilePlace, link: &str) -> Option<NodePlace> {
        let views = self.views;
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() {
            from
        } else {
            let view = views.get(from.view as usize)?;
            let pages = self.pages.entry(from.view).or_insert_with(|| PagePaths::new(view));
            let (segment, file) = pages.follow(&file_at(views, from)?.1.path, &percent_decoded(path))?;
            FilePlace { segment, file, ..from }
        };
        let (segment, file) = file_at(views, target)?;
        let node = if anchor.is_empty() {
            file.nodes.start
        } else {
            let (anchors, sections) = self.anchors.entry(target).or_insert_with(|| {
                // The passages of a long section have its heading, which counts once.
                let sections = || segment.nodes_of(file).filter(|(_, node)| !node.is_continuation);
                let anchors = Anchors::new(sections().map(|(_, node)| heading_anchor(node)));
                (anchors, sections().map(|(index, _)| index).collect())
            });
            *sections.get(anchors.find_loosely(&percent_decoded(anchor))?)?
        };
        Some(NodePlace { view: target.view, segment: target.segment, node })
    }
}

/// The text of a node below its heading.
fn body<'a>(segment: &'a Segment, node: &NodeEntry) -> &'a str {
    let text = segment.text_of(node);
    let heading_end = text
        .match_indices('\n')
        .nth((node.heading_lines as usize).saturating_sub(1))
        .filter(|_| node.heading_lines > 0);
    heading_end.and_then(|(end, _)| text.get(end..)).unwrap_or(text)
}

/// The words and the explicit id of a heading, by which links name it.
fn heading_anchor(node: &NodeEntry) -> (&str, Option<&str>) {
    match node.kind {
        NodeKind::Heading => (node.title.as_str(), node.anchor.as_deref()),
        NodeKind::PageBreak => ("", node.anchor.as_deref()),
        // The title of the page is not written there, and may also be that of a heading.
        NodeKind::Page | NodeKind::Untitled => ("", None),
    }
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
