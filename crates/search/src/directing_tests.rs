use super::*;

fn subject(question: &str) -> String {
    without_directing_words(question, &question.to_lowercase()).text
}

#[test]
fn only_what_directs_is_taken_away() {
    for (question, expected) in [
        ("返品の期限を教えてください", "返品の期限"),
        ("返品の期限、詳しく教えてほしいです。", "返品の期限、 。"),
        ("ご教示いただけますか", ""),
        ("お知らせの一覧", "お知らせの一覧"),
        ("返品をわかりやすく", "返品"),
        ("簡単に設定できるか", "簡単に設定できるか"),
        ("教えてよい情報", "教えてよい情報"),
        ("please, list the limits", "the limits"),
        ("List limits", "list limits"),
        ("LIST the limits", "list the limits"),
        ("could you find limits", "limits"),
        ("could you return goods", "could you return goods"),
        ("describe command", "describe command"),
        ("explain", "explain"),
        ("hello, refunds", "refunds"),
        ("limits, please tell me", "limits,"),
    ] {
        assert_eq!(subject(question), expected, "{question}");
    }
}

#[test]
fn the_words_that_begin_a_question_are_counted() {
    let leading = |question: &str| without_directing_words(question, &question.to_lowercase()).leading_words;
    assert_eq!(leading("Please tell me about refunds"), 4);
    assert_eq!(leading("Hi, please list the refunds"), 3);
    assert_eq!(leading("refunds, please list the limits"), 0);
    assert_eq!(leading("返品 please"), 0);
}

#[test]
fn taking_away_twice_takes_no_more() {
    for question in
        ["please tell me the limits", "返品を詳しく教えてください", "list the list of lists, thanks"]
    {
        let once = subject(question);
        assert_eq!(subject(&once), once);
    }
}

#[test]
fn the_lists_hold_normalized_words_each_once() {
    for list in [LEADING, TRAILING, REQUESTS, GREETINGS, VERBS, SPEAKING_VERBS, DETERMINERS, NAMED_NOUNS] {
        let words: std::collections::HashSet<_> = list.iter().collect();
        assert_eq!(words.len(), list.len());
        assert!(list.iter().all(|word| *word == annai_text::normalize_text(word)));
    }
}
