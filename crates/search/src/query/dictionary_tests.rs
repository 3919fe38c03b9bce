use super::*;

#[test]
fn files_are_read_in_both_notations() {
    let read = |text: &str| WordList::read(text).unwrap();
    let expected = WordList { synonyms: vec![vec!["a".into(), "b".into()]], exceptions: vec!["x".into()] };
    assert_eq!(read("synonyms:\n  - [a, b]\nexceptions: [x]"), expected);
    assert_eq!(read("synonyms:\n  a: [b]\nexceptions: x"), expected);
    assert_eq!(read(""), WordList::default());
    for (text, error) in [
        ("synonyms: 3", "synonyms: expected synonyms or exceptions here"),
        ("other: []", "other: expected synonyms or exceptions here"),
        ("exceptions: [[a]]", "exceptions: expected words"),
    ] {
        assert_eq!(WordList::read(text).unwrap_err(), error, "{text}");
    }
}

#[test]
fn exceptions_are_whole_words() {
    let dictionary = Dictionary::new(&[]);
    for (text, expected) in [
        ("給付の対象外です", Some("対象外")),
        ("this is not covered here", Some("not covered")),
        ("it is unexceptional", None),
        ("通常どおり", None),
    ] {
        assert_eq!(dictionary.exception(text).map(|range| &text[range]), expected, "{text}");
    }
}

/// The forms that a dictionary adds to the terms of a question.
fn added(words: &str, question: &str) -> Vec<(String, f32)> {
    let dictionary = Dictionary::new(&[WordList::read(words).unwrap()]);
    let query = crate::query::Query::new(question, None, &dictionary).unwrap();
    let forms = query.terms.iter().flat_map(|term| term.forms.iter().skip(1));
    forms.map(|form| (form.text.clone(), form.weight)).collect()
}

#[test]
fn synonyms_hold_both_ways() {
    let words = "synonyms:\n  - [gadget, wrench]";
    assert_eq!(added(words, "gadget"), [("wrench".to_owned(), SYNONYM_WEIGHT)]);
    assert_eq!(added(words, "wrench"), [("gadget".to_owned(), SYNONYM_WEIGHT)]);
    assert_eq!(added(words, "Ｗｒｅｎｃｈ"), [("gadget".to_owned(), SYNONYM_WEIGHT)]);
    // A part of an English word is another word.
    assert_eq!(added(words, "gadgets"), []);
}

#[test]
fn a_synonym_of_a_part_replaces_it_within_the_term() {
    let words = "synonyms:\n  - [甲乙, 丙丁]";
    let expected = [("丙丁己庚".to_owned(), SYNONYM_WEIGHT), ("丙丁".to_owned(), PART_SYNONYM_WEIGHT)];
    assert_eq!(added(words, "甲乙己庚"), expected);
}

#[test]
fn too_many_words_are_refused_as_a_whole() {
    let words = |count: usize| format!("exceptions: [{}]", vec!["x"; count].join(", "));
    assert!(WordList::read(&words(MAX_WORDS)).is_ok());
    let error = WordList::read(&words(MAX_WORDS + 1)).unwrap_err();
    assert_eq!(error, "expected at most 20000 words, got 20001");
}

#[test]
fn an_automaton_that_could_not_be_built_is_a_problem() {
    let whole = Dictionary::new(&[]);
    assert_eq!(whole.missing_automata(), 0);
    let files = vec![(Sha256::of(b"a"), None), (Sha256::of(b"b"), Some(WordList::default()))];
    let dictionary = Arc::new(Dictionary { finder: None, ..whole });
    assert_eq!(CachedDictionary { files, dictionary }.problems(), 2);
}

#[test]
fn files_add_to_the_exception_vocabulary() {
    let dictionary = Dictionary::new(&[WordList::read("exceptions: [Save For]").unwrap()]);
    assert_eq!(dictionary.exception("all save for one"), Some(4..12));
    assert_eq!(Dictionary::new(&[]).exception("all save for one"), None);
}
