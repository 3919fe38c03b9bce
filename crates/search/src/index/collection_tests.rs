#![expect(
    clippy::disallowed_methods,
    reason = "the index reads files, so the texts are written to a temporary folder"
)]

use std::thread::JoinHandle;

use super::*;
use annai_text::Markdown;

/// How many files there are to index.
const FILES: usize = 40;

/// A folder with files to index, removed when it is dropped.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("annai-collection-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for number in 0..FILES {
            let text = format!("# Heading {number}\n\nThe valve {number} is closed.\n").repeat(500);
            std::fs::write(folder.join(format!("{number}.md")), text).unwrap();
        }
        Self(folder)
    }

    fn root(&self) -> Arc<Root> {
        Arc::new(Root::open(&self.0).unwrap())
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn collection() -> Arc<Collection> {
    let source =
        CollectionSource { name: "m".to_owned(), enter: |_, _| Membership::Searched, format: |_| &Markdown };
    Arc::new(Collection::new(source, None, Arc::default()))
}

/// Waits until nothing is indexed any more, and returns how many files are known.
fn files_after_indexing(collection: &Collection) -> usize {
    let mut state = collection.lock();
    while state.is_indexing {
        state = collection.indexing_ended.wait(state).unwrap();
    }
    state.files.len()
}

fn cancelled() -> Cancellation {
    let cancellation = Cancellation::default();
    cancellation.cancel();
    cancellation
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// Starts a find on a thread of its own, and waits until it waits for indexing.
fn start_find(
    collection: &Arc<Collection>,
    folder: &TempFolder,
    cancellation: &Cancellation,
) -> JoinHandle<Result<View, ToolError>> {
    let (root, find) = (folder.root(), (collection.clone(), cancellation.clone()));
    let find = std::thread::spawn(move || find.0.view(root, far_away(), &find.1));
    while !find.is_finished() && collection.lock().waiting == 0 {
        std::thread::yield_now();
    }
    find
}

#[test]
fn indexing_stops_when_the_find_that_waits_for_it_is_cancelled() {
    let folder = TempFolder::new("cancelled");
    // Indexing may be over before it is cancelled, but not every time.
    let stopped = (0..100).map(|_| collection()).find(|collection| {
        let cancellation = Cancellation::default();
        let find = start_find(collection, &folder, &cancellation);
        cancellation.cancel();
        let error = find.join().unwrap().err().map(|error| error.kind());
        error == Some(ErrorKind::Cancelled) && files_after_indexing(collection) < FILES
    });
    let collection = stopped.expect("a find that was cancelled in time");
    let progress = &collection.progress;
    assert_eq!(progress.done.load(Ordering::Relaxed), progress.total.load(Ordering::Relaxed));
    // The next find goes on.
    let view = collection.view(folder.root(), far_away(), &Cancellation::default()).unwrap();
    assert_eq!((view.pending.len(), files_after_indexing(&collection)), (0, FILES));
}

#[test]
fn indexing_goes_on_when_a_find_runs_out_of_time() {
    let (folder, collection) = (TempFolder::new("expected"), collection());
    let view = collection.view(folder.root(), Instant::now(), &Cancellation::default()).unwrap();
    assert_eq!(view.pending.len(), FILES);
    assert!(collection.view(folder.root(), far_away(), &cancelled()).is_err());
    assert_eq!(files_after_indexing(&collection), FILES);
}

#[test]
fn indexing_goes_on_while_another_find_waits_for_it() {
    let (folder, collection) = (TempFolder::new("shared"), collection());
    let find = start_find(&collection, &folder, &Cancellation::default());
    assert!(collection.view(folder.root(), far_away(), &cancelled()).is_err());
    assert_eq!(find.join().unwrap().unwrap().pending.len(), 0);
    assert_eq!(files_after_indexing(&collection), FILES);
}
