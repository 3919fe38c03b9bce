//! The manuals and their folders, for the command line.

use std::path::PathBuf;

use annai_core::ToolError;

use crate::config::LibrarySection;
use annai_files::manuals::Manuals;

/// The id and the folder of each manual. A manual that cannot be opened is left out.
pub fn manual_paths(settings: &LibrarySection) -> Result<Vec<(String, PathBuf)>, ToolError> {
    let manuals = Manuals::new(settings.manual_folders());
    let opened =
        manuals.ids()?.into_iter().filter_map(|id| Some((manuals.get(&id).ok()?.folder().to_owned(), id)));
    Ok(opened.map(|(folder, id)| (id, folder)).collect())
}
