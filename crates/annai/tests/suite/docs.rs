//! The generated documentation pages are up to date.

use crate::{Home, annai, stdout};

#[test]
fn generated_pages_are_up_to_date() {
    for (page, file) in [("tools", "tools.md"), ("config", "config.md"), ("openapi", "openapi.yaml")] {
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
