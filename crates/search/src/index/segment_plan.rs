//! Plans which segments have to be built after files changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cache::{FileState, KnownFile};
use super::segment::Segment;
use annai_files::fs::FileStamp;

/// A segment holds about 2 MiB of text: a changed file costs about 40 ms, because its segment is rebuilt, and a folder of
/// 40 MB has no more than about twenty segments to search. A larger file is a segment of its own.
const SEGMENT_BYTES: u64 = 2 << 20;

/// A segment to be built.
#[derive(Default)]
pub struct SegmentPlan {
    /// The segment that it replaces.
    pub old: Option<Arc<Segment>>,
    /// The indexes of the files of the old segment that are unchanged.
    pub kept_files: Vec<u32>,
    /// The files to read.
    pub files_to_read: Vec<(String, FileStamp)>,
    /// The size of all these files together.
    pub bytes: u64,
}

/// Plans the segments to build: those that lost a file, and as many others as the new files need. `known` are the files
/// that are unchanged, `listed` are all files.
pub fn plan_segments(
    segments: &[Arc<Segment>],
    known: &BTreeMap<String, KnownFile>,
    listed: BTreeMap<String, FileStamp>,
) -> Vec<SegmentPlan> {
    let (mut plans, mut complete): (Vec<_>, Vec<_>) =
        segments.iter().map(|segment| kept_part(segment, known)).partition(|plan| !plan.is_complete());
    for (path, stamp) in listed {
        if known.contains_key(&path) {
            continue;
        }
        // New files go into segments that are rebuilt anyway, then into one that has room, so that there are never many.
        let has_room = |plan: &SegmentPlan| plan.bytes + stamp.size <= SEGMENT_BYTES;
        let index = plans.iter().position(has_room).unwrap_or_else(|| {
            let roomy = complete.iter().position(has_room);
            plans.push(roomy.map_or_else(SegmentPlan::default, |roomy| complete.swap_remove(roomy)));
            plans.len() - 1
        });
        if let Some(plan) = plans.get_mut(index) {
            plan.bytes += stamp.size;
            plan.files_to_read.push((path, stamp));
        }
    }
    plans
}

/// The files of a segment that are unchanged, as a plan that replaces it.
fn kept_part(segment: &Arc<Segment>, known: &BTreeMap<String, KnownFile>) -> SegmentPlan {
    let mut plan = SegmentPlan { old: Some(segment.clone()), ..SegmentPlan::default() };
    for (index, file) in (0..).zip(&segment.files) {
        if known.get(&file.path).is_some_and(|known| known.state == FileState::Indexed(file.sha256)) {
            plan.kept_files.push(index);
            plan.bytes += segment.bytes_of(file);
        }
    }
    plan
}

impl SegmentPlan {
    /// Whether all files of the old segment are unchanged.
    fn is_complete(&self) -> bool {
        self.old.as_ref().is_some_and(|old| old.files.len() == self.kept_files.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::build::build;
    use crate::index::entries::ParsedFile;
    use annai_files::fs::Sha256;
    use annai_text::Markdown;

    const TEXT: &str = "# A\ntext\n";

    fn stamp(size: u64) -> FileStamp {
        FileStamp { size, modified: 1, changed: 1, inode: 1 }
    }

    fn segment(paths: &[&str]) -> Arc<Segment> {
        let file = |path: &&str| ParsedFile::of_text("m", path, &Markdown, TEXT);
        Arc::new(build("m", paths.iter().map(file).collect()))
    }

    /// Plans with `known` unchanged files and `new` ones, and shows each plan as kept and read files.
    fn plan(segments: &[Arc<Segment>], known: &[&str], new: &[(&str, u64)]) -> Vec<(Vec<u32>, Vec<String>)> {
        let state = FileState::Indexed(Sha256::of(TEXT.as_bytes()));
        let known: BTreeMap<_, _> = known
            .iter()
            .map(|path| ((*path).to_owned(), KnownFile { stamp: stamp(9), read_at: 2, state: state.clone() }))
            .collect();
        let new = new.iter().map(|(path, size)| ((*path).to_owned(), stamp(*size)));
        let listed = known.iter().map(|(path, known)| (path.clone(), known.stamp)).chain(new).collect();
        let shown = |plan: SegmentPlan| {
            (plan.kept_files, plan.files_to_read.into_iter().map(|(path, _)| path).collect())
        };
        plan_segments(segments, &known, listed).into_iter().map(shown).collect()
    }

    #[test]
    fn nothing_is_built_when_nothing_changed() {
        assert_eq!(plan(&[segment(&["a", "b"])], &["a", "b"], &[]), []);
        assert_eq!(plan(&[], &[], &[]), []);
    }

    #[test]
    fn a_segment_that_lost_a_file_is_rebuilt_and_takes_new_files_first() {
        let segments = [segment(&["a", "b"]), segment(&["c"])];
        assert_eq!(plan(&segments, &["a", "c"], &[]), [(vec![0], vec![])]);
        assert_eq!(plan(&segments, &["a", "c"], &[("d", 5)]), [(vec![0], vec!["d".to_owned()])]);
    }

    #[test]
    fn new_files_fill_a_segment_with_room_and_large_ones_get_their_own() {
        let segments = [segment(&["a"])];
        assert_eq!(plan(&segments, &["a"], &[("b", 5)]), [(vec![0], vec!["b".to_owned()])]);
        let large = SEGMENT_BYTES + 1;
        let expected = [(vec![], vec!["b".to_owned()]), (vec![0], vec!["c".to_owned()])];
        assert_eq!(plan(&segments, &["a"], &[("b", large), ("c", 5)]), expected);
    }
}
