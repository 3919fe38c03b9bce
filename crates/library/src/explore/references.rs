//! Stage 3: follows references to the sections that they point at: links and anchors, and numbered parts by their
//! label.

use std::collections::{HashMap, HashSet};

use super::candidate::{Candidate, MatchKind, Signals};
use super::matching::NodeFilter;
use super::place::{NodePlace, node_at};
use crate::index::{NodeEntry, Segment, View, label};
use crate::text::{find_anchor, labels, normalize_text, percent_decoded, references};

/// The maximum number of sections with the same label. A label such as `step 1` that more sections have does not tell
/// which one is meant, and is not followed.
const MAX_SAME_LABEL: usize = 3;
/// The score of a section that is referred to, as a share of the score of the section that refers to it. Tuned with
/// `annai eval`.
const REFERENCE_SHARE: f32 = 0.3;

/// The files of each view by their paths, as indexes of segment and file. A view is listed when a link first needs it.
type FilesByPath<'a> = HashMap<u32, HashMap<&'a str, (u32, u32)>>;

/// Marks the candidates that other candidates refer to, and returns the other sections that candidates refer to.
pub fn add_references(
    views: &[View],
    candidates: &mut [Candidate],
    allowed: NodeFilter<'_>,
) -> Vec<Candidate> {
    let mut referred: HashMap<NodePlace, f32> = HashMap::new();
    let mut files = FilesByPath::new();
    for candidate in candidates.iter() {
        for target in targets(views, candidate.place, &mut files) {
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

/// The sections that a node refers to.
fn targets<'a>(views: &'a [View], place: NodePlace, files: &mut FilesByPath<'a>) -> HashSet<NodePlace> {
    let mut found = HashSet::new();
    let Some(view) = views.get(place.view as usize) else { return found };
    let Some((segment, node)) = node_at(views, place) else { return found };
    let own = labels(&normalize_text(&node.title));
    for name in references(body(segment, node)).iter().filter(|name| !own.contains(name)) {
        found.extend(labelled(view, place, segment, node, name));
    }
    let Some(file) = segment.file_of(node) else { return found };
    found.extend(node.links.iter().filter_map(|link| linked(view, place.view, &file.path, link, files)));
    found
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

/// The section that a link in the file `from` leads to; none where it leads out of the manual.
fn linked<'a>(
    view: &'a View,
    view_index: u32,
    from: &str,
    link: &str,
    files: &mut FilesByPath<'a>,
) -> Option<NodePlace> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let path = if path.is_empty() { from.to_owned() } else { resolve(from, &percent_decoded(path))? };
    let known = files.entry(view_index).or_insert_with(|| {
        let all = (0..).zip(&view.segments).flat_map(|(index, segment)| {
            (0..).zip(&segment.files).map(move |(number, file)| (file.path.as_str(), (index, number)))
        });
        all.collect()
    });
    let (segment_index, number) = *known.get(path.as_str())?;
    let segment = view.segments.get(segment_index as usize)?;
    let file = segment.files.get(number as usize)?;
    // The passages of a long section have its heading, which counts once.
    let sections = || segment.nodes_of(file).filter(|(_, node)| !node.is_continuation);
    let titles = sections().map(|(_, node)| node.title.as_str());
    let index = match anchor {
        Some(anchor) => find_anchor(titles, &percent_decoded(anchor))?,
        None => 0,
    };
    let (node, _) = sections().nth(index)?;
    Some(NodePlace { view: view_index, segment: segment_index, node })
}

/// The sections that have a label: those of the same file, else those of the same manual.
fn labelled(
    view: &View,
    place: NodePlace,
    segment: &Segment,
    node: &NodeEntry,
    name: &str,
) -> Vec<NodePlace> {
    let key = label(name);
    let here: Vec<_> = segment
        .find(key)
        .filter(|posting| segment.node(posting.node).is_some_and(|found| found.file == node.file))
        .map(|posting| NodePlace { node: posting.node, ..place })
        .collect();
    if !here.is_empty() {
        return if here.len() <= MAX_SAME_LABEL { here } else { Vec::new() };
    }
    let everywhere = (0..).zip(&view.segments).flat_map(|(index, segment)| {
        segment.find(key).map(move |posting| NodePlace {
            view: place.view,
            segment: index,
            node: posting.node,
        })
    });
    let found: Vec<_> = everywhere.take(MAX_SAME_LABEL + 1).collect();
    if found.len() <= MAX_SAME_LABEL { found } else { Vec::new() }
}

/// A relative path from the file that names it; none where it leads out of the manual.
fn resolve(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = if path.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
