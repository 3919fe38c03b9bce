use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<&str> {
    terms(text).into_iter().map(|(range, _)| &text[range]).collect()
}

#[test]
fn questions_are_segmented_into_their_terms() {
    for (question, expected) in [
        ("がん診断給付金の対象外になる条件", &["がん診断給付金", "対象外", "条件"][..]),
        ("保険料の払込みが遅れたらいつ失効しますか", &["保険料", "払込", "遅れ", "失効"]),
        ("足のけがで通院したときの給付", &["足", "けが", "通院", "給付"]),
        ("第3条の支払事由とは何ですか", &["第3条", "支払事由"]),
        ("30日以内に申し込みを取り消したい", &["30日", "以内", "申し込", "取り消"]),
        ("胃がんと乳がんの違い", &["胃がん", "乳がん", "違い"]),
        ("サーバーを再起動する方法", &["サーバー", "再起動", "方法"]),
        ("くすりの代金について", &["くすり", "代金"]),
        ("返品は何日以内ですか", &["返品", "以内"]),
        // A Kanji noun and Katakana make one compound, whichever comes first.
        ("電子メールアドレスの変更", &["電子メールアドレス", "変更"]),
        // Stop nouns and function words are no terms.
        ("その時はどうすればいいですか", &[]),
        ("退職した人の有給", &["退職", "有給"]),
        // A verb before a noun is a term of its own.
        ("申し込む期限", &["申し込", "期限"]),
        ("支払う義務", &["支払", "義務"]),
        ("支払い方法", &["支払い方法"]),
        ("退職に関する規定", &["退職", "規定"]),
        // も with okurigana belongs to the word before it, and no word begins with り.
        ("見積もりは誰が作りますか", &["見積", "作り"]),
        ("粗大ごみは何日前まで", &["粗大ごみ"]),
        // One Kanji of a verb would mean anything.
        ("給付金は出ますか", &["給付金", "出ます"]),
        ("wi-fiのつなぎ方", &["wi-fi", "つなぎ方"]),
    ] {
        assert_eq!(found(question), expected, "{question}");
    }
}

#[test]
fn numbers_with_a_unit_are_required_and_bare_ones_are_not() {
    let roles = |text: &str| -> Vec<(String, Role)> {
        terms(text).into_iter().map(|(range, role)| (text[range].to_owned(), role)).collect()
    };
    let term = |text: &str, role| (text.to_owned(), role);
    assert_eq!(roles("30日の返品"), [term("30日", Role::Must), term("返品", Role::Soft)]);
    assert_eq!(roles("第7の給付"), [term("第7", Role::Must), term("給付", Role::Soft)]);
    assert_eq!(
        roles("返品7の給付"),
        [term("返品", Role::Soft), term("7", Role::Soft), term("給付", Role::Soft)]
    );
    // The longer unit wins: 3か月, not 3 and か月.
    assert_eq!(roles("3か月以内"), [term("3か月", Role::Must), term("以内", Role::Soft)]);
}

proptest! {
    #[test]
    fn terms_lie_in_order_within_the_text(text in "[あ-んア-ヶ一二三日月年第条保険0-9a-z]{0,24}") {
        let mut last = 0;
        for (range, _) in terms(&text) {
            prop_assert!(range.start >= last && text.get(range.clone()).is_some_and(|term| !term.is_empty()));
            last = range.end;
        }
    }
}

#[test]
fn connectives_are_written_without_kanji() {
    let plain = |text: &str| with_plain_connectives(text.to_owned());
    assert_eq!(plain("社員及び役員又は顧問"), "社員と役員か顧問");
    assert_eq!(plain("規程に基づく手当"), "規程による手当");
    assert_eq!(plain("返品の窓口"), "返品の窓口");
}
