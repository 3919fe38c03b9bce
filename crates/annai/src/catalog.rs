//! The one list of tools. Everything else (`tools/list`, dispatch, access checks, docs) is derived from it.

use std::sync::Arc;
use std::time::Duration;

use annai_answers::tools::{Answer, AnswerDetailed, AnswerQuick, O3Search};
use annai_answers::{Answers, AnswersConfig, AnswersSettings, Search};
use annai_core::Registry;
use annai_core::config::Keys;
use annai_core::tool::RegistryError;
use annai_library::tools::{
    ArtifactAudit, BridgeCopyFile, BridgeCopySection, GetToolingGuide, ManualExcepts, ManualFind, ManualHits,
    ManualList, ManualLs, ManualRead, ManualToc, VaultCoverage, VaultCreate, VaultFind, VaultLs, VaultRead,
    VaultReplace, VaultScan, VaultSearch, VaultWrite,
};
use annai_library::{Library, LibrarySettings};
use annai_server::{Server, ServerName, ServerSettings};
use clap::ValueEnum;

/// The families of tools that `--toolset` can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Answers from the web, with sources
    Answers,
    /// Web search results
    Search,
    /// Local manuals and a vault
    Library,
    /// Sponsored services
    Services,
}

/// The keys of the configuration, of every crate.
pub fn keys() -> Keys {
    Keys::default().with::<ServerSettings>().with::<AnswersSettings>().with::<LibrarySettings>()
}

/// The tools of the chosen families (none = all), with their settings; nothing of them is opened yet.
pub fn registry(
    chosen: &[Family],
    server: &Server,
    answers: &AnswersConfig,
    library: &annai_library::config::Library,
) -> Result<Arc<Registry>, RegistryError> {
    let serves = |family| chosen.is_empty() || chosen.contains(&family);
    let mut tools = Registry::builder(Duration::from_millis(server.call_timeout_ms));
    if serves(Family::Answers) {
        let family = tools.toolset::<Answers>(answers.clone());
        family.tool::<Answer>().tool::<AnswerDetailed>().tool::<AnswerQuick>();
    }
    if serves(Family::Search) {
        tools.toolset::<Search>(answers.clone()).tool::<O3Search>();
    }
    if serves(Family::Library) {
        let family = tools.toolset::<Library>(library.clone()).tool::<GetToolingGuide>();
        let family = family.tool::<ManualList>().tool::<ManualLs>().tool::<ManualToc>();
        let family = family.tool::<ManualFind>().tool::<ManualHits>().tool::<ManualRead>();
        let family = family.tool::<ManualExcepts>().tool::<VaultFind>();
        let family = family.tool::<VaultLs>().tool::<VaultRead>().tool::<VaultScan>().tool::<VaultSearch>();
        let family = family.tool::<VaultCreate>().tool::<VaultWrite>().tool::<VaultReplace>();
        let family = family.tool::<VaultCoverage>().tool::<ArtifactAudit>();
        family.tool::<BridgeCopySection>().tool::<BridgeCopyFile>();
    }
    tools.build()
}

/// What the server calls itself: a server of one family goes by the name that its users know.
pub fn server_name(chosen: &[Family]) -> ServerName {
    let name = match chosen {
        [Family::Answers] => "openai-responses-mcp",
        [Family::Search] => "mcp-o3-search",
        [Family::Library] => "annai-library",
        [Family::Services] => "subsidypayment",
        _ => "annai",
    };
    ServerName { name, version: env!("CARGO_PKG_VERSION") }
}
