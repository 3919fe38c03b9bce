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

#[test]
fn the_same_quantity_in_other_notations_is_compared() {
    check(&[
        // Bounds in other words.
        (
            "maximum upload size for attachments",
            "Attachments may not be larger than 25 MB each.",
            "Uploads of attachments work for anything up to 100 megabytes.",
            Some("attachments: 25 mb / 100 megabytes"),
        ),
        (
            "How many guests can I bring to the gym?",
            "A member of the gym may be accompanied by no more than two guests.",
            "Bring up to four guests along to the gym.",
            Some("guests: two guests / four guests"),
        ),
        (
            "駐車場は何台まで借りられますか",
            "駐車場は一住戸につき一台に限り使用できる。",
            "駐車場は各ご家庭で2台まで借りられます。",
            Some("駐車場: 一台 / 2台"),
        ),
        // Hours, ages and intervals in words.
        (
            "When does the library close on Fridays?",
            "On Fridays the library is open from 9:00 to 18:00.",
            "On Fridays you can stay in the library until eight in the evening.",
            Some("library: 18:00 / eight in the evening"),
        ),
        (
            "at which age can I retire",
            "The retirement age is 67.",
            "When you turn 65 you can retire.",
            Some("retire: 67 / 65"),
        ),
        (
            "how often is the filter changed",
            "The filter is changed every three months.",
            "The filter is changed twice a year.",
            Some("filter: three months / twice a year"),
        ),
        (
            "健康診断は年に何回ですか",
            "健康診断は毎年1回行う。",
            "健康診断は春と秋の年2回あります。",
            Some("健康診断: 1回 / 2回"),
        ),
        (
            "Which day is rubbish collected?",
            "Household rubbish is collected on Tuesdays.",
            "Rubbish is collected on Thursdays.",
            Some("rubbish: tuesday / thursday"),
        ),
        // Business days and calendar days.
        (
            "How many days in advance do I book the room?",
            "The room must be booked at least five working days in advance.",
            "Book the room one day in advance.",
            Some("advance: five working days / one day"),
        ),
        (
            "How many days in advance do I book the room?",
            "The room must be booked five working days in advance.",
            "Book the room a week in advance.",
            None,
        ),
        // Free, and never.
        (
            "年会費はいくらですか",
            "会員は年会費として3,300円を納める。",
            "年会費は無料です。",
            Some("年会費: 3,300円 / 無料"),
        ),
        (
            "how long is a gift card valid",
            "A gift card is valid for 24 months.",
            "A gift card never expires.",
            Some("gift: 24 months / never expire"),
        ),
    ]);
}

#[test]
fn the_answer_to_a_question_is_about_what_the_question_names() {
    let rule = "# Maintenance\n\nThe filter must be changed every three months.\n";
    let faq = "# Support\n\nHave you changed the filter lately? Doing so twice a year is enough.\n";
    let (conflicts, _) = found(&[("a.md", rule), ("b.md", faq)], "how often must the filter be changed");
    assert_eq!(conflicts, ["a.md:1 / b.md:1 filter: three months / twice a year"]);
    // A Japanese sentence without a topic goes on with the one before it.
    let rule = "# 認証\n\nパスワードは12文字以上とする。\n";
    let faq = "# ログイン\n\nパスワードを決めましょう。8文字あれば登録できます。\n";
    let (conflicts, _) = found(&[("a.md", rule), ("b.md", faq)], "パスワードは何文字以上ですか");
    assert_eq!(conflicts, ["a.md:1 / b.md:1 パスワード: 12文字 / 8文字"]);
}

#[test]
fn answers_about_something_else_are_no_conflict() {
    check(&[
        // A condition, as a clause or a phrase.
        (
            "how much notice do I have to give",
            "The employee shall give notice of three months.",
            "During the probation period two weeks of notice are enough.",
            None,
        ),
        (
            "送料はいくらですか",
            "送料は全国一律600円とする。",
            "5,000円以上お買い上げなら送料は無料です。",
            None,
        ),
        // A group, or an owner.
        (
            "出張の日当はいくらですか",
            "一般の従業員の出張の日当は2,500円とする。",
            "部長の出張の日当は4,000円です。",
            None,
        ),
        ("入館料はいくらですか", "入館料は500円とする。", "中学生以下の方は入館料が無料です。", None),
        (
            "忌引休暇は何日ですか",
            "父母が死亡したときの忌引休暇は7日とする。",
            "祖父母の場合、忌引休暇は3日です。",
            None,
        ),
        // Another attribute.
        ("貸出の延長は何日できますか", "図書の貸出期間は14日とする。", "貸出の延長は7日できます。", None),
        (
            "how long does the battery last",
            "The battery lasts 40 minutes.",
            "Charging the battery takes two hours.",
            None,
        ),
        (
            "how long can I borrow a projector",
            "A projector may be borrowed for two days.",
            "You can reserve a projector three months ahead.",
            None,
        ),
        // Another period.
        (
            "残業の上限は何時間ですか",
            "残業の上限は1か月45時間とする。",
            "残業の上限は年間で360時間です。",
            None,
        ),
        // What may happen.
        (
            "有給は何日買い上げますか",
            "有給の保有の上限は四十日です。",
            "有給の残りは十日まで買い上げることがあります。",
            None,
        ),
        // One word alone asks for nothing.
        ("mac", "The path has 104 characters on Mac.", "On Mac the name has 33 characters.", None),
    ]);
}
