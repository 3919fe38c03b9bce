//! What a find searched and what it did not: files in numbers, the files that cannot be searched, and the version of the
//! text.

use std::collections::HashSet;

use crate::conclusion::report::SearchCoverage;
use crate::index::View;
use crate::matching::MatchOutcome;
use crate::stages::scope::{FileGrant, SearchScope};
use crate::trace::read_ledger::HandedOut;
use crate::trace::unscanned::manual_id;
use crate::trace::{TraceRecord, UnsearchableFile};
use annai_files::fs::{Sha256, Unsearchable};

/// The number of files that cannot be searched which a summary names; manual_hits lists them all.
const MAX_NAMED_FILES: usize = 3;
/// The number of hexadecimal digits of the version of the text: 64 bits tell versions apart.
const CORPUS_REV_DIGITS: usize = 16;

/// The files of a find.
#[derive(Debug, Default)]
pub struct FileCoverage {
    /// The number of files that were searched.
    pub scanned: usize,
    /// The number of sections in them that were searched.
    pub scanned_nodes: usize,
    /// The number of files that were not searched.
    pub unscanned: usize,
    /// The files that cannot be searched, sorted by manual and path.
    pub unsearchable: Vec<UnsearchableFile>,
    /// A hash of the paths and contents of the files that were searched.
    pub corpus_rev: String,
}

impl FileCoverage {
    /// Counts the files of the views that are in scope.
    pub fn of(views: &[View], scope: &SearchScope<'_>, matched: &MatchOutcome) -> Self {
        let mut coverage = Self::default();
        let skipped: HashSet<_> = matched.skipped_segments.iter().collect();
        let mut searched = Vec::new();
        for (view_index, view) in (0_u32..).zip(views) {
            for (segment_index, segment) in (0_u32..).zip(&view.segments) {
                for (number, file) in (0..).zip(&segment.files) {
                    let grant = scope.grant(view_index as usize, segment_index as usize, number);
                    // A file that has changed since is counted among the pending ones.
                    if *grant == FileGrant::None || view.stale.contains(&(segment_index as usize, number)) {
                        continue;
                    }
                    if skipped.contains(&(view_index, segment_index)) {
                        coverage.unscanned += 1;
                        continue;
                    }
                    coverage.scanned += 1;
                    coverage.scanned_nodes += match grant {
                        FileGrant::Starts(starts) => starts.len(),
                        _ => file.sections as usize,
                    };
                    searched.push((view.name.as_str(), file.path.as_str(), file.sha256));
                }
            }
            coverage.unscanned += view.pending.iter().filter(|path| scope.reaches(&view.name, path)).count();
            let manual_id = manual_id(view);
            let files = view.unsearchable.iter().filter(|file| scope.reaches(&view.name, &file.path));
            let files =
                files.map(|file| UnsearchableFile { manual_id: manual_id.clone(), file: file.clone() });
            coverage.unsearchable.extend(files);
        }
        coverage.corpus_rev = corpus_rev(searched);
        coverage
    }

    /// Adds what lies beside the manuals, and sorts: documents before pictures, and those of the manual that was asked for
    /// before others.
    pub fn complete(&mut self, beside: Vec<Unsearchable>, home: Option<&str>) {
        self.unsearchable.extend(beside.into_iter().map(|file| UnsearchableFile { manual_id: None, file }));
        self.unsearchable.sort_by_key(|unsearchable| {
            (unsearchable.file.has_no_text(), home.is_some() && unsearchable.manual_id.as_deref() != home)
        });
    }

    /// The numbers of a summary.
    pub fn summary(
        &self,
        record: &TraceRecord,
        related: usize,
        handed_out: Option<&HandedOut>,
        notices: Vec<String>,
    ) -> SearchCoverage {
        let candidates = record.evidence().count();
        let read = handed_out.map_or(0, |handed_out| {
            record.evidence().filter(|found| handed_out.has_match(record, found)).count()
        });
        // Pictures and stylesheets are only counted.
        let named = self.unsearchable.iter().filter(|unsearchable| !unsearchable.file.has_no_text());
        SearchCoverage {
            related,
            goal: record.goal,
            handed_out: read,
            unread: candidates - read,
            read_ledger: handed_out.is_some(),
            files_total: self.scanned + self.unscanned + self.unsearchable.len(),
            unscanned_files: self.unscanned,
            unsearchable_files: self.unsearchable.len(),
            unsearchable: named.take(MAX_NAMED_FILES).map(Into::into).collect(),
            corpus_rev: self.corpus_rev.clone(),
            notices,
        }
    }
}

/// A hash of the paths and contents of files, whatever their order.
fn corpus_rev(mut files: Vec<(&str, &str, Sha256)>) -> String {
    files.sort_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
    let mut bytes = Vec::with_capacity(files.len() * 100);
    for (name, path, sha256) in files {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&sha256.bytes());
    }
    let mut rev = Sha256::of(&bytes).to_string();
    rev.truncate(CORPUS_REV_DIGITS);
    rev
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
