//! The generated documentation pages are up to date.

use crate::{Home, annai, stdout};

#[test]
fn generated_pages_are_up_to_date() {
    for file in ["tools.md", "config.md", "errors.md", "openapi.yaml"] {
        let page = file.split('.').next().unwrap();
        let output = annai(&Home::new()).args(["docs", page]).output().unwrap();
        let path = format!("{}/../../docs/{file}", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(path).unwrap();
        let made = stdout(&output);
        let stale = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert!(
            kept == made,
            "run `annai docs {page} > docs/{file}`; the first line that differs: {stale:?}"
        );
    }
}

#[test]
fn manual_pages_are_written_for_every_command_that_is_shown() {
    let home = Home::new();
    let folder = home.0.join("pages/man1");
    let output = annai(&home).args(["docs", "man"]).arg(&folder).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let mut pages: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    for page in ["annai.1", "annai-find.1", "annai-token-new.1"] {
        assert!(pages.iter().any(|name| name == page), "{page} is missing from {pages:?}");
    }
    assert!(!pages.iter().any(|name| name.starts_with("annai-docs")), "{pages:?}");
    let page = std::fs::read_to_string(folder.join("annai.1")).unwrap();
    assert!(page.contains(".TH annai 1"), "{page}");
    assert!(page.contains("\\-\\-read\\-only"), "{page}");

    let taken = home.0.join("file");
    std::fs::write(&taken, "").unwrap();
    let output = annai(&home).args(["docs", "man"]).arg(&taken).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("cannot write manual pages to"), "{error}");
}
