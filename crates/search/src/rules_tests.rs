use crate::query::Query;
use crate::query::dictionary::{Dictionary, WordList};
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
fn what_is_left_out_has_no_effect() {
    let (with, without) = parsed("the refund", RuleGroup::StopWords);
    assert_eq!((terms(&with), terms(&without)), (vec!["refund"], vec!["the", "refund"]));
    assert!(without.keys.len() > with.keys.len());
    let (with, without) = parsed("how much is a ticket", RuleGroup::AskedValue);
    assert_eq!((with.asked_value.is_some(), without.asked_value), (true, None));
}
