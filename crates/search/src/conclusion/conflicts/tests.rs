use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::matching::candidate::Signals;
use crate::matching::match_terms;
use crate::ranking::rank;
use crate::test_corpus::{candidate, far_away, manual, query, shown};

/// What the best candidates for a question contradict each other in. They are compared in document order.
fn of_views(views: &[View], query: &Query) -> Contradictions {
    let matched = match_terms(views, query, &|_| true, far_away());
    let mut candidates = rank(query, &matched, 100, &HashSet::new()).best;
    candidates.truncate(CONFLICT_CANDIDATES);
    candidates.sort_by_key(|candidate| candidate.place);
    contradictions(views, query, &candidates)
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

/// What two texts under neutral headings, both with the word `refund`, contradict each other in; none where they do not.
fn clash(one: &str, other: &str) -> Option<String> {
    let (one, other) = (format!("# Alpha refund\n{one}\n"), format!("# Refund omega\n{other}\n"));
    let (conflicts, variants) = found(&[("a.md", &one), ("b.md", &other)], "refund");
    assert!(variants.is_empty() && conflicts.len() <= 1, "{one}{other}{conflicts:?}{variants:?}");
    conflicts.first().and_then(|about| about.split_once("refund: ")).map(|(_, about)| about.to_owned())
}

#[track_caller]
fn check(rows: &[(&str, &str, Option<&str>)]) {
    let wrong: Vec<String> = rows
        .iter()
        .filter(|(one, other, expected)| clash(one, other).as_deref() != *expected)
        .map(|(one, other, _)| format!("{one} / {other}: {:?}", clash(one, other)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The order of the two does not matter.
    for (one, other, expected) in rows {
        assert_eq!(clash(other, one).is_some(), expected.is_some(), "{other} / {one}");
    }
}

#[test]
fn the_same_sentence_with_another_value_is_a_conflict() {
    check(&[
        ("A gift card is valid for 14 days.", "A gift card is valid for 30 days.", Some("14 days / 30 days")),
        (
            "Gift cards are valid for 14 days.",
            "The gift card is valid for 30 days.",
            Some("14 days / 30 days"),
        ),
        ("The deposit of a van is $50.", "The deposit of a van is $80.", Some("$50 / $80")),
        ("Uploads have up to 5 GB per file.", "Uploads have up to 500 MB per file.", Some("5 gb / 500 mb")),
        ("Applications close on 31 March.", "Applications close on April 30.", Some("31 march / april 30")),
        ("Quiet hours begin at 10 pm daily.", "Quiet hours begin at 11 pm daily.", Some("10 pm / 11 pm")),
        (
            "The switch has up to 16 networks.",
            "The switch has up to 32 networks.",
            Some("16 networks / 32 networks"),
        ),
        ("返品の期限は到着から14日です。", "返品の期限は到着から三十日とする。", Some("14日 / 三十日")),
        ("図書の貸出は一人10冊までです。", "図書の貸出は一人15冊まで。", Some("10冊 / 15冊")),
        ("通勤手当の上限は30,000円とする。", "通勤手当の上限は3万5千円とする。", Some("30,000円 / 3万5千円")),
        (
            "改正後の条例は4月1日から施行する。",
            "改正後の条例は10月1日から施行する。",
            Some("4月1日 / 10月1日"),
        ),
        ("冷凍倉庫の温度は-25℃に保つ。", "冷凍倉庫の温度は-20℃に保つ。", Some("-25°c / -20°c")),
        ("ログの保存期間は90日とする。", "ログの保存期間は1年間である。", Some("90日 / 1年間")),
    ]);
}

#[test]
fn equal_values_agree_in_any_notation() {
    check(&[
        ("A gift card is valid for 14 days.", "A gift card is valid for two weeks.", None),
        ("A gift card is valid for 30 days.", "A gift card is valid for 1 month.", None),
        ("通勤手当の上限は30,000円とする。", "通勤手当の上限は3万円です。", None),
        ("受付の開始は17:00です。", "受付の開始は午後5時とする。", None),
    ]);
}

#[test]
fn the_same_sentence_with_a_negation_is_a_conflict() {
    let yes_no = Some("yes / no");
    check(&[
        ("Gift cards can be returned.", "Gift cards cannot be returned.", yes_no),
        ("Gift cards can be returned.", "Gift cards can't be returned.", yes_no),
        ("Dogs are allowed on the beach.", "Dogs are not allowed on the beach.", yes_no),
        ("A signature is required here.", "No signature is required here.", yes_no),
        ("The hotel admits small pets.", "The hotel does not admit small pets.", yes_no),
        ("Always lock the rear door.", "Never lock the rear door.", yes_no),
        ("常設展示室では写真撮影ができます。", "常設展示室での写真撮影はできません。", yes_no),
        ("自転車による通勤は認める。", "自転車による通勤は認めない。", yes_no),
        ("電車代の精算に領収書が必要です。", "電車代の精算に領収書は必要ありません。", yes_no),
        ("入館者は名札を着けなければならない。", "入館者は名札を着けなくてもよい。", yes_no),
        // Two negations make an affirmation.
        ("入館者は名札を着けなければならない。", "入館者は名札を着ける。", None),
        ("会場に飲み物を持ち込んでもかまいません。", "会場に飲み物を持ち込んでもよい。", None),
        ("Gift cards cannot be returned.", "Gift cards can not be returned.", None),
    ]);
}

#[test]
fn the_same_sentence_with_an_opposite_is_a_conflict() {
    check(&[
        ("Stop the pump before the cleaning.", "Stop the pump after the cleaning.", Some("before / after")),
        ("Visitors must wear a badge.", "Visitors may wear a badge.", Some("must / may")),
        ("Interns may use the database.", "Interns must not use the database.", Some("may / must")),
        ("Interns may not use the database.", "Interns must not use the database.", None),
        (
            "The header is mandatory for calls.",
            "The header is optional for calls.",
            Some("mandatory / optional"),
        ),
        ("応募者は18歳以上とする。", "応募者は18歳以下とする。", Some("以上 / 以下")),
        ("同時接続数は4以上とする。", "同時接続数は4以下とする。", Some("以上 / 以下")),
        ("点検は清掃前に行う。", "点検は清掃後に行う。", Some("前 / 後")),
        ("更新後の再起動は必要です。", "更新後の再起動は不要である。", Some("必要 / 不要")),
        ("歯列矯正は補助の対象です。", "歯列矯正は補助の対象外です。", Some("対象 / 対象外")),
        (
            "A shared room sleeps at least 5 people.",
            "A shared room sleeps at most 5 people.",
            Some("least / most"),
        ),
        // Without a value, both may hold.
        ("See the table above for cards.", "See the table below for cards.", None),
    ]);
}

#[test]
fn other_words_are_no_conflict() {
    check(&[
        ("A gift card is valid for 14 days.", "You can use the gift card for 30 days.", None),
        ("A gift card is valid for 14 days.", "A bus ticket is valid for 30 days.", None),
        ("客室は翌日の11時まで使える。", "お部屋は10時までにお空けください。", None),
        ("りんごの保存期間は3日です。", "みかんの保存期間は5日です。", None),
        ("営業時間は9時からです。", "営業時間は17時までです。", None),
        // Two differences are two cases.
        ("勤続3年の者の休暇は5日とする。", "勤続5年の者の休暇は7日とする。", None),
        ("In 3 years a bond pays 5 %.", "In 5 years a bond pays 7 %.", None),
        ("Is a gift card valid for 14 days?", "Is a gift card valid for 30 days?", None),
        ("この券の有効期間は14日ですか。", "この券の有効期間は30日ですか。", None),
    ]);
}

#[test]
fn numbers_that_state_nothing_are_no_conflict() {
    check(&[
        ("Gift cards are explained in section 4.", "Gift cards are explained in section 5.", None),
        ("ギフト券の返品は第4条で定める。", "ギフト券の返品は第5条で定める。", None),
        ("Gift cards were fixed in issue #14.", "Gift cards were fixed in issue #15.", None),
        ("Gift cards need version 2.1 or later.", "Gift cards need version 2.2 or later.", None),
        ("The server listens on port 8080.", "The server listens on port 9090.", None),
        ("The gift desk returns 404 errors.", "The gift desk returns 500 errors.", None),
        ("Gift cards are on line 12 of the file.", "Gift cards are on line 14 of the file.", None),
        ("Open the file /var/14days/gift cards.", "Open the file /var/30days/gift cards.", None),
        ("Run `gift --keep 14 days` for the cards.", "Run `gift --keep 30 days` for the cards.", None),
        ("```\nA gift card is valid for 14 days.\n```", "```\nA gift card is valid for 30 days.\n```", None),
        ("For example, a card is valid for 14 days.", "For example, a card is valid for 30 days.", None),
        ("例えば、券の有効期間は14日とする。", "例えば、券の有効期間は30日とする。", None),
        ("2023年度の募集は終了した。", "2024年度の募集は終了した。", None),
        ("1. Take gift cards\n2. Sell them", "3. Take gift cards\n4. Sell them", None),
    ]);
}

#[test]
fn rows_of_tables_are_compared_with_their_row_and_column() {
    let table = |row: &str, column: &str, days: u32| {
        format!("| rule | {column} |\n|---|---|\n| {row} | {days} days |")
    };
    let window = table("gift card", "window", 14);
    check(&[
        (&window, &table("gift card", "window", 30), Some("14 days / 30 days")),
        (&window, &table("bus ticket", "window", 30), None),
        (&window, &table("gift card", "delay", 30), None),
    ]);
}

#[test]
fn short_sentences_are_about_their_heading() {
    let stay = |title: &str, hours: u32| format!("# {title}\n- Stay: {hours} hours\n");
    let (one, same, other) = (stay("Garage", 2), stay("Garage", 5), stay("Sauna", 5));
    let expected = ["a.md:1 / b.md:1 garage: 2 hours / 5 hours"];
    assert_eq!(found(&[("a.md", &one), ("b.md", &same)], "garage stay").0, expected);
    assert_eq!(found(&[("a.md", &one), ("b.md", &other)], "garage stay").0, Vec::<String>::new());
}

#[test]
fn manuals_are_not_compared_with_each_other() {
    let rule = |days: u32| format!("# Refund\nA gift card is valid for {days} days.\n");
    let (one, other) = (rule(14), rule(30));
    let found =
        of_views(&[manual("m", &[("a.md", &one)]), manual("n", &[("b.md", &other)])], &query("refund"));
    assert_eq!((found.conflicts, found.variants), (vec![], vec![]));
}

#[test]
fn a_pair_is_reported_once_and_a_section_never_conflicts_with_itself() {
    let days = |days: u32| format!("The refund window of a gift card is {days} days.\n");
    let one = format!("# Alpha\n{}\n{}", days(14), days(15));
    let other = format!("# Omega\n{}", days(30));
    let both = found(&[("a.md", &one), ("b.md", &other)], "refund");
    assert_eq!(both.0, ["a.md:1 / b.md:1 refund: 14 days / 30 days"]);
    assert_eq!(found(&[("a.md", &one)], "refund"), (vec![], vec![]));
    // What both sections say is said of two cases.
    let same = format!("# Omega\n{}", days(15));
    assert_eq!(found(&[("a.md", &one), ("b.md", &same)], "refund"), (vec![], vec![]));
}

#[test]
fn a_sentence_without_a_term_of_the_question_is_compared_too() {
    let rule =
        |days: u32| format!("# Omega\nSee the refund form.\n\nA gift card is valid for {days} days.\n");
    let (one, other) = (rule(14), rule(30));
    let both = found(&[("a.md", &one), ("b.md", &other)], "refund").0;
    assert_eq!(both, ["a.md:1 / b.md:1 14 days / 30 days"]);
}

#[test]
fn a_section_that_only_another_one_led_to_is_compared_too() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# Alpha\nThe refund window of a gift card is 14 days.\n"),
            ("b.md", "# Omega\nThe refund window of a gift card is 30 days.\n"),
        ],
    )];
    let candidate = |node, terms| Candidate {
        signals: Signals::REFERENCE,
        terms,
        ..candidate(NodePlace { view: 0, segment: 0, node })
    };
    let count = |all: &[Candidate]| contradictions(&views, &query("refund"), all).conflicts.len();
    assert_eq!(count(&[candidate(0, 1), candidate(1, 1)]), 1);
    assert_eq!(count(&[candidate(0, 1), candidate(1, 0)]), 1);
    assert_eq!(count(&[]), 0);
}

#[test]
fn the_number_of_conflicts_is_limited_and_said_to_be() {
    const NAMES: &[&str] =
        &["ash", "elm", "fir", "oak", "yew", "bay", "box", "fig", "nut", "pea", "rye", "sal"];
    for (count, reported, is_limited) in [(6, 15, false), (7, MAX_REPORTED, true), (12, MAX_REPORTED, true)] {
        let files: Vec<(String, String)> = (0..)
            .zip(NAMES)
            .take(count)
            .map(|(number, name): (u32, _)| {
                let days = 10 + 5 * number;
                (format!("{name}.md"), format!("# Alpha\nThe refund window of a gift card is {days} days.\n"))
            })
            .collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let found = of_views(&[manual("m", &files)], &query("refund"));
        assert_eq!((found.conflicts.len(), found.is_limited), (reported, is_limited), "{count}");
        let pairs: HashSet<_> =
            found.conflicts.iter().map(|conflict| (conflict.one, conflict.other)).collect();
        assert_eq!(pairs.len(), reported, "each pair is reported once");
    }
}

#[test]
fn quotes_name_the_lines_of_the_file() {
    let files = [
        (
            "a.md",
            "# Alpha\n\nIntro text.\n\nSome words first. The refund window\nof a gift card, value is 14\ndays.\n",
        ),
        (
            "b.md",
            "---\ntitle: x\n---\n\n# Omega\n\n- other item\n- The refund window of a gift card, value\n  is 30 days.\n",
        ),
        (
            "c.md",
            "# Gamma\n\n| Rule | Value |\n|---|---|\n| Other | 5 MB |\n| Refund window of a gift card | 60 days |\n",
        ),
    ];
    let found = of_views(&[manual("m", &files)], &query("refund window"));
    let quotes: Vec<_> = found.conflicts.iter().flat_map(|conflict| &conflict.sentences).collect();
    let quote = |text: &str, first_line, last_line| Quote { text: text.to_owned(), first_line, last_line };
    let prose = quote("the refund window of a gift card, value is 14 days.", 5, 7);
    let item = quote("the refund window of a gift card, value is 30 days.", 8, 9);
    let cell = quote("refund window of a gift card, value: 60 days", 6, 6);
    assert_eq!(quotes, [&prose, &item, &prose, &cell, &item, &cell], "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_sections_are_compared_without_a_panic(
        texts in prop::collection::vec(
            "(refund |返品|14 days|30日|before |at most |[|#>`*\\n-]|は|です。|not |\\. |, |[あ-ん]|\\PC){0,40}",
            2..5,
        )
    ) {
        let names = ["ash.md", "elm.md", "fir.md", "oak.md"];
        let texts: Vec<String> = texts.iter().map(|text| format!("# refund 返品\n{text}\n")).collect();
        let files: Vec<_> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
        let found = of_views(&[manual("m", &files)], &query("refund 返品"));
        for quote in found.conflicts.iter().chain(&found.variants).flat_map(|conflict| &conflict.sentences) {
            let longest = texts.iter().map(|text| text.lines().count()).max().unwrap();
            prop_assert!(1 < quote.first_line && quote.first_line <= quote.last_line);
            prop_assert!(quote.last_line as usize <= longest);
        }
    }
}
