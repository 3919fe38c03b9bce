//! The trace of a find as it is stored: every match with its place, and everything that a later call needs to go on.

pub mod reach;
pub mod read_ledger;
pub mod trace_store;
pub mod unscanned;

use std::sync::Arc;

use crate::matching::candidate::{MatchKind, Signals};
use crate::query::terms::Goal;
use crate::reference::{NextAction, Ref, Target};
use crate::trace::reach::FindReach;
use crate::trace::unscanned::UnscannedPart;
use annai_files::FileFilter;
use annai_files::FileVersion;
use annai_files::fs::Sha256;
use annai_files::fs::Unsearchable;
use annai_text::Span;
use annai_text::node_id;

/// The number of hexadecimal digits of a file's SHA-256 that a ref carries: 48 bits tell the versions of one file
/// apart.
const REV_DIGITS: usize = 12;
/// The number of best matches that are listed as `integrated_top`, and those among which conflicts matter first.
pub const MAX_TOP: usize = 20;

/// The trace of a find.
#[derive(Debug, Clone)]
pub struct TraceRecord {
    /// Whether the manuals or the vault were searched.
    pub target: Target,
    /// The question.
    pub question: String,
    /// How much of the evidence the caller wants to read.
    pub goal: Goal,
    /// Whether an earlier find suggested this one.
    pub is_follow_up: bool,
    /// The files that contain a match.
    pub files: Vec<TraceFile>,
    /// The headings of the matches, each with the one above it.
    pub headings: Vec<TraceHeading>,
    /// The matches: all evidence and the best related sections, in document order.
    pub matches: Vec<TraceMatch>,
    /// The best matches, best first, as indexes into `matches`.
    pub ranked: Vec<u32>,
    /// What was not searched.
    pub unscanned: Vec<UnscannedPart>,
    /// The files that cannot be searched.
    pub unsearchable: Vec<UnsearchableFile>,
    /// The pairs of sections that contradict each other.
    pub conflicts: Vec<TraceConflict>,
    /// The pairs of sections that state other values because they are about other products, plans or editions.
    pub variants: Vec<TraceConflict>,
    /// The gaps, a sentence for each.
    pub gaps: Vec<String>,
    /// The files that were searched.
    pub reach: Reach,
    /// What to do when everything that has to be read was read.
    pub follow_up: NextAction,
}

/// A file that contains a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// The manual; none for the vault.
    pub manual_id: Option<Arc<str>>,
    /// The stored path.
    pub path: String,
    /// The SHA-256 of the file.
    pub sha256: Sha256,
    /// The character encoding, where it is not UTF-8.
    pub encoding: Option<&'static str>,
    /// Whether it is JSON, which is read by value and not by section.
    pub is_json: bool,
}

impl TraceFile {
    /// The version that was searched.
    pub fn version(&self) -> FileVersion {
        FileVersion::new(self.manual_id.as_deref(), &self.path, &self.sha256)
    }
}

/// A heading above a match, or its own one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeading {
    /// The heading above it, as an index.
    pub parent: Option<u32>,
    /// Its text.
    pub title: Box<str>,
}

/// A section, or a passage of a long one, that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceMatch {
    /// Its file, as an index.
    pub file: u32,
    /// Its own heading, as an index.
    pub heading: u32,
    /// Its own text, without subsections.
    pub span: Span,
    /// The line that its ref names.
    pub ref_line: u32,
    /// Its best matching line; 0 where it was not determined.
    pub best_line: u32,
    /// The rank score.
    pub score: f32,
    /// The signals.
    pub signals: Signals,
    /// How it matched.
    pub kind: MatchKind,
    /// Whether it lies outside the manual that was asked for.
    pub is_outside: bool,
    /// Whether the whole section, with its subsections, fits into one call of manual_read.
    pub fits_one_read: bool,
    /// The JSON Pointer of its value, in a JSON file.
    pub json_path: Option<Box<str>>,
}

/// A sentence of a section, normalized, and the lines of its file that it stands on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quote {
    /// The normalized text, without markup.
    pub text: String,
    /// The first line.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
}

/// Two matches that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceConflict {
    /// The match with the better rank, as an index.
    pub one: u32,
    /// The other one.
    pub other: u32,
    /// The term, and the two statements about it.
    pub about: String,
    /// The two sentences.
    pub sentences: [Quote; 2],
}

impl TraceConflict {
    fn estimated_bytes(&self) -> usize {
        let texts = self.about.len() + self.sentences.iter().map(|quote| quote.text.len()).sum::<usize>();
        size_of::<Self>() + texts
    }
}

/// A file that cannot be searched, with its manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsearchableFile {
    /// The manual; none for the vault.
    pub manual_id: Option<Arc<str>>,
    /// The file and the reason.
    pub file: Unsearchable,
}

/// The files that a find searched.
#[derive(Debug, Clone)]
pub enum Reach {
    /// Files of these manuals.
    Manuals(FindReach),
    /// The files of the vault that pass a filter.
    Vault(FileFilter),
}

impl TraceRecord {
    /// The number of places that were not searched.
    pub fn unscanned_count(&self) -> usize {
        self.unscanned.iter().map(UnscannedPart::count).sum()
    }

    /// The evidence, in document order.
    pub fn evidence(&self) -> impl Iterator<Item = &TraceMatch> {
        self.matches.iter().filter(|found| found.kind.is_evidence())
    }

    /// The best matches, best first.
    pub fn best(&self) -> impl Iterator<Item = &TraceMatch> {
        self.ranked.iter().filter_map(|index| self.matches.get(*index as usize))
    }

    /// The file of a match.
    pub fn file_of(&self, found: &TraceMatch) -> Option<&TraceFile> {
        self.files.get(found.file as usize)
    }

    /// The titles from the top of the file down to the section of a match.
    pub fn heading_path(&self, found: &TraceMatch) -> Vec<String> {
        let mut titles = Vec::new();
        let mut next = self.headings.get(found.heading as usize);
        while let Some(heading) = next {
            titles.push(heading.title.to_string());
            next = heading.parent.and_then(|parent| self.headings.get(parent as usize));
        }
        titles.reverse();
        titles
    }

    /// The ref of a match, in the form that other tools accept.
    pub fn ref_of(&self, found: &TraceMatch) -> Option<Ref> {
        let file = self.file_of(found)?;
        let mut rev = file.sha256.to_string();
        rev.truncate(REV_DIGITS);
        let heading_path = self.heading_path(found);
        let manual_id = file.manual_id.as_deref().map(str::to_owned);
        let starts_inside_line = found.ref_line == found.span.start.line && found.span.start.char > 0;
        Some(Ref {
            char: starts_inside_line.then_some(found.span.start.char.into()),
            json_path: found.json_path.as_deref().map(str::to_owned),
            title: heading_path.last().cloned(),
            heading_path: Some(heading_path),
            encoding: file.encoding.map(str::to_owned),
            signals: Some(found.signals.names()),
            rev: Some(rev),
            ..Ref::new(self.target, manual_id, file.path.clone(), Some(found.ref_line.into()))
        })
    }

    /// The id of a match as in the table of contents, with the manual in front.
    pub fn node_id(&self, found: &TraceMatch) -> String {
        let Some(file) = self.file_of(found) else { return String::new() };
        let start = found.span.start;
        let id = node_id(&file.path, start.line as usize, start.char as usize);
        match &file.manual_id {
            Some(manual_id) => format!("{manual_id}/{id}"),
            None => id,
        }
    }

    /// The ids of the matches that contradict one of them.
    pub fn conflicting_ids(&self, found: &TraceMatch) -> Vec<String> {
        let is_same = |index: u32| self.matches.get(index as usize).is_some_and(|other| other == found);
        let others = self.conflicts.iter().filter_map(|conflict| match conflict {
            TraceConflict { one, other, .. } if is_same(*one) => Some(*other),
            TraceConflict { one, other, .. } if is_same(*other) => Some(*one),
            _ => None,
        });
        others.filter_map(|other| Some(self.node_id(self.matches.get(other as usize)?))).collect()
    }

    /// Whether this find searched a file, in this version or another one.
    pub fn has_searched(&self, manual_id: Option<&str>, path: &str) -> bool {
        match (&self.reach, manual_id) {
            (Reach::Manuals(reach), Some(manual_id)) => reach.has(manual_id, path),
            (Reach::Vault(files), None) => files.has(path),
            _ => false,
        }
    }

    /// The approximate memory that it takes.
    pub fn estimated_bytes(&self) -> usize {
        let texts = |length: usize| length + 40;
        size_of::<Self>()
            + self.question.len()
            + self.matches.len() * size_of::<TraceMatch>()
            + self.matches.iter().filter_map(|found| found.json_path.as_deref()).map(str::len).sum::<usize>()
            + self.ranked.len() * 4
            + self.gaps.iter().map(|gap| texts(gap.len())).sum::<usize>()
            + match &self.reach {
                Reach::Manuals(reach) => reach.estimated_bytes(),
                Reach::Vault(_) => 0,
            }
            + self.files.iter().map(|file| size_of::<TraceFile>() + texts(file.path.len())).sum::<usize>()
            + self.headings.iter().map(|heading| 16 + texts(heading.title.len())).sum::<usize>()
            + self.unsearchable.iter().map(|other| 40 + texts(other.file.path.len())).sum::<usize>()
            + self.unscanned.iter().map(|part| 150 + part.path.len() + part.starts.len() * 8).sum::<usize>()
            + self.conflicts.iter().chain(&self.variants).map(TraceConflict::estimated_bytes).sum::<usize>()
    }
}
