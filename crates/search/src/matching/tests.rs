use super::*;
use crate::query::dictionary::{Dictionary, WordList};
use crate::test_corpus::{all_places, as_segments, far_away, manual, place, query, shown};

/// Every node is allowed.
fn everything(_: NodePlace) -> bool {
    true
}

fn matched(views: &[View], question: &str) -> MatchOutcome {
    match_terms(views, &query(question), &everything, far_away())
}

/// The hits as `path:line exact loose partial heading`, the terms as bits. Loose are other separators and synonyms.
fn hits(views: &[View], question: &str) -> Vec<String> {
    let outcome = matched(views, question);
    let shown = outcome.hits.iter().map(|hit| {
        let NodeHit { exact, separated, synonym, partial, heading, .. } = hit;
        let loose = separated | synonym;
        format!("{} {exact:b} {loose:b} {partial:b} {heading:b}", shown(views, hit.place))
    });
    shown.collect()
}

#[test]
fn a_term_matches_exactly_loosely_as_a_synonym_or_in_part() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# 一\nがん診断給付金を支給する\n"),
            ("b.md", "# 二\nがん診断・給付金\n"),
            ("c.md", "# 三\n癌診断給付金\n"),
            ("d.md", "# 四\n診断給付金\n"),
            ("e.md", "# 五\n返品の窓口\n"),
            ("f.md", "# がん診断給付金\n別紙\n"),
        ],
    )];
    let dictionary = Dictionary::new(&[WordList::read("synonyms: [[がん, 癌]]").unwrap()]);
    let query = Query::new("がん診断給付金", None, &dictionary).unwrap();
    let outcome = match_terms(&views, &query, &everything, far_away());
    assert_eq!(outcome.document_frequencies, [4]);
    let loose: Vec<_> = outcome.hits.iter().map(|hit| (hit.separated, hit.synonym)).collect();
    assert_eq!(loose, [(0, 0), (1, 0), (0, 1), (0, 0), (0, 0)]);
}

#[test]
fn separators_and_width_do_not_hide_a_term() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# A\nthe gadget-kx\n"),
            ("b.md", "# B\nthe gadget kx\n"),
            ("c.md", "# C\nthe GADGET_KX\n"),
            ("d.md", "# D\nthe ｇａｄｇｅｔ－ｋｘ\n"),
            ("e.md", "# E\nthe kx\n"),
        ],
    )];
    // The second term is `gadget` alone.
    let expected = ["a.md:1 11 0 0 0", "b.md:1 10 1 0 0", "c.md:1 10 1 0 0", "d.md:1 11 0 0 0"];
    assert_eq!(hits(&views, "gadget-kx"), expected);
}

#[test]
fn words_match_by_their_stem_and_never_inside_another_word() {
    let views = [manual(
        "m",
        &[("a.md", "# A\nrefunds\n"), ("b.md", "# B\nrefundable\n"), ("c.md", "# C\nprefund\n")],
    )];
    let outcome = matched(&views, "refund");
    let paths: Vec<_> = outcome.hits.iter().map(|hit| shown(&views, hit.place)).collect();
    assert_eq!(paths, ["a.md:1", "b.md:1"]);
}

#[test]
fn the_words_of_a_quoted_phrase_match_only_together() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# A\nthe refund window\n"),
            ("b.md", "# B\nthe window for a refund\n"),
            ("c.md", "# C\nthe refund\n"),
        ],
    )];
    assert_eq!(hits(&views, r#""refund window""#), ["a.md:1 1 0 0 0"]);
    assert_eq!(hits(&views, "refund window").len(), 3);
}

#[test]
fn a_single_character_is_found_wherever_it_begins_a_pair() {
    let views =
        [manual("m", &[("a.md", "# A\n肺癌の治療\n"), ("b.md", "# B\n治療の癌\n"), ("c.md", "# C\n治療\n")])];
    assert_eq!(hits(&views, "癌"), ["a.md:1 0 0 1 0", "b.md:1 1 0 0 0"]);
}

#[test]
fn a_node_with_an_excluded_term_is_no_hit() {
    let views = [manual(
        "m",
        &[
            ("a.md", "# A\nrefund in a store\n"),
            ("b.md", "# B\nrefund online\n"),
            ("c.md", "# C\nrefund by user-id\n"),
        ],
    )];
    assert_eq!(hits(&views, "refund -online"), ["a.md:1 1 0 0 0", "c.md:1 1 0 0 0"]);
    // The separator inside `user-id` does not hide it.
    assert_eq!(hits(&views, "refund -userid"), ["a.md:1 1 0 0 0", "b.md:1 1 0 0 0"]);
    assert_eq!(hits(&views, "refund -「in a store」"), ["b.md:1 1 0 0 0", "c.md:1 1 0 0 0"]);
}

#[test]
fn a_nonsense_question_has_no_hits() {
    let views = [manual("m", &[("a.md", "# A\nただし refund は対象外 see section 1\n")])];
    assert_eq!(hits(&views, "zzyzxq 驫麤"), Vec::<String>::new());
}

#[test]
fn a_required_term_covers_more_than_a_soft_one() {
    let views = [manual("m", &[("a.md", "# A\nkeycloak here\n"), ("b.md", "# B\nother\n")])];
    // The first word of a question is not a name because of its capital.
    let (soft, required) = ("Keycloak", "about Keycloak");
    let weight = |question: &str| matched(&views, question).term_weights[0];
    assert!((weight(required) / weight(soft) - MUST_COVERAGE).abs() < 1e-6);
}

#[test]
fn only_allowed_nodes_of_current_files_are_hits_and_counted() {
    let mut views =
        [manual("m", &[("a.md", "# A\nrefund\n"), ("b.md", "# B\nrefund\n"), ("c.md", "# C\nrefund\n")])];
    let allowed = |wanted: NodePlace| wanted != place(&views, "b.md", 1);
    let outcome = match_terms(&views, &query("refund"), &allowed, far_away());
    let paths: Vec<_> = outcome.hits.iter().map(|hit| shown(&views, hit.place)).collect();
    assert_eq!((paths, outcome.document_frequencies), (vec!["a.md:1".into(), "c.md:1".into()], vec![2]));
    views[0].stale.insert((0, 2));
    assert_eq!(hits(&views, "refund"), ["a.md:1 1 0 0 0", "b.md:1 1 0 0 0"]);
}

#[test]
fn after_the_deadline_one_segment_is_still_searched() {
    let parts = ["a.md", "b.md", "c.md"].map(|path| manual("m", &[(path, "# A\nrefund\n")]));
    let views = [as_segments(parts.into()), manual("n", &[("d.md", "# A\nrefund\n")])];
    assert_eq!(all_places(&views).len(), 4);
    let outcome = match_terms(&views, &query("refund"), &everything, Instant::now());
    let places: Vec<_> = outcome.hits.iter().map(|hit| shown(&views, hit.place)).collect();
    assert_eq!((places, outcome.skipped_segments), (vec!["a.md:1".into()], vec![(0, 1), (0, 2), (1, 0)]));
    assert_eq!(matched(&views, "refund").skipped_segments, []);
}

#[test]
fn a_term_counts_once_by_its_best_match() {
    let place = NodePlace { view: 0, segment: 0, node: 0 };
    let mut matched = MatchOutcome { document_frequencies: vec![0; 4], ..MatchOutcome::default() };
    let found = NodeScore {
        exact: 0b0001,
        separated: 0b0011,
        synonym: 0b0111,
        partial: 0b1111,
        ..NodeScore::default()
    };
    matched.add(place, found);
    let hit = NodeHit {
        place,
        score: 0.0,
        exact: 0b0001,
        separated: 0b0010,
        synonym: 0b0100,
        partial: 0b1000,
        heading: 0,
    };
    assert_eq!((matched.hits, matched.document_frequencies), (vec![hit], vec![1, 1, 1, 0]));
}

#[test]
fn a_letter_with_a_character_matches_only_together() {
    let views = [manual(
        "m",
        &[("a.md", "# 一\nB型の保険\n"), ("b.md", "# B\nplan B\n"), ("c.md", "# 三\n30日\n# 四\n30分\n")],
    )];
    assert_eq!(hits(&views, "B型"), ["a.md:1 1 0 0 0"]);
    assert_eq!(hits(&views, "30日"), ["c.md:1 1 0 0 0"]);
}
