//! Which nodes a find may look at: all of them, what an earlier one left out, or some files of the vault.

use std::collections::{HashMap, HashSet};

use super::matching::Place;
use super::trace::Seen;
use crate::index::{FileEntry, View};

/// What of a file may be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    All,
    None,
    /// The sections that start on these lines.
    Lines(HashSet<u32>),
}

/// What of every file may be looked at.
pub enum Scope<'a> {
    Everything,
    Granted(Granted<'a>),
}

/// Whether a file counts, by its collection's name and its path.
type Reach<'a> = Box<dyn Fn(&str, &str) -> bool + 'a>;

/// What was granted.
pub struct Granted<'a> {
    /// By view, segment and file.
    filed: Vec<Vec<Vec<Grant>>>,
    /// Whether a file that is not filed would be looked at.
    unfiled: Reach<'a>,
}

impl<'a> Scope<'a> {
    /// Asks for every file.
    pub fn of(
        views: &[View],
        grant: impl Fn(&View, &FileEntry) -> Grant,
        unfiled: impl Fn(&str, &str) -> bool + 'a,
    ) -> Self {
        let filed = views.iter().map(|view| {
            let segments = view.segments.iter();
            segments.map(|segment| segment.files.iter().map(|file| grant(view, file)).collect()).collect()
        });
        Self::Granted(Granted { filed: filed.collect(), unfiled: Box::new(unfiled) })
    }

    /// What an earlier find left out. Of a file that has changed since, everything.
    pub fn left_out_of(seen: &'a Seen, views: &[View]) -> Self {
        let mut left: HashMap<(&str, &str), Vec<_>> = HashMap::new();
        for part in &seen.unscanned {
            let manual = part.manual_id.as_deref().unwrap_or_default();
            left.entry((manual, part.path.as_str())).or_default().push(part);
        }
        let grant = |view: &View, file: &FileEntry| match left.get(&(view.name.as_str(), file.path.as_str()))
        {
            None => Grant::None,
            Some(parts)
                if parts.iter().any(|part| part.lines.is_empty() || part.sha256 != Some(file.sha256)) =>
            {
                Grant::All
            }
            Some(parts) => Grant::Lines(parts.iter().flat_map(|part| part.lines.iter().copied()).collect()),
        };
        let known = left.keys().copied().collect::<HashSet<_>>();
        Self::of(views, grant, move |name, path| known.contains(&(name, path)))
    }

    /// Whether a file that is not filed would be looked at.
    pub fn reaches(&self, name: &str, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Granted(granted) => (granted.unfiled)(name, path),
        }
    }

    /// What of a file may be looked at.
    pub fn grant(&self, view: usize, segment: usize, file: u32) -> &Grant {
        match self {
            Self::Everything => &Grant::All,
            Self::Granted(granted) => granted
                .filed
                .get(view)
                .and_then(|view| view.get(segment)?.get(file as usize))
                .unwrap_or(&Grant::None),
        }
    }

    /// Whether a node may be looked at.
    pub fn allows(&self, views: &[View], place: Place) -> bool {
        if matches!(self, Self::Everything) {
            return true;
        }
        let Some((_, node)) = super::rank::at(views, place) else { return false };
        match self.grant(place.view as usize, place.segment as usize, node.file) {
            Grant::All => true,
            Grant::None => false,
            Grant::Lines(lines) => lines.contains(&node.start_line),
        }
    }
}
