//! What the model is told: one constant with a revision, and what a file may make of it.

use std::io::Read as _;
use std::path::Path;

use crate::config::{Merge, Policy, Source};

/// The instructions, as they are sent.
pub const SYSTEM_POLICY: &str = include_str!("policy.md");
/// Names this text of the instructions; it changes with them.
pub const SYSTEM_POLICY_REV: &str = "2026-11-16 v1";

/// Left out where `policy.prefer_search_when_unsure` is off.
const WHEN_UNSURE: &str = "- When you are unsure whether you know, search.\n";
/// Left out where `policy.require_dates_iso` is off.
const DATES: &str = "- Give every source its date as YYYY-MM-DD in round brackets: the day of publication or of the last update. If the page shows none, write (accessed YYYY-MM-DD) with today's date instead.\n";

/// The instructions of `chatgpt_o3_search`.
pub const SEARCH_POLICY: &str = include_str!("search_policy.md");

/// A policy file larger than this is a mistake.
const MOST_BYTES: u64 = 256 << 10;

/// The instructions that these settings ask for.
pub fn instructions(policy: &Policy, folder: &Path) -> Result<String, String> {
    let mut builtin = SYSTEM_POLICY.to_owned();
    if !policy.prefer_search_when_unsure {
        builtin = builtin.replace(WHEN_UNSURE, "");
    }
    if !policy.require_dates_iso {
        builtin = builtin.replace(DATES, "").replace("`- URL (YYYY-MM-DD)`", "`- URL`");
    }
    if policy.system.source == Source::Builtin {
        return Ok(builtin);
    }
    let Some(path) = &policy.system.path else {
        return Err("policy.system.path is required where policy.system.source is file".to_owned());
    };
    let own = read(&folder.join(path)).map_err(|problem| format!("policy.system.path: {path} {problem}"))?;
    Ok(match policy.system.merge {
        Merge::Replace => own,
        Merge::Prepend => format!("{}\n\n{builtin}", own.trim_end()),
        Merge::Append => format!("{}\n\n{own}", builtin.trim_end()),
    })
}

fn read(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if !about.is_file() {
        return Err("is not a file".to_owned());
    }
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("is larger than {MOST_BYTES} bytes"));
    }
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    Ok(text)
}

/// A trigger and the Japanese words that it stands for.
const JAPANESE: &[(&str, &[&str])] = &[
    ("today", &["今日", "本日"]),
    ("now", &["現在", "今すぐ", "今の", "今は", "いま"]),
    ("latest", &["最新"]),
    ("breaking", &["速報"]),
    ("price", &["価格", "値段"]),
    ("cost", &["費用", "料金"]),
    ("release", &["リリース", "発売"]),
    ("version", &["バージョン"]),
    ("security", &["セキュリティ"]),
    ("vulnerability", &["脆弱性"]),
    ("weather", &["天気"]),
    ("exchange", &["為替"]),
    ("news", &["ニュース"]),
    ("eol", &["サポート終了", "サポート期限"]),
];

/// Whether a question holds a word that calls for a search. Words of Latin letters must stand alone:
/// "know" is not "now".
pub fn calls_for_search(question: &str, triggers: &[String]) -> bool {
    let question = half_width(question);
    triggers.iter().any(|trigger| {
        let trigger = trigger.trim().to_lowercase();
        let japanese = JAPANESE.iter().find(|(word, _)| *word == trigger);
        let japanese = japanese.map(|(_, words)| *words).unwrap_or_default();
        holds(&question, &trigger) || japanese.iter().any(|word| question.contains(word))
    })
}

/// Lower case, with the full-width forms of ASCII as ASCII.
fn half_width(text: &str) -> String {
    let narrow = |letter: char| match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        other => other,
    };
    text.chars().map(narrow).flat_map(char::to_lowercase).collect()
}

fn holds(question: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    // A vulnerability is one of the vulnerabilities.
    let stem = word.strip_suffix('y').filter(|stem| stem.ends_with(is_letter)).unwrap_or(word);
    let stands_alone = |start: usize| {
        let before = question.get(..start).and_then(|text| text.chars().next_back());
        if stem.starts_with(is_letter) && before.is_some_and(is_letter) {
            return false;
        }
        // A plural or a past tense is the same word; no ending is longer than three letters.
        let rest = question.get(start + stem.len()..).unwrap_or_default();
        let ending: String = rest.chars().take_while(|letter| is_letter(*letter)).take(4).collect();
        let endings: &[&str] = if stem == word { &["", "s", "d", "es", "ed"] } else { &["y", "ies"] };
        !stem.ends_with(is_letter) || endings.contains(&ending.as_str())
    };
    !stem.is_empty() && question.match_indices(stem).any(|(start, _)| stands_alone(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;

    #[test]
    fn the_built_in_policy_is_sent_as_it_is() {
        let policy = Policy::default();
        assert_eq!(instructions(&policy, Path::new("")).unwrap(), SYSTEM_POLICY);
        assert!(!SYSTEM_POLICY_REV.is_empty());
        assert!(SYSTEM_POLICY.contains(WHEN_UNSURE) && SYSTEM_POLICY.contains(DATES));
    }

    #[test]
    fn two_sentences_can_be_left_out() {
        let policy =
            Policy { prefer_search_when_unsure: false, require_dates_iso: false, ..Policy::default() };
        let text = instructions(&policy, Path::new("")).unwrap();
        assert!(!text.contains("unsure") && !text.contains("accessed"), "{text}");
        assert!(text.contains("`- URL`"));
    }

    #[test]
    fn a_file_replaces_or_joins() {
        let folder = std::env::temp_dir().join(format!("annai-policy-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("own.md"), "Mine.\n").unwrap();
        std::fs::write(folder.join("empty.md"), " \n").unwrap();
        let with = |path: Option<&str>, merge| {
            let system = System { source: Source::File, path: path.map(str::to_owned), merge };
            instructions(&Policy { system, ..Policy::default() }, &folder)
        };
        assert_eq!(with(Some("own.md"), Merge::Replace).unwrap(), "Mine.\n");
        assert_eq!(with(Some("own.md"), Merge::Prepend).unwrap(), format!("Mine.\n\n{SYSTEM_POLICY}"));
        let appended = with(Some("own.md"), Merge::Append).unwrap();
        assert_eq!(appended, format!("{}\n\nMine.\n", SYSTEM_POLICY.trim_end()));
        assert!(with(None, Merge::Replace).unwrap_err().starts_with("policy.system.path is required"));
        assert!(with(Some("none.md"), Merge::Replace).unwrap_err().contains("none.md cannot be read"));
        assert!(with(Some("empty.md"), Merge::Replace).unwrap_err().ends_with("is empty"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn triggers_are_words_in_english_and_parts_in_japanese() {
        let triggers = Policy::default().search_triggers;
        for question in [
            "What is the LATEST Rust?",
            "Prices?",
            "本日の東京の天気は？",
            "price of gold",
            "is it EOL?",
            "OpenSSL vulnerabilities",
            "ＥＯＬ?",
            "今の首相は",
            "Rust 1.95 was released",
        ] {
            assert!(calls_for_search(question, &triggers), "{question}");
        }
        for question in ["HTTP 404 の意味", "Do you know me?", "a pricey snowman", ""] {
            assert!(!calls_for_search(question, &triggers), "{question}");
        }
        // Long questions take no long time.
        let started = std::time::Instant::now();
        assert!(!calls_for_search(&format!("x{}", "now".repeat(100_000)), &triggers));
        assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
        assert!(!calls_for_search("the weather", &[]));
        assert!(calls_for_search("株価は？", &["株価".to_owned()]));
    }
}
