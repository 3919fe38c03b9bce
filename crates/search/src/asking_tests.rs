use super::*;

#[test]
fn asking_words_are_taken_away_with_what_belongs_to_them() {
    for (question, expected) in [
        ("返品は何日以内ですか", "返品は ですか"),
        ("何年何月に設立", "に設立"),
        ("合計何十人まで", "合計 まで"),
        ("送料はいくらかかりますか", "送料は か"),
        ("どれくらい時間がかかる", ""),
        ("何が必要", "何が必要"),
        ("幾何学", "幾何学"),
        ("如何ですか", "如何ですか"),
        ("いくらでも", "いくらでも"),
        ("重さは何kgか", "重さは か"),
        ("何mapか", "何mapか"),
        ("how many days until renewal", "until renewal"),
        ("how many items", "items"),
        ("what type of plan", "plan"),
        ("show how it works", "show how it works"),
    ] {
        assert_eq!(Asked::of(question).text, expected, "{question}");
    }
}

#[test]
fn the_longest_counter_counts() {
    assert_eq!(counter_at("時間後"), Some((Wanted::DURATION, "時間")));
    assert_eq!(counter_at("時から"), Some((Wanted::TIME, "時")));
    assert_eq!(counter_at("営業日"), Some((Wanted::DURATION, "営業日")));
    assert_eq!(counter_at("%以上").map(|(_, counter)| counter), Some("%"));
    assert_eq!(counter_at("を"), None);
}

#[test]
fn a_noun_asks_only_at_the_end() {
    assert_eq!(wanted_by_last_noun("再発行の手数料は?"), Wanted::MONEY);
    assert_eq!(wanted_by_last_noun("手数料の返金"), Wanted::default());
    assert_eq!(wanted_by_last_noun("booking fee"), Wanted::MONEY);
    assert_eq!(wanted_by_last_noun("free coffee"), Wanted::default());
    // The longer noun names the fact.
    assert_eq!(wanted_by_last_noun("店の営業時間"), Wanted::TIME);
}
