//! Which nodes a find may search: all of them, what an earlier find left out, or some files of the vault.

use std::collections::{HashMap, HashSet};

use crate::index::{FileEntry, NodeEntry, View};
use crate::matching::candidate::Candidate;
use crate::matching::place::{FilePlace, NodePlace, node_at};
use crate::trace::TraceRecord;
use annai_text::Position;

/// Which sections of one file may be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileGrant {
    All,
    None,
    /// The sections that start at these places.
    Starts(HashSet<Position>),
}

/// Which sections of every file may be searched.
pub enum SearchScope<'a> {
    Everything,
    Granted(GrantedFiles<'a>),
}

/// Whether a file is in scope, by the name of its collection and its path.
type ReachTest<'a> = Box<dyn Fn(&str, &str) -> bool + 'a>;

/// Which sections may be searched, file by file.
pub struct GrantedFiles<'a> {
    /// The indexed files, by view, segment and file.
    indexed: Vec<Vec<Vec<FileGrant>>>,
    /// Whether a file that is not indexed would be searched.
    not_indexed: ReachTest<'a>,
    /// The earlier find, where this one searches what that left out.
    earlier: Option<EarlierFind>,
}

/// The results of an earlier find.
struct EarlierFind {
    candidates: HashSet<NodePlace>,
    /// The sections that only other sections led to, beyond the maximum number of candidates.
    carried: Vec<Candidate>,
}

impl<'a> SearchScope<'a> {
    /// Decides for every file which sections may be searched.
    pub fn of(
        views: &[View],
        grant: impl Fn(&View, &FileEntry) -> FileGrant,
        not_indexed: impl Fn(&str, &str) -> bool + 'a,
    ) -> Self {
        let indexed = views.iter().map(|view| {
            let segments = view.segments.iter();
            segments.map(|segment| segment.files.iter().map(|file| grant(view, file)).collect()).collect()
        });
        Self::Granted(GrantedFiles {
            indexed: indexed.collect(),
            not_indexed: Box::new(not_indexed),
            earlier: None,
        })
    }

    /// What an earlier find left out. A file that has changed since is in scope as a whole.
    pub fn left_out_of(record: &'a TraceRecord, views: &[View]) -> Self {
        let mut left: HashMap<(&str, &str), Vec<_>> = HashMap::new();
        for part in &record.unscanned {
            let manual = part.manual_id.as_deref().unwrap_or_default();
            left.entry((manual, part.path.as_str())).or_default().push(part);
        }
        let grant = |view: &View, file: &FileEntry| match left.get(&(view.name.as_str(), file.path.as_str()))
        {
            None => FileGrant::None,
            Some(parts)
                if parts.iter().any(|part| part.starts.is_empty() || part.sha256 != Some(file.sha256)) =>
            {
                FileGrant::All
            }
            Some(parts) => {
                FileGrant::Starts(parts.iter().flat_map(|part| part.starts.iter().copied()).collect())
            }
        };
        let known = left.keys().copied().collect::<HashSet<_>>();
        let scope = Self::of(views, grant, move |name, path| known.contains(&(name, path)));
        match scope {
            Self::Granted(granted) => {
                Self::Granted(GrantedFiles { earlier: Some(EarlierFind::new(record, views)), ..granted })
            }
            Self::Everything => Self::Everything,
        }
    }

    /// Whether a node may be added because another node led to it. After an earlier find this is any node that is not
    /// yet one of its candidates, wherever it is.
    pub fn admits(&self, views: &[View], place: NodePlace) -> bool {
        match self {
            Self::Granted(GrantedFiles { earlier: Some(_), .. }) => !self.was_found(place),
            _ => self.allows(views, place),
        }
    }

    /// Whether a node is a candidate of the earlier find.
    fn was_found(&self, place: NodePlace) -> bool {
        match self {
            Self::Granted(GrantedFiles { earlier: Some(earlier), .. }) => earlier.candidates.contains(&place),
            _ => false,
        }
    }

    /// The sections that other sections led an earlier find to, beyond its maximum number of candidates.
    pub fn carried(&self, views: &[View]) -> Vec<Candidate> {
        match self {
            Self::Granted(GrantedFiles { earlier: Some(earlier), .. }) => {
                let carried = earlier.carried.iter().filter(|candidate| self.allows(views, candidate.place));
                carried.cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a file that is not indexed would be searched.
    pub fn reaches(&self, name: &str, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Granted(granted) => (granted.not_indexed)(name, path),
        }
    }

    /// Which sections of a file may be searched.
    pub fn grant(&self, view: usize, segment: usize, file: u32) -> &FileGrant {
        match self {
            Self::Everything => &FileGrant::All,
            Self::Granted(granted) => granted
                .indexed
                .get(view)
                .and_then(|view| view.get(segment)?.get(file as usize))
                .unwrap_or(&FileGrant::None),
        }
    }

    /// Whether a node may be searched.
    pub fn allows(&self, views: &[View], place: NodePlace) -> bool {
        if matches!(self, Self::Everything) {
            return true;
        }
        let Some((_, node)) = node_at(views, place) else { return false };
        match self.grant(place.view as usize, place.segment as usize, node.file) {
            FileGrant::All => true,
            FileGrant::None => false,
            // Several passages of a long line start on it; those that were found before are not searched again.
            FileGrant::Starts(starts) => {
                let start = Position { line: node.start_line, char: node.start_char };
                starts.contains(&start) && !self.was_found(place)
            }
        }
    }
}

impl EarlierFind {
    fn new(record: &TraceRecord, views: &[View]) -> Self {
        let mut files: HashMap<(&str, &str), FilePlace> = HashMap::new();
        for (view_index, view) in (0..).zip(views) {
            for (segment_index, segment) in (0..).zip(&view.segments) {
                for (number, file) in (0..).zip(&segment.files) {
                    let place = FilePlace { view: view_index, segment: segment_index, file: number };
                    files.insert((view.name.as_str(), file.path.as_str()), place);
                }
            }
        }
        let place = |manual: &str, path: &str, start: Position| {
            let FilePlace { view, segment, file } = *files.get(&(manual, path))?;
            let found = views.get(view as usize)?.segments.get(segment as usize)?;
            let mut nodes = found.nodes_of(found.files.get(file as usize)?);
            let is_same = |node: &NodeEntry| (node.start_line, node.start_char) == (start.line, start.char);
            let (node, _) = nodes.find(|(_, node)| is_same(node))?;
            Some(NodePlace { view, segment, node })
        };
        let candidates = record.matches.iter().filter_map(|found| {
            let file = record.file_of(found)?;
            place(file.manual_id.as_deref().unwrap_or_default(), &file.path, found.span.start)
        });
        let carried = record.unscanned.iter().flat_map(|part| {
            let manual = part.manual_id.as_deref().unwrap_or_default();
            part.carried.iter().filter_map(move |carried| {
                let place = place(manual, &part.path, carried.start)?;
                Some(Candidate {
                    place,
                    score: carried.score,
                    signals: carried.signals,
                    terms: 0,
                    kind: carried.kind,
                    is_outside: false,
                })
            })
        });
        Self { candidates: candidates.collect(), carried: carried.collect() }
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
