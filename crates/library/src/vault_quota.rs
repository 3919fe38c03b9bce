//! The quota of the vault: how many files and bytes it may hold, and how large a file may become. What is there is measured
//! once and then kept up to date with every write, because a walk for each write would make writing slow.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use annai_core::ToolError;

use crate::error::LibraryError;
use crate::fs::{self, Membership, Root, SYSTEM_DIR, fold_name};

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

/// What a vault holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Usage {
    bytes: u64,
    files: u64,
    measured: Instant,
}

/// The quota of one vault.
#[derive(Debug)]
pub struct VaultQuota {
    limits: VaultLimits,
    usage: Mutex<Option<Usage>>,
}

impl VaultQuota {
    pub const fn new(limits: VaultLimits) -> Self {
        Self { limits, usage: Mutex::new(None) }
    }

    /// Refuses a write that would exceed a limit. A write that does not let the file or the vault grow is always allowed, so
    /// that a vault which is larger already can be used and reduced.
    pub fn check(&self, root: &Root, path: &str, change: SizeChange) -> Result<(), ToolError> {
        let before = change.before.unwrap_or_default();
        if change.before.is_some() && change.after <= before {
            return Ok(());
        }
        let max = self.limits.max_file_bytes;
        if change.after > max {
            let problem = format!(
                "was not written: it has {before} bytes and would have {}; a file may have at most {max} (library.vault_max_file_bytes). Write less, or raise that setting",
                change.after
            );
            return Err(LibraryError::conflict(path, problem).into());
        }
        let exceeded = |usage: &Usage| self.exceeded(usage, change);
        let mut usage = self.usage(root, MAX_AGE)?;
        if exceeded(&usage).is_some() {
            usage = self.usage(root, MAX_AGE_TO_REFUSE)?;
        }
        match exceeded(&usage) {
            Some(problem) => Err(LibraryError::conflict(path, problem).into()),
            None => Ok(()),
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

    /// Records a write.
    pub fn record(&self, change: SizeChange) {
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = usage.as_mut() {
            usage.bytes = usage.bytes.saturating_sub(change.before.unwrap_or_default());
            usage.bytes = usage.bytes.saturating_add(change.after);
            usage.files = usage.files.saturating_add(u64::from(change.before.is_none()));
        }
    }

    /// What the vault holds, measured again when the last measurement is older than `max_age`.
    fn usage(&self, root: &Root, max_age: Duration) -> Result<Usage, ToolError> {
        let known = *self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = known.filter(|usage| usage.measured.elapsed() <= max_age) {
            return Ok(usage);
        }
        let measured = Instant::now();
        // What the server keeps for itself does not count.
        let is_counted =
            |path: &str| path.split('/').next().is_some_and(|first| fold_name(first) != SYSTEM_DIR);
        let listing = fs::stamped_files(&root.top()?, &|path, _| match is_counted(path) {
            true => Membership::Searched,
            false => Membership::Ignored,
        })?;
        let bytes = listing.files.iter().map(|(_, stamp)| stamp.size).fold(0, u64::saturating_add);
        let usage = Usage { bytes, files: listing.files.len() as u64, measured };
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) = Some(usage);
        Ok(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: VaultLimits = VaultLimits { max_bytes: 100, max_files: 3, max_file_bytes: 60 };

    fn exceeded(bytes: u64, files: u64, before: Option<u64>, after: u64) -> Option<String> {
        let quota = VaultQuota::new(LIMITS);
        quota.exceeded(&Usage { bytes, files, measured: Instant::now() }, SizeChange { before, after })
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
    fn writes_keep_the_measurement_up_to_date() {
        let quota = VaultQuota::new(LIMITS);
        *quota.usage.lock().unwrap() = Some(Usage { bytes: 50, files: 1, measured: Instant::now() });
        quota.record(SizeChange { before: None, after: 20 });
        quota.record(SizeChange { before: Some(50), after: 10 });
        let usage = quota.usage.lock().unwrap().unwrap();
        assert_eq!((usage.bytes, usage.files), (30, 2));
    }
}
