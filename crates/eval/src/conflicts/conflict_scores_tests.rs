use super::*;

fn outcome(split: &str, family: &str, expect: Expectation, conflicts: u64, variants: u64) -> CaseOutcome {
    let case = ConflictCase {
        id: format!("{split}-{family}"),
        split: split.to_owned(),
        expect,
        family: family.to_owned(),
        query: "returns".to_owned(),
        files: Vec::new(),
        refs: Vec::new(),
    };
    let found = Found { variants, ..Found::of_test(0.5, false, conflicts) };
    CaseOutcome::new(&case, &found, usize::try_from(conflicts).unwrap(), &[])
}

#[test]
fn precision_and_recall_count_cases() {
    use Expectation::{Conflict, None as Neither, Variant};
    let outcomes = [
        outcome("dev", "faq", Conflict, 2, 0),
        outcome("dev", "faq", Conflict, 0, 0),
        outcome("dev", "editions", Variant, 0, 1),
        outcome("dev", "editions", Variant, 1, 1),
        outcome("test", "faq", Conflict, 1, 0),
        outcome("test", "faq", Neither, 0, 0),
    ];
    let scores = ConflictScores::of(&outcomes, &[]);
    let names: Vec<_> = scores.rows.iter().map(|row| row.name.as_str()).collect();
    let families = ["dev/editions", "dev/faq", "test/faq", "*/editions", "*/faq"];
    assert_eq!(names, [families.as_slice(), &["dev", "test", "all"]].concat());
    let value = |row: &str, figure: &str| {
        scores.rows.iter().find(|known| known.name == row).unwrap().get(figure).unwrap().value
    };
    assert_eq!((value("all", "precision"), value("all", "recall")), (Some(2.0 / 3.0), Some(2.0 / 3.0)));
    assert_eq!(value("all", "false_alarms"), Some(1.0 / 3.0));
    assert_eq!((value("dev/faq", "recall"), value("*/faq", "recall")), (Some(0.5), Some(2.0 / 3.0)));
    assert_eq!((value("dev/editions", "recall"), value("dev/editions", "variant_recall")), (None, Some(1.0)));
    assert_eq!(
        (value("all", "rate"), value("all", "conflicts"), value("all", "variants")),
        (Some(0.5), Some(3.0), Some(2.0))
    );
    let misses: Vec<_> = scores.misses.lines().collect();
    assert_eq!(
        misses,
        [
            "dev-faq (dev/faq: expected conflict, reported conflicts: 0, variants: 0) returns",
            "dev-editions (dev/editions: expected variant, reported conflicts: 1, variants: 1) returns",
        ]
    );
}

#[test]
fn node_ids_have_a_manual_a_path_and_a_line() {
    assert_eq!(parse_node_id("m/a/b#L1.md#L12"), Some(("m", "a/b#L1.md", 12)));
    assert_eq!(parse_node_id("m/a.md#L12.80"), Some(("m", "a.md", 12)));
    for wrong in ["a.md#L1", "m/a.md", "m/a.md#Lx", ""] {
        assert_eq!(parse_node_id(wrong), None, "{wrong}");
    }
}
