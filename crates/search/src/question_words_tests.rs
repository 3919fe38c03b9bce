//! Tables of questions and what they are parsed into: terms, and the wanted kind of fact.

use proptest::prelude::*;

use super::super::gaps::gaps;
use super::super::test_corpus::{DICTIONARY, manual, outcome, query, shown};
use super::*;

fn terms(question: &str) -> String {
    query(question).terms.iter().map(Term::text).collect::<Vec<_>>().join(" ")
}

#[test]
fn words_that_direct_or_only_ask_are_no_terms() {
    for (question, expected) in [
        ("返品の期限を教えてください", "返品 期限"),
        ("返品の期限を詳しく教えてもらえますか", "返品 期限"),
        ("教えてください返品の期限を", "返品 期限"),
        ("すみません、返品の窓口を教えて下さい。", "返品 窓口"),
        ("有給休暇の繰越について知りたいです", "有給休暇 繰越"),
        ("休職中の給与について説明してください", "休職中 給与"),
        ("出張申請の書類を列挙して", "出張申請 書類"),
        ("給付の例外を網羅的に教えて", "給付 例外"),
        ("見積をお願いします", "見積"),
        ("退職に関する規定", "退職 規定"),
        ("社員及び役員の旅費", "社員 役員 旅費"),
        ("規程に基づく手当", "規程 手当"),
        // What is told, searched or put together is content where it does not end the question.
        ("パスワードを教えてもよいか", "パスワード 教え"),
        ("まとめて支払う", "まとめ 支払"),
        // Nouns that end a question, and the same in a compound.
        ("解約する方法", "解約"),
        ("申請の方法を教えてください", "申請"),
        ("申請方法を教えて", "申請方法"),
        ("支払い方法は", "支払い方法"),
        ("通知方法", "通知方法"),
        ("副業は可能ですか", "副業"),
        ("届出は必要か", "届出"),
        ("必要な書類", "必要 書類"),
        ("再入院となる条件", "再入院"),
        ("解約返戻金がない理由", "解約返戻金"),
        ("復旧の方法は？費用は", "復旧 費用"),
        ("入院した時", "入院"),
        ("方法", "方法"),
        // Question words.
        ("何年何月に設立されたか", "設立"),
        ("返品は何日以内ですか", "返品"),
        ("支払いは何営業日後ですか", "支払"),
        ("灯台が開くのは何曜日か", "灯台 開く"),
        ("送料はいくらかかりますか", "送料"),
        ("修理にどれくらい時間がかかりますか", "修理"),
        ("最大何日まで延長できる", "最大 延長"),
        ("申込はいつまで", "申込"),
        ("どの程度の割引ですか", "割引"),
        // Verbs are found by their stem.
        ("申し込む期限", "申し込 期限"),
        ("支払う義務", "支払 義務"),
        ("tell me the refund window", "refund window"),
        ("Please list all limits of the API", "limits api"),
        ("can you list supported formats", "supported formats"),
        ("Could you please tell me how refunds work?", "refunds work"),
        ("I'd like to know the rate limits, thanks", "rate limits"),
        ("explain the refund policy in detail", "refund policy"),
        ("explain refunds", "refunds"),
        ("describe how tokens expire", "tokens expire"),
        ("show me the rate limits please", "rate limits"),
        ("look up the shelf address", "shelf address"),
        ("My badge is lost. Tell me what to do", "badge lost"),
        ("Hi, where is the badge office?", "badge office"),
        ("meaning of KIT-027", "kit-027"),
        ("what does KIT-027 mean", "kit-027"),
        ("how many days can consumers return goods", "consumers return goods"),
        ("how many requests per minute", "requests per minute"),
        ("how often must harnesses be inspected", "harnesses inspected"),
        ("what kind of ladder is allowed", "ladder allowed"),
        ("what time does the office open", "office open"),
        // The same words as content.
        ("list comprehension syntax", "list comprehension syntax"),
        ("find method of arrays", "find method arrays"),
        ("find remaining calls", "find remaining calls"),
        ("SHOW TABLES", "show tables"),
        ("EXPLAIN ANALYZE output", "explain analyze output"),
        ("explain plan", "explain plan"),
        ("hello world example", "hello world example"),
        ("look up table", "look table"),
        ("what time zone does the scheduler use", "time zone scheduler use"),
        ("please", "please"),
    ] {
        assert_eq!(terms(question), expected, "{question}");
    }
}

#[test]
fn question_words_tell_the_wanted_kind_of_fact() {
    let day = Wanted::DURATION.with(Wanted::DATE);
    for (question, expected) in [
        ("返品は何日以内ですか", Wanted::DURATION),
        ("何営業日で届きますか", Wanted::DURATION),
        ("締め日は毎月何日ですか", day),
        ("何年何月に設立されたか", day),
        ("何月に届きますか", Wanted::DATE),
        ("何曜日が休みですか", Wanted::DATE),
        ("何時に開きますか", Wanted::TIME),
        ("何時間使えますか", Wanted::DURATION),
        ("手数料はいくら", Wanted::MONEY),
        ("1回何円ですか", Wanted::MONEY),
        ("再発行の手数料は", Wanted::MONEY),
        ("何歳から加入できますか", Wanted::AGE),
        ("何回まで申請できますか", Wanted::COUNT),
        ("何パーセント引きですか", Wanted::PERCENT),
        ("灯台は何メートルか", Wanted::SIZE),
        ("灯台の高さ", Wanted::SIZE),
        ("どのくらい保存されますか", Wanted::QUANTITY),
        ("いつから有効になりますか", Wanted::WHEN),
        ("誰が承認しますか", Wanted::PERSON),
        ("どこで受け取れますか", Wanted::PLACE),
        ("祖母の葬儀で休める日数", Wanted::DURATION),
        // Nothing is asked for here.
        ("返品の窓口", Wanted::default()),
        ("試用期間の給与", Wanted::default()),
        ("幾何学の本", Wanted::default()),
        ("何度も失敗する", Wanted::default()),
        ("有給は何日もらえますか", Wanted::DURATION.with(Wanted::DATE)),
        ("いつも遅い", Wanted::default()),
        ("how many days are left", Wanted::DURATION),
        ("how many requests are allowed", Wanted::COUNT),
        ("how much is the fee", Wanted::MONEY),
        ("how much memory is needed", Wanted::SIZE),
        ("how much time do I have", Wanted::DURATION),
        ("how long is a token valid", Wanted::DURATION),
        ("what year was the port built", Wanted::DATE),
        ("what time does it open", Wanted::TIME),
        ("who approves travel", Wanted::PERSON),
        ("where do I park", Wanted::PLACE),
        ("when is the report due", Wanted::WHEN),
        ("please tell me who approves travel", Wanted::PERSON),
        ("what to do when the alarm rings", Wanted::default()),
        ("which plan includes support", Wanted::default()),
    ] {
        assert_eq!(query(question).wanted, expected, "{question}");
    }
}

#[test]
fn words_that_direct_never_are_gaps() {
    let views =
        [manual("m", &[("a.md", "# 返品\n返品は14日以内です。\n# Refund\nA refund takes 5 days.\n")])];
    for question in [
        "返品は何日以内ですか。教えてください",
        "返品の方法を詳しく説明してほしいです",
        "返品する場合、お願いします",
        "please explain how many days a refund takes",
        "can you tell me about the refund, thanks",
        "what kind of refund is it",
    ] {
        let outcome = outcome(&views, question);
        let found = gaps(&views, &outcome.query, outcome.inside(), outcome.inside_terms());
        assert_eq!(found.terms, 0, "{question}: {:?}", found.hints);
    }
}

#[test]
fn the_base_of_a_compound_is_no_gap_and_evidence_where_nothing_else_is() {
    let text = "# 一\n休職の期間\n# 二\n支払は月末\n# 三\n契約の解除\n# 四\n通知方法\n# 五\n通知は郵便\n";
    let views = [manual("m", &[("a.md", text)])];
    let found = |question: &str| {
        let outcome = outcome(&views, question);
        let gaps = gaps(&views, &outcome.query, outcome.inside(), outcome.inside_terms());
        let candidates = outcome.candidates.iter();
        let kinds = candidates.map(|found| format!("{} {:?}", shown(&views, found.place), found.kind));
        (kinds.collect::<Vec<_>>().join(" "), gaps.terms)
    };
    assert_eq!(found("休職中"), ("a.md:1 Synonym".to_owned(), 0));
    assert_eq!(found("支払方法"), ("a.md:3 Synonym".to_owned(), 0));
    assert_eq!(found("通知方法"), ("a.md:7 Exact a.md:9 Part".to_owned(), 0));
    // A word of another meaning is not found, although a section is related.
    assert_eq!(found("契約者"), ("a.md:5 Part".to_owned(), 1));
}

#[test]
fn the_whole_compound_ranks_above_its_base() {
    let views = [manual("m", &[("a.md", "# 一\n休職 休職 休職\n# 二\n休職中の給与\n# 三\n休職の期間\n")])];
    let outcome = outcome(&views, "休職中");
    let order: Vec<_> = outcome.candidates.iter().map(|found| shown(&views, found.place)).collect();
    assert_eq!(order.first().map(String::as_str), Some("a.md:3"));
    assert_eq!(order.len(), 3);
}

/// Questions of words that mean something.
fn content() -> impl Strategy<Value = String> {
    let japanese =
        prop::sample::select(vec!["返品", "支払方法", "休職中", "給付金", "サーバー", "何日以内", "期限"]);
    let english = prop::sample::select(vec![
        "refund", "list", "Keycloak", "find", "limits", "XR-200", "explain", "how many",
    ]);
    let particle = prop::sample::select(vec!["の", "は", "と", "を"]);
    let japanese = prop::collection::vec((japanese, particle), 1..5).prop_map(|words| {
        words.iter().map(|(word, particle)| format!("{word}{particle}")).collect::<String>() + "窓口"
    });
    let english = prop::collection::vec(english, 0..5).prop_map(|words| format!("token {}", words.join(" ")));
    prop_oneof![japanese, english]
}

proptest! {
    #[test]
    fn a_request_never_changes_the_terms(question in content()) {
        let plain = query(&question);
        for asked in [
            format!("{question}を教えてください"),
            format!("{question}について詳しく説明して下さい。"),
            format!("すみません、{question}"),
            format!("{question} please"),
            format!("Please {question}"),
            format!("could you please tell me {question}, thanks"),
        ] {
            let asked_for = query(&asked);
            let texts = |query: &Query| query.terms.iter().map(|term| (term.text().to_owned(), term.role)).collect::<Vec<_>>();
            prop_assert_eq!(texts(&asked_for), texts(&plain), "{}", asked);
            prop_assert_eq!(asked_for.wanted, plain.wanted, "{}", asked);
        }
    }

    #[test]
    fn any_question_is_parsed_the_same_twice(
        question in "([a-c]|と|の|違い|何日|教えて|方法| |vs|and|or|which|list|please|difference between|,|、|返品|入院|よ){1,20}"
    ) {
        let Ok(parsed) = Query::new(&question, None, &DICTIONARY) else { return Ok(()) };
        prop_assert_eq!(&parsed, &query(&question));
        prop_assert!(!parsed.terms.is_empty());
    }
}
