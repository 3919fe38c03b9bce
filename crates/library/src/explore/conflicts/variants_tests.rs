use super::super::tests::found;

/// Whether the same rule with other values in two files is a conflict or a variant.
fn kind(one: (&str, &str), other: (&str, &str)) -> &'static str {
    let text =
        |heading: &str, days: u32| format!("{heading}\nThe refund window of a gift card is {days} days.\n");
    let (first, second) = (text(one.1, 14), text(other.1, 30));
    match found(&[(one.0, &first), (other.0, &second)], "refund window") {
        (conflicts, variants) if conflicts.len() == 1 && variants.is_empty() => "conflict",
        (conflicts, variants) if conflicts.is_empty() && variants.len() == 1 => "variant",
        other => panic!("{other:?}"),
    }
}

#[test]
fn plans_editions_years_models_and_versions_in_headings_are_variants() {
    for (one, other, expected) in [
        ("# Basic plan", "# Premium plan", "variant"),
        ("# ライトプラン", "# プレミアムプラン", "variant"),
        ("# プランA", "# プランB", "variant"),
        ("# Terms 2023", "# Terms 2024", "variant"),
        ("# Version 1.2", "# Version 2.0", "variant"),
        ("# Class B", "# Class C", "variant"),
        ("# Section 1.2", "# Section 2.1", "conflict"),
        ("# Model XR-200", "# Model XR-300", "variant"),
        ("# 令和5年度", "# 令和6年度", "variant"),
        ("# 正社員", "# アルバイト", "variant"),
        ("# 東京", "# 大阪", "variant"),
        ("# Linux", "# Windows", "variant"),
        ("# Step 1", "# Step 2", "variant"),
        ("# refund_days", "# refund_window()", "variant"),
        ("# Shop rules\n## Basic", "# Shop rules\n## Premium", "variant"),
        ("# Refunds", "# Money back", "conflict"),
        ("# 1. Refunds", "# 2. Refunds", "conflict"),
        ("# Refund guide", "# Refund handbook", "conflict"),
        // An edition on one side is enough; a group on one side is not.
        ("# Terms 2023", "# Terms", "variant"),
        ("# Premium refunds", "# Refunds", "conflict"),
    ] {
        assert_eq!(kind(("a.md", one), ("b.md", other)), expected, "{one} / {other}");
        assert_eq!(kind(("a.md", other), ("b.md", one)), expected, "{other} / {one}");
    }
}

#[test]
fn names_of_files_and_folders_tell_variants_too() {
    for (one, other, expected) in [
        ("terms-2023.md", "terms-2024.md", "variant"),
        ("v1/terms.md", "v2/terms.md", "variant"),
        ("basic.md", "premium.md", "variant"),
        // Files of the same name in different folders are parallel.
        ("cats/terms.md", "dogs/terms.md", "variant"),
        ("terms.md", "faq.md", "conflict"),
        ("part1.md", "part2.md", "conflict"),
    ] {
        assert_eq!(kind((one, "# Alpha"), (other, "# Omega")), expected, "{one} / {other}");
    }
}

#[test]
fn parallel_sections_of_a_file_are_variants() {
    let parallel = "# Cards\n## Red\nWindow of a refund: 14 days.\n\nColour of the paper: red.\n\n## Blue\nWindow of a refund: 30 days.\n\nColour of the paper: blue.\n";
    let (conflicts, variants) = found(&[("a.md", parallel)], "refund window");
    assert_eq!((conflicts.len(), variants.len()), (0, 1), "{conflicts:?} {variants:?}");
    let same_title = "# Red\n## Refunds\nThe refund window of a gift card is 14 days.\n# Blue\n## Refunds\nThe refund window of a gift card is 30 days.\n";
    let (conflicts, variants) = found(&[("a.md", same_title)], "refund window");
    assert_eq!((conflicts.len(), variants.len()), (0, 1), "{conflicts:?} {variants:?}");
    let apart = "# Cards\n## Red\nThe refund window of a gift card is 14 days.\n## Blue\nThe refund window of a gift card is 30 days.\n";
    let (conflicts, variants) = found(&[("a.md", apart)], "refund window");
    assert_eq!((conflicts.len(), variants.len()), (1, 0), "{conflicts:?} {variants:?}");
}

#[test]
fn nothing_is_stated_under_examples_and_histories() {
    let text = |heading: &str| format!("# {heading}\nThe refund window of a gift card is 30 days.\n");
    let rule = "# Alpha\nThe refund window of a gift card is 14 days.\n";
    for (path, heading) in [
        ("b.md", "Examples"),
        ("b.md", "変更履歴"),
        ("b.md", "Release notes"),
        ("changelog.md", "Omega"),
        ("history/b.md", "Omega"),
    ] {
        let other = text(heading);
        assert_eq!(found(&[("a.md", rule), (path, &other)], "refund"), (vec![], vec![]), "{path} {heading}");
    }
    let other = text("Omega");
    assert_eq!(found(&[("a.md", rule), ("b.md", &other)], "refund").0.len(), 1);
}

#[test]
fn a_list_of_versions_is_no_conflict() {
    let versions: String = (1..60)
        .map(|number| format!("## {}.{}.0\nThe refund window of a gift card is {number} days.\n\nThe upload limit is {number} MB.\n\n", number / 10, number % 10))
        .collect();
    let text = format!("# Versions\n{versions}");
    let (conflicts, variants) = found(&[("a.md", &text)], "refund window");
    assert_eq!((conflicts, variants.len()), (vec![], 20));
}
