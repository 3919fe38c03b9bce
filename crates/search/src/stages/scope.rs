//! Which nodes a find may search: all of them, what an earlier find left out, or some files of the vault.

use std::collections::{HashMap, HashSet};

use crate::index::{FileEntry, View};
use crate::matching::place::{NodePlace, node_at};
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
    /// Whether sections elsewhere may be added because a section in scope leads to them.
    leads_elsewhere: bool,
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
            leads_elsewhere: false,
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
            Self::Granted(files) => Self::Granted(GrantedFiles { leads_elsewhere: true, ..files }),
            Self::Everything => scope,
        }
    }

    /// Whether a node may be added because another node led to it. What an earlier find left out may lead anywhere.
    pub fn admits(&self, views: &[View], place: NodePlace) -> bool {
        matches!(self, Self::Granted(GrantedFiles { leads_elsewhere: true, .. })) || self.allows(views, place)
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
            FileGrant::Starts(starts) => {
                starts.contains(&Position { line: node.start_line, char: node.start_char })
            }
        }
    }
}

#[cfg(test)]
#[path = "scope_tests.rs"]
mod tests;
