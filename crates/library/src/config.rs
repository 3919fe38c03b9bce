//! The `library` section of the configuration.

use std::path::{Path, PathBuf};

use annai_core::config::{Env, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LibrarySettings {
    /// Manuals and vault.
    pub library: Library,
}

/// Manuals and vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Library {
    /// The folder that `manuals` and `vault` stand in.
    pub workspace_root: String,
    /// The folder of the manuals; `manuals` in the workspace where it is not set.
    pub manuals_root: Option<String>,
    /// Folders of manuals that are read instead of `manuals_root` (`--manuals`).
    pub manuals: Vec<String>,
    /// The folder of the vault; `vault` in the workspace where it is not set.
    pub vault_root: Option<String>,
    /// The manual that `manual_find` starts in where none is named; it widens to the others when that is not enough.
    pub default_manual_id: Option<String>,
    /// The folder that indexes are kept in; the user's cache folder where it is not set.
    pub cache_dir: Option<String>,
    /// How many finds of one caller are kept for `manual_hits`.
    #[schemars(range(min = 1, max = 10_000))]
    pub trace_max_keep: usize,
    /// How long they are kept, in seconds.
    #[schemars(range(min = 1, max = 604_800))]
    pub trace_ttl_sec: u64,
    /// The last stage of `manual_find` where the call does not say: 3 stays in the manual, 4 widens to all.
    #[schemars(range(min = 3, max = 4))]
    pub default_max_stage: u8,
    /// The last stage that a call may ask for.
    #[schemars(range(min = 3, max = 4))]
    pub hard_max_stage: u8,
    /// How many lines `vault_scan` gives where the call does not say.
    #[schemars(range(min = 1, max = 10_000))]
    pub vault_scan_default_chunk_lines: u64,
    /// How many lines `vault_scan` gives at most.
    #[schemars(range(min = 1, max = 10_000))]
    pub vault_scan_max_chunk_lines: u64,
    /// Let `manual_find` learn when to widen, from what its callers use.
    pub adaptive_tuning: bool,
    /// The file that it keeps numbers of its finds in; `.system/adaptive_stats.jsonl` in the vault where it is not set.
    pub adaptive_stats_path: Option<String>,
    /// The share of what callers use that finds must have.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub adaptive_min_recall: f64,
    /// Fewer candidates are few, to begin with.
    #[schemars(range(min = 2, max = 6))]
    pub adaptive_candidate_low_base: usize,
    /// So large a share of them in one file is a bias, to begin with.
    #[schemars(range(min = 0.7, max = 0.9))]
    pub adaptive_file_bias_base: f64,
    /// The share of a file's lines that must be covered for `vault_coverage` to be content.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage_min_ratio: f64,
    /// From how much evidence per token on reading the rest of a source is worth it.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub marginal_gain_min: f64,
    /// Let whole Markdown files be read where the call also allows it.
    pub allow_file_scope: bool,
    /// How many sections one call reads at most.
    #[schemars(range(min = 1, max = 1000))]
    pub hard_max_sections: usize,
    /// How many characters one call gives at most.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub hard_max_chars: usize,
    /// Accepted so that existing settings load; the folder of artifacts is always `artifacts`.
    pub artifacts_dir: Option<String>,
}

impl Default for Library {
    fn default() -> Self {
        Self {
            workspace_root: ".".to_owned(),
            manuals_root: None,
            manuals: Vec::new(),
            vault_root: None,
            default_manual_id: None,
            cache_dir: None,
            trace_max_keep: 100,
            trace_ttl_sec: 1800,
            default_max_stage: 4,
            hard_max_stage: 4,
            vault_scan_default_chunk_lines: 80,
            vault_scan_max_chunk_lines: 200,
            adaptive_tuning: true,
            adaptive_stats_path: None,
            adaptive_min_recall: 0.90,
            adaptive_candidate_low_base: 3,
            adaptive_file_bias_base: 0.80,
            coverage_min_ratio: 0.90,
            marginal_gain_min: 0.02,
            allow_file_scope: false,
            hard_max_sections: 20,
            hard_max_chars: 20_000,
            artifacts_dir: None,
        }
    }
}

impl Settings for LibrarySettings {
    const ENV: &'static [Env] = &[
        Env::new("WORKSPACE_ROOT", "library.workspace_root"),
        Env::new("MANUALS_ROOT", "library.manuals_root"),
        Env::new("VAULT_ROOT", "library.vault_root"),
        Env::new("DEFAULT_MANUAL_ID", "library.default_manual_id"),
        Env::new("TRACE_MAX_KEEP", "library.trace_max_keep"),
        Env::new("TRACE_TTL_SEC", "library.trace_ttl_sec"),
        Env::new("DEFAULT_MAX_STAGE", "library.default_max_stage"),
        Env::new("HARD_MAX_STAGE", "library.hard_max_stage"),
        Env::new("VAULT_SCAN_DEFAULT_CHUNK_LINES", "library.vault_scan_default_chunk_lines"),
        Env::new("VAULT_SCAN_MAX_CHUNK_LINES", "library.vault_scan_max_chunk_lines"),
        Env::new("ADAPTIVE_TUNING", "library.adaptive_tuning"),
        Env::new("ADAPTIVE_STATS_PATH", "library.adaptive_stats_path"),
        Env::new("ADAPTIVE_MIN_RECALL", "library.adaptive_min_recall"),
        Env::new("ADAPTIVE_CANDIDATE_LOW_BASE", "library.adaptive_candidate_low_base"),
        Env::new("ADAPTIVE_FILE_BIAS_BASE", "library.adaptive_file_bias_base"),
        Env::new("COVERAGE_MIN_RATIO", "library.coverage_min_ratio"),
        Env::new("MARGINAL_GAIN_MIN", "library.marginal_gain_min"),
        Env::new("ALLOW_FILE_SCOPE", "library.allow_file_scope"),
        Env::new("HARD_MAX_SECTIONS", "library.hard_max_sections"),
        Env::new("HARD_MAX_CHARS", "library.hard_max_chars"),
        Env::new("ARTIFACTS_DIR", "library.artifacts_dir"),
    ];
}

impl Library {
    /// The folders that manuals are looked for in.
    #[must_use]
    pub fn manual_folders(&self) -> Vec<PathBuf> {
        if !self.manuals.is_empty() {
            return self.manuals.iter().map(PathBuf::from).collect();
        }
        vec![self.folder(self.manuals_root.as_deref(), "manuals")]
    }

    /// The folder of the vault.
    #[must_use]
    pub fn vault_folder(&self) -> PathBuf {
        self.folder(self.vault_root.as_deref(), "vault")
    }

    fn folder(&self, own: Option<&str>, name: &str) -> PathBuf {
        own.map_or_else(|| Path::new(&self.workspace_root).join(name), PathBuf::from)
    }
}
