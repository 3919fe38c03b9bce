use super::*;

#[test]
fn a_number_counts_with_a_unit_of_the_kind() {
    for (wanted, text, expected) in [
        (Wanted::DURATION, "到着後14日以内", true),
        (Wanted::DURATION, "三か月の間", true),
        (Wanted::DURATION, "三月の間", false),
        (Wanted::DURATION, "within 30 days", true),
        (Wanted::DURATION, "a 30-day window", true),
        (Wanted::DURATION, "two weeks later", true),
        (Wanted::DURATION, "for a week", true),
        (Wanted::DURATION, "30 daylight lamps", false),
        (Wanted::DURATION, "第3日曜日", false),
        (Wanted::DURATION, "days without a number", false),
        (Wanted::DATE, "4月1日から", true),
        (Wanted::DATE, "on 2024-04-01", true),
        (Wanted::DATE, "every monday", true),
        (Wanted::DATE, "いつでも", false),
        (Wanted::TIME, "9時から", true),
        (Wanted::TIME, "at 9:30", true),
        (Wanted::TIME, "9 items", false),
        (Wanted::MONEY, "1,500円", true),
        (Wanted::MONEY, "千円", true),
        (Wanted::MONEY, "$ 5", true),
        (Wanted::MONEY, "5 euros", true),
        (Wanted::MONEY, "$name", false),
        (Wanted::MONEY, "5 items", false),
        (Wanted::COUNT, "3回まで", true),
        (Wanted::COUNT, "60 requests", true),
        (Wanted::COUNT, "1. requests", false),
        (Wanted::COUNT, "第3条", false),
        (Wanted::AGE, "満18歳以上", true),
        (Wanted::PERCENT, "10%", true),
        (Wanted::PERCENT, "三割", true),
        (Wanted::PERCENT, "10 requests", false),
        (Wanted::SIZE, "30 m high", true),
        (Wanted::SIZE, "25kg", true),
        (Wanted::SIZE, "-18 °c", true),
        (Wanted::SIZE, "30 men", false),
        (Wanted::PLACE, "総務の窓口へ", true),
        (Wanted::PERSON, "所属長が承認する", true),
        (Wanted::PERSON, "approved by your manager", true),
        (Wanted::EVENT, "届いた後に", true),
        (Wanted::QUANTITY, "30日", true),
        (Wanted::QUANTITY, "しばらく", false),
    ] {
        assert_eq!(wanted.is_stated_in(text), expected, "{wanted:?} in {text}");
    }
}

#[test]
fn kinds_are_a_set() {
    let both = Wanted::DATE.with(Wanted::TIME);
    assert!(both.has_any(Wanted::DATE) && !both.has_any(Wanted::MONEY) && !both.is_empty());
    assert_eq!(both.without(Wanted::DATE), Wanted::TIME);
    assert!(Wanted::default().is_empty());
    assert!(!Wanted::default().is_stated_in("3日"));
}

#[test]
fn every_list_of_names_has_a_finder() {
    assert_eq!(NAME_FINDERS.len(), NAMES.len());
}

#[test]
fn the_lists_hold_normalized_words() {
    let units = UNITS.iter().flat_map(|(_, units)| units.split_whitespace());
    let names = NAMES.iter().flat_map(|(_, names)| names.iter().copied());
    for word in units.chain(names).map(str::trim).filter(|word| !matches!(*word, "℃")) {
        assert_eq!(word, crate::text::normalize_text(word));
    }
}
