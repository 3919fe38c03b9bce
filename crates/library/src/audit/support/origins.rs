//! Resolves source comments: reads the lines of the manuals that text was copied from, and reports comments that no longer
//! fit.

use std::collections::HashMap;

use super::evidence::FileEvidence;
use crate::audit::artifact::SourceComment;
use crate::audit::finding::{AuditFinding, FindingKind};
use crate::reading::{LineRange, Provenance, merged};
use annai_files::fs::RelPath;
use annai_files::manuals::{ManualFile, Manuals};

/// The maximum number of files that the comments of one artifact may name; those of further files are not checked, and are
/// reported.
const MAX_FILES: usize = 200;
/// The maximum size of the lines that are read, which are held in memory; further ones are not checked, and are reported.
pub(crate) const MAX_CITED_BYTES: usize = 16 << 20;

/// What the source comments of an artifact lead to.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// The copied lines of each file.
    pub(crate) files: Vec<FileEvidence>,
    /// For each comment the index of its file; none where it cannot be checked against it.
    pub(crate) file_of: Vec<Option<usize>>,
    /// The comments that no longer fit.
    pub(crate) findings: Vec<AuditFinding>,
}

/// Reads what source comments name. Nothing about them is an error: what cannot be read is a finding.
pub(crate) fn resolve(manuals: &Manuals, comments: &[SourceComment]) -> Origins {
    let mut origins = Origins { file_of: vec![None; comments.len()], ..Origins::default() };
    let mut by_file: HashMap<(&str, &str), usize> = HashMap::new();
    let mut groups: Vec<Vec<(usize, &SourceComment)>> = Vec::new();
    for (index, comment) in comments.iter().enumerate() {
        let Provenance { manual_id, path, .. } = &comment.source;
        let group = *by_file.entry((manual_id, path)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push((index, comment)),
            None => groups.push(vec![(index, comment)]),
        }
    }
    let mut bytes_left = MAX_CITED_BYTES;
    for (number, group) in groups.into_iter().enumerate() {
        let Some((_, first)) = group.first() else { continue };
        if number >= MAX_FILES {
            let problem = format!(
                "the source of the text below was not checked, because the comments name more than {MAX_FILES} files; split the artifact"
            );
            origins.report(&group, FindingKind::NotUnderstood, &problem);
            continue;
        }
        match open(manuals, &first.source) {
            Ok((manual_id, file)) => origins.add_file(&manual_id, &file, &group, &mut bytes_left),
            Err(problem) => origins.report(&group, FindingKind::StaleSource, &problem),
        }
    }
    origins
}

fn open(manuals: &Manuals, source: &Provenance) -> Result<(String, ManualFile), String> {
    let opened = manuals.get(&source.manual_id).and_then(|manual| {
        let file = manual.file(&RelPath::parse(&source.path)?)?;
        Ok((manual.id, file))
    });
    opened.map_err(|error| {
        let place = source.place();
        let cause = error.message();
        format!("the text below was copied from {place}, which cannot be read: {cause}; copy it again, or correct the comment")
    })
}

impl Origins {
    fn report(&mut self, group: &[(usize, &SourceComment)], kind: FindingKind, problem: &str) {
        let findings = group.iter().map(|(_, comment)| AuditFinding::at(kind, comment.line, None, problem));
        self.findings.extend(findings);
    }

    /// Adds a file: each comment whose version and lines still fit can be checked against it.
    fn add_file(
        &mut self,
        manual_id: &str,
        read: &ManualFile,
        group: &[(usize, &SourceComment)],
        bytes_left: &mut usize,
    ) {
        let total = read.document.lines.count() as u64;
        let (mut ranges, mut fresh) = (Vec::new(), Vec::new());
        for (index, comment) in group {
            match stale_reason(&comment.source, read, total) {
                Some(problem) => self.report(&[(*index, comment)], FindingKind::StaleSource, &problem),
                None => {
                    ranges.push(comment.source.lines);
                    fresh.push((*index, *comment));
                }
            }
        }
        let name = format!("{manual_id}/{}", read.path);
        let mut file = FileEvidence::new(name);
        for number in merged(ranges).iter().flat_map(|range| range.start_line..=range.end_line) {
            let line = usize::try_from(number).unwrap_or(usize::MAX);
            let text = read.document.text_of(line, line);
            let Some(left) = bytes_left.checked_sub(text.len()).filter(|_| file.add_line(number, text))
            else {
                let problem = "the source of the text below was not checked, because too much was copied; split the artifact";
                return self.report(&fresh, FindingKind::NotUnderstood, problem);
            };
            *bytes_left = left;
        }
        for (index, _) in &fresh {
            if let Some(place) = self.file_of.get_mut(*index) {
                *place = Some(self.files.len());
            }
        }
        self.files.push(file);
    }
}

/// Why a comment no longer fits its file.
fn stale_reason(source: &Provenance, read: &ManualFile, total: u64) -> Option<String> {
    let place = source.place();
    let LineRange { start_line, end_line } = source.lines;
    let sha256 = &read.sha256;
    if let Some(rev) = source.rev.as_deref().filter(|rev| !sha256.begins_with(rev)) {
        let mut found = sha256.to_string();
        found.truncate(rev.len());
        return Some(format!(
            "the text below was copied from {place} at rev {rev}, and the file has rev {found} now; copy it again with bridge_copy_section"
        ));
    }
    let is_inside = start_line >= 1 && start_line <= end_line && end_line <= total;
    (!is_inside).then(|| {
        format!("the text below names {place} as its source, but that file has {total} lines; copy it again, or correct the comment")
    })
}
