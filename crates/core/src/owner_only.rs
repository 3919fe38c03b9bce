//! Files and folders for their owner alone. Windows has no modes: what is created there inherits the access control list of
//! its folder, and the folders of a user's profile admit only that user, the administrators and the system.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;

/// Creates files and folders that only their owner can open.
pub trait OwnerOnly {
    /// What is created from now on is for its owner alone.
    fn owner_only(&mut self) -> &mut Self;
}

#[cfg(unix)]
impl OwnerOnly for OpenOptions {
    fn owner_only(&mut self) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(self, 0o600)
    }
}

#[cfg(unix)]
impl OwnerOnly for DirBuilder {
    fn owner_only(&mut self) -> &mut Self {
        std::os::unix::fs::DirBuilderExt::mode(self, 0o700)
    }
}

#[cfg(not(unix))]
impl OwnerOnly for OpenOptions {
    fn owner_only(&mut self) -> &mut Self {
        self
    }
}

#[cfg(not(unix))]
impl OwnerOnly for DirBuilder {
    fn owner_only(&mut self) -> &mut Self {
        self
    }
}

/// Whether the mode of a file lets other users open it; `false` on Windows, where this program does not read access
/// control lists.
#[must_use]
pub fn others_can_open(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(metadata) & 0o077 != 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Narrows the mode of a regular file that other users could open, so that only its owner can.
///
/// # Errors
///
/// Another user owns it.
pub fn narrow(file: &File) -> io::Result<()> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || !others_can_open(&metadata) {
        return Ok(());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(|error| {
            let problem = format!("others can open it, and its mode cannot be narrowed to 0600: {error}");
            io::Error::new(error.kind(), problem)
        })?;
    }
    Ok(())
}
