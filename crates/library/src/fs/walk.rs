//! Every file below a folder, in order, without links.

use annai_core::ToolError;

use super::root::{Folder, Kind, Stamp};

/// What a walk found: of each file its path, or whatever else was asked for.
#[derive(Debug)]
pub struct Listing<T> {
    /// The files, by their stored paths.
    pub files: Vec<T>,
    /// Folders that could not be read, and files that no path can name.
    pub unreadable: usize,
}

/// Which folders and files count, by path and kind.
type Enter<'a> = &'a dyn Fn(&str, Kind) -> bool;

/// The files below a folder; `enter` says which folders and files count, by path and kind.
pub fn files(top: &Folder, enter: Enter<'_>) -> Result<Listing<String>, ToolError> {
    let mut listing = walk(top, enter, &mut |_, _, path| Some(path))?;
    listing.files.sort_unstable();
    Ok(listing)
}

/// The same with the state of each file. One that vanishes meanwhile is not there.
pub fn stamped_files(top: &Folder, enter: Enter<'_>) -> Result<Listing<(String, Stamp)>, ToolError> {
    let stamped = &mut |folder: &Folder, name: &str, path| Some((path, folder.stamp(name).ok()?));
    let mut listing = walk(top, enter, stamped)?;
    listing.files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(listing)
}

fn walk<T>(
    top: &Folder,
    enter: Enter<'_>,
    look: &mut dyn FnMut(&Folder, &str, String) -> Option<T>,
) -> Result<Listing<T>, ToolError> {
    let mut listing = Listing { files: Vec::new(), unreadable: 0 };
    // The first folder must be readable; others are only passed over.
    let entries = top.entries()?;
    visit(top, entries, enter, look, &mut listing);
    Ok(listing)
}

fn visit<T>(
    folder: &Folder,
    entries: Vec<super::Entry>,
    enter: Enter<'_>,
    look: &mut dyn FnMut(&Folder, &str, String) -> Option<T>,
    listing: &mut Listing<T>,
) {
    listing.unreadable += folder.unnameable();
    for entry in entries {
        let path = folder.join(&entry.name);
        if !enter(&path, entry.kind) {
            continue;
        }
        match entry.kind {
            Kind::File => listing.files.extend(look(folder, &entry.name, path)),
            // Paths have a limit, so the depth has one too.
            Kind::Folder if path.len() > 4096 => listing.unreadable += 1,
            Kind::Folder => {
                let below = folder.enter(&entry.name).and_then(|below| Ok((below.entries()?, below)));
                match below {
                    Ok((entries, below)) => visit(&below, entries, enter, look, listing),
                    Err(_) => listing.unreadable += 1,
                }
            }
        }
    }
}
