//! The positions of nodes and files in the views of a find, as indexes.

use crate::index::{FileEntry, NodeEntry, Segment, View};

/// The position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodePlace {
    /// The collection, as an index into the views.
    pub view: u32,
    /// The segment, as an index into the view.
    pub segment: u32,
    /// The node, as an index into the segment.
    pub node: u32,
}

/// The position of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePlace {
    /// The collection, as an index into the views.
    pub view: u32,
    /// The segment, as an index into the view.
    pub segment: u32,
    /// The file, as an index into the segment.
    pub file: u32,
}

/// The node at a place, with its segment.
pub fn node_at(views: &[View], place: NodePlace) -> Option<(&Segment, &NodeEntry)> {
    let segment = views.get(place.view as usize)?.segments.get(place.segment as usize)?;
    Some((segment, segment.node(place.node)?))
}

/// The file at a place, with its segment.
pub fn file_at(views: &[View], place: FilePlace) -> Option<(&Segment, &FileEntry)> {
    let segment = views.get(place.view as usize)?.segments.get(place.segment as usize)?;
    Some((segment, segment.files.get(place.file as usize)?))
}

/// The file that contains a node.
pub fn file_of(views: &[View], place: NodePlace) -> Option<FilePlace> {
    let file = node_at(views, place)?.1.file;
    Some(FilePlace { view: place.view, segment: place.segment, file })
}
