//! What a find did not search, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::index::View;
use crate::matching::candidate::Candidate;
use crate::matching::place::{FilePlace, NodePlace, file_at, file_of, node_at};
use annai_files::fs::Sha256;
use annai_text::Position;

/// Why a part was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    TimeBudget,
    CandidateCap,
    StageCap,
}

impl SkipReason {
    /// The name that results show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeBudget => "time_budget",
            Self::CandidateCap => "candidate_cap",
            Self::StageCap => "stage_cap",
        }
    }

    /// The one reason of all parts that a summary names: the one that the caller can do most about.
    pub fn most_important(parts: &[UnscannedPart]) -> Option<Self> {
        let order = [Self::StageCap, Self::TimeBudget, Self::CandidateCap];
        order.into_iter().find(|reason| parts.iter().any(|part| part.reason == *reason))
    }
}

/// Sections of a file that were not searched.
#[derive(Debug, Clone, PartialEq)]
pub struct UnscannedPart {
    /// The manual; none for the vault.
    pub manual_id: Option<Arc<str>>,
    /// The file's path, relative to its manual or to the vault.
    pub path: String,
    /// The SHA-256 of its bytes; none where it was not read.
    pub sha256: Option<Sha256>,
    /// Why it was not searched.
    pub reason: SkipReason,
    /// Where the sections start; empty for the whole file.
    pub starts: Vec<Position>,
}

impl UnscannedPart {
    /// A whole file.
    pub const fn file(manual_id: Option<Arc<str>>, path: String, reason: SkipReason) -> Self {
        Self { manual_id, path, sha256: None, reason, starts: Vec::new() }
    }

    /// The number of places that it counts for: its sections, or one for a whole file.
    pub fn count(&self) -> usize {
        self.starts.len().max(1)
    }
}

/// The number of places that were not searched before the deadline, or beyond the maximum that the caller set.
pub fn count_left_out(unscanned: &[UnscannedPart]) -> usize {
    let is_left_out =
        |part: &&UnscannedPart| matches!(part.reason, SkipReason::TimeBudget | SkipReason::CandidateCap);
    unscanned.iter().filter(is_left_out).map(UnscannedPart::count).sum()
}

/// Sections that were left out, grouped by their files and sorted by manual and path.
pub fn parts_of(views: &[View], sections: &[NodePlace], reason: SkipReason) -> Vec<UnscannedPart> {
    let mut files: BTreeMap<FilePlace, Vec<Position>> = BTreeMap::new();
    for place in sections {
        if let (Some(file), Some((_, node))) = (file_of(views, *place), node_at(views, *place)) {
            let start = Position { line: node.start_line, char: node.start_char };
            files.entry(file).or_default().push(start);
        }
    }
    let parts = files.into_iter().filter_map(|(file, mut starts)| {
        starts.sort_unstable();
        Some(UnscannedPart { starts, ..whole_file(views, file, reason)? })
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_by(|one, other| (&one.manual_id, &one.path).cmp(&(&other.manual_id, &other.path)));
    parts
}

/// The files of candidates, to be searched again as a whole.
pub fn files_of(views: &[View], candidates: &[Candidate], reason: SkipReason) -> Vec<UnscannedPart> {
    let files: BTreeSet<_> =
        candidates.iter().filter_map(|candidate| file_of(views, candidate.place)).collect();
    files.into_iter().filter_map(|file| whole_file(views, file, reason)).collect()
}

fn whole_file(views: &[View], place: FilePlace, reason: SkipReason) -> Option<UnscannedPart> {
    let manual_id = manual_id(views.get(place.view as usize)?);
    let (_, file) = file_at(views, place)?;
    Some(UnscannedPart {
        sha256: Some(file.sha256),
        ..UnscannedPart::file(manual_id, file.path.clone(), reason)
    })
}

/// The manual of a view; none for the vault, whose view has no name.
pub fn manual_id(view: &View) -> Option<Arc<str>> {
    Some(view.name.as_str()).filter(|name| !name.is_empty()).map(Arc::from)
}

#[cfg(test)]
#[path = "unscanned_tests.rs"]
mod tests;
