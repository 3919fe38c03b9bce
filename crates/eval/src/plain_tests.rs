use super::*;

/// An index of sections, each with its manual, line, headings and text.
fn index(sections: &[(&str, usize, &[&str], &str)]) -> PlainIndex {
    let section = |(manual_id, line, headings, text): &(&str, usize, &[&str], &str)| Section {
        manual_id: (*manual_id).to_owned(),
        path: "a.md".to_owned(),
        line: *line,
        title: String::new(),
        heading_path: headings.iter().map(|title| (*title).to_owned()).collect(),
        text: (*text).to_owned(),
    };
    PlainIndex::of(sections.iter().map(section))
}

fn lines(hits: &[Hit]) -> Vec<u64> {
    hits.iter().map(|hit| hit.line).collect()
}

#[test]
fn terms_are_stems_and_pairs() {
    assert_eq!(
        terms("Retrying 3 requests\nAPI制限を超えた"),
        ["retri", "3", "request", "api", "制限", "限を", "を超", "超え", "えた"]
    );
    assert_eq!(terms("naïve Straße"), terms("NAÏVE STRASSE"));
    assert_eq!(terms("年、5月"), ["5"], "a single character has no neighbour");
}

#[test]
fn scores_are_those_of_bm25() {
    // The headings count twice: both sections have the length 3, and the term occurs 2 times and 1 time.
    let index =
        index(&[("m", 1, &["refund"], "window"), ("m", 5, &["window"], "refund"), ("m", 9, &[], "a b c")]);
    assert!((index.average_length - 3.0).abs() < 1e-9);
    assert_eq!(lines(&index.search("refunds", &[], None, 9)), [1, 5]);
    assert_eq!(lines(&index.search("windows", &[], None, 9)), [5, 1]);
    assert_eq!(lines(&index.search("refund window", &[], None, 9)), [1, 5], "equal ones stay in order");
    assert_eq!(lines(&index.search("nothing", &[], None, 9)), [0; 0]);
}

#[test]
fn a_search_may_be_limited_to_one_manual() {
    let index = index(&[
        ("shop", 1, &[], "refund window"),
        ("shop", 9, &[], "refund"),
        ("garden", 4, &[], "refund of plants in the garden"),
    ]);
    let found = |manual_id, max_results| lines(&index.search("refund window", &[], manual_id, max_results));
    assert_eq!(found(None, 9), [1, 9, 4]);
    // The sections of other manuals do not count towards the maximum.
    assert_eq!(found(Some("garden"), 1), [4]);
    assert_eq!(found(Some("nowhere"), 9), [0; 0]);
}

#[test]
fn the_lists_of_the_wordings_are_fused_by_reciprocal_rank() {
    let index = index(&[("m", 1, &[], "apple"), ("m", 2, &[], "pear"), ("m", 3, &[], "plum")]);
    // The question counts as much as two other wordings, and less than three.
    let found = |others: &[&str]| lines(&index.search("plum", others, None, 9));
    assert_eq!(found(&["apple"]), [3, 1]);
    assert_eq!(found(&["pear", "pear"]), [2, 3], "equal ones are in the order of the manuals");
    assert_eq!(found(&["apple", "pear", "pear", "pear"]), [2, 3, 1]);
}
