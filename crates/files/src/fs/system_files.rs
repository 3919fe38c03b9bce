//! Files that operating systems and office programs leave behind in folders. They are not part of what people wrote, so
//! they are neither listed nor searched.

/// Names of such files and folders, in lower case.
const NAMES: [&str; 10] = [
    ".ds_store",
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "__macosx",
    "$recycle.bin",
    "system volume information",
    ".spotlight-v100",
    ".trashes",
    ".fseventsd",
];

/// Whether a name is one of them, or has the prefix of an office program's lock file (`~$`) or of the metadata that macOS
/// writes on foreign disks (`._`).
pub fn is_system_file(name: &str) -> bool {
    name.starts_with("~$")
        || name.starts_with("._")
        || NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_systems_leave_behind_is_recognized() {
        for name in
            [".DS_Store", "Thumbs.db", "desktop.ini", "Desktop.ini", "~$plan.docx", "._a.md", "__MACOSX"]
        {
            assert!(is_system_file(name), "{name}");
        }
        for name in ["a.md", "~a.md", ".hidden", "thumbs.db.md", "_a.md"] {
            assert!(!is_system_file(name), "{name}");
        }
    }
}
