use proptest::prelude::*;

use super::*;

fn checked(text: &str, domains: &[&str]) -> (String, usize) {
    let domains: Vec<_> = domains.iter().map(|domain| (*domain).to_owned()).collect();
    let checked = without_other_links(text, &domains);
    (checked.text, checked.removed.len())
}

#[test]
fn pages_outside_the_domains_disappear_and_their_words_stay() {
    for (text, expected, count) in [
        ("It rains. ([E](https://evil.example/x)) Yes.", "It rains. Yes.", 1),
        ("See [the page](https://evil.example/x), please.", "See the page, please.", 1),
        ("See [the page](<https://evil.example/a b> \"title\").", "See the page.", 1),
        ("See https://evil.example/x_(y)_z. Then", "See. Then", 1),
        ("See (https://evil.example/x) now", "See now", 1),
        ("See <https://evil.example/x> now", "See now", 1),
        ("詳細は（https://evil.example/x）です", "詳細はです", 1),
        ("HTTPS://EVIL.example/ and www.evil.example/x and www.a.example", " and and www.a.example", 2),
        ("- https://evil.example/\n- https://a.example/", "- https://a.example/", 1),
        ("[page][1] and [1]\n\n[1]: https://evil.example/ \"t\"\n", "page and 1\n\n\n", 1),
        ("![map](https://evil.example/m.png) here", "map here", 1),
        ("[![map](https://evil.example/m.png)](https://a.example/)", "[map](https://a.example/)", 1),
        ("[https://evil.example/](https://evil.example/) x", " x", 1),
        ("[https://evil.example/](https://a.example/) x", "(https://a.example/) x", 1),
        ("<a href=\"https://evil.example/\">x</a>", "<a href=\"\">x</a>", 1),
        ("Use `https://evil.example/` now", "Use now", 1),
        ("https://a.example@evil.example/ x", " x", 1),
        ("https://a.example.evil.example/ and https://nota.example/", " and", 2),
        ("https://evil.example/ https://evil.example/#part", "", 1),
    ] {
        assert_eq!(checked(text, &["a.example"]), (expected.to_owned(), count), "{text}");
    }
}

#[test]
fn allowed_links_and_code_stay_byte_for_byte() {
    for text in [
        "See [A](https://a.example/x_(y)) and https://www.a.example/?u=https://evil.example/ (ok).",
        "[a][1]\n\n[1]: https://a.example/",
        "```\ncurl https://evil.example/\n```\n`curl https://evil.example/ -o x`",
        "ratio 3:4, time 10:30, Note: yes, std::vec, data: none, a.b.c, e.g. this",
        "| a | b |\n|---|---|\n| 1 | https://a.example/ |\n\n---\n* * *",
        "C:/Users",
    ] {
        assert_eq!(checked(text, &["a.example"]), (text.to_owned(), 0), "{text}");
    }
}

#[test]
fn other_schemes_than_http_disappear_whatever_the_domains() {
    for (text, expected, count) in [
        ("[x](javascript:alert(1)) y", "x y", 1),
        ("[x](data:text/html,<b>) y", "x y", 1),
        ("[x](/relative) and [y](//evil.example/)", "x and y", 2),
        ("ftp://a.example/f and file:///etc/passwd now", " and now", 2),
        ("click javascript:alert(document.cookie) now", "click now", 1),
        ("write to mailto:a@b.example or <c@d.example>", "write to or c@d.example", 2),
        ("vscode://x/y and https://b.example/", " and https://b.example/", 1),
    ] {
        assert_eq!(checked(text, &[]), (expected.to_owned(), count), "{text}");
    }
    assert_eq!(
        checked("https://b.example/ www.c.example", &[]),
        ("https://b.example/ www.c.example".into(), 0)
    );
}

#[test]
fn long_texts_take_linear_time() {
    let started = std::time::Instant::now();
    for part in ["a:", "https://", "[", "[x](", "www.", "x.", "<", "`", "(javascript:"] {
        checked(&part.repeat(200_000 / part.len()), &["a.example"]);
    }
    // Quadratic work would take minutes.
    assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn nothing_is_left_to_remove(text in "([a-z .,()\\[\\]<>!*_\n-]|https://evil\\.example/|https://a\\.example/|\\]\\(|www\\.evil\\.example){0,30}") {
        let (text, _) = checked(&text, &["a.example"]);
        prop_assert_eq!(checked(&text, &["a.example"]), (text, 0));
    }
}
