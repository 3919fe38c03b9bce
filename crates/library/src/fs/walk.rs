//! Walks a folder tree and lists its files, sorted, without following links.

use annai_core::ToolError;

use super::folder::{DirEntry, EntryKind, Folder};
use super::path::MAX_PATH_BYTES;
use super::stamp::FileStamp;

/// The files that a walk found, as paths or with their stamps.
#[derive(Debug)]
pub struct Listing<T> {
    /// The files, sorted by their stored paths.
    pub files: Vec<T>,
    /// How many folders could not be read, and how many entries no path can name.
    pub unreadable: usize,
}

/// Decides by path and kind which folders are entered and which files are listed.
type Filter<'a> = &'a dyn Fn(&str, EntryKind) -> bool;

/// Lists the files below a folder that pass a filter.
pub fn files(top: &Folder, filter: Filter<'_>) -> Result<Listing<String>, ToolError> {
    let mut listing = walk(top, filter, &mut |_, _, path| Some(path))?;
    listing.files.sort_unstable();
    Ok(listing)
}

/// The same, with the stamp of each file. A file that is removed during the walk is left out.
pub fn stamped_files(top: &Folder, filter: Filter<'_>) -> Result<Listing<(String, FileStamp)>, ToolError> {
    let make_item = &mut |folder: &Folder, name: &str, path| Some((path, folder.stamp(name).ok()?));
    let mut listing = walk(top, filter, make_item)?;
    listing.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(listing)
}

fn walk<T>(
    top: &Folder,
    filter: Filter<'_>,
    make_item: &mut dyn FnMut(&Folder, &str, String) -> Option<T>,
) -> Result<Listing<T>, ToolError> {
    let mut listing = Listing { files: Vec::new(), unreadable: 0 };
    // An unreadable top folder is an error; unreadable folders below it are only counted.
    let entries = top.entries()?;
    visit(top, entries, filter, make_item, &mut listing);
    Ok(listing)
}

fn visit<T>(
    folder: &Folder,
    entries: Vec<DirEntry>,
    filter: Filter<'_>,
    make_item: &mut dyn FnMut(&Folder, &str, String) -> Option<T>,
    listing: &mut Listing<T>,
) {
    listing.unreadable += folder.unnameable_count();
    for entry in entries {
        let path = folder.join(&entry.name);
        if !filter(&path, entry.kind) {
            continue;
        }
        match entry.kind {
            EntryKind::File => listing.files.extend(make_item(folder, &entry.name, path)),
            // No path can name what is deeper. This also bounds the recursion.
            EntryKind::Folder if path.len() > MAX_PATH_BYTES => listing.unreadable += 1,
            EntryKind::Folder => {
                let below = folder.enter(&entry.name).and_then(|below| Ok((below.entries()?, below)));
                match below {
                    Ok((entries, below)) => visit(&below, entries, filter, make_item, listing),
                    Err(_) => listing.unreadable += 1,
                }
            }
        }
    }
}
