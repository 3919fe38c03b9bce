//! Gives memory that was freed back to the system.
//!
//! The allocator of glibc keeps freed memory in the arena of each thread, behind whatever lives longest there. After
//! thousands of connections have closed, the process would stay as large as it was at its peak. This crate is the only one of
//! the workspace with unsafe code, so that the others can forbid it.

/// Gives the pages that the allocator holds, but nobody uses, back to the system. It takes milliseconds, and locks one arena
/// after the other meanwhile, so it belongs on a thread that may block. Where the allocator is another than glibc's it does
/// nothing.
pub fn release_unused_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: `malloc_trim` has no preconditions, is safe to call from any thread, and touches free memory alone.
        #[expect(unsafe_code, reason = "the C library offers no safe way to release free memory")]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::fs;

    /// The resident memory of this process in KiB.
    fn resident() -> usize {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
    }

    #[test]
    fn memory_below_a_block_in_use_is_given_back() {
        let mut blocks: Vec<Vec<u8>> = (0..16_384).map(|_| vec![1; 4096]).collect();
        // The block at the top keeps the heap from shrinking by itself.
        let top = blocks.pop();
        let full = resident();
        drop(blocks);
        super::release_unused_memory();
        let after = resident();
        assert!(full > 64 * 1024 && after + 48 * 1024 < full, "{full} KiB, then {after} KiB");
        assert!(top.is_some());
    }
}
