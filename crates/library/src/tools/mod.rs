//! The tools, one file each, and what several of them use.

mod artifact_audit;
mod bridge;
mod find_limits;
mod found_section;
mod get_tooling_guide;
mod library_tool;
mod manual;
mod vault;

use annai_core::RegistryBuilder;

use crate::config;
use crate::toolset::Library;

/// Adds the toolset and its tools, in the order in which `tools/list` shows them.
pub fn register(registry: &mut RegistryBuilder, config: config::LibrarySection) {
    registry
        .toolset::<Library>(config)
        .tool::<get_tooling_guide::GetToolingGuide>()
        .tool::<manual::manual_list::ManualList>()
        .tool::<manual::manual_ls::ManualLs>()
        .tool::<manual::manual_toc::ManualToc>()
        .tool::<manual::manual_find::ManualFind>()
        .tool::<manual::manual_hits::ManualHits>()
        .tool::<manual::manual_read::ManualRead>()
        .tool::<manual::manual_excepts::ManualExcepts>()
        .tool::<vault::vault_find::VaultFind>()
        .tool::<vault::vault_ls::VaultLs>()
        .tool::<vault::vault_read::VaultRead>()
        .tool::<vault::vault_scan::VaultScan>()
        .tool::<vault::vault_search::VaultSearch>()
        .tool::<vault::vault_create::VaultCreate>()
        .tool::<vault::vault_write::VaultWrite>()
        .tool::<vault::vault_replace::VaultReplace>()
        .tool::<vault::vault_coverage::VaultCoverage>()
        .tool::<artifact_audit::ArtifactAudit>()
        .tool::<bridge::bridge_copy_section::BridgeCopySection>()
        .tool::<bridge::bridge_copy_file::BridgeCopyFile>();
}
