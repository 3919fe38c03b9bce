//! The generated pages are the code's.

use crate::{Home, annai, stdout};

#[test]
fn generated_pages_are_fresh() {
    for page in ["tools", "config"] {
        let output = annai(&Home::new()).args(["docs", page]).output().unwrap();
        let path = format!("{}/../../docs/{page}.md", env!("CARGO_MANIFEST_DIR"));
        let kept = std::fs::read_to_string(path).unwrap();
        assert_eq!(kept, stdout(&output), "run `annai docs {page} > docs/{page}.md`");
    }
}
