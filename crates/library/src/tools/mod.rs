//! The tools, one file each.

mod artifact_audit;
mod bridge_copy_file;
mod bridge_copy_section;
mod found_section;
mod get_tooling_guide;
mod manual_excepts;
mod manual_find;
mod manual_hits;
mod manual_list;
mod manual_ls;
mod manual_read;
mod manual_toc;
mod vault_coverage;
mod vault_create;
mod vault_find;
mod vault_ls;
mod vault_read;
mod vault_replace;
mod vault_scan;
mod vault_search;
mod vault_write;

use annai_core::RegistryBuilder;

use crate::config;
use crate::toolset::Library;

/// Adds the toolset and its tools, in the order in which `tools/list` shows them.
pub fn register(registry: &mut RegistryBuilder, config: config::LibrarySection) {
    registry
        .toolset::<Library>(config)
        .tool::<get_tooling_guide::GetToolingGuide>()
        .tool::<manual_list::ManualList>()
        .tool::<manual_ls::ManualLs>()
        .tool::<manual_toc::ManualToc>()
        .tool::<manual_find::ManualFind>()
        .tool::<manual_hits::ManualHits>()
        .tool::<manual_read::ManualRead>()
        .tool::<manual_excepts::ManualExcepts>()
        .tool::<vault_find::VaultFind>()
        .tool::<vault_ls::VaultLs>()
        .tool::<vault_read::VaultRead>()
        .tool::<vault_scan::VaultScan>()
        .tool::<vault_search::VaultSearch>()
        .tool::<vault_create::VaultCreate>()
        .tool::<vault_write::VaultWrite>()
        .tool::<vault_replace::VaultReplace>()
        .tool::<vault_coverage::VaultCoverage>()
        .tool::<artifact_audit::ArtifactAudit>()
        .tool::<bridge_copy_section::BridgeCopySection>()
        .tool::<bridge_copy_file::BridgeCopyFile>();
}
