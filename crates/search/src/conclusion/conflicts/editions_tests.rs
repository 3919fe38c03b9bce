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
        ("# 1.2", "# 2.0", "variant"),
        ("# Class B", "# Class C", "variant"),
        ("# Grade 3", "# Grade 6", "variant"),
        ("# 3年生", "# 5年生", "variant"),
        ("# Model XR-200", "# Model XR-300", "variant"),
        ("# 令和5年度", "# 令和6年度", "variant"),
        ("# 正社員の給与", "# 契約社員の給与", "variant"),
        ("# Birch shelf", "# Oak shelf", "variant"),
        ("# Working in Spain", "# Working in Italy", "variant"),
        ("# Step 4.1: Refunds", "# Step 4.2: Money back", "conflict"),
        ("# ジョブ(バージョン2)", "# ジョブ(バージョン3)", "variant"),
        ("# Shop rules\n## Basic edition", "# Shop rules\n## Premium edition", "variant"),
        // An edition on one side is enough.
        ("# Terms 2023", "# Terms", "variant"),
        ("# Premium edition", "# Refunds", "variant"),
        ("# 返品(学生版)", "# 返品", "variant"),
        ("# Refunds", "# Money back", "conflict"),
        ("# 1. Refunds", "# 2. Refunds", "conflict"),
        ("# 4.1 Refunds", "# 5.2 Money back", "conflict"),
        ("# 第3条 返品", "# 第9条 交換", "conflict"),
        ("# 館内のご案内", "# 駐車場のご案内", "conflict"),
        ("# Refund guide", "# Refund handbook", "conflict"),
        ("# Requesting refunds", "# Refunds", "conflict"),
        ("# Modify access tokens", "# Use access tokens", "conflict"),
    ] {
        assert_eq!(kind(("a.md", one), ("b.md", other)), expected, "{one} / {other}");
        assert_eq!(kind(("a.md", other), ("b.md", one)), expected, "{other} / {one}");
    }
}

#[test]
fn names_of_files_and_folders_tell_variants_too() {
    for (one, other, expected) in [
        ("terms-2023.md", "terms-2024.md", "variant"),
        ("terms.md", "terms-2024.md", "variant"),
        ("v1/terms.md", "v2/terms.md", "variant"),
        ("terms.md", "terms-premium.md", "variant"),
        ("oak-shelf.md", "birch-shelf.md", "variant"),
        // Files of the same name in neighbouring folders are parallel.
        ("cats/terms.md", "dogs/terms.md", "variant"),
        ("terms.md", "faq.md", "conflict"),
        ("shop/terms.md", "staff/faq.md", "conflict"),
    ] {
        assert_eq!(kind((one, "# Alpha"), (other, "# Omega")), expected, "{one} / {other}");
    }
}

#[test]
fn parallel_sections_of_a_file_are_variants() {
    let parallel = "# Cards\n## Red\nThe refund window is 14 days.\n\nThe card paper is thick.\n\n## Blue\nThe refund window is 30 days.\n\nThe card paper is not thick.\n";
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
fn nothing_is_stated_under_examples() {
    let text = |heading: &str| format!("# {heading}\nThe refund window of a gift card is 30 days.\n");
    let rule = "# Alpha\nThe refund window of a gift card is 14 days.\n";
    for heading in ["Examples", "例", "サンプル"] {
        let other = text(heading);
        assert_eq!(found(&[("a.md", rule), ("b.md", &other)], "refund"), (vec![], vec![]), "{heading}");
    }
    let other = text("Omega");
    assert_eq!(found(&[("a.md", rule), ("b.md", &other)], "refund").0.len(), 1);
}
