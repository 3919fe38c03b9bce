//! The generated documentation pages are up to date.

use crate::{Home, annai, stdout};

#[test]
fn generated_pages_are_up_to_date() {
    for page in ["tools", "config"] {
        let output = annai(&Home::new()).args(["docs", page]).output().unwrap();
        let path = format!("{}/../../docs/{page}.md", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(path).unwrap();
        let made = stdout(&output);
        let stale = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert!(
            kept == made,
            "run `annai docs {page} > docs/{page}.md`; the first line that differs: {stale:?}"
        );
    }
}
