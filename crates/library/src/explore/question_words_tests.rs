//! Tables of questions and what they are parsed into: terms, the wanted kind of fact, and the sides of a comparison.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::comparison::MAX_SIDES;
use super::super::gaps::gaps;
use super::super::matching::{MatchOutcome, match_terms};
use super::super::test_corpus::{DICTIONARY, far_away, manual, outcome, outcome_at_home, query, shown};
use super::*;

fn terms(question: &str) -> String {
    query(question).terms.iter().map(Term::text).collect::<Vec<_>>().join(" ")
}

/// The terms that only one side has, the sides separated by a bar.
fn sides(question: &str) -> String {
    let query = query(question);
    let side = |bits: &u64| {
        let own = query.terms.iter().enumerate().filter(|(index, _)| bits >> index & 1 == 1);
        own.map(|(_, term)| term.text()).collect::<Vec<_>>().join(" ")
    };
    query.sides.iter().map(side).collect::<Vec<_>>().join(" | ")
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
fn a_text_states_the_fact_or_not() {
    for (question, text, expected) in [
        ("返品は何日以内ですか", "返品は到着後14日以内", true),
        ("返品は何日以内ですか", "返品は三月に受け付けます", false),
        ("返品の窓口", "返品は店頭で", true),
        ("how much is the fee", "a fee of $5", true),
        ("how much is the fee", "the fee is waived", false),
    ] {
        assert_eq!(has_wanted_fact(&query(question), text), expected, "{question} {text}");
    }
}

#[test]
fn comparisons_have_sides() {
    for (question, expected) in [
        ("A型とB型の違い", "a型 | b型"),
        ("プランAとプランBの比較", "プランa | プランb"),
        ("A型とB型の保険料の違いを教えてください", "a型 | b型"),
        ("正社員の退職金とパートの退職金の違い", "正社員 | パート"),
        ("入院した場合と通院した場合の違いは何ですか", "入院 | 通院"),
        ("口座振替とクレジットカードではどちらが安いですか", "口座振替 | クレジットカード"),
        ("入院給付金は通院給付金とどう違いますか", "入院給付金 | 通院給付金"),
        ("有給休暇と特別休暇と代休の違い", "有給休暇 | 特別休暇 | 代休"),
        ("有線と比べて無線の速度は", "有線 | 無線"),
        ("OAuth と SAML の違い", "oauth | saml"),
        ("プランA vs プランB", "プランa | プランb"),
        ("difference between access tokens and refresh tokens", "access | refresh"),
        ("what is the difference between REST and GraphQL?", "rest | graphql"),
        ("compare economy with business class for long flights", "economy | business"),
        ("rail vs air travel", "rail | air"),
        ("rail versus air travel", "rail | air"),
        ("how does v1 differ from v2", "v1 | v2"),
        ("retry or backoff, which is safer?", "retry | backoff"),
        ("Which is better, rail or air?", "rail | air"),
        ("should I use a taxi or a rental car", "taxi | rental"),
        ("difference between the basic, plus and premium plans", "basic | plus | premium"),
        ("the taxi compared to the train", "taxi | train"),
        // These compare nothing.
        ("申込と契約の手続き", ""),
        ("30日を過ぎるとどう違うか", ""),
        ("accept or refuse", ""),
        ("between 9 and 17 o'clock", ""),
        ("A型とA型の違い", ""),
        ("what is the difference between plans", ""),
        ("which plan includes chat or phone support", ""),
    ] {
        assert_eq!(sides(question), expected, "{question}");
    }
    assert_eq!(terms("what is the difference between REST and GraphQL?"), "rest graphql");
    assert_eq!(terms("入院した場合と通院した場合の違い"), "入院 通院");
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

/// A manual with many sections that are about one side of a comparison, and others that mention the other side.
fn lopsided() -> [crate::index::View; 1] {
    let files = [
        ("a", "# 有線\n有線の速度は有線の規格による。有線。\n"),
        (
            "b",
            "# 章\n前置きの長い文章がここに続き、そのあとで無線という言葉に一度だけ触れて、また別の話に移る。\n",
        ),
        ("c", "# Rail\nRail fares. Take rail, the rail ticket.\n"),
        (
            "d",
            "# Other\nA long text about many other things that mentions the word air only once and then goes on.\n",
        ),
    ];
    let numbered = |(folder, text): (&str, &str)| {
        let file =
            |number: usize| (format!("{folder}/{number}.md"), text.replace('#', &format!("# {number}")));
        (0..30).map(file).collect::<Vec<_>>()
    };
    let texts: Vec<_> = files.into_iter().flat_map(numbered).collect();
    let texts: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    [manual("m", &texts)]
}

#[test]
fn both_sides_of_a_comparison_are_among_the_first_five() {
    let views = lopsided();
    for (plain, question, other) in [
        ("有線 無線 速度", "有線と無線の速度の違い", "b/"),
        ("有線 無線", "有線 vs 無線", "b/"),
        ("rail air fares", "rail vs air fares", "d/"),
        ("rail air", "difference between rail and air", "d/"),
    ] {
        let order = |question: &str| -> Vec<String> {
            let outcome = outcome(&views, question);
            assert!(outcome.candidates.is_sorted_by(|one, other| one.score >= other.score), "{question}");
            let places = outcome.candidates.iter().chain(&outcome.more_evidence);
            places.map(|found| shown(&views, found.place)).collect()
        };
        let has_other = |order: &[String]| order.iter().take(5).any(|place| place.starts_with(other));
        assert!(!has_other(&order(plain)), "the corpus would not need a comparison: {plain}");
        let compared = order(question);
        assert!(has_other(&compared), "{question}: {compared:?}");
        assert!(compared.iter().take(5).any(|place| !place.starts_with(other)), "{question}");
        // No section is lost.
        let places = |order: Vec<String>| order.into_iter().collect::<HashSet<_>>();
        assert_eq!(places(compared), places(order(plain)), "{question}");
    }
}

#[test]
fn what_lies_outside_is_compared_below_what_lies_inside() {
    let views = [
        manual("m", &[("a.md", "# Rail\nrail\n# Trains\nthe rail again\n# More\nrail rail\n")]),
        manual("n", &[("b.md", "# Air\nair\n")]),
    ];
    let outcome = outcome_at_home(&views, "m", "rail vs air");
    let order: Vec<_> = outcome.candidates.iter().map(|found| (found.is_outside, found.place.view)).collect();
    assert_eq!(order, [(false, 0), (false, 0), (false, 0), (true, 1)]);
}

#[test]
fn a_section_about_both_sides_comes_first() {
    let views = [manual(
        "m",
        &[("a.md", "# Rail\nrail\n"), ("b.md", "# Both\nrail and air\n"), ("c.md", "# Air\nair\n")],
    )];
    let order: Vec<_> =
        outcome(&views, "rail vs air").candidates.iter().map(|found| shown(&views, found.place)).collect();
    assert_eq!(order.len(), 3);
    assert_eq!(order[0], "b.md:1");
}

#[test]
fn only_a_comparison_has_scores_for_sides() {
    let views = lopsided();
    let matched =
        |question: &str| -> MatchOutcome { match_terms(&views, &query(question), &|_| true, far_away()) };
    assert!(matched("rail air").side_scores.is_empty());
    let compared = matched("rail vs air");
    assert_eq!(compared.side_scores.len(), compared.hits.len());
    for (hit, scores) in compared.hits.iter().zip(&compared.side_scores) {
        // What a section has of the other side does not count.
        assert!(scores[0] <= hit.score && scores[1] <= hit.score);
    }
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
    fn any_question_is_parsed_the_same_twice_and_its_sides_are_apart(
        question in "([a-c]|と|の|違い|何日|教えて|方法| |vs|and|or|which|list|please|difference between|,|、|返品|入院|よ){1,20}"
    ) {
        let Ok(parsed) = Query::new(&question, None, &DICTIONARY) else { return Ok(()) };
        prop_assert_eq!(&parsed, &query(&question));
        prop_assert!(!parsed.terms.is_empty());
        let mut seen = 0;
        for side in &parsed.sides {
            prop_assert!(*side != 0 && seen & side == 0);
            seen |= side;
        }
        prop_assert!(parsed.sides.is_empty() || (2..=MAX_SIDES).contains(&parsed.sides.len()));
    }
}
