use super::super::candidate::Signals;
use super::super::matching::match_terms;
use super::super::ranking::rank;
use super::super::test_corpus::{candidate, far_away, manual, query, shown};
use super::*;

fn clash(question: &str, one: &str, other: &str) -> Option<String> {
    let query = query(question);
    let needles: Vec<Vec<Needle>> = query.terms.iter().map(|term| vec![Needle::new(term.text())]).collect();
    let place = |node| NodePlace { view: 0, segment: 0, node };
    let (one, other) = (
        statement_of(one, place(1), "returns/", &needles)?,
        statement_of(other, place(2), "returns/", &needles)?,
    );
    (one.terms & other.terms != 0 && are_similar(&one, &other)).then(|| difference(&one, &other))?
}

#[test]
fn different_numbers_and_negations_are_conflicts() {
    for (question, one, other, expected) in [
        (
            "返品の期限",
            "返品は商品到着後14日以内に限ります",
            "返品は商品到着後三十日以内に限ります",
            Some("14日 / 三十日"),
        ),
        (
            "refund window",
            "the refund window is 14 days",
            "the refund window is 30 days",
            Some("14 days / 30 days"),
        ),
        ("timeout", "| timeout | 30 seconds |", "| timeout | 60 seconds |", Some("30 seconds / 60 seconds")),
        ("timeout", "| timeout | 60 seconds |", "| timeout | 1 minute |", None),
        ("retries", "the number of retries is 5", "the number of retries is 10", Some("5 / 10")),
        ("opening", "opening is at 9:00", "opening is at 10:00", Some("9:00 / 10:00")),
        ("launch", "the launch is on 2024-04-01", "the launch is on 2025/4/1", Some("2024-04-01 / 2025/4/1")),
        ("launch", "the launch is on april 1", "the launch is on may 1", Some("april 1 / may 1")),
        ("upload", "an upload has at most 10 mb", "an upload has at most 10 gb", Some("10 mb / 10 gb")),
        ("保証", "保証は購入から1年とします", "保証は購入から2年間とします", Some("1年 / 2年間")),
        ("price", "the price is $5 a month", "the price is $5.00 a month", None),
        ("返品の期限", "返品は商品到着後14日以内に限ります", "返品は商品到着後14日以内に限ります", None),
        ("返品", "返品の送料は500円です", "返品の窓口は平日9時から受け付けます", None),
        (
            "gift cards",
            "gift cards can be returned in any store",
            "gift cards cannot be returned in any store",
            Some("yes / no"),
        ),
    ] {
        let found = clash(question, one, other);
        assert_eq!(found.as_deref(), expected, "{one} / {other}");
    }
    assert_eq!(
        clash("ギフト券の返品", "ギフト券の返品は店頭で受け付ける", "ギフト券の返品は店頭で受け付けない")
            .as_deref(),
        Some("yes / no")
    );
}

/// The conflicts that the candidates for a question have, as `place / place about`, sorted by place.
fn found(files: &[(&str, &str)], question: &str) -> Vec<String> {
    let views = [manual("m", files)];
    let query = query(question);
    let matched = match_terms(&views, &query, &|_| true, far_away());
    let mut candidates = rank(&views, &query, &matched, 100, &HashSet::new()).best;
    candidates.sort_by_key(|candidate| candidate.place);
    let show = |conflict: &Conflict| {
        format!("{} / {} {}", shown(&views, conflict.one), shown(&views, conflict.other), conflict.about)
    };
    conflicts(&views, &query, &candidates).iter().map(show).collect()
}

const TWO_DEADLINES: &[(&str, &str)] = &[
    ("a.md", "# Returns\nIntro. The refund window of a gift card is 14 days\n"),
    ("b.md", "# Shop\nThe refund window of a gift card is 30 days\n"),
];

#[test]
fn sections_that_state_other_numbers_are_a_conflict_about_the_first_shared_term() {
    assert_eq!(found(TWO_DEADLINES, "refund window"), ["a.md:1 / b.md:1 refund: 14 days / 30 days"]);
    assert_eq!(found(TWO_DEADLINES, "gift window"), ["a.md:1 / b.md:1 gift: 14 days / 30 days"]);
}

#[test]
fn a_pair_is_reported_once_and_a_section_never_conflicts_with_itself() {
    let files = [
        (
            "a.md",
            "# A\nThe refund window of a gift card is 14 days\nThe refund window of a gift card is 15 days\n",
        ),
        ("b.md", "# B\nThe refund window of a gift card is 30 days\n"),
    ];
    assert_eq!(found(&files, "refund"), ["a.md:1 / b.md:1 refund: 14 days / 30 days"]);
    assert_eq!(found(&files[..1], "refund"), Vec::<String>::new());
}

#[test]
fn short_statements_conflict_only_under_the_same_headings() {
    let row = |title: &str, value: &str| format!("# {title}\n| timeout | {value} |\n");
    let (one, same, other) = (row("1. Limits", "30 s"), row("2. Limits", "60 s"), row("Sessions", "60 s"));
    let expected = ["a.md:1 / b.md:1 timeout: 30 / 60"];
    assert_eq!(found(&[("a.md", &one), ("b.md", &same)], "timeout"), expected);
    assert_eq!(found(&[("a.md", &one), ("b.md", &other)], "timeout"), Vec::<String>::new());
}

#[test]
fn a_heading_is_not_a_statement() {
    let files = [
        ("a.md", "# The refund window of a gift card is 14 days\nSee below\n"),
        ("b.md", "# The refund window of a gift card is 30 days\nSee below\n"),
    ];
    assert_eq!(found(&files, "refund"), Vec::<String>::new());
}

#[test]
fn other_units_more_numbers_and_other_subjects_are_no_conflict() {
    for (one, other) in [
        // Days and yen are not compared.
        ("the refund window of a card is 14 days", "the refund window of a card is 30 円"),
        // One of several numbers agrees.
        ("the refund of a gift card takes 14 days or 30 days", "the refund of a gift card takes 30 days"),
        // A negation beside other numbers speaks of something else.
        ("the refund of a gift card is not paid in 2024", "the refund of a gift card is paid"),
        (
            "the refund of a gift card takes 14 days",
            "the refund of shipping costs to other countries takes 30 days",
        ),
    ] {
        let files = [("a.md", format!("# A\n{one}\n")), ("b.md", format!("# B\n{other}\n"))];
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(found(&files, "refund"), Vec::<String>::new(), "{one} / {other}");
    }
}

#[test]
fn a_section_that_only_another_one_led_to_is_not_compared() {
    let views = [manual("m", TWO_DEADLINES)];
    let query = query("refund");
    let candidate = |node, terms| Candidate {
        signals: Signals::REFERENCE,
        terms,
        ..candidate(NodePlace { view: 0, segment: 0, node })
    };
    assert_eq!(conflicts(&views, &query, &[candidate(0, 1), candidate(1, 1)]).len(), 1);
    assert_eq!(conflicts(&views, &query, &[candidate(0, 1), candidate(1, 0)]), []);
}

#[test]
fn the_number_of_conflicts_is_limited() {
    let files: Vec<_> = (10..18)
        .map(|days| (format!("{days}.md"), format!("# A\nThe refund window of a gift card is {days} days\n")))
        .collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    // Eight sections that all differ would be 28 pairs.
    assert_eq!(found(&files, "refund").len(), MAX_CONFLICTS);
}
