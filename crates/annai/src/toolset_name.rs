//! The names of the toolsets on the command line.

use annai_answers::{Answers, Search};
use annai_core::Toolset as _;
use annai_services::ServicesToolset;
use clap::ValueEnum;

use crate::library::Library;

/// The values of `--toolset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolsetName {
    /// Answer questions from the web, with sources
    Answers,
    /// Search the web
    Search,
    /// Search, read and write local documents: manuals and a vault
    Library,
    /// Run paid services that sponsors make free for people who do a small task
    Services,
}

impl ToolsetName {
    /// The name of the toolset in the registry.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answers => Answers::NAME,
            Self::Search => Search::NAME,
            Self::Library => Library::NAME,
            Self::Services => ServicesToolset::NAME,
        }
    }
}
