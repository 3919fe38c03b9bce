//! The quota of the vault: how many files and bytes it may hold, and how large a file may become. What is there is measured
//! once and then kept up to date with every write of every process, because a walk for each write would make writing slow.

use std::time::Duration;

use annai_core::ToolError;

use crate::error::LibraryError;
use crate::fs::{self, Membership, Root, SYSTEM_DIR, Usage, WriteLock, fold_name};

/// How long a measurement is used. People and other programs change the vault, too, which is noticed after ten minutes.
const MAX_AGE: Duration = Duration::from_secs(600);
/// A write is refused only on a measurement that is younger than this: somebody may just have removed files.
const MAX_AGE_TO_REFUSE: Duration = Duration::from_secs(5);

/// The limits of a vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VaultLimits {
    /// The maximum size of all files together, in bytes.
    pub max_bytes: u64,
    /// The maximum number of files.
    pub max_files: u64,
    /// The maximum size of one file, in bytes.
    pub max_file_bytes: u64,
}

/// A write that is about to happen, or has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeChange {
    /// The size of the file before; `None` when it is new.
    pub before: Option<u64>,
    /// Its size afterwards.
    pub after: u64,
}

/// The quota of one vault.
#[derive(Debug)]
pub struct VaultQuota {
    limits: VaultLimits,
}

impl VaultQuota {
    pub const fn new(limits: VaultLimits) -> Self {
        Self { limits }
    }

    /// Refuses a write that would exceed a limit, and returns what the vault will hold after it; `None` when that is not
    /// known. A write that does not let the file or the vault grow is always allowed, so that a vault which is larger already
    /// can be used and reduced. The lock is held until the write is done, so that the writes of all processes are counted.
    pub fn check(
        &self,
        root: &Root,
        lock: &WriteLock,
        path: &str,
        change: SizeChange,
    ) -> Result<Option<Usage>, ToolError> {
        let before = change.before.unwrap_or_default();
        let known = |max_age| lock.usage().filter(|usage| usage.age().is_some_and(|age| age <= max_age));
        if change.before.is_some() && change.after <= before {
            return Ok(known(MAX_AGE).map(|usage| change.apply(usage)));
        }
        let max = self.limits.max_file_bytes;
        if change.after > max {
            let problem = format!(
                "was not written: it has {before} bytes and would have {}; a file may have at most {max} (library.vault_max_file_bytes). Write less, or raise that setting",
                change.after
            );
            return Err(LibraryError::conflict(path, problem).into());
        }
        let usage = |max_age| known(max_age).map_or_else(|| measure(root, lock), Ok);
        let mut current = usage(MAX_AGE)?;
        if self.exceeded(&current, change).is_some() {
            current = usage(MAX_AGE_TO_REFUSE)?;
        }
        match self.exceeded(&current, change) {
            Some(problem) => Err(LibraryError::conflict(path, problem).into()),
            None => Ok(Some(change.apply(current))),
        }
    }

    /// Which limit a write would exceed, as the rest of a sentence that starts with the path.
    fn exceeded(&self, usage: &Usage, change: SizeChange) -> Option<String> {
        let VaultLimits { max_bytes, max_files, .. } = self.limits;
        let Usage { bytes, files, .. } = usage;
        let added = change.after.saturating_sub(change.before.unwrap_or_default());
        if added > 0 && bytes.saturating_add(added) > max_bytes {
            return Some(format!(
                "was not written: the vault has {bytes} bytes and would have {added} more; it may have at most {max_bytes} (library.vault_max_bytes). Remove files, or raise that setting"
            ));
        }
        (change.before.is_none() && *files >= max_files).then(|| {
            format!(
                "was not created: the vault has {files} files and may have at most {max_files} (library.vault_max_files). Remove files, or raise that setting"
            )
        })
    }
}

impl SizeChange {
    /// What a vault holds after it.
    fn apply(self, mut usage: Usage) -> Usage {
        let without = usage.bytes.saturating_sub(self.before.unwrap_or_default());
        usage.bytes = without.saturating_add(self.after);
        usage.files = usage.files.saturating_add(u64::from(self.before.is_none()));
        usage
    }
}

/// Measures what a vault holds, and records it.
fn measure(root: &Root, lock: &WriteLock) -> Result<Usage, ToolError> {
    // What the server keeps for itself does not count.
    let is_counted = |path: &str| path.split('/').next().is_some_and(|first| fold_name(first) != SYSTEM_DIR);
    let listing = fs::stamped_files(&root.top()?, &|path, _| match is_counted(path) {
        true => Membership::Searched,
        false => Membership::Ignored,
    })?;
    let bytes = listing.files.iter().map(|(_, stamp)| stamp.size).fold(0, u64::saturating_add);
    let usage = Usage::measured_now(bytes, listing.files.len() as u64);
    lock.record_usage(Some(usage));
    Ok(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: VaultLimits = VaultLimits { max_bytes: 100, max_files: 3, max_file_bytes: 60 };

    fn exceeded(bytes: u64, files: u64, before: Option<u64>, after: u64) -> Option<String> {
        let quota = VaultQuota::new(LIMITS);
        quota.exceeded(&Usage::measured_now(bytes, files), SizeChange { before, after })
    }

    #[test]
    fn an_error_names_the_limit_the_use_and_the_setting() {
        assert_eq!(exceeded(90, 1, None, 10), None);
        let problem = exceeded(90, 1, None, 11).unwrap();
        for part in ["90 bytes", "11 more", "at most 100", "library.vault_max_bytes"] {
            assert!(problem.contains(part), "{problem}");
        }
        let problem = exceeded(0, 3, None, 0).unwrap();
        for part in ["3 files", "at most 3", "library.vault_max_files"] {
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn writes_that_do_not_grow_the_vault_are_allowed_when_it_is_larger_already() {
        for (before, after, allowed) in [(Some(50), 50, true), (Some(50), 10, true), (Some(50), 51, false)] {
            assert_eq!(exceeded(500, 30, before, after).is_none(), allowed, "{before:?} {after}");
        }
    }

    #[test]
    fn a_write_changes_what_the_vault_holds() {
        let usage = Usage::measured_now(50, 1);
        let usage = SizeChange { before: None, after: 20 }.apply(usage);
        let usage = SizeChange { before: Some(50), after: 10 }.apply(usage);
        assert_eq!((usage.bytes, usage.files), (30, 2));
    }
}
