//! Every file below a folder, in order, without links.

use annai_core::ToolError;

use super::root::{Folder, Kind};

/// What a walk found.
#[derive(Debug, Default)]
pub struct Listing {
    /// The stored paths of the files, sorted.
    pub files: Vec<String>,
    /// Folders that could not be read.
    pub unreadable: usize,
}

/// The files below a folder; `enter` says which folders and files count, by path and kind.
pub fn files(top: &Folder, enter: &dyn Fn(&str, Kind) -> bool) -> Result<Listing, ToolError> {
    let mut listing = Listing::default();
    // The first folder must be readable; others are only passed over.
    let entries = top.entries()?;
    visit(top, entries, enter, &mut listing);
    listing.files.sort_unstable();
    Ok(listing)
}

fn visit(
    folder: &Folder,
    entries: Vec<super::Entry>,
    enter: &dyn Fn(&str, Kind) -> bool,
    listing: &mut Listing,
) {
    for entry in entries {
        let path = folder.join(&entry.name);
        if !enter(&path, entry.kind) {
            continue;
        }
        match entry.kind {
            Kind::File => listing.files.push(path),
            // Paths have a limit, so the depth has one too.
            Kind::Folder if path.len() > 4096 => listing.unreadable += 1,
            Kind::Folder => {
                let below = folder.enter(&entry.name).and_then(|below| Ok((below.entries()?, below)));
                match below {
                    Ok((entries, below)) => visit(&below, entries, enter, listing),
                    Err(_) => listing.unreadable += 1,
                }
            }
        }
    }
}
