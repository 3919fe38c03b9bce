//! Times of day.

use super::dates::{NO_NUMBER, Parsed, TIME, part};
use super::digits::{digit, digit_run};
use super::numerals::number;
use super::words::ends_word;

/// The half of the day that a text begins with, and its length: `am`, `p.m.`.
fn half_of_day(text: &str) -> Option<(f64, usize)> {
    let gap = usize::from(text.starts_with(' '));
    let text = text.get(gap..)?;
    let halves = [("a.m.", 0.0), ("p.m.", 720.0), ("a.m", 0.0), ("p.m", 720.0), ("am", 0.0), ("pm", 720.0)];
    let (name, minutes) = halves.into_iter().find(|(name, _)| text.starts_with(name))?;
    ends_word(text.get(name.len()..)?).then_some((minutes, gap + name.len()))
}

/// A time of day: `9:30`, `9時30分`, `午後5時`, `5 p.m.`.
pub fn time(text: &str) -> Option<Parsed> {
    let halves = [("午前", Some(0.0)), ("午後", Some(720.0)), ("深夜", None), ("正午", None)];
    let prefix = halves.iter().find(|(name, _)| text.starts_with(name));
    let mut half = prefix.and_then(|(_, half)| *half);
    let mut start = prefix.map_or(0, |(name, _)| name.len());
    start += usize::from(prefix.is_some() && text.get(start..)?.starts_with(' '));
    let rest = text.get(start..)?;
    let hour = number(rest)?;
    if hour.is_identifier || hour.value > 30.0 || hour.value.fract() != 0.0 {
        return None;
    }
    let after = rest.get(hour.len..)?;
    let gap = usize::from(after.starts_with(" 時"));
    let (minutes, mut len) = if let Some(after) = after.strip_prefix(':').filter(|_| hour.plain_digits > 0) {
        minutes_after_colon(after).map(|(minutes, len)| (minutes, 1 + len))?
    } else if let Some(after) = after.get(gap..)?.strip_prefix('時') {
        if after.starts_with([
            '間', '点', '期', '代', '効', '刻', '給', '価', '短', '系', '差', '速', '限', '々', '的', '金',
            '停', '帰', '休', '保', '預', '払',
        ]) {
            return None;
        }
        let sign = gap + '時'.len_utf8();
        match (part(after, "分", 0.0..=59.0), after.strip_prefix('半')) {
            (Some((minutes, len)), _) => (minutes, sign + len),
            (None, Some(_)) => (30.0, sign + '半'.len_utf8()),
            (None, None) => (0.0, sign),
        }
    } else {
        half_of_day(after).filter(|_| hour.plain_digits > 0)?;
        (0.0, 0)
    };
    if let Some((minutes, more)) = rest.get(hour.len + len..).and_then(half_of_day) {
        half = Some(minutes);
        len += more;
    }
    let hours = match half {
        Some(_) => hour.value % 12.0 + if hour.value > 12.0 { 12.0 } else { 0.0 },
        None => hour.value,
    };
    let value = hours * 60.0 + minutes + half.filter(|_| hour.value <= 12.0).unwrap_or(0.0);
    Some(Parsed { unit: TIME, value, numbers: [hour.value, minutes, NO_NUMBER], len: start + hour.len + len })
}

/// The minutes after the colon of a time, with the seconds: two digits each.
fn minutes_after_colon(text: &str) -> Option<(f64, usize)> {
    let (minutes, len) =
        digit_run(text).filter(|run| run.is_plain && run.digits == 2).map(|run| (run.value, run.len))?;
    let seconds =
        text.get(len..)?.strip_prefix(':').and_then(digit_run).filter(|run| run.is_plain && run.digits == 2);
    let len = len + seconds.map_or(0, |run| run.len + 1);
    let rest = text.get(len..)?;
    (minutes < 60.0 && !rest.starts_with(|ch: char| digit(ch).is_some() || ch == ':'))
        .then_some((minutes + seconds.map_or(0.0, |run| run.value / 60.0), len))
}
