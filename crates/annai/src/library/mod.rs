//! The library toolset as the rest of the program sees it. Its file layer needs Unix; elsewhere the program is built without
//! it, and says so where somebody asks for it.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod present;

#[cfg(not(unix))]
pub use absent::{
    Library, LibrarySection, LibrarySettings, check, error_reference, folder_exists, has_manuals, readable,
    register, section,
};
#[cfg(unix)]
pub use present::{
    Library, LibrarySection, LibrarySettings, check, error_reference, folder_exists, has_manuals, readable,
    register, section,
};

/// Why this program does not have the toolset, if it does not.
pub const ABSENCE: Option<&str> = if cfg!(unix) { None } else { Some(NEEDS_UNIX) };

/// What the program says where it was built without the toolset.
const NEEDS_UNIX: &str = "the library toolset needs Linux or macOS, and this program was built without it; docs/install.md says more";
