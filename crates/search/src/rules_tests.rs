use super::dictionary::{Dictionary, WordList};
use super::query::Query;
use crate::rules::{RuleGroup, Rules};

fn parsed(question: &str, left_out: RuleGroup) -> (Query, Query) {
    let words = WordList::read("synonyms:\n  - [spanner, wrench]\n").unwrap();
    let dictionary = Dictionary::new(&[words]);
    let parse = |rules| Query::parse("query", question, None, &dictionary, rules).unwrap();
    (parse(Rules::default()), parse(Rules::default().without(left_out)))
}

fn terms(query: &Query) -> Vec<&str> {
    query.terms.iter().map(|term| term.text()).collect()
}

#[test]
fn every_group_has_a_name_and_a_bit_of_its_own() {
    for (at, (group, name)) in RuleGroup::ALL.into_iter().enumerate() {
        assert_eq!(RuleGroup::named(name), Some(group));
        let rules = Rules::default().without(group);
        let left_out = RuleGroup::ALL.into_iter().filter(|(other, _)| !rules.has(*other));
        assert_eq!((left_out.collect::<Vec<_>>(), group as usize), (vec![(group, name)], at));
    }
    assert_eq!(RuleGroup::named("Coverage"), None);
}

#[test]
fn words_that_are_left_out_of_a_question_come_back() {
    let (with, without) = parsed("please explain the refund", RuleGroup::DirectingWords);
    assert_eq!((terms(&with), terms(&without).contains(&"refund")), (vec!["refund"], true));
    assert!(without.keys.len() > with.keys.len());
    let (with, without) = parsed("the refund", RuleGroup::StopWords);
    assert_eq!((terms(&with), terms(&without)), (vec!["refund"], vec!["the", "refund"]));
    let (with, without) = parsed("何日以内に返品", RuleGroup::AskingWords);
    assert!(terms(&without).len() > terms(&with).len(), "{:?}", terms(&without));
    let (with, without) = parsed("how much is a ticket", RuleGroup::AskedValue);
    assert_eq!((with.asked_value.is_some(), without.asked_value), (true, None));
}

#[test]
fn what_a_manual_or_a_caller_asks_for_stays() {
    let forms = |query: &Query| -> Vec<String> {
        query.terms.iter().flat_map(|term| &term.forms).map(|form| form.text.clone()).collect()
    };
    let (with, without) = parsed("spanner", RuleGroup::BuiltInSynonyms);
    assert!(forms(&with).contains(&"wrench".to_owned()) && forms(&without).contains(&"wrench".to_owned()));
    let (with, without) = parsed("useEffect 3日 \"two words\" -x", RuleGroup::WordForms);
    let words = "use effect".to_owned();
    assert!(forms(&with).contains(&words) && !forms(&without).contains(&words));
    assert!(forms(&without).contains(&"三日".to_owned()), "{:?}", forms(&without));
    assert_eq!((without.negatives.len(), without.terms.iter().filter(|term| term.is_phrase).count()), (1, 1));
}
