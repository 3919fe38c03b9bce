//! The tools that copy text of manuals into the vault.

pub(crate) mod bridge_copy_file;
pub(crate) mod bridge_copy_section;
mod copy_to_vault;
