//! The `library` section of the configuration.

use std::path::{Path, PathBuf};

use annai_core::config::{EnvironmentVariable, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use annai_files::manuals::ManualFolder;
use annai_files::vault::{Vault, VaultLimits};
use annai_search::rules::Rules;

/// The keys that this crate owns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LibrarySettings {
    /// Manuals and the vault.
    pub library: LibrarySection,
}

/// Manuals and vault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LibrarySection {
    /// The folder that contains `manuals` and `vault`. Relative paths of this section start at the current folder of
    /// the process, and `~` is the home folder. Default: the current folder.
    pub workspace_root: Option<String>,
    /// The folder that contains the manuals: each folder directly below it is one. Default: `manuals` in the workspace.
    pub manuals_root: Option<String>,
    /// Folders that contain manuals, read instead of `manuals_root`. A folder that has searchable files of its own, other
    /// than README and LICENSE, is a single manual. Set by `--manuals`.
    pub manuals: Vec<String>,
    /// Single manuals as `ID=DIR`, read in addition to `manuals` and instead of `manuals_root`. Set by `--manual-dir`.
    pub manual_dirs: Vec<String>,
    /// The folder of the vault. Set by `--vault`. Default: `vault` in the workspace, which is created by the first
    /// write if `workspace_root` is set, and used only if it exists otherwise.
    pub vault_root: Option<String>,
    /// The manual that `manual_find` searches first when a call names none. It searches the others too when the
    /// matches are not sufficient.
    pub default_manual_id: Option<String>,
    /// The folder where search indexes are cached. Default: the user's cache folder.
    pub cache_dir: Option<String>,
    /// The maximum number of searches of one caller whose results are kept for `manual_hits`; the oldest are dropped
    /// first. All callers together may use 64 MiB.
    #[schemars(range(min = 1, max = 10_000))]
    pub trace_max_keep: usize,
    /// How long the results of a search are kept for `manual_hits`, in seconds.
    #[schemars(range(min = 1, max = 604_800))]
    pub trace_ttl_sec: u64,
    /// The last search stage of `manual_find` when a call does not set `max_stage`: 3 stays in the chosen manual, 4
    /// also searches the others.
    #[schemars(range(min = 3, max = 4))]
    pub default_max_stage: u8,
    /// The highest `max_stage` that a call may request.
    #[schemars(range(min = 3, max = 4))]
    pub hard_max_stage: u8,
    /// The number of lines that `vault_scan` returns when a call does not set `chunk_lines`.
    #[schemars(range(min = 1, max = 10_000))]
    pub vault_scan_default_chunk_lines: u64,
    /// The maximum number of lines that `vault_scan` returns.
    #[schemars(range(min = 1, max = 10_000))]
    pub vault_scan_max_chunk_lines: u64,
    /// Tune the thresholds of `manual_find` that decide when it searches other manuals, from what callers read
    /// afterwards. The statistics are kept in any case.
    pub adaptive_tuning: bool,
    /// The file for the statistics of past searches (counts and hashes, never words). Its folder is created. Default:
    /// `.system/adaptive_stats.jsonl` in the vault.
    pub adaptive_stats_path: Option<String>,
    /// The tuning may save work only while searches still contain this share of the sections that callers read.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub adaptive_min_recall: f64,
    /// The initial threshold for few matches: with fewer matching sections than this, `manual_find` also searches the
    /// other manuals.
    #[schemars(range(min = 2, max = 6))]
    pub adaptive_candidate_low_base: usize,
    /// The initial threshold for file bias: when a single file holds at least this share of the matches,
    /// `manual_find` also searches the other manuals.
    #[schemars(range(min = 0.7, max = 0.9))]
    pub adaptive_file_bias_base: f64,
    /// The share of a file's lines that must be covered before `vault_coverage` reports `meets_min_coverage`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage_min_ratio: f64,
    /// The `marginal_gain` (cited ranges per estimated token) from which `artifact_audit` still recommends reading
    /// the rest of a source.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub marginal_gain_min: f64,
    /// Allow whole Markdown files to be read in one call, when the call sets `limits.allow_file` too.
    pub allow_file_scope: bool,
    /// The maximum number of sections that one call of `manual_read` returns, whatever it asks for.
    #[schemars(range(min = 1, max = 1000))]
    pub hard_max_sections: usize,
    /// The maximum number of characters that one call of `manual_read`, `vault_read`, `vault_scan` or a bridge tool
    /// returns or copies, whatever it asks for.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub hard_max_chars: usize,
    /// The maximum size of all files of the vault together, in bytes. A write that would exceed it fails.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub vault_max_bytes: u64,
    /// The maximum number of files in the vault. A new file beyond it is refused.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub vault_max_files: u64,
    /// The maximum size of one file of the vault in bytes. A write that would exceed it fails.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64))]
    pub vault_max_file_bytes: u64,
    /// Names that the tools of the vault may use although they are refused otherwise: names that begin with a dot, names that
    /// agents read as instructions, such as `AGENTS.md`, and files with an execute bit. Each is the name of one file or
    /// folder, without its path.
    pub vault_allow_names: Vec<String>,
    /// Accepted for compatibility and ignored: the folder of artifacts is always `artifacts`.
    pub artifacts_dir: Option<String>,
    /// Keep no statistics of searches, for commands whose searches are not real ones. Not a setting.
    #[serde(skip)]
    #[schemars(skip)]
    pub keeps_no_statistics: bool,
    /// The rules of finds, of which `annai eval --without` leaves some out. Not a setting.
    #[serde(skip)]
    #[schemars(skip)]
    pub rules: Rules,
}

impl Default for LibrarySection {
    fn default() -> Self {
        Self {
            workspace_root: None,
            manuals_root: None,
            manuals: Vec::new(),
            manual_dirs: Vec::new(),
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
            vault_max_bytes: 1 << 30,
            vault_max_files: 100_000,
            vault_max_file_bytes: 64 << 20,
            vault_allow_names: Vec::new(),
            artifacts_dir: None,
            keeps_no_statistics: false,
            rules: Rules::default(),
        }
    }
}

impl Settings for LibrarySettings {
    const ENV: &'static [EnvironmentVariable] = &[
        EnvironmentVariable::new("WORKSPACE_ROOT", "library.workspace_root"),
        EnvironmentVariable::new("MANUALS_ROOT", "library.manuals_root"),
        EnvironmentVariable::new("VAULT_ROOT", "library.vault_root"),
        EnvironmentVariable::new("DEFAULT_MANUAL_ID", "library.default_manual_id"),
        EnvironmentVariable::new("TRACE_MAX_KEEP", "library.trace_max_keep"),
        EnvironmentVariable::new("TRACE_TTL_SEC", "library.trace_ttl_sec"),
        EnvironmentVariable::new("DEFAULT_MAX_STAGE", "library.default_max_stage"),
        EnvironmentVariable::new("HARD_MAX_STAGE", "library.hard_max_stage"),
        EnvironmentVariable::new("VAULT_SCAN_DEFAULT_CHUNK_LINES", "library.vault_scan_default_chunk_lines"),
        EnvironmentVariable::new("VAULT_SCAN_MAX_CHUNK_LINES", "library.vault_scan_max_chunk_lines"),
        EnvironmentVariable::new("ADAPTIVE_TUNING", "library.adaptive_tuning"),
        EnvironmentVariable::new("ADAPTIVE_STATS_PATH", "library.adaptive_stats_path"),
        EnvironmentVariable::new("ADAPTIVE_MIN_RECALL", "library.adaptive_min_recall"),
        EnvironmentVariable::new("ADAPTIVE_CANDIDATE_LOW_BASE", "library.adaptive_candidate_low_base"),
        EnvironmentVariable::new("ADAPTIVE_FILE_BIAS_BASE", "library.adaptive_file_bias_base"),
        EnvironmentVariable::new("COVERAGE_MIN_RATIO", "library.coverage_min_ratio"),
        EnvironmentVariable::new("MARGINAL_GAIN_MIN", "library.marginal_gain_min"),
        EnvironmentVariable::new("ALLOW_FILE_SCOPE", "library.allow_file_scope"),
        EnvironmentVariable::new("HARD_MAX_SECTIONS", "library.hard_max_sections"),
        EnvironmentVariable::new("HARD_MAX_CHARS", "library.hard_max_chars"),
        EnvironmentVariable::new("VAULT_MAX_BYTES", "library.vault_max_bytes"),
        EnvironmentVariable::new("VAULT_MAX_FILES", "library.vault_max_files"),
        EnvironmentVariable::new("VAULT_MAX_FILE_BYTES", "library.vault_max_file_bytes"),
        EnvironmentVariable::new("VAULT_ALLOW_NAMES", "library.vault_allow_names"),
        EnvironmentVariable::new("ARTIFACTS_DIR", "library.artifacts_dir"),
    ];
}

impl LibrarySection {
    /// Replaces `~` at the beginning of every path by the home folder. Shells do it, the settings of clients do not.
    pub fn expand_home(&mut self, home: Option<&str>) {
        let Some(home) = home.filter(|home| !home.is_empty()) else { return };
        let paths = [
            &mut self.workspace_root,
            &mut self.manuals_root,
            &mut self.vault_root,
            &mut self.cache_dir,
            &mut self.adaptive_stats_path,
        ];
        let paths = paths.into_iter().filter_map(Option::as_mut);
        let expanded = |path: &str| {
            let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
            rest.map(|rest| format!("{home}{rest}"))
        };
        for path in paths.chain(&mut self.manuals) {
            *path = expanded(path).unwrap_or_else(|| path.clone());
        }
        for named in &mut self.manual_dirs {
            if let Some((id, path)) = named.split_once('=')
                && let Some(path) = expanded(path)
            {
                *named = format!("{id}={path}");
            }
        }
    }

    /// What is wrong with `manual_dirs`: an entry that is not `ID=DIR`, or an id that two of them have.
    #[must_use]
    pub fn manual_dirs_problem(&self) -> Option<String> {
        let mut ids = Vec::new();
        for named in &self.manual_dirs {
            match ManualFolder::parse_named(named) {
                Ok(ManualFolder::Named { id, .. }) if ids.contains(&id) => {
                    return Some(format!("expected an id for each manual, got \"{id}\" twice"));
                }
                Ok(ManualFolder::Named { id, .. }) => ids.push(id),
                Ok(_) => {}
                Err(problem) => return Some(problem),
            }
        }
        None
    }

    /// The folders that manuals are looked for in.
    #[must_use]
    pub(crate) fn manual_folders(&self) -> Vec<ManualFolder> {
        if self.manuals.is_empty() && self.manual_dirs.is_empty() {
            return vec![ManualFolder::Root(self.folder(self.manuals_root.as_deref(), "manuals"))];
        }
        let folders = self.manuals.iter().map(|folder| ManualFolder::Folder(PathBuf::from(folder)));
        let named = self.manual_dirs.iter().filter_map(|named| ManualFolder::parse_named(named).ok());
        named.chain(folders).collect()
    }

    /// The folder of the vault.
    #[must_use]
    pub fn vault_folder(&self) -> PathBuf {
        self.folder(self.vault_root.as_deref(), "vault")
    }

    /// Whether somebody chose the folder of the vault. A client may start the program in any folder, where nothing may
    /// be created without having been asked for.
    #[must_use]
    pub const fn has_chosen_vault(&self) -> bool {
        self.vault_root.is_some() || self.workspace_root.is_some()
    }

    pub(crate) fn vault(&self) -> Vault {
        let limits = VaultLimits {
            max_bytes: self.vault_max_bytes,
            max_files: self.vault_max_files,
            max_file_bytes: self.vault_max_file_bytes,
        };
        Vault::new(self.vault_folder(), self.has_chosen_vault(), limits, &self.vault_allow_names)
    }

    fn folder(&self, own: Option<&str>, name: &str) -> PathBuf {
        let workspace = || Path::new(self.workspace_root.as_deref().unwrap_or("."));
        own.map_or_else(|| workspace().join(name), PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_folder() {
        let mut section = LibrarySection {
            workspace_root: Some("~".into()),
            manuals_root: Some("~/manuals".into()),
            manuals: vec!["~/a".into(), "b".into()],
            manual_dirs: vec!["c=~/c".into(), "~=~d".into()],
            vault_root: Some("~other/vault".into()),
            adaptive_stats_path: Some("~/stats/a.jsonl".into()),
            ..LibrarySection::default()
        };
        let before = section.clone();
        section.expand_home(None);
        assert_eq!(section, before);
        section.expand_home(Some("/home/me"));
        let expected = LibrarySection {
            workspace_root: Some("/home/me".into()),
            manuals_root: Some("/home/me/manuals".into()),
            manuals: vec!["/home/me/a".into(), "b".into()],
            manual_dirs: vec!["c=/home/me/c".into(), "~=~d".into()],
            vault_root: Some("~other/vault".into()),
            adaptive_stats_path: Some("/home/me/stats/a.jsonl".into()),
            ..LibrarySection::default()
        };
        assert_eq!(section, expected);
    }

    #[test]
    fn a_named_manual_has_an_id_of_its_own_and_a_folder() {
        let problem = |named: &[&str]| {
            let manual_dirs = named.iter().map(|named| (*named).to_owned()).collect();
            LibrarySection { manual_dirs, ..LibrarySection::default() }.manual_dirs_problem()
        };
        assert_eq!(problem(&["a=x", "b=x", "c=a=b"]), None);
        for (named, expected) in [
            (&["a=x", "a=y"][..], "expected an id for each manual, got \"a\" twice"),
            (&["a"], "expected ID=DIR, such as handbook=/srv/handbook, got \"a\""),
            (&["a="], "expected a folder after the = of ID=DIR, got \"a=\""),
            (
                &["a/b=x"],
                "expected an id without separators and control characters before the = of ID=DIR, got \"a/b\"",
            ),
        ] {
            assert_eq!(problem(named).as_deref(), Some(expected));
        }
    }
}
