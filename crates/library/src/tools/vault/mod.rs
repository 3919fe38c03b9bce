//! The tools that list, search, read and write the vault.

mod text_replacement;
pub(crate) mod vault_coverage;
pub(crate) mod vault_create;
pub(crate) mod vault_find;
pub(crate) mod vault_ls;
pub(crate) mod vault_read;
pub(crate) mod vault_replace;
pub(crate) mod vault_scan;
pub(crate) mod vault_search;
pub(crate) mod vault_write;
pub(crate) mod writing;
