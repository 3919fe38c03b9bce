use super::*;

/// The values of a sentence as `unit value`.
fn shown(facts: &[Fact]) -> Vec<String> {
    facts.iter().map(|fact| format!("{} {:.2}", fact.unit, fact.value)).collect()
}

#[test]
fn numbers_of_years_and_birthdays_are_ages() {
    let ages = |text: &str| shown(&with_ages(text, facts(text)));
    assert_eq!(ages("the retirement age is 67"), ["歳 67.00"]);
    assert_eq!(ages("when you turn 65 you can retire"), ["歳 65.00"]);
    assert_eq!(ages("for children from the age of 6 years"), ["歳 6.00"]);
    assert_eq!(ages("the minimum age to rent a van is 21 years"), ["歳 21.00"]);
    assert_eq!(ages("the warranty runs for 2 years"), ["month 24.00"]);
}

#[test]
fn hours_may_be_written_in_words_and_belong_to_a_half_of_the_day() {
    let times = |text: &str| shown(&with_times_of_day(text, facts(text)));
    assert_eq!(times("open until eight in the evening"), ["time 1200.00"]);
    assert_eq!(times("open until half past seven in the evening"), ["time 1170.00"]);
    assert_eq!(times("from 9 o'clock on"), ["time 540.00"]);
    assert_eq!(times("夜の8時まで使えます"), ["time 1200.00"]);
    assert_eq!(times("夜10時半まで使えます"), ["time 1350.00"]);
    assert_eq!(times("朝8時から入れます"), ["time 480.00"]);
    assert_eq!(times("interested in the evening"), Vec::<String>::new());
}

#[test]
fn times_in_a_period_are_an_interval() {
    let all = |text: &str| shown(&with_frequencies(text, facts(text)));
    assert_eq!(all("it is done twice a year"), ["frequency 182.62"]);
    assert_eq!(all("it is done 4 times per month"), ["frequency 7.61"]);
    assert_eq!(all("検査は年2回行う"), ["frequency 182.62"]);
    assert_eq!(all("検査は毎年1回行う"), ["frequency 365.25"]);
    assert_eq!(all("検査は毎週行う"), ["frequency 7.00"]);
    assert_eq!(all("it is done weekly."), ["frequency 7.00"]);
    // A count, a day and an adjective are no intervals.
    assert_eq!(all("the exam may be retaken twice"), ["回 2.00"]);
    assert_eq!(all("検査は2回行う"), ["回 2.00"]);
    assert_eq!(all("毎週金曜日に行う"), Vec::<String>::new());
    assert_eq!(all("a monthly fee is due"), Vec::<String>::new());
}

#[test]
fn days_of_the_week_are_values() {
    assert_eq!(shown(&weekdays("collected on tuesdays and fridays")), ["weekday 1.00", "weekday 4.00"]);
    assert_eq!(shown(&weekdays("定休日は水曜日です")), ["weekday 2.00"]);
}
