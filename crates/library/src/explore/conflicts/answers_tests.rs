use super::super::tests::{check, found};

#[test]
fn answers_in_other_words_are_compared() {
    check(&[
        // An exact value within a limit.
        (
            "How long may I park in the garage?",
            "Visitors may leave a car in the garage for 2 hours.",
            "Parking in the garage: up to 5 hours per visit.",
            None,
        ),
        (
            "How many days before departure can I cancel the trip?",
            "Guests cancel the trip 14 days before departure at no cost.",
            "Trip cancellation is free until 7 days before departure.",
            Some("before: 14 days / 7 days"),
        ),
        (
            "ゴミ袋の値段はいくらですか",
            "ゴミ袋は一枚50円で販売しています。",
            "指定のゴミ袋の値段は80円となります。",
            Some("ゴミ袋: 50円 / 80円"),
        ),
        // Another kind of value than the question asks for.
        (
            "ゴミ袋の値段はいくらですか",
            "ゴミ袋は一週間に3枚まで販売しています。",
            "指定のゴミ袋の値段は80円となります。",
            None,
        ),
        // The same value.
        (
            "ゴミ袋の値段はいくらですか",
            "ゴミ袋は一枚50円で販売しています。",
            "指定のゴミ袋の値段は五十円となります。",
            None,
        ),
        // Other kinds of the same thing.
        ("給付金はいくらですか", "入院給付金は日額5,000円です。", "通院給付金は日額3,000円です。", None),
        // Rates of other things.
        (
            "how much is the entrance fee",
            "The entrance fee is $5 per person.",
            "For visits, an entrance fee of $40 per group is paid.",
            None,
        ),
        // An exception.
        (
            "ゴミ袋の値段はいくらですか",
            "ゴミ袋は一枚50円で販売しています。",
            "ただし指定のゴミ袋の値段は80円となります。",
            None,
        ),
    ]);
}

#[test]
fn a_section_with_two_answers_that_are_as_good_gives_none() {
    let one = "# Alpha\nゴミ袋は小さいもので50円です。\n\nゴミ袋は大きいもので90円です。\n";
    let other = "# Omega\n指定のゴミ袋の値段は80円となります。\n";
    let question = "ゴミ袋はいくらですか";
    assert_eq!(found(&[("a.md", one), ("b.md", other)], question), (vec![], vec![]));
}
