//! Small corpora for the tests of the exploration: views that are indexed from texts by the index itself.

#![expect(
    clippy::disallowed_methods,
    reason = "the index reads files, so the texts are written to a temporary folder"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use super::dictionary::Dictionary;
use super::place::{NodePlace, node_at};
use super::query::Query;
use super::terms::Intent;
use crate::cancellation::Cancellation;
use crate::fs::Root;
use crate::index::{CollectionSource, IndexCatalog, Shape, View};

/// Tells the folders of tests apart that run at the same time.
static NEXT_FOLDER: AtomicUsize = AtomicUsize::new(0);

/// A temporary folder with these files, removed when it is dropped.
pub struct TempFolder(pub PathBuf);

impl TempFolder {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let number = NEXT_FOLDER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("annai-explore-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An instant that no test reaches.
pub fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// The view of a manual with these files, as one segment in the order of the paths.
pub fn manual(name: &str, files: &[(&str, &str)]) -> View {
    let shape = |path: &str| if path.ends_with(".json") { Shape::Json } else { Shape::Markdown };
    view(CollectionSource { name: name.to_owned(), enter: |_, _| true, shape }, files)
}

/// The view of a vault with these files.
pub fn vault(files: &[(&str, &str)]) -> View {
    view(CollectionSource { name: String::new(), enter: |_, _| true, shape: |_| Shape::Paragraphs }, files)
}

fn view(source: CollectionSource, files: &[(&str, &str)]) -> View {
    let folder = TempFolder::new(files);
    let root = Arc::new(Root::open(&folder.0).unwrap());
    let collection = IndexCatalog::new(None).collection("test", || source);
    let view = collection.view(root, far_away(), &Cancellation::default()).unwrap();
    assert_eq!((view.pending.len(), view.unreadable), (0, 0), "the corpus is indexed as a whole");
    view
}

/// Views as one view with a segment for each of them.
pub fn as_segments(views: Vec<View>) -> View {
    let mut views = views.into_iter();
    let mut joined = views.next().unwrap();
    joined.segments.extend(views.flat_map(|view| view.segments));
    joined
}

/// The built-in dictionary, built once for all tests.
pub static DICTIONARY: LazyLock<Dictionary> = LazyLock::new(|| Dictionary::new(&[]));

/// A question, parsed with the built-in dictionary.
pub fn query(question: &str) -> Query {
    Query::new(question, None, &DICTIONARY).unwrap()
}

/// The same with an intent.
pub fn query_for(question: &str, intent: Intent) -> Query {
    Query::new(question, Some(intent), &DICTIONARY).unwrap()
}

/// The node that starts on a line of a file.
pub fn place(views: &[View], path: &str, line: u32) -> NodePlace {
    all_places(views).into_iter().find(|place| shown(views, *place) == format!("{path}:{line}")).unwrap()
}

/// Every node, in document order.
pub fn all_places(views: &[View]) -> Vec<NodePlace> {
    let mut places = Vec::new();
    for (view, segments) in (0..).zip(views) {
        for (segment, nodes) in (0..).zip(&segments.segments) {
            places.extend((0..).zip(&nodes.nodes).map(|(node, _)| NodePlace { view, segment, node }));
        }
    }
    places
}

/// A node as `path:line`.
pub fn shown(views: &[View], place: NodePlace) -> String {
    let (segment, node) = node_at(views, place).unwrap();
    format!("{}:{}", segment.file_of(node).unwrap().path, node.start_line)
}
