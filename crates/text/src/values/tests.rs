use proptest::prelude::*;

use super::*;
use crate::normalize_text;

fn values(sentence: &str) -> Vec<(String, f64)> {
    let rounded = |fact: Fact| (fact.unit, (fact.value * 1e6).round() / 1e6);
    facts(&normalize_text(sentence)).into_iter().map(rounded).collect()
}

fn expect(sentence: &str, expected: &[(&str, f64)]) {
    let expected: Vec<_> = expected.iter().map(|(unit, value)| ((*unit).to_owned(), *value)).collect();
    assert_eq!(values(sentence), expected, "{sentence}");
}

#[test]
fn facts_are_compared_by_value_and_unit() {
    for (sentence, expected) in [
        ("三十日以内", &[("day", 30.0)][..]),
        ("2 weeks or 90 minutes", &[("day", 14.0), ("second", 5400.0)]),
        ("2024-04-01 9:30", &[("date", 20_240_401.0), ("time", 570.0)]),
        ("april 1", &[("day of a year", 401.0)]),
        ("$5.50, 1,000 円", &[("$", 5.5), ("円", 1000.0)]),
        ("5 of 7", &[("", 5.0), ("", 7.0)]),
        ("定年は99歳で退職金は1億円である", &[("歳", 99.0), ("円", 1e8)]),
        (
            "勤続3年以上の者は2回まで、1回につき5日",
            &[("month", 36.0), ("回", 2.0), ("回", 1.0), ("day", 5.0)],
        ),
        ("2026年度の予算は前年度の3倍", &[("fiscal year", 2026.0), ("倍", 3.0)]),
        ("2026年4月に始まり、4月に終わる", &[("month of a date", 202_604.0), ("month of a year", 4.0)]),
        ("FY2026, fy 2027", &[("fiscal year", 2026.0), ("fiscal year", 2027.0)]),
        ("入社3日目、2回目", &[("ordinal", 3.0), ("ordinal", 2.0)]),
        ("a 30-day period of 5 business days", &[("day", 30.0), ("business day", 5.0)]),
        ("5営業日以内", &[("business day", 5.0)]),
        ("none", &[]),
    ] {
        expect(sentence, expected);
    }
}

#[test]
fn equal_amounts_are_equal_in_any_unit_and_spelling() {
    for forms in [
        &[
            "2万円",
            "20,000円",
            "二万円",
            "２０，０００円",
            "弐万円",
            "¥20,000",
            "20000 yen",
            "JPY 20,000",
            "20千円",
            "2万 円",
        ][..],
        &["1億2千万円", "120,000,000円", "一億二千万円", "1.2億円", "120 million yen"],
        &["3万5000円", "35,000円", "三万五千円", "参万五千円", "¥35,000"],
        &["1時間", "60 minutes", "60分", "3600秒", "六十分", "1 hour", "one hour", "1h", "3,600,000 ms"],
        &[
            "1時間30分",
            "90分",
            "1.5時間",
            "1時間半",
            "1 hour 30 minutes",
            "1h30m",
            "1 h 30 m",
            "ninety minutes",
            "5400 s",
        ],
        &[
            "14 days",
            "2週間",
            "二週間",
            "two weeks",
            "fourteen days",
            "14日間",
            "14 consecutive days",
            "٢ weeks",
        ],
        &[
            "1年6か月",
            "18か月",
            "18ヶ月",
            "1年半",
            "18 months",
            "1 year and 6 months",
            "十八箇月",
            "one year 6 months",
        ],
        &["1 GB", "1000 MB", "1,000,000,000 bytes", "1ギガバイト"],
        &["1 GiB", "1024MiB", "1024Mi", "1,073,741,824 bytes"],
        &["5%", "5 percent", "5パーセント", "五パーセント", "５％", "five percent", "20分の1"],
        &["30%", "3割", "三割", "10分の3", "十分の三", "thirty percent"],
        &["85%", "八割五分", "8割5分"],
        &[
            "2024年4月1日",
            "2024/04/01",
            "2024-4-1",
            "2024.4.1",
            "令和6年4月1日",
            "令和六年四月一日",
            "R6.4.1",
            "April 1st, 2024",
            "1 April 2024",
            "Apr. 1, 2024",
            "二〇二四年四月一日",
            "4/1/2024",
            "令和6年 4月 1日",
            "㋿6年4月1日",
        ],
        &["1989年1月8日", "平成元年1月8日", "平成1年1月8日", "H1.1.8"],
        &["昭和64年1月7日", "1989-01-07", "S64.1.7"],
        &["大正15年12月24日", "1926年12月24日"],
        &["令和8年", "2026年", "平成38年", "R8年"],
        &["令和8年度", "2026年度", "FY2026"],
        &["4月1日", "四月一日", "April 1", "1st of April", "Apr 1st"],
        &["17:00", "午後5時", "5 p.m.", "5pm", "17時", "午後五時", "5:00 PM", "17時00分"],
        &["9:30", "9時30分", "9時半", "午前9時30分", "九時三十分", "9:30 am"],
        &["60歳", "六十歳", "満60才", "60 years old", "sixty years of age"],
        &["3人", "三名", "3 people", "three persons"],
        &["3回", "三回", "3 times", "three attempts", "3 retries"],
        &["$5", "5 dollars", "USD 5", "5ドル", "five dollars"],
        &["1,500 ms", "1.5 seconds", "1.5秒"],
        &["3kg", "3キログラム", "3000 g"],
        &["66.666667%", "3分の2", "三分の二", "two thirds", "two-thirds"],
        &["100", "one hundred", "１００", "१००", "๑๐๐", "١٠٠", "𝟙𝟘𝟘"],
    ] {
        for form in forms {
            assert_eq!(values(form).len(), 1, "{form}: {:?}", values(form));
            assert_eq!(values(form), values(forms[0]), "{form} / {}", forms[0]);
        }
    }
    for (one, other) in
        [("1 GB", "1 GiB"), ("5%", "5"), ("3年", "3年度"), ("5円", "$5"), ("1日", "1時間"), ("2時", "2時間")]
    {
        assert_ne!(values(one), values(other), "{one} / {other}");
    }
}

#[test]
fn words_with_numerals_are_no_facts() {
    for sentence in [
        "一般に、十分な説明を一部の者に行う",
        "十分に休む",
        "一時金を一時的に支払う",
        "千葉、三重、四日市、六本木、千歳",
        "万一の場合、一切責任を負わない",
        "一人一人が一緒に一度だけ",
        "三者と第三者",
        "同一人物が同一日に",
        "〇〇規程による",
        "数十人が参加し、参照する",
        "一番、一方、一定、一覧、一致、一律",
        "二部構成の唯一人",
        "see section 3.2, figure 4 and page 12",
        "第3条 第2項 第1号",
        "表3、図4、※1、別紙2",
        "utf-8, sha256, v1.2, gpt-4, a4, https://example.com/2026/30 and 192.168.0.1",
        "no one, one of them",
        "5th, 3q, 4k",
        "2分野と3分割と3回答",
        "全国一円",
        "a%E6%A8%99%E4, ttl=37 time=15, 3D",
        "12345678901234567890",
    ] {
        // `2分野` is two of something, without a known unit.
        let mut found = facts(&normalize_text(sentence));
        found.retain(|fact| !fact.unit.is_empty());
        assert_eq!(found, [], "{sentence}");
    }
    expect("十分以内、二十分、十分間", &[("second", 600.0), ("second", 1200.0), ("second", 600.0)]);
    expect("代表3名、地図3枚", &[("人", 3.0), ("枚", 3.0)]);
    expect("sla: 99.9%, timeout=30s", &[("%", 99.9), ("second", 30.0)]);
}

#[test]
fn the_text_and_the_place_of_a_fact_are_as_it_is_written() {
    let sentence = "within 14 days, or 三十日, at 9:30 on april 1st, 2026";
    let found = facts(sentence);
    let shown: Vec<_> = found.iter().map(|fact| fact.shown.as_str()).collect();
    assert_eq!(shown, ["14 days", "三十日", "9:30", "april 1st, 2026"]);
    for fact in &found {
        assert_eq!(&sentence[fact.range.clone()], fact.shown);
    }
}

#[test]
fn long_input_takes_linear_time() {
    for unit in [
        "1",
        "一",
        "千",
        "1,",
        "1.",
        "1/",
        "1-",
        "one ",
        "one hundred and ",
        "a-",
        "1年",
        "一万",
        "令和",
        "午後1",
        "$",
        "april ",
        "1時間",
        "第1",
        "9:00:",
        "〇",
        "十分",
    ] {
        let text = unit.repeat(200_000 / unit.len());
        let started = std::time::Instant::now();
        let found = facts(&text);
        assert!(
            started.elapsed().as_secs() < 60 && found.len() <= text.len(),
            "{unit} {:?}",
            started.elapsed()
        );
    }
}

proptest! {
    #[test]
    fn every_fact_is_a_part_of_the_sentence_in_order(
        sentence in "([0-9]{1,3}|[一二三十百千万億〇]{1,3}|年|月|日|時|分|円|の|目|半|令和|元|[,./:-]|[a-z]{1,3}| |one|may|days|th|pm|第|条|%|割|\u{661}){0,14}",
    ) {
        let mut end = 0;
        for fact in facts(&sentence) {
            prop_assert!(fact.range.start >= end && fact.range.start < fact.range.end, "{:?}", fact);
            prop_assert_eq!(sentence[fact.range.clone()].trim(), fact.shown.as_str());
            prop_assert!(fact.value.is_finite(), "{:?}", fact);
            end = fact.range.end;
        }
    }

    #[test]
    fn an_amount_is_equal_with_digits_separators_and_kanji(value in 1_u64..100_000_000) {
        let digits = value.to_string();
        let mut grouped = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let wide: String = digits.chars().map(|digit| char::from_u32(u32::from(digit) - 0x30 + 0xff10).unwrap()).collect();
        let arabic: String = digits.chars().map(|digit| char::from_u32(u32::from(digit) - 0x30 + 0x660).unwrap()).collect();
        let kanji = |part: u64| crate::kanji_numeral(part).into_iter().next().unwrap_or_default();
        let (high, low) = (value / 10_000, value % 10_000);
        let kanji = if high > 0 { format!("{}万{}", kanji(high), kanji(low)) } else { kanji(low) };
        let expected = vec![("円".to_owned(), value as f64)];
        for form in [digits, grouped, wide, arabic, kanji] {
            // 一円 is a word.
            if form != "一" {
                prop_assert_eq!(&values(&format!("{form}円")), &expected, "{}", form);
            }
        }
    }
}
