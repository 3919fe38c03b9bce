//! The names of temporary files, which the other modules recognise: they are never listed, and the next writer removes
//! those that a killed process left behind.

/// The prefix of every temporary file in a vault.
const PREFIX: &str = ".annai-tmp-";

/// The name of the temporary file with this number, unique among the running processes.
pub fn temporary_name(number: u64) -> String {
    format!("{PREFIX}{}-{number}", std::process::id())
}

/// Whether a name is that of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(PREFIX)
}
