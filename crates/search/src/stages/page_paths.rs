//! The files of a manual by the paths that links name them with: relative to a file, or from the root of a site, with or
//! without an extension.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::index::View;
use annai_text::{FORMATS, Structure, format_of};

/// The names of the page of a folder.
const FOLDER_PAGES: [&str; 3] = ["index", "_index", "README"];
/// The maximum number of folders of a path that are tried as the root of the site, or as the beginning of a path.
const MAX_FOLDERS: usize = 32;

/// The position of a file in a view, as indexes of segment and file.
pub type FileSlot = (u32, u32);

/// The files of a view by their paths.
pub struct PagePaths<'a> {
    files: HashMap<&'a str, FileSlot>,
    /// The pages by their paths without extension, and without the name of the page of a folder.
    pages: HashMap<&'a str, Page>,
    /// The pages by every end of these paths; none where several pages have it.
    endings: OnceCell<HashMap<&'a str, Option<FileSlot>>>,
}

/// The order among the files with the same path, the first one best: files, then pages of folders; and by extension.
type Rank = (usize, usize);

struct Page {
    slot: FileSlot,
    rank: Rank,
}

impl<'a> PagePaths<'a> {
    /// The files of a view that have not changed since it was indexed.
    pub fn new(view: &'a View) -> Self {
        let mut paths = Self { files: HashMap::new(), pages: HashMap::new(), endings: OnceCell::new() };
        for (segment, files) in (0..).zip(&view.segments) {
            for (number, file) in (0..).zip(&files.files) {
                if !view.stale.contains(&(segment as usize, number)) {
                    paths.add(&file.path, (segment, number));
                }
            }
        }
        paths
    }

    fn add(&mut self, path: &'a str, slot: FileSlot) {
        self.files.insert(path, slot);
        let (page, rank) = page_path(path);
        let Some(rank) = rank else { return };
        match self.pages.entry(page) {
            Entry::Vacant(entry) => drop(entry.insert(Page { slot, rank })),
            Entry::Occupied(mut entry) if rank < entry.get().rank => drop(entry.insert(Page { slot, rank })),
            Entry::Occupied(_) => {}
        }
    }

    /// The file that a link in the file `from` leads to; none where it leads out of the manual or nowhere.
    pub fn follow(&self, from: &str, link: &str) -> Option<FileSlot> {
        let link = link.split_once('?').map_or(link, |(path, _)| path);
        if link.starts_with("//") {
            return None;
        }
        if link.starts_with('/') {
            return self.follow_from_root(from, &joined("", link)?);
        }
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let beside = joined(folder, link).and_then(|path| self.find(&path));
        // A site that shows `guide/setup.md` as `guide/setup/` counts from there.
        let is_source = format_of(link).is_some_and(|format| format.is_source_of_pages());
        let below = || joined(page_path(from).0, link).and_then(|path| self.find(&path));
        beside.or_else(|| if is_source { None } else { below() })
    }

    /// The file at a path from the root of the site, which may be a folder of the manual.
    fn follow_from_root(&self, from: &str, path: &str) -> Option<FileSlot> {
        let folders = from.match_indices('/').take(MAX_FOLDERS).filter_map(|(end, _)| from.get(..end));
        let mut roots = folders.filter_map(|folder| self.find(&format!("{folder}/{path}")));
        let ending = || self.endings().get(page_path(path).0).copied().flatten();
        self.find(path).or_else(|| roots.next()).or_else(ending)
    }

    fn find(&self, path: &str) -> Option<FileSlot> {
        let page = || self.pages.get(page_path(path).0).map(|page| page.slot);
        self.files.get(path).copied().or_else(page)
    }

    fn endings(&self) -> &HashMap<&'a str, Option<FileSlot>> {
        self.endings.get_or_init(|| {
            let mut endings = HashMap::new();
            for (path, page) in &self.pages {
                let starts = path.match_indices('/').map(|(at, _)| at + 1).take(MAX_FOLDERS);
                for ending in std::iter::once(0).chain(starts).filter_map(|start| path.get(start..)) {
                    endings
                        .entry(ending)
                        .and_modify(|known: &mut Option<FileSlot>| *known = None)
                        .or_insert(Some(page.slot));
                }
            }
            endings
        })
    }
}

/// A path without the extension of a page, and without the name of the page of a folder, and its order among the files
/// with the same path; no order where it is not the path of a page.
fn page_path(path: &str) -> (&str, Option<Rank>) {
    let pages = FORMATS.iter().filter(|format| format.structure() == Structure::Headings);
    let mut extensions = pages.flat_map(|format| format.extensions());
    let ranked = path
        .rsplit_once('.')
        .and_then(|(stem, extension)| Some((stem, extensions.position(|known| *known == extension)?)));
    let (stem, rank) = ranked.map_or((path, None), |(stem, rank)| (stem, Some(rank)));
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    match FOLDER_PAGES.iter().position(|page| *page == name) {
        Some(order) => (folder, rank.map(|rank| (order + 1, rank))),
        None => (stem, rank.map(|rank| (0, rank))),
    }
}

/// A path that is relative to a folder; none where it leads out of the manual.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
#[path = "page_paths_tests.rs"]
mod tests;
