//! Walks a folder tree and lists its files, sorted, without following links. What is left out is listed too, with the
//! reason.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::folder::{DirEntry, EntryKind, Folder, FolderContent};
use super::path::MAX_PATH_BYTES;
use super::stamp::FileStamp;
use annai_core::cancellation::checkpoint;

/// The files that a walk found, as paths or with their stamps.
#[derive(Debug)]
pub struct Listing<T> {
    /// The files, sorted by their stored paths.
    pub files: Vec<T>,
    /// What belongs to the tree and cannot be searched, sorted by path.
    pub unsearchable: Vec<Unsearchable>,
    /// The number of hidden files and folders that were left out, without what is below the folders.
    pub hidden: usize,
}

/// A file that cannot be searched, or a folder that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unsearchable {
    /// The stored path. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Why it cannot be searched.
    pub reason: UnsearchableReason,
}

/// The extensions of pictures and of the files of web pages, which contain no text that somebody would look for.
const NO_TEXT: [&str; 17] = [
    "png", "jpg", "jpeg", "gif", "webp", "svg", "ico", "avif", "css", "js", "map", "woff", "woff2", "ttf",
    "mp4", "mp3", "webm",
];

impl Unsearchable {
    /// Whether it contains no text that somebody would look for.
    pub fn has_no_text(&self) -> bool {
        let extension = self.path.rsplit_once('.').map(|(_, extension)| extension);
        matches!(self.reason, UnsearchableReason::Type | UnsearchableReason::Stray)
            && extension.is_some_and(|own| NO_TEXT.iter().any(|known| known.eq_ignore_ascii_case(own)))
    }
}

/// Why a file cannot be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnsearchableReason {
    /// Files of its type are not searched.
    Type,
    /// It is not text in a supported encoding.
    Encoding,
    /// It exceeds the maximum size.
    TooLarge,
    /// It cannot be opened or read.
    Unreadable,
    /// It is a symbolic link, and links are not followed.
    Link,
    /// It lies beside the manuals, in none of them.
    Stray,
}

impl UnsearchableReason {
    /// The name that results show.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Encoding => "encoding",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::Link => "link",
            Self::Stray => "stray",
        }
    }
}

/// Whether a file or a folder belongs to a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership {
    /// The file is searched, or the folder is entered.
    Searched,
    /// It belongs to the collection, and files of its type are not searched.
    Unsearchable,
    /// It does not belong to the collection, and is not mentioned.
    Ignored,
    /// It is hidden: it is only counted.
    Hidden,
}

/// Decides by path and kind what belongs to a collection.
type Filter<'a> = &'a dyn Fn(&str, EntryKind) -> Membership;

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

type MakeItem<'a, T> = &'a mut dyn FnMut(&Folder, &str, String) -> Option<T>;

fn walk<T>(top: &Folder, filter: Filter<'_>, make_item: MakeItem<'_, T>) -> Result<Listing<T>, ToolError> {
    let listing = Listing { files: Vec::new(), unsearchable: Vec::new(), hidden: 0 };
    let mut walker = Walker { filter, make_item, listing };
    // An unreadable top folder is an error; unreadable folders below it are only listed.
    walker.visit(top, top.content()?);
    let mut listing = walker.listing;
    listing.unsearchable.sort_unstable();
    Ok(listing)
}

struct Walker<'a, T> {
    filter: Filter<'a>,
    make_item: MakeItem<'a, T>,
    listing: Listing<T>,
}

impl<T> Walker<'_, T> {
    fn visit(&mut self, folder: &Folder, content: FolderContent) {
        for (names, reason) in
            [(content.links, UnsearchableReason::Link), (content.unreadable, UnsearchableReason::Unreadable)]
        {
            for path in names.iter().map(|name| folder.join(name)) {
                // Neither is opened, so whether it would have been a searchable file does not matter.
                match (self.filter)(&path, EntryKind::File) {
                    Membership::Ignored => {}
                    Membership::Hidden => self.listing.hidden += 1,
                    Membership::Searched | Membership::Unsearchable => self.leave_out(path, reason),
                }
            }
        }
        for entry in content.entries {
            self.visit_entry(folder, &entry);
        }
    }

    fn visit_entry(&mut self, folder: &Folder, entry: &DirEntry) {
        checkpoint();
        let path = folder.join(&entry.name);
        match ((self.filter)(&path, entry.kind), entry.kind) {
            (Membership::Ignored, _) => {}
            (Membership::Hidden, _) => self.listing.hidden += 1,
            (Membership::Unsearchable, _) => self.leave_out(path, UnsearchableReason::Type),
            (Membership::Searched, EntryKind::File) => {
                self.listing.files.extend((self.make_item)(folder, &entry.name, path));
            }
            // No path can name what is deeper. This also bounds the recursion.
            (_, EntryKind::Folder) if path.len() > MAX_PATH_BYTES => {
                self.leave_out(path, UnsearchableReason::Unreadable);
            }
            (_, EntryKind::Folder) => {
                let below = folder.enter(&entry.name).and_then(|below| Ok((below.content()?, below)));
                match below {
                    Ok((content, below)) => self.visit(&below, content),
                    Err(_) => self.leave_out(path, UnsearchableReason::Unreadable),
                }
            }
        }
    }

    fn leave_out(&mut self, path: String, reason: UnsearchableReason) {
        self.listing.unsearchable.push(Unsearchable { path, reason });
    }
}
