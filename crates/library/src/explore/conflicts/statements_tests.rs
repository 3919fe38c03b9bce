use super::super::tests::check;

#[test]
fn statements_under_other_conditions_are_no_conflict() {
    check(&[
        // A condition that only one has.
        (
            "refund",
            "The refund window of a gift card is 14 days.",
            "If the seal is broken, the refund window of a gift card is 7 days.",
            None,
        ),
        ("返品", "商品の返品は14日です。", "開封済みの場合、商品の返品は7日です。", None),
        // An exception.
        (
            "refund",
            "The refund window of a gift card is 14 days.",
            "The refund window of a gift card is 30 days unless it was opened.",
            None,
        ),
        ("返品", "商品の返品は14日です。", "ただし、商品の返品は30日です。", None),
        // A contrast.
        (
            "meal break",
            "The meal break before noon is 10 minutes.",
            "The meal break after noon is 20 minutes.",
            None,
        ),
        ("開館", "図書館の開館時間は平日8時間です。", "図書館の開館時間は休日5時間です。", None),
        // Another topic.
        ("本の期限", "借りる人は本の期限を3日とします。", "貸す側は本の期限を5日とします。", None),
        // The values apply to other amounts.
        (
            "shipping fee",
            "The shipping fee is $5 for orders over $20.",
            "The shipping fee is $3 for orders over $50.",
            None,
        ),
    ]);
}

#[test]
fn examples_history_code_and_pointers_state_nothing() {
    let one = "The refund window of a gift card is 14 days.";
    check(&[
        ("refund", one, "For example, the refund window of a gift card is 30 days.", None),
        ("refund", one, "Previously, the refund window of a gift card is 30 days.", None),
        ("refund", one, "The refund window of a gift card was 30 days.", None),
        ("refund", one, "Is the refund window of a gift card 30 days?", None),
        ("refund", one, "```\nThe refund window of a gift card is 30 days.\n```", None),
        ("refund", one, "The refund window of a gift card is `30 days`.", None),
        ("refund", one, "<!-- The refund window of a gift card is 30 days. -->", None),
        ("返品", "商品の返品は14日です。", "以前は商品の返品は30日でした。", None),
        ("返品", "商品の返品は14日です。", "例えば、商品の返品は30日です。", None),
    ]);
}

#[test]
fn numbers_of_articles_versions_and_paths_are_no_values() {
    check(&[
        ("返品の規程", "返品の規程は第14条です。", "返品の規程は第30条です。", None),
        (
            "refund rule",
            "The refund rule stands in section 14.",
            "The refund rule stands in section 30.",
            None,
        ),
        ("driver", "The printer driver has version 14.", "The printer driver has version 30.", None),
        (
            "driver",
            "The printer driver lies in /opt/14/bin.",
            "The printer driver lies in /opt/30/bin.",
            None,
        ),
        ("driver", "The printer driver is v14 now.", "The printer driver is v30 now.", None),
    ]);
}
