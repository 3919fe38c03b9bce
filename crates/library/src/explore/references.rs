//! Stage 3: references followed to the sections that they point at: links and anchors, and numbered parts by their label.

use std::collections::{HashMap, HashSet};

use super::matching::{Allowed, Place};
use super::rank::{Candidate, Signals, at};
use crate::index::{NodeEntry, Segment, View, label};
use crate::text::{find_anchor, labels, normalize_text, percent_decoded, references};

/// A label that so many sections go by points at none of them.
const MOST_ALIKE: usize = 3;
/// What being pointed at is worth beside the one that points.
const SHARE: f32 = 0.3;

/// Marks candidates that others point at, and gives what they point at besides.
pub fn follow(views: &[View], candidates: &mut [Candidate], allowed: Allowed<'_>) -> Vec<Candidate> {
    let mut pointed: HashMap<Place, f32> = HashMap::new();
    let mut files: HashMap<u32, HashMap<&str, (u32, u32)>> = HashMap::new();
    for candidate in candidates.iter() {
        let Some((segment, node)) = at(views, candidate.place) else { continue };
        for target in targets(views, candidate.place, segment, node, &mut files) {
            if target != candidate.place && allowed(target) {
                let score = pointed.entry(target).or_default();
                *score = score.max(candidate.score * SHARE);
            }
        }
    }
    for candidate in candidates.iter_mut() {
        if pointed.remove(&candidate.place).is_some() {
            candidate.signals = candidate.signals.with(Signals::REFERENCE);
        }
    }
    let mut added: Vec<_> = pointed
        .into_iter()
        .map(|(place, score)| Candidate { place, score, signals: Signals::REFERENCE, terms: 0 })
        .collect();
    added.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.place.cmp(&other.place)));
    added
}

/// What a node points at.
fn targets<'a>(
    views: &'a [View],
    place: Place,
    segment: &Segment,
    node: &NodeEntry,
    files: &mut HashMap<u32, HashMap<&'a str, (u32, u32)>>,
) -> HashSet<Place> {
    let mut found = HashSet::new();
    let Some(view) = views.get(place.view as usize) else { return found };
    let own = labels(&normalize_text(&node.title));
    let text = segment.text_of(node);
    let body = text
        .match_indices('\n')
        .nth((node.heading_lines as usize).saturating_sub(1))
        .filter(|_| node.heading_lines > 0);
    let body = body.and_then(|(end, _)| text.get(end..)).unwrap_or(text);
    for name in references(body).iter().filter(|name| !own.contains(name)) {
        found.extend(labelled(view, place, segment, node, name));
    }
    let Some(file) = segment.file_of(node) else { return found };
    for link in &node.links {
        let (path, anchor) =
            link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
        let path = if path.is_empty() {
            Some(file.path.clone())
        } else {
            resolve(&file.path, &percent_decoded(path))
        };
        let known = files.entry(place.view).or_insert_with(|| {
            let all = (0..).zip(&view.segments).flat_map(|(index, segment)| {
                (0..).zip(&segment.files).map(move |(number, file)| (file.path.as_str(), (index, number)))
            });
            all.collect()
        });
        let Some((segment_index, number)) = path.and_then(|path| known.get(path.as_str()).copied()) else {
            continue;
        };
        let Some(segment) = view.segments.get(segment_index as usize) else { continue };
        let Some(file) = segment.files.get(number as usize) else { continue };
        let titles = segment.nodes_of(file).map(|(_, node)| node.title.as_str());
        let index = match anchor {
            Some(anchor) => find_anchor(titles, &percent_decoded(anchor)),
            None => Some(0),
        };
        let node = index.and_then(|index| segment.nodes_of(file).nth(index));
        found.extend(node.map(|(node, _)| Place { view: place.view, segment: segment_index, node }));
    }
    found
}

/// The sections that go by a label: those of the same file, else those of the same manual.
fn labelled(view: &View, place: Place, segment: &Segment, node: &NodeEntry, name: &str) -> Vec<Place> {
    let key = label(name);
    let here: Vec<_> = segment
        .find(key)
        .filter(|posting| segment.node(posting.node).is_some_and(|found| found.file == node.file))
        .map(|posting| Place { node: posting.node, ..place })
        .collect();
    if !here.is_empty() {
        return if here.len() <= MOST_ALIKE { here } else { Vec::new() };
    }
    let everywhere = (0..).zip(&view.segments).flat_map(|(index, segment)| {
        segment.find(key).map(move |posting| Place { view: place.view, segment: index, node: posting.node })
    });
    let found: Vec<_> = everywhere.take(MOST_ALIKE + 1).collect();
    if found.len() <= MOST_ALIKE { found } else { Vec::new() }
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
mod tests {
    use super::*;

    #[test]
    fn links_resolve_within_the_manual() {
        assert_eq!(resolve("a/b.md", "c.md").as_deref(), Some("a/c.md"));
        assert_eq!(resolve("a/b.md", "../c/./d.md").as_deref(), Some("c/d.md"));
        assert_eq!(resolve("a/b.md", "/c.md").as_deref(), Some("c.md"));
        assert_eq!(resolve("b.md", "../c.md"), None);
    }
}
