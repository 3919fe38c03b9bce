use proptest::prelude::*;

use super::*;
use crate::responses::Link;

fn marked(text: &str) -> (String, usize) {
    let link = |url: &str| Link { url: url.into(), ..Link::default() };
    let response = ParsedResponse {
        citations: vec![link("https://a.example/x?utm_source=openai#part")],
        sources: vec![
            link("https://www.b.example/"),
            link("https://c.example/?p=1&q=2"),
            link("https://d.example/a_b"),
            link("https://ja.example/wiki/%E6%9D%B1%E4%BA%AC"),
            Link { is_service: true, ..link("https://service.example/") },
        ],
        ..ParsedResponse::default()
    };
    let known = KnownPages::new(&response, "What about https://asked.example/p?");
    let marked = mark_unverified_links(text, &known);
    (marked.text, marked.unverified.len())
}

#[test]
fn links_that_no_search_returned_are_marked() {
    for (text, expected, count) in [
        ("See https://e.example/x.", "See https://e.example/x (unverified link).", 1),
        ("See www.e.example/x, ok", "See www.e.example/x (unverified link), ok", 1),
        ("See [the page](https://e.example/x).", "See [the page](https://e.example/x) (unverified link).", 1),
        ("See <https://e.example/x>!", "See <https://e.example/x> (unverified link)!", 1),
        (
            "A [page][1] and [1].\n\n[1]: https://e.example/ \"T\"\n",
            "A [page][1] (unverified link) and [1] (unverified link).\n\n[1]: https://e.example/ \"T\"\n",
            1,
        ),
        ("Text.\n\n[1]: https://e.example/\n", "Text.\n\n[1]: https://e.example/ (unverified link)\n", 1),
        ("![map](https://e.example/m.png) x", "![map](https://e.example/m.png) (unverified link) x", 1),
        (
            "[![map](https://e.example/m.png)](https://a.example/x) x",
            "[![map](https://e.example/m.png)](https://a.example/x) (unverified link) x",
            1,
        ),
        (
            "[https://e.example/](https://e.example/) x",
            "[https://e.example/](https://e.example/) (unverified link) x",
            1,
        ),
        (
            "[https://e.example/](https://a.example/x) x",
            "[https://e.example/](https://a.example/x) (unverified link) x",
            1,
        ),
        ("**https://e.example/** x", "**https://e.example/ (unverified link)** x", 1),
        ("(https://e.example/x)", "(https://e.example/x (unverified link))", 1),
        (
            "| a |\n|---|\n| https://e.example/ |\n",
            "| a |\n|---|\n| https://e.example/ (unverified link) |\n",
            1,
        ),
        ("<a href=\"https://e.example/\">x</a>", "<a href=\"https://e.example/\"> (unverified link)x</a>", 1),
        (
            "https://e.example/ https://e.example/#part",
            "https://e.example/ (unverified link) https://e.example/#part (unverified link)",
            1,
        ),
        (
            "https://e.example/[1]\n\n[1]: https://a.example/x",
            "https://e.example/ (unverified link)[1]\n\n[1]: https://a.example/x",
            1,
        ),
        ("https://service.example/ x", "https://service.example/ (unverified link) x", 1),
        ("https://a.example@e.example/x x", "https://a.example@e.example/x (unverified link) x", 1),
        ("https://a.example/", "https://a.example/ (unverified link)", 1),
    ] {
        assert_eq!(marked(text), (expected.to_owned(), count), "{text}");
        assert_eq!(marked(expected), (expected.to_owned(), count), "marked once: {text}");
    }
}

#[test]
fn japanese_text_has_a_japanese_mark() {
    for (text, expected) in [
        (
            "詳しくは[こちら](https://e.example/x)です。",
            "詳しくは[こちら](https://e.example/x)（未確認のリンク）です。",
        ),
        ("詳細はhttps://e.example/x、参照。", "詳細はhttps://e.example/x （未確認のリンク）、参照。"),
        ("詳細は（https://e.example/x）です。", "詳細は（https://e.example/x （未確認のリンク））です。"),
        (
            "The film となりのトトロ is on https://e.example/ and is a well known work of Japanese animation from 1988.",
            "The film となりのトトロ is on https://e.example/ (unverified link) and is a well known work of Japanese animation from 1988.",
        ),
    ] {
        assert_eq!(marked(text), (expected.to_owned(), 1), "{text}");
        assert_eq!(marked(expected), (expected.to_owned(), 1), "marked once: {text}");
    }
}

#[test]
fn links_that_a_search_returned_or_the_question_named_stay_as_they_are() {
    for text in [
        "See https://a.example/x, https://a.example/x/#other and [A](https://a.example/x?utm_medium=y).",
        "See www.b.example and <https://www.b.example/>.",
        "See https://c.example/?p=1&amp;q=2 and https://d.example/a\\_b.",
        "You named https://asked.example/p, and it says so.",
        "詳細はhttps://a.example/xを参照、https://www.b.example/を参照、https://a.example/x参照。",
        "https://ja.example/wiki/東京 と https://ja.example/wiki/東京を参照",
        "[1] says so.\n\n[1]: https://a.example/x",
        "No link: e.g. this, 3:4, std::vec.",
        "",
    ] {
        assert_eq!(marked(text), (text.to_owned(), 0), "{text}");
    }
}

#[test]
fn code_stays_byte_for_byte_and_its_links_are_counted() {
    for (text, count) in [
        ("```sh\ncurl https://e.example/ https://a.example/x\n```\n", 1),
        ("Run `curl https://e.example/` and `curl https://f.example/`.", 2),
        ("    curl https://e.example/\n", 1),
    ] {
        assert_eq!(marked(text), (text.to_owned(), count), "{text}");
    }
    assert_eq!(
        marked("Run `curl https://e.example/` from https://e.example/ now"),
        ("Run `curl https://e.example/` from https://e.example/ (unverified link) now".to_owned(), 1)
    );
}

#[test]
fn long_texts_take_linear_time() {
    let started = std::time::Instant::now();
    for part in [
        "a:",
        "https://e.example/ ",
        "[",
        "[x](",
        "[x](https://e.example/)",
        "www.",
        "<",
        "`",
        "[1]: https://e.example/\n",
    ] {
        marked(&part.repeat(200_000 / part.len()));
    }
    // Quadratic work would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn nothing_but_marks_is_added(
        text in "([a-z .,()\\[\\]<>!*_`\n:あ-]|https://e\\.example/|https://a\\.example/x|\\]\\(|\\[1\\]: |www\\.e\\.example|<a href=\"){0,30}"
    ) {
        let (once, _) = marked(&text);
        let plain = once.replace(" (unverified link)", "").replace(" （未確認のリンク）", "").replace("（未確認のリンク）", "");
        prop_assert_eq!(plain, text);
    }
}
