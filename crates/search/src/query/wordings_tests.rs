use super::*;
use crate::query::dictionary::Dictionary;
use crate::test_corpus::{manual, outcome_with, query};

fn other_words(phrasings: &[&str], hypothetical: Option<&str>) -> OtherWords {
    OtherWords {
        phrasings: phrasings.iter().map(|text| (*text).to_owned()).collect(),
        hypothetical: hypothetical.map(str::to_owned),
    }
}

fn parsed(question: &str, phrasings: &[&str], hypothetical: Option<&str>) -> Result<Vec<Wording>, ToolError> {
    wordings_of(&other_words(phrasings, hypothetical), question, &query(question), &Dictionary::new(&[]))
}

fn arguments(wordings: &[Wording]) -> Vec<&str> {
    wordings.iter().map(|wording| wording.argument.as_str()).collect()
}

#[test]
fn what_repeats_the_question_or_another_wording_is_left_out() {
    let wordings = parsed(
        "返品の期限",
        &["返品の期限", "「返品・の期限」", "返送できる日数", "返送できる日数"],
        Some("返品の 期限"),
    )
    .unwrap();
    assert_eq!(arguments(&wordings), ["phrasings[2]"]);
    assert!(parsed("a refund", &[], None).unwrap().is_empty());
}

#[test]
fn a_wording_requires_and_excludes_nothing() {
    let passage = "It is **-5** degrees, -not 3, and \"the seal\" 「封印」 of TR-310 --force must hold.";
    let wordings =
        parsed("what temperature -frozen", &["-minus \"storage temperature\" TR-310"], Some(passage))
            .unwrap();
    assert_eq!(arguments(&wordings), ["phrasings[0]", "hypothetical"]);
    for Wording { query, .. } in &wordings {
        assert!(query.negatives.is_empty(), "{:?}", query.negatives);
        assert!(query.terms.iter().all(|term| term.role == Role::Soft && !term.is_phrase));
    }
    let terms: Vec<_> = wordings[1].query.terms.iter().map(|term| term.text()).collect();
    for word in ["seal", "封印", "tr-310", "force"] {
        assert!(terms.contains(&word), "{word} in {terms:?}");
    }
}

#[test]
fn a_wording_has_the_intent_the_goal_and_the_wanted_fact_of_the_question() {
    let wordings = parsed("返品の例外を全て教えて", &["返送とは"], Some("返送は三十日以内。")).unwrap();
    let question = query("返品の例外を全て教えて");
    for Wording { query, .. } in &wordings {
        assert_eq!(
            (query.intent, query.goal, query.asked_value.clone()),
            (question.intent, question.goal, question.asked_value.clone())
        );
    }
}

#[test]
fn markup_of_a_wording_is_no_word_and_components_are() {
    let terms = |passage: &str| -> Vec<String> {
        let wordings = parsed("x", &[], Some(passage)).unwrap();
        wordings[0].query.terms.iter().map(|term| term.text().to_owned()).collect()
    };
    assert_eq!(terms("<p>公共の<b>場所</b></p>"), terms("公共の場所"));
    assert_eq!(terms("See [pay day](pay-day.md)."), terms("See pay day."));
    assert!(terms("<KeepAlive>").contains(&"keepalive".to_owned()));
    assert!(terms("<Transition name=\"x\"> を使う").contains(&"transition".to_owned()));
    assert!(!terms("Pets are not allowed.").contains(&"not".to_owned()));
}

#[test]
fn a_wording_without_words_is_an_error_that_names_it() {
    let error = parsed("refund", &["return", "?!"], None).unwrap_err();
    assert!(error.message().contains("phrasings[1]"), "{}", error.message());
    let error = parsed("refund", &[], Some("---")).unwrap_err();
    assert!(error.message().contains("hypothetical"), "{}", error.message());
}

#[test]
fn long_wordings_are_cut_to_some_terms() {
    let long: String = (0..2000).map(|number| format!("word{number} ")).collect();
    let long = long.get(..10_000).unwrap();
    let wordings = parsed("refund", &[long; 8], None).unwrap();
    // Equal ones count once.
    assert_eq!(wordings.len(), 1);
    assert_eq!(wordings[0].query.terms.len(), MAX_WORDING_TERMS);
}

#[test]
fn the_report_names_the_words_that_were_found() {
    let views = [manual("m", &[("a.md", "# Returns\nSend it back within 30 days.\n# Other\nplain\n")])];
    let found = outcome_with(&views, "zyxgrmpf", &["returns zzz"], Some("Send it back, qqq."));
    let reports: Vec<_> = found
        .wordings
        .iter()
        .map(|other| WordingReport::new(&other.wording, &other.matched.document_frequencies))
        .collect();
    assert_eq!(reports[0].argument, "phrasings[0]");
    assert_eq!((reports[0].found.join(" "), reports[0].missing.join(" ")), ("returns".into(), "zzz".into()));
    assert!(reports[1].found.contains(&"send".to_owned()) && reports[1].missing.contains(&"qqq".to_owned()));
}
