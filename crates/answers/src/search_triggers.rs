//! Whether a question contains a word that requires a web search (`policy.search_triggers`).

/// Built-in triggers and their Japanese translations.
const JAPANESE_TRIGGERS: &[(&str, &[&str])] = &[
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

/// Whether a question contains a trigger. Words in Latin letters must stand alone: "know" does not contain "now".
pub fn requires_search(question: &str, triggers: &[String]) -> bool {
    let question = to_half_width(question);
    triggers.iter().any(|trigger| {
        let trigger = trigger.trim().to_lowercase();
        let translations = JAPANESE_TRIGGERS.iter().find(|(word, _)| *word == trigger);
        let translations = translations.map(|(_, words)| *words).unwrap_or_default();
        contains_word(&question, &trigger) || translations.iter().any(|word| question.contains(word))
    })
}

/// Converts a text to lower case, and the full-width forms of ASCII characters to ASCII.
fn to_half_width(text: &str) -> String {
    let narrow = |letter: char| match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(letter as u32 - 0xfee0).unwrap_or(letter),
        other => other,
    };
    text.chars().map(narrow).flat_map(char::to_lowercase).collect()
}

/// Whether a question contains a word, also in its plural or past tense.
fn contains_word(question: &str, word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    // The plural of "vulnerability" is "vulnerabilities".
    let stem = word.strip_suffix('y').filter(|stem| stem.ends_with(is_letter)).unwrap_or(word);
    let endings: &[&str] = if stem == word { &["", "s", "d", "es", "ed"] } else { &["y", "ies"] };
    let stands_alone = |start: usize| {
        let before = question.get(..start).and_then(|text| text.chars().next_back());
        if stem.starts_with(is_letter) && before.is_some_and(is_letter) {
            return false;
        }
        // No ending has more than three letters, so a fourth one rules the word out without reading on.
        let rest = question.get(start + stem.len()..).unwrap_or_default();
        let ending: String = rest.chars().take_while(|letter| is_letter(*letter)).take(4).collect();
        !stem.ends_with(is_letter) || endings.contains(&ending.as_str())
    };
    !stem.is_empty() && question.match_indices(stem).any(|(start, _)| stands_alone(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PolicySettings;

    #[test]
    fn triggers_are_words_in_english_and_parts_in_japanese() {
        let triggers = PolicySettings::default().search_triggers;
        for question in [
            "What is the LATEST Rust?",
            "Prices?",
            "本日の東京の天気は？",
            "price of gold",
            "ＮＥＷＳ?",
            "今の首相は",
            "為替レート",
            "Breaking: what happened?",
        ] {
            assert!(requires_search(question, &triggers), "{question}");
        }
        let own = ["EOL", "vulnerability", "release"].map(str::to_owned);
        for question in ["is it ＥＯＬ?", "OpenSSL vulnerabilities", "Rust 1.95 was released", "脆弱性は？"]
        {
            assert!(requires_search(question, &own), "{question}");
            assert!(!requires_search(question, &triggers), "{question}");
        }
        for question in ["HTTP 404 の意味", "Do you know me?", "a pricey snowman", ""] {
            assert!(!requires_search(question, &triggers), "{question}");
        }
        // A quadratic search would take minutes here.
        assert!(!requires_search(&format!("x{}", "now".repeat(100_000)), &triggers));
        assert!(!requires_search("the weather", &[]));
        assert!(requires_search("株価は？", &["株価".to_owned()]));
    }
}
