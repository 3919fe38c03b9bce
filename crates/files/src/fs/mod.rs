//! File access: the only module that touches the disk. Paths are opened relative to roots that were opened once, links
//! are never followed, and writes are atomic.

#![expect(clippy::disallowed_methods, reason = "all other modules go through this one")]

mod cache;
mod folder;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod io_error;
mod lock;
mod path;
mod read;
mod root;
mod sha256;
mod stamp;
mod stats;
mod stream_decoder;
mod system_files;
mod temporary;
mod usage;
mod walk;
mod write;

pub use cache::{CacheFolder, remove_orphaned_caches};
pub use folder::{DirEntry, EntryKind, Folder, FolderContent};
pub use io_error::{IS_FOLDER, io_error};
pub use lock::{SYSTEM_DIR, WriteLock};
pub use path::{MAX_PATH_BYTES, RelPath, fold_name, nfc};
pub use read::{
    ReadError, TextFile, ends_with_break, hash_file, read_text, retry_if_changed, stream_text, try_read_text,
};
pub use root::{ResolvedPath, Root, create_root, folder_name, real_path};
pub use sha256::Sha256;
pub use stamp::{FileStamp, stamp_of};
pub use stats::StatsFile;
pub use temporary::is_temporary;
pub use usage::Usage;
pub use walk::{Listing, Membership, Unsearchable, UnsearchableReason, files, stamped_files};
pub use write::{ExecuteBit, append, create, create_folders, overwrite};
