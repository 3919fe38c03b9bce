//! The instructions for the model: the built-in text with its revision, and the file that may replace or extend it.

use std::io::Read as _;
use std::path::Path;

use crate::config::{PolicyMerge, PolicySettings, PolicySource};

/// The built-in instructions, sent byte for byte.
pub const SYSTEM_POLICY: &str = include_str!("policy.md");
/// The revision of [`SYSTEM_POLICY`]; it changes with the text.
pub const SYSTEM_POLICY_REV: &str = "2026-11-18 v2";

/// The instructions of `chatgpt_o3_search`.
pub const SEARCH_POLICY: &str = include_str!("search_policy.md");

/// The sentence that is omitted when `policy.prefer_search_when_unsure` is false.
const SEARCH_WHEN_UNSURE: &str = "- When you are unsure whether you know, search.\n";
/// The sentence that is omitted when `policy.require_dates_iso` is false.
const DATED_SOURCES: &str = "- Give every source its date as YYYY-MM-DD in round brackets: the day of publication or of the last update. If the page shows none, write (accessed YYYY-MM-DD) with today's date instead.\n";

/// The maximum size of a policy file, in bytes. The text is sent with every request, so a larger file is a mistake and
/// is refused.
const MAX_POLICY_BYTES: u64 = 256 << 10;

/// The instructions that these settings select. A relative path starts at `folder`. The error names the wrong key.
pub fn instructions(policy: &PolicySettings, folder: &Path) -> Result<String, String> {
    let builtin = builtin_instructions(policy);
    if policy.system.source == PolicySource::Builtin {
        return Ok(builtin);
    }
    let Some(path) = &policy.system.path else {
        return Err("policy.system.path is required when policy.system.source is file".to_owned());
    };
    let own =
        read_policy(&folder.join(path)).map_err(|problem| format!("policy.system.path: {path} {problem}"))?;
    Ok(match policy.system.merge {
        PolicyMerge::Replace => own,
        PolicyMerge::Prepend => format!("{}\n\n{builtin}", own.trim_end()),
        PolicyMerge::Append => format!("{}\n\n{own}", builtin.trim_end()),
    })
}

fn builtin_instructions(policy: &PolicySettings) -> String {
    let mut text = SYSTEM_POLICY.to_owned();
    if !policy.prefer_search_when_unsure {
        text = text.replace(SEARCH_WHEN_UNSURE, "");
    }
    if !policy.require_dates_iso {
        text = text.replace(DATED_SOURCES, "").replace("`- URL (YYYY-MM-DD)`", "`- URL`");
    }
    text
}

fn read_policy(path: &Path) -> Result<String, String> {
    let metadata = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is not a file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut text = String::new();
    let read = file.take(MAX_POLICY_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > MAX_POLICY_BYTES {
        return Err(format!("is larger than {MAX_POLICY_BYTES} bytes"));
    }
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SystemPolicySettings;

    #[test]
    fn the_built_in_policy_is_sent_as_it_is() {
        let policy = PolicySettings::default();
        assert_eq!(instructions(&policy, Path::new("")).unwrap(), SYSTEM_POLICY);
        assert!(!SYSTEM_POLICY_REV.is_empty());
        assert!(SYSTEM_POLICY.contains(SEARCH_WHEN_UNSURE) && SYSTEM_POLICY.contains(DATED_SOURCES));
    }

    #[test]
    fn two_sentences_can_be_left_out() {
        let policy = PolicySettings {
            prefer_search_when_unsure: false,
            require_dates_iso: false,
            ..PolicySettings::default()
        };
        let text = instructions(&policy, Path::new("")).unwrap();
        assert!(!text.contains("unsure") && !text.contains("accessed"), "{text}");
        assert!(text.contains("`- URL`"));
    }

    #[test]
    fn a_file_replaces_or_joins() {
        let folder = std::env::temp_dir().join(format!("annai-policy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("own.md"), "Mine.\n").unwrap();
        std::fs::write(folder.join("empty.md"), " \n").unwrap();
        let with = |path: Option<&str>, merge| {
            let system =
                SystemPolicySettings { source: PolicySource::File, path: path.map(str::to_owned), merge };
            instructions(&PolicySettings { system, ..PolicySettings::default() }, &folder)
        };
        assert_eq!(with(Some("own.md"), PolicyMerge::Replace).unwrap(), "Mine.\n");
        assert_eq!(with(Some("own.md"), PolicyMerge::Prepend).unwrap(), format!("Mine.\n\n{SYSTEM_POLICY}"));
        let appended = with(Some("own.md"), PolicyMerge::Append).unwrap();
        assert_eq!(appended, format!("{}\n\nMine.\n", SYSTEM_POLICY.trim_end()));
        assert!(with(None, PolicyMerge::Replace).unwrap_err().starts_with("policy.system.path is required"));
        assert!(with(Some("none.md"), PolicyMerge::Replace).unwrap_err().contains("none.md cannot be read"));
        assert!(with(Some("empty.md"), PolicyMerge::Replace).unwrap_err().ends_with("is empty"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
