//! The tools, one file each.

mod bridge_copy_file;
mod bridge_copy_section;
mod manual_excepts;
mod manual_find;
mod manual_hits;
mod manual_list;
mod manual_ls;
mod manual_read;
mod manual_toc;
mod vault_create;
mod vault_find;
mod vault_ls;
mod vault_read;
mod vault_replace;
mod vault_scan;
mod vault_search;
mod vault_write;

pub use bridge_copy_file::BridgeCopyFile;
pub use bridge_copy_section::BridgeCopySection;
pub use manual_excepts::ManualExcepts;
pub use manual_find::ManualFind;
pub use manual_hits::ManualHits;
pub use manual_list::ManualList;
pub use manual_ls::ManualLs;
pub use manual_read::ManualRead;
pub use manual_toc::ManualToc;
pub use vault_create::VaultCreate;
pub use vault_find::VaultFind;
pub use vault_ls::VaultLs;
pub use vault_read::VaultRead;
pub use vault_replace::VaultReplace;
pub use vault_scan::VaultScan;
pub use vault_search::VaultSearch;
pub use vault_write::VaultWrite;
