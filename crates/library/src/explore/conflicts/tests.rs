use std::collections::HashSet;

use super::super::candidate::Signals;
use super::super::matching::match_terms;
use super::super::ranking::rank;
use super::super::test_corpus::{candidate, far_away, manual, query, shown};
use super::*;

/// What the best candidates for a question contradict each other in. They are compared in document order.
pub fn of_views(views: &[View], query: &Query) -> Contradictions {
    let matched = match_terms(views, query, &|_| true, far_away());
    let mut candidates = rank(query, &matched, 100, &HashSet::new()).best;
    candidates.truncate(MAX_COMPARED);
    candidates.sort_by_key(|candidate| candidate.place);
    contradictions(views, query, &matched.term_weights, &candidates)
}

/// The conflicts and the variants of files, as `place / place about`.
pub fn found(files: &[(&str, &str)], question: &str) -> (Vec<String>, Vec<String>) {
    let views = [manual("m", files)];
    let found = of_views(&views, &query(question));
    let show = |conflict: &Conflict| {
        format!("{} / {} {}", shown(&views, conflict.one), shown(&views, conflict.other), conflict.about)
    };
    (found.conflicts.iter().map(show).collect(), found.variants.iter().map(show).collect())
}

/// What two texts under neutral headings contradict each other in; none where they do not. No pair of them differs by
/// design.
pub fn clash(question: &str, one: &str, other: &str) -> Option<String> {
    let (one, other) = (format!("# Alpha\n{one}\n"), format!("# Omega\n{other}\n"));
    let views = [manual("m", &[("a.md", &one), ("b.md", &other)])];
    let found = of_views(&views, &query(question));
    assert!(found.variants.is_empty() && found.conflicts.len() <= 1, "{one}{other}{found:?}");
    found.conflicts.first().map(|conflict| conflict.about.clone())
}

#[track_caller]
pub fn check(rows: &[(&str, &str, &str, Option<&str>)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(question, one, other, expected)| ((one, other), clash(question, one, other), *expected))
        .filter(|(_, found, expected)| found.as_deref() != *expected)
        .map(|row| format!("{row:?}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The order of the two does not matter.
    for (question, one, other, expected) in rows {
        assert_eq!(clash(question, other, one).is_some(), expected.is_some(), "{other} / {one}");
    }
}

#[test]
fn the_same_words_with_another_value_are_a_conflict() {
    check(&[
        (
            "refund window",
            "The refund window of a gift card is 14 days.",
            "The refund window of a gift card is 30 days.",
            Some("refund: 14 days / 30 days"),
        ),
        (
            "返品の期限",
            "返品の期限は商品の到着後14日です。",
            "返品の期限は商品の到着後三十日です。",
            Some("返品: 14日 / 三十日"),
        ),
        (
            "session length",
            "A session lasts 2 hours by rule.",
            "A session lasts 90 minutes by rule.",
            Some("session: 2 hours / 90 minutes"),
        ),
        (
            "ログの保存期間",
            "監査ログの保存期間は90日です。",
            "監査ログの保存期間は1年間です。",
            Some("ログ: 90日 / 1年間"),
        ),
        (
            "規則の施行日",
            "本規則の施行日は令和6年4月1日とする。",
            "本規則の施行日は2025年4月1日とする。",
            Some("規則: 令和6年4月1日 / 2025年4月1日"),
        ),
        (
            "library desk",
            "The library desk opens at 9:00.",
            "The library desk opens at 10:00.",
            Some("library: 9:00 / 10:00"),
        ),
        (
            "参加費",
            "懇親会の参加費は五千円です。",
            "懇親会の参加費は3,000円です。",
            Some("参加費: 五千円 / 3,000円"),
        ),
        (
            "upload size",
            "The upload size of a picture is 10 MB.",
            "The upload size of a picture is 10 GB.",
            Some("upload: 10 mb / 10 gb"),
        ),
        (
            "team size",
            "- A project team has 5 members.",
            "1. A project team has 8 members.",
            Some("team: 5 members / 8 members"),
        ),
        (
            "session timeout",
            "| Setting | Session timeout |\n|---|---|\n| Web console | 30 minutes |",
            "| Setting | Session timeout |\n|---|---|\n| Web console | 45 minutes |",
            Some("session: 30 minutes / 45 minutes"),
        ),
        // A list item and a table cell against prose.
        (
            "返却期限",
            "図書の返却期限は14日です。",
            "- 図書の返却期限は21日です。",
            Some("返却期限: 14日 / 21日"),
        ),
    ]);
}

#[test]
fn equal_amounts_are_no_conflict_in_any_unit_or_spelling() {
    check(&[
        ("session", "A session lasts 2 hours by rule.", "A session lasts 120 minutes by rule.", None),
        ("保存期間", "監査ログの保存期間は1年間です。", "監査ログの保存期間は12か月です。", None),
        ("保存期間", "監査ログの保存期間は1年間です。", "監査ログの保存期間は365日です。", None),
        ("施行日", "本規則の施行日は令和6年4月1日とする。", "本規則の施行日は2024/4/1とする。", None),
        ("price", "The monthly price of a seat is $5.", "The monthly price of a seat is $5.00.", None),
        ("参加費", "懇親会の参加費は五千円です。", "懇親会の参加費は5,000円です。", None),
        ("refund", "The refund window is 14 days.", "The refund window is two weeks.", None),
    ]);
}

#[test]
fn an_exact_value_may_lie_within_a_limit_and_two_limits_of_a_kind_must_agree() {
    check(&[
        (
            "refund",
            "A refund of a gift card takes at most 14 days.",
            "A refund of a gift card takes at most 30 days.",
            Some("refund: 14 days / 30 days"),
        ),
        (
            "refund",
            "A refund of a gift card takes at most 14 days.",
            "A refund of a gift card takes 10 days.",
            None,
        ),
        (
            "refund",
            "A refund of a gift card takes at most 14 days.",
            "A refund of a gift card takes 20 days.",
            Some("refund: 14 days / 20 days"),
        ),
        (
            "refund",
            "A refund of a gift card takes at least 14 days.",
            "A refund of a gift card takes 10 days.",
            Some("refund: 14 days / 10 days"),
        ),
        (
            "refund",
            "A refund of a gift card takes at least 14 days.",
            "A refund of a gift card takes 20 days.",
            None,
        ),
        (
            "refund",
            "A refund of a gift card takes about 14 days.",
            "A refund of a gift card takes 20 days.",
            None,
        ),
        ("返品", "商品の返品は14日以内です。", "商品の返品は7日以内です。", Some("返品: 14日 / 7日")),
        ("参加費", "懇親会の参加費は5000円以上です。", "懇親会の参加費は6000円です。", None),
        ("所要時間", "書類の所要時間は約3日です。", "書類の所要時間は5日です。", None),
        // A value within a range, and one beyond it.
        (
            "delivery",
            "The delivery of a parcel takes 3 to 5 days.",
            "The delivery of a parcel takes 4 days.",
            None,
        ),
        (
            "delivery",
            "The delivery of a parcel takes 3 to 5 days.",
            "The delivery of a parcel takes 9 days.",
            Some("delivery: 5 days / 9 days"),
        ),
        (
            "delivery",
            "The delivery of a parcel takes between three and five days.",
            "The delivery of a parcel takes 4 days.",
            None,
        ),
        ("配達", "荷物の配達は3日から5日かかります。", "荷物の配達は4日かかります。", None),
        ("配達", "荷物の配達は3から5日かかります。", "荷物の配達は4日かかります。", None),
        ("配達", "荷物の配達は3から5日かかります。", "荷物の配達は8日かかります。", Some("配達: 5日 / 8日")),
    ]);
}

#[test]
fn how_often_and_how_long_are_not_compared() {
    check(&[
        ("backup", "The server backup runs every 2 hours.", "The server backup runs 30 minutes.", None),
        (
            "backup",
            "The server backup runs every 2 hours.",
            "The server backup runs every 6 hours.",
            Some("backup: 2 hours / 6 hours"),
        ),
        ("点検", "設備の点検は3か月ごとに行う。", "設備の点検は2日で行う。", None),
        ("card", "The fee of a card is 14 days.", "The fee of a card is 30 円.", None),
    ]);
}

#[test]
fn an_affirmation_and_its_denial_are_a_conflict() {
    check(&[
        (
            "gift cards",
            "Gift cards can be returned in any store.",
            "Gift cards cannot be returned in any store.",
            Some("gift: yes / no"),
        ),
        (
            "ギフト券の返品",
            "ギフト券の返品は店頭で受け付ける。",
            "ギフト券の返品は店頭で受け付けない。",
            Some("ギフト券: yes / no"),
        ),
        (
            "signature",
            "A signature is required for the parcel.",
            "No signature is required for the parcel.",
            Some("signature: yes / no"),
        ),
        ("駐車場", "来客用の駐車場は無料です。", "来客用の駐車場は有料です。", Some("駐車場: yes / no")),
        (
            "pets",
            "The hotel garden does not admit small pets.",
            "The hotel garden admits small pets.",
            Some("pets: yes / no"),
        ),
        ("gift cards", "Gift cards can be returned.", "Shoes cannot be returned.", None),
        (
            "gift cards",
            "Gift cards can be returned in any store.",
            "Gift cards must be returned in any store.",
            None,
        ),
    ]);
}

#[test]
fn a_pair_is_reported_once_and_a_section_never_conflicts_with_itself() {
    let days = |days: u32| format!("The refund window of a gift card is {days} days.\n");
    let one = format!("# Alpha\n{}\n{}", days(14), days(15));
    let other = format!("# Omega\n{}", days(30));
    let both = found(&[("a.md", &one), ("b.md", &other)], "refund");
    assert_eq!(both.0, ["a.md:1 / b.md:1 refund: 14 days / 30 days"]);
    assert_eq!(found(&[("a.md", &one)], "refund"), (vec![], vec![]));
}

#[test]
fn a_heading_is_not_a_statement() {
    let files = [
        ("a.md", "# The refund window of a gift card is 14 days\nSee below\n"),
        ("b.md", "# The refund window of a gift card is 30 days\nSee below\n"),
    ];
    assert_eq!(found(&files, "refund"), (vec![], vec![]));
}

#[test]
fn short_statements_take_the_words_of_their_heading() {
    let stay = |title: &str, hours: u32| format!("# {title}\n- Stay: {hours} hours\n");
    let (one, same, other) = (stay("Garage", 2), stay("Garage", 5), stay("Sauna", 5));
    let expected = ["a.md:1 / b.md:1 garage: 2 hours / 5 hours"];
    assert_eq!(found(&[("a.md", &one), ("b.md", &same)], "garage stay").0, expected);
    assert_eq!(found(&[("a.md", &one), ("b.md", &other)], "garage stay").0, Vec::<String>::new());
}

#[test]
fn a_section_that_only_another_one_led_to_is_not_compared() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# Alpha\nThe refund window of a gift card is 14 days.\n"),
            ("b.md", "# Omega\nThe refund window of a gift card is 30 days.\n"),
        ],
    )];
    let query = query("refund");
    let candidate = |node, terms| Candidate {
        signals: Signals::REFERENCE,
        terms,
        ..candidate(NodePlace { view: 0, segment: 0, node })
    };
    let count = |all: &[Candidate]| contradictions(&views, &query, &[1.0], all).conflicts.len();
    assert_eq!(count(&[candidate(0, 1), candidate(1, 1)]), 1);
    assert_eq!(count(&[candidate(0, 1), candidate(1, 0)]), 0);
    assert_eq!(count(&[]), 0);
}
