//! The only module that touches the disk. Callers hand it paths; it opens them relative to roots that were opened
//! once, follows no link, and writes so that nobody ever sees half a file.

#![expect(clippy::disallowed_methods, reason = "this is the module that may")]

mod cache;
mod lock;
mod path;
mod problem;
mod read;
mod root;
mod stats;
mod walk;
mod write;

pub use cache::CacheFolder;
pub use lock::{Lock, SYSTEM};
pub use path::{RelPath, fold_name, nfc};
pub use problem::io_problem;
pub use read::{Sha256, TextFile, ends_with_break, hash, read_text, steadily, stream};
pub use root::{Entry, Folder, Kind, Place, Root, Stamp, folder_name, make_root, real_path, stamp_of};
pub use stats::StatsFile;
pub use walk::{files, stamped_files};
pub use write::{append, create, is_temporary, make_folders, overwrite};
