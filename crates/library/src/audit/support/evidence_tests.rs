use super::*;
use annai_text::normalize_text;

fn evidence(lines: &[&str]) -> FileEvidence {
    let mut file = FileEvidence::default();
    for (number, line) in (1..).zip(lines) {
        assert!(file.add_line(number, line));
    }
    file
}

fn supports(lines: &[&str], value: &str, ranges: &[LineRange]) -> bool {
    let file = evidence(lines);
    let normal = normalize_text(value);
    let Some(Item::Amount(amount)) = scan(&normal).into_iter().next() else { panic!("{value} is no amount") };
    let next = normal[amount.range.end..].chars().next();
    let shown = normal[amount.range.clone()].to_owned();
    supports_amount(
        &[&Scope { file: &file, ranges: ranges.to_vec() }],
        &amount,
        next,
        &shown,
        &mut EvidenceSearchBudget::default(),
    )
    .unwrap()
}

const ALL: &[LineRange] = &[LineRange { start_line: 1, end_line: 99 }];

#[test]
fn a_value_is_supported_in_other_notations_only_where_it_is_equal() {
    for (line, value) in [
        ("定年は満六十歳とする", "60歳"),
        ("定年は満六十歳とする", "60"),
        ("The deadline is fourteen days.", "2週間"),
        ("within 72 hours", "3日以内"),
        ("給付は十八箇月を限度とする", "1年6か月"),
        ("六月以内に請求する", "6か月"),
        ("施行日は令和8年4月1日", "2026-04-01"),
        ("施行日は令和8年4月1日", "4月1日"),
        ("施行日は令和8年4月1日", "2026年"),
        ("施行日は令和8年4月1日", "April 2026"),
        ("2026年度は4月1日に始まる", "2026年4月1日"),
        ("| 料金(円) | 500 |", "500円"),
        ("timeout_seconds: 30", "30秒"),
        ("retries: 5", "5回"),
        ("It has 12 employees.", "12人"),
        ("二段階の認証", "2段階"),
        ("開始は4/1", "4月1日"),
        ("half to 2/3 of it", "3分の2"),
        ("9-17時", "9時"),
        ("30秒から60秒", "1分"),
        ("3件", "3個"),
        ("sla99.9%", "99.9%"),
    ] {
        assert!(supports(&[line], value, ALL), "{value} in {line}");
    }
    for (line, value) in [
        ("定年は満六十歳とする", "99歳"),
        ("定年は満六十歳とする", "6歳"),
        ("定年は満六十歳とする", "1億円"),
        ("500 MB", "500 GB"),
        ("1 GB", "1 GiB"),
        ("99歳", "9歳"),
        ("retries: 5", "5円"),
        ("令和8年4月1日", "2026年5月1日"),
        ("令和8年4月1日", "令和7年"),
        ("第3条による", "3日"),
        ("十二段階の認証", "2段階"),
        ("10.5%", "0.5%"),
        ("10.5%", "10%"),
    ] {
        assert!(!supports(&[line], value, ALL), "{value} in {line}");
    }
}

#[test]
fn only_the_cited_lines_count() {
    let lines = ["30 days", "40 days", "50 days"];
    let at = |start_line, end_line| LineRange { start_line, end_line };
    assert!(supports(&lines, "40 days", &[at(2, 2)]) && supports(&lines, "50 days", &[at(1, 1), at(3, 3)]));
    assert!(!supports(&lines, "40 days", &[at(1, 1), at(3, 3)]) && !supports(&lines, "40 days", &[]));
}

#[test]
fn texts_are_found_across_lines_and_never_inside_a_number() {
    let file = evidence(&["set the `time", "out` to 300 s"]);
    let scope = [&Scope { file: &file, ranges: ALL.to_vec() }];
    let found = |text: &str| supports_text(&scope, text, &mut EvidenceSearchBudget::default());
    assert_eq!(
        (found("timeout"), found("to300s"), found("00s"), found("to30")),
        (Some(true), Some(true), Some(false), Some(false))
    );
    let mut budget = EvidenceSearchBudget(10);
    assert_eq!((supports_text(&scope, "x", &mut budget), budget.0), (None, 0));
}
