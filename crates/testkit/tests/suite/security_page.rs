//! The tests that docs/security.md names exist.

use std::path::{Path, PathBuf};

/// The files below a folder of the repository, without what is installed there.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let is_installed = path.file_name().is_some_and(|name| name == "node_modules");
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && !is_installed => files(&path, found),
            kind if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// What a page calls tests: the words in backticks in the columns that are headed `test`, and behind `Test:` or `Tests:`.
fn named_tests(page: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_in_table = false;
    for line in page.lines() {
        is_in_table = line.ends_with("| test |") || is_in_table && line.starts_with('|');
        let place = match is_in_table {
            true => line.trim_end_matches(" |").rsplit('|').next().unwrap(),
            false => {
                ["Test: ", "Tests: "].iter().find_map(|mark| Some(line.split_once(mark)?.1)).unwrap_or("")
            }
        };
        names.extend(place.split('`').skip(1).step_by(2));
    }
    names
}

#[test]
fn the_tests_that_the_security_page_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut all = Vec::new();
    files(&root.join("crates"), &mut all);
    files(&root.join("tests"), &mut all);
    let exists = |name: &str| {
        let [rust, script] = [".rs", ".test.mjs"].map(|ending| format!("{name}{ending}"));
        all.iter().any(|path| path.ends_with(&rust) || path.ends_with(&script))
    };
    let names = named_tests(&page);
    assert!(names.len() > 40, "{names:?}");
    let missing: Vec<_> = names.into_iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that do not exist: {missing:?}");
}

#[test]
fn names_are_found_in_tables_and_behind_the_word_test() {
    let page = "| `a` | test |\n|---|---|\n| `b` | `c`, `d/e` |\n\n`f`. Test: `g`.\n| `h` | i |\nTests: `j`, `k`\n`l`\n";
    assert_eq!(named_tests(page), ["c", "d/e", "g", "j", "k"]);
}
