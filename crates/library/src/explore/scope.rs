//! Which nodes a find may look at: all of them, what an earlier one left out, or some files of the vault.

use std::collections::{HashMap, HashSet};

use super::matching::Place;
use super::rank::Candidate;
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
    /// What an earlier find had, where this one looks at what that left out.
    earlier: Option<Earlier>,
}

/// What an earlier find had.
struct Earlier {
    had: HashSet<Place>,
    /// What only other sections led it to, and it had no room for.
    carried: Vec<Candidate>,
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
        Self::Granted(Granted { filed: filed.collect(), unfiled: Box::new(unfiled), earlier: None })
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
        let scope = Self::of(views, grant, move |name, path| known.contains(&(name, path)));
        match scope {
            Self::Granted(granted) => {
                Self::Granted(Granted { earlier: Some(Earlier::new(seen, views)), ..granted })
            }
            Self::Everything => Self::Everything,
        }
    }

    /// Whether a node may be added because another one leads to it: what an earlier find did not have yet counts, wherever
    /// it stands.
    pub fn admits(&self, views: &[View], place: Place) -> bool {
        match self {
            Self::Granted(Granted { earlier: Some(earlier), .. }) => !earlier.had.contains(&place),
            _ => self.allows(views, place),
        }
    }

    /// What an earlier find was led to and had no room for.
    pub fn carried(&self, views: &[View]) -> Vec<Candidate> {
        match self {
            Self::Granted(Granted { earlier: Some(earlier), .. }) => {
                let carried = earlier.carried.iter().filter(|candidate| self.allows(views, candidate.place));
                carried.cloned().collect()
            }
            _ => Vec::new(),
        }
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

impl Earlier {
    fn new(seen: &Seen, views: &[View]) -> Self {
        let mut files: HashMap<(&str, &str), (u32, u32, u32)> = HashMap::new();
        for (view_index, view) in (0..).zip(views) {
            for (segment_index, segment) in (0..).zip(&view.segments) {
                for (number, file) in (0..).zip(&segment.files) {
                    files.insert(
                        (view.name.as_str(), file.path.as_str()),
                        (view_index, segment_index, number),
                    );
                }
            }
        }
        let place = |manual: &str, path: &str, line: u32| {
            let (view, segment, file) = *files.get(&(manual, path))?;
            let found = views.get(view as usize)?.segments.get(segment as usize)?;
            let mut nodes = found.nodes_of(found.files.get(file as usize)?);
            let (node, _) = nodes.find(|(_, node)| node.start_line == line)?;
            Some(Place { view, segment, node })
        };
        let had = seen.candidates.iter().filter_map(|item| {
            let line = u32::try_from(item.place.start_line?).ok()?;
            place(item.place.manual_id.as_deref().unwrap_or_default(), &item.place.path, line)
        });
        let carried = seen.unscanned.iter().flat_map(|part| {
            let manual = part.manual_id.as_deref().unwrap_or_default();
            part.carried.iter().filter_map(move |carried| {
                let place = place(manual, &part.path, carried.line)?;
                Some(Candidate { place, score: carried.score, signals: carried.signals, terms: 0 })
            })
        });
        Self { had: had.collect(), carried: carried.collect() }
    }
}
