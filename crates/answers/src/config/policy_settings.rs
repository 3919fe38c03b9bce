//! The section `policy`: the instructions for the model, and the checks on its answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The instructions for the model, and the checks on its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Words of a question that call for a web search: when the model answers without one, the question is asked
    /// again (see `policy.requery_attempts`), which costs a second request. An English word of the list also covers its
    /// Japanese equivalents. Questions to `answer_quick` are never asked again.
    pub search_triggers: Vec<String>,
    /// Instruct the model to search the web when it is unsure.
    pub prefer_search_when_unsure: bool,
    /// The maximum number of citations in an answer, and of links in its list of sources, when the call does not set
    /// `max_results`.
    #[schemars(range(min = 1, max = 10))]
    pub max_citations: usize,
    /// The maximum number of times a question that contains a trigger is asked again after an answer without a search.
    /// Never for `answer_quick`.
    #[schemars(range(min = 0, max = 3))]
    pub requery_attempts: u32,
    /// Require an ISO date (YYYY-MM-DD) for every source, and show the access date when the publication date is unknown.
    pub require_dates_iso: bool,
    /// The source of the instructions.
    pub system: SystemPolicySettings,
}

impl Default for PolicySettings {
    fn default() -> Self {
        let triggers = "today now latest breaking price weather exchange news";
        Self {
            search_triggers: triggers.split_whitespace().map(str::to_owned).collect(),
            prefer_search_when_unsure: true,
            max_citations: 3,
            requery_attempts: 1,
            require_dates_iso: true,
            system: SystemPolicySettings::default(),
        }
    }
}

/// The source of the instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SystemPolicySettings {
    /// Use the built-in instructions (`builtin`) or read a file (`file`).
    pub source: PolicySource,
    /// The file with the instructions, at most 256 KiB. Required when `source` is `file`. A relative path starts at the configuration's folder.
    pub path: Option<String>,
    /// How the file is combined with the built-in instructions: it replaces them, precedes them (`prepend`) or follows them (`append`).
    pub merge: PolicyMerge,
}

/// Where the instructions come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum PolicySource {
    #[default]
    Builtin,
    File,
}

/// How a policy file is combined with the built-in instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum PolicyMerge {
    #[default]
    Replace,
    Prepend,
    Append,
}
