use proptest::prelude::*;

use super::*;

/// The sentences of a text, each with its lines.
fn of(text: &str) -> Vec<(String, Range<usize>)> {
    sentences(text.lines()).into_iter().map(|sentence| (sentence.text, sentence.lines)).collect()
}

fn texts(text: &str) -> Vec<String> {
    of(text).into_iter().map(|(text, _)| text).collect()
}

#[test]
fn paragraphs_are_split_at_full_stops_but_not_at_abbreviations() {
    for (text, expected) in [
        (
            "one is here. two is there! is three? four",
            vec!["one is here.", "two is there!", "is three?", "four"],
        ),
        ("one; two", vec!["one;", "two"]),
        ("open from 9 a.m. to 5 p.m. daily.", vec!["open from 9 a.m. to 5 p.m. daily."]),
        ("it takes approx. 3 days, max. 5.", vec!["it takes approx. 3 days, max. 5."]),
        ("It takes Approx. 3 days.", vec!["It takes Approx. 3 days."]),
        ("version 1.2.3 of annai.toml is read.", vec!["version 1.2.3 of annai.toml is read."]),
        ("返品は14日です。交換は30日です。", vec!["返品は14日です。", "交換は30日です。"]),
        ("本当ですか?はい。", vec!["本当ですか?", "はい。"]),
        ("本当ですか？はい。", vec!["本当ですか？", "はい。"]),
        ("...", vec!["..."]),
        ("", vec![]),
    ] {
        assert_eq!(texts(text), expected, "{text}");
    }
}

#[test]
fn wrapped_lines_are_one_sentence_on_all_of_its_lines() {
    assert_eq!(
        of("the refund window\nis 14 days.\n\nthe next one"),
        [("the refund window is 14 days.".to_owned(), 0..2), ("the next one".to_owned(), 3..4)]
    );
    assert_eq!(of("返品は到着後\n14日です。"), [("返品は到着後 14日です。".to_owned(), 0..2)]);
    assert_eq!(of("返品の期限は到着\n後二週間です。"), [("返品の期限は到着後二週間です。".to_owned(), 0..2)]);
}

#[test]
fn items_are_sentences_of_their_own_with_what_introduces_them() {
    assert_eq!(
        of("refunds are paid:\n- by card in 3 days\n- in cash\n  at the desk\n\nothers are not"),
        [
            ("refunds are paid:".to_owned(), 0..1),
            ("refunds are paid, by card in 3 days".to_owned(), 1..2),
            ("refunds are paid, in cash at the desk".to_owned(), 2..4),
            ("others are not".to_owned(), 5..6),
        ]
    );
    assert_eq!(texts("plain\n1. one\n2) two\n・三つ"), ["plain", "one", "two", "三つ"]);
    assert_eq!(texts("> quoted text"), ["quoted text"]);
    assert_eq!(texts("支払方法：\n- 現金"), ["支払方法：", "支払方法, 現金"]);
    // A number that begins a sentence is no mark of an item.
    assert_eq!(texts("2024. and 3.5 days"), ["2024.", "and 3.5 days"]);
}

#[test]
fn each_cell_of_a_table_has_its_row_and_its_column() {
    let table = "| plan | price | seats |\n|---|:---:|---|\n| home | $5 | 3 |\n| office | $9 | |";
    assert_eq!(
        of(table),
        [
            ("home, price: $5".to_owned(), 2..3),
            ("home, seats: 3".to_owned(), 2..3),
            ("office, price: $9".to_owned(), 3..4),
            ("office, seats: ".to_owned(), 3..4),
        ]
    );
    assert!(sentences(table.lines()).iter().all(|sentence| sentence.is_cell));
    // A part of a table without its heading has rows only, of which none is a heading.
    assert_eq!(texts("| home | $5 |\n| office | $9 |"), ["home: $5", "office: $9"]);
    assert_eq!(texts("text\n| home | $5 |\ntext"), ["text", "home: $5", "text"]);
    // The next table has its own heading.
    assert_eq!(
        texts("| a | b |\n|---|---|\n| c | d |\n\n| e | f |\n|---|---|\n| g | h |"),
        ["c, b: d", "g, f: h"]
    );
    let wide = format!("| r |{}\n|{}\n| r |{}", " h |".repeat(50), "---|".repeat(51), " 1 |".repeat(50));
    assert_eq!(texts(&wide).len(), MAX_COLUMNS - 1);
}

#[test]
fn code_comments_metadata_and_markup_are_no_sentences() {
    for text in [
        "---\ntitle: 14 days\n---",
        "```sh\nwait 14 days\n```",
        "~~~\nwait 14 days\n```\nstill code\n~~~",
        "```\nnever closed",
        "<!-- one -->",
        "<!-- one\ntwo\nthree -->",
        "## heading",
        ":::note",
        "{{ include }}",
        "{% raw %}",
        "$ annai --help",
        "<div class=\"a\">",
        "[!NOTE]",
    ] {
        assert_eq!(texts(text), Vec::<String>::new(), "{text}");
        let before_and_after = texts(&format!("before\n\n{text}"));
        // Front matter stands only at the beginning.
        assert!(before_and_after.len() == 1 || text.starts_with("---"), "{text}");
    }
    assert_eq!(texts("before\n```\ncode\n```\nafter"), ["before", "after"]);
    assert_eq!(texts("**bold** and <b>x</b>"), ["bold and x"]);
    // A normalized text has square brackets instead of Japanese ones.
    assert_eq!(texts("[特約](第3条のもの)は無効"), ["[特約](第3条のもの)は無効"]);
    assert_eq!(texts("set `limit = 5` now"), ["set `limit = 5` now"]);
    assert_eq!(texts("an `open mark"), ["an `open mark`"]);
}

#[test]
fn a_sentence_of_a_thousand_words_is_left_out() {
    assert_eq!(texts(&"word ".repeat(1000)), Vec::<String>::new());
    assert_eq!(
        texts(&format!("| a | b |\n|---|---|\n| {} | 5 |", "word ".repeat(1000))),
        Vec::<String>::new()
    );
    assert_eq!(texts(&format!("short. {}", "word ".repeat(1000))), ["short."]);
}

proptest! {
    #[test]
    fn lines_lie_in_the_text_and_sentences_are_bounded(
        text in "(?s)([-|#>`~<!*.:;?。、 \\n]|---|```|<!--|-->|[a-z]{1,4}|[あ亜ア]|１|：){0,60}"
    ) {
        let count = text.lines().count();
        for sentence in sentences(text.lines()) {
            prop_assert!(sentence.lines.start < sentence.lines.end && sentence.lines.end <= count);
            prop_assert!(!sentence.text.is_empty() && sentence.text.len() <= MAX_SENTENCE_BYTES);
        }
    }

    #[test]
    fn any_text_is_split_without_a_panic(text in "\\PC*(\\n\\PC*){0,5}") {
        let found = sentences(text.lines());
        prop_assert!(found.iter().all(|sentence| sentence.lines.end <= text.lines().count()));
        prop_assert!(without_markup(&text).len() <= text.len() + 1);
    }
}
