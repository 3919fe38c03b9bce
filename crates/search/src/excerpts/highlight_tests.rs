use super::*;

fn highlighter(question: &str) -> LineHighlighter {
    LineHighlighter::new(question, &Dictionary::new(&[])).unwrap()
}

/// What the first match covers in a line.
fn first<'a>(question: &str, line: &'a str) -> &'a str {
    &line[highlighter(question).first_match(line)]
}

#[test]
fn terms_are_found_in_lines_as_they_are_written() {
    let highlighter = highlighter("場合の給付金");
    let weighted = |text: &str, weight: f32| (text.to_owned(), weight);
    assert_eq!(highlighter.terms_in("がん給付・金"), [weighted("給付金", 3.0)]);
    // A weak word counts half.
    assert_eq!(highlighter.terms_in("給付金の場合"), [weighted("場合", 1.0), weighted("給付金", 3.0)]);
    assert_eq!(highlighter.terms_in("その他"), []);
}

#[test]
fn the_first_match_is_a_range_of_the_original_line() {
    assert_eq!(first("refund", "Ｎｏ ＲＥＦＵＮＤ here"), "Ｒ");
    assert_eq!(first("window refund", "a refund window"), "r");
    assert_eq!(first("ギフト券", "  ｷﾞﾌﾄ券"), "ｷﾞ");
    assert_eq!(highlighter("refund").first_match("nothing"), 0..0);
}

#[test]
fn the_terms_of_other_wordings_count_once() {
    let other_words = OtherWords {
        phrasings: vec!["refund window".to_owned(), "\"refund\" -deadline".to_owned()],
        hypothetical: Some("A refund takes ten days.".to_owned()),
    };
    let dictionary = Dictionary::new(&[]);
    let highlighter = LineHighlighter::of_other_words(&other_words, "gift cards", &dictionary).unwrap();
    let words = |line: &str| highlighter.terms_in(line).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(words("The refund window"), ["refund", "window"]);
    // Nothing is excluded by another wording.
    assert_eq!(words("deadline"), ["deadline"]);
    assert_eq!(words("gift cards"), [""; 0]);
}
