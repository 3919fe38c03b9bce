//! Where nodes and files are in the views that a find looks at, as indexes.

use crate::index::{FileEntry, NodeEntry, Segment, View};

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodePlace {
    /// The collection, as an index into the views.
    pub view: u32,
    /// The segment, as an index into the view.
    pub segment: u32,
    /// The node, as an index into the segment.
    pub node: u32,
}

/// Where a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePlace {
    /// The collection, as an index into the views.
    pub view: u32,
    /// The segment, as an index into the view.
    pub segment: u32,
    /// The file, as an index into the segment.
    pub file: u32,
}

/// The segment and the node of a place.
pub fn node_at(views: &[View], place: NodePlace) -> Option<(&Segment, &NodeEntry)> {
    let segment = views.get(place.view as usize)?.segments.get(place.segment as usize)?;
    Some((segment, segment.node(place.node)?))
}

/// The segment and the file of a place.
pub fn file_at(views: &[View], place: FilePlace) -> Option<(&Segment, &FileEntry)> {
    let segment = views.get(place.view as usize)?.segments.get(place.segment as usize)?;
    Some((segment, segment.files.get(place.file as usize)?))
}

/// The file that a node stands in.
pub fn file_of(views: &[View], place: NodePlace) -> Option<FilePlace> {
    let file = node_at(views, place)?.1.file;
    Some(FilePlace { view: place.view, segment: place.segment, file })
}
