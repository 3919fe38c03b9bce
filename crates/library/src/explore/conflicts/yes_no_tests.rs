use super::super::tests::check;

#[test]
fn an_answer_denies_in_other_words_what_another_one_affirms() {
    check(&[
        (
            "are pets allowed in the holiday flats",
            "Pets are not permitted in the holiday flats.",
            "Yes, pets are welcome in all of our holiday flats.",
            Some("pets: yes / no"),
        ),
        (
            "can I pay by cheque",
            "Payment by cheque is not accepted.",
            "You can pay by card, by transfer or by cheque.",
            Some("pay: yes / no"),
        ),
        (
            "is overtime paid",
            "Overtime is not paid.",
            "Overtime is paid with your next salary.",
            Some("overtime: yes / no"),
        ),
        (
            "副業はできますか",
            "従業員は、会社に在籍したまま副業をしてはならない。",
            "副業は認められています。",
            Some("副業: yes / no"),
        ),
        // A potential form says what is possible.
        (
            "試験に電卓を持ち込めますか",
            "試験室に電卓を持ち込んではならない。",
            "電卓は試験に持ち込めますので、ご安心ください。",
            Some("試験: yes / no"),
        ),
        // Who bears the cost.
        (
            "返品の送料は誰が負担しますか",
            "返品の送料はお客様の負担とします。",
            "返品の送料は当店が負担します。",
            Some("返品: yes / no"),
        ),
    ]);
}

#[test]
fn a_denial_of_something_else_is_no_conflict() {
    check(&[
        // Other places.
        (
            "is smoking allowed",
            "Smoking is not allowed in the rooms.",
            "Smoking is allowed on the balconies.",
            None,
        ),
        (
            "can I cancel my ticket",
            "Tickets at the saver fare cannot be cancelled.",
            "A ticket at the flexible fare can be cancelled.",
            None,
        ),
        // Other days.
        ("is parking free", "Parking is not free on weekdays.", "Parking is free on Sundays.", None),
        // A denial in a long sentence is one of something else.
        (
            "convert an account to an organization",
            "You can convert your account to an organization.",
            "Before you convert an account to an organization, make sure that it meets the terms, it must not be a part of a team.",
            None,
        ),
        (
            "電卓は使えますか",
            "筆記試験では電卓を使用してはならない。",
            "実技試験では電卓を使用できます。",
            None,
        ),
        // A value is asked for.
        ("how long may I park", "You may not park for more than 2 hours.", "You may park for 2 hours.", None),
    ]);
}
