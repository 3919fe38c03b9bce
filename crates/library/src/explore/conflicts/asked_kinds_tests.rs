use super::super::super::test_corpus::query;
use super::*;

/// The kinds that a question asks for, whether its question words say so, and the terms that it is about.
fn asked(question: &str) -> (Wanted, bool, Vec<String>) {
    let query = query(question);
    let AskedKinds { kinds, is_explicit, subject, .. } = AskedKinds::of(&query);
    let terms = query.terms.iter().enumerate().filter(|(index, _)| subject >> index & 1 == 1);
    (kinds, is_explicit, terms.map(|(_, term)| term.text().to_owned()).collect())
}

#[test]
fn question_words_and_nouns_name_the_kind_of_value() {
    for (question, kinds, is_explicit, subject) in [
        ("How long is the lease?", Wanted::DURATION, true, &["lease"][..]),
        // A measure and its bound are said in other words: may not be larger than.
        ("maximum upload size for attachments", Wanted::SIZE, false, &["upload", "attachments"]),
        // What is paid is a subject of its own.
        ("deposit for the party room", Wanted::MONEY, false, &["deposit", "party", "room"]),
        ("deadline for the thesis", DEADLINE, false, &["thesis"]),
        ("how many vacation days", Wanted::COUNT.with(Wanted::DURATION), true, &["vacation"]),
        ("プールの水温", Wanted::SIZE, false, &["プール", "水温"]),
        ("荷物の重さの上限", Wanted::SIZE, false, &["荷物"]),
        ("副業の届出", Wanted::default(), false, &["副業", "届出"]),
    ] {
        let expected = (kinds, is_explicit, subject.iter().map(|&term| term.to_owned()).collect());
        assert_eq!(asked(question), expected, "{question}");
    }
}

#[test]
fn the_last_noun_of_a_chain_is_what_is_asked_about() {
    let head = |question: &str| {
        let query = query(question);
        let head = AskedKinds::of(&query).head;
        (0..)
            .zip(&query.terms)
            .find(|(index, _)| head >> *index as u32 & 1 == 1)
            .map(|(_, term)| term.text().to_owned())
    };
    assert_eq!(head("貸出の延長は何日できますか").as_deref(), Some("延長"));
    assert_eq!(head("貸出は何日ですか"), None);
    assert_eq!(head("how long is the lease"), None);
}
