use proptest::prelude::*;

use super::*;
use crate::audit::markdown;
use crate::audit::structure::check_structure;

/// The unsupported values of a Markdown artifact that is made from these lines, and how many elements are derived.
fn unsupported(artifact: &str, source: &[&str]) -> (Vec<String>, usize) {
    let lines = source.len() as u64;
    let mut parsed = markdown::read(artifact, "a.md");
    check_structure(&mut parsed, lines);
    let mut file = FileEvidence::default();
    for (number, line) in (1..).zip(source) {
        file.add_line(number, line);
    }
    let report = check_support(&parsed, &file, lines, &Origins::default());
    assert_eq!(report.findings.len(), report.unsupported);
    (report.findings.into_iter().filter_map(|finding| finding.value).collect(), report.derived)
}

#[test]
fn each_value_is_reported_once_per_element_with_its_line() {
    let (values, derived) = unsupported(
        "before 8 days source_lines: 1\n\n# A 7 days\n\n7 days, 7 days and 5 days.\nsource_lines: 1\n\n# B\n7 days derived: sum\nsource_lines: 1\n\n# C\n7 days\n",
        &["5 days"],
    );
    assert_eq!((values, derived), (vec!["7 days".to_owned(), "8 days".to_owned()], 1));
}

#[test]
fn marks_in_any_form_are_no_values() {
    for mark in [
        "source_lines: 1-1",
        "**source_lines**: 1",
        "`source_lines: 1`",
        "<!-- source_lines: 1 -->",
        "「source_lines: 1」",
    ] {
        assert_eq!(unsupported(&format!("# A\n{mark}\n\n6 days\n"), &["5 days"]).0, ["6 days"], "{mark}");
    }
}

proptest! {
    #[test]
    fn text_that_repeats_its_source_is_supported(
        lines in proptest::collection::vec(
            "([a-z]{1,5} |[0-9]{1,4}|[0-9],[0-9]{3}|[一二三四五六七八九十百千万]{1,4}|円|日|年|月|時|分|%|人|回|か月| days | GB |「[あ-ん]{2,4}」|\"[a-z ]{2,6}\" |`[a-z_]{2,6}` | \\*\\*[0-9]{2}\\*\\*日 |。|、|（|）|第|条|/|-|\\.){1,12}",
            1..6,
        ),
    ) {
        let source: Vec<_> = lines.iter().map(String::as_str).collect();
        // The lines are paragraphs of their own, so that Markdown does not join them.
        let artifact = format!("# A\n\nsource_lines: 1-{}\n\nx {}\n", source.len(), lines.join("\n\nx "));
        prop_assert_eq!(unsupported(&artifact, &source).0, Vec::<String>::new(), "{}", artifact);
    }
}
