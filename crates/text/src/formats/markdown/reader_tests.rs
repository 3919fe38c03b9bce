use proptest::prelude::*;

use super::*;
use crate::lines::LineIndex;

/// The lines of a text as a reader sees them.
fn rendered(text: &str) -> String {
    let document = Markdown.parse(text.to_owned(), "a.md");
    document.rendered_lines(1, document.lines.count()).into_owned()
}

fn rendering_of(text: &str) -> Rendering {
    Markdown.parse(text.to_owned(), "a.md").rendering
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(rendered(text), *expected, "{text:?}");
    }
}

#[test]
fn marks_of_emphasis_are_left_out_where_they_are_emphasis() {
    check(&[
        ("**有給**休暇", "有給休暇"),
        ("**「有給」**休暇", "「有給」休暇"),
        ("a *b* **c** ***d*** _e_ __f__ ~~g~~", "a b c d e f g"),
        ("**a *b* c**", "a b c"),
        ("**a*b** c", "a*b c"),
        ("**two\nlines**", "two\nlines"),
        ("snake_case_name and __init__.py", "snake_case_name and init.py"),
        ("2 * 3 and 4 * 5", "2 * 3 and 4 * 5"),
        ("2*3 and 4*5", "2*3 and 4*5"),
        ("* item *one*\n* item", "* item one\n* item"),
        ("- **a**\n- b**", "- a\n- b**"),
        ("*.md and *.txt", "*.md and *.txt"),
        ("*args, **kwargs", "*args, **kwargs"),
        ("* * *\n***\n___", "* * *\n***\n___"),
        ("**not\n\nclosed**", "**not\n\nclosed**"),
        ("| **a** | b** |\n| c** | d |", "| a | b** |\n| c** | d |"),
        ("a ~b~ ~~~~", "a ~b~ ~~~~"),
        (r"\*a\* snake\_case \\ \n", r"*a* snake_case \ \n"),
    ]);
}

#[test]
fn of_links_and_images_the_text_is_left() {
    check(&[
        ("[支払](x.md)方法", "支払方法"),
        ("[a **b**](x.md \"title\") and ![alt](y.png)", "a b and alt"),
        ("[![alt](y.png)](x.md)!", "alt!"),
        ("[a][ref], [ref][], [Ref] and [other][no]\n\n[ref]: x.md 'y'", "a, ref, Ref and [other][no]\n\n"),
        ("[1][2] and [x] and [^1]", "[1][2] and [x] and [^1]"),
        ("- [ ] [task](x)", "- [ ] task"),
        ("see <https://example.com/a?b> or <a@example.com>", "see https://example.com/a?b or a@example.com"),
        ("[not closed](x", "[not closed](x"),
        ("[a](<my file.md>)b", "ab"),
        ("a](b) c] [d", "a](b) c] [d"),
        ("[note]: important", ""),
        ("[a]: x.md\n[A]:\n  y.md\n\n---\n> [b]: z.md\n\n- [a] [b]", "\n\n\n\n---\n> \n\n- a b"),
        ("[^1]: a *note*\n\n[^1]", "[^1]: a note\n\n[^1]"),
        ("![data](data:image/png;base64,AAAA)", "data"),
    ]);
}

#[test]
fn tags_comments_and_shortcodes_are_left_out() {
    check(&[
        ("<b>有給</b>休暇", "有給休暇"),
        ("a<br>b <td>c</td><td>d</td>", "a b  c  d "),
        ("<p class=\"x\"\n   id=\"y\">text</p>", " \ntext "),
        ("<Tabs items={['a']}>\ntext\n</Tabs>", "\ntext\n"),
        ("給付<Term>金</Term>", "給付金"),
        ("a < b and c > d, a<b, x <- y", "a < b and c > d, a<b, x <- y"),
        ("Vec<T>, List<String> and <name>", "Vec<T>, List<String> and <name>"),
        ("an unclosed <b and <a href=\"x\n\nnext", "an unclosed <b and <a href=\"x\n\nnext"),
        ("a <!-- b --> c<!--d-->e", "a  ce"),
        ("<!-- one\n\ntwo --> three", "\n\n three"),
        ("a <!-- b\n\nc -->", "a <!-- b\n\nc -->"),
        ("<!-- never\n\n**a**", "<!-- never\n\n**a**"),
        ("<div>\n  **a** &lt; [b](c)\n# d\n</div>", " \n  a < b\n# d\n "),
        ("\\<b>a\n\n\\*b", "<b>a\n\n*b"),
        ("{{< figure\n  src=\"x\"\n>}}", "\n\n"),
        ("a {/* b */}c\n{/* d\n\ne */}\nf", "a c\n\n\n\nf"),
        ("{/* never **a**", "{/* never a"),
        ("# A {#id}\n## B { #id .x } ##\nC {#id}\n---\nd {#id}", "# A \n## B  ##\nC \n---\nd {#id}"),
        ("{{< note >}}text{{< /note >}} {{% x %}}y", "text y"),
        ("{{< figure\n  src=\"x\" >}}z", "\nz"),
        ("A {{< glossary_tooltip text=\"Pod\" term_id=\"pod\" >}}s", "A Pods"),
        ("{{ value }} {{< never", "{{ value }} {{< never"),
        ("&lt;T&gt; &amp; &quot;a&#39;b&#x41;&nbsp;c &none;", "<T> & \"a'bA c &none;"),
    ]);
}

#[test]
fn code_stays_as_it_is() {
    check(&[
        ("use `<KeepAlive>` and `**a**`", "use `<KeepAlive>` and `**a**`"),
        ("``a ` *b* `` *c*", "``a ` *b* `` c"),
        ("an unclosed ` and *b*", "an unclosed ` and b"),
        ("one `\n\n*b* `", "one `\n\nb `"),
        ("```\n*a* <b> [x](y)\n```\n*b*", "```\n*a* <b> [x](y)\n```\nb"),
        ("- ```js\n  *a*\n  ```\n  *b*", "- ```js\n  *a*\n  ```\n  b"),
        ("> ~~~\n> *a*\n> ~~~\n> *b*", "> ~~~\n> *a*\n> ~~~\n> b"),
        ("text\n\n    <div>*a*</div>\n\n*b*", "text\n\n    <div>*a*</div>\n\nb"),
        ("- item\n\n    **text** of it", "- item\n\n    text of it"),
        ("!!! note\n\n    **text** of it", "!!! note\n\n    text of it"),
        ("```\nnever *closed*", "```\nnever *closed*"),
        ("`a` *b* `c", "`a` b `c"),
    ]);
}

#[test]
fn front_matter_and_the_marks_of_lines_stay() {
    check(&[
        ("---\ntitle: *x* <b>\n---\n*y*", "---\ntitle: *x* <b>\n---\ny"),
        ("# A\n\n1. *b*\n> c\n\n| d |\n|---|\r\n| *e* |", "# A\n\n1. b\n> c\n\n| d |\n|---|\n| e |"),
    ]);
}

#[test]
fn a_part_is_rendered_as_in_the_whole() {
    let text = "a **b** [c](d.md) e";
    let rendering = rendering_of(text);
    assert_eq!(rendering.render(text, 0..5), "a b");
    assert_eq!(rendering.render(text, 3..10), "b c");
    // A part may begin and end inside of what is left out.
    assert_eq!(rendering.render(text, 12..19), " e");
    assert_eq!(rendering.render(text, 5..13), " c");
    let rendering = rendering_of("x<br>y");
    assert_eq!(
        (rendering.render("x<br>y", 0..3), rendering.render("x<br>y", 3..6)),
        ("x ".into(), "y".into())
    );
}

#[test]
fn hostile_texts_take_linear_time() {
    let parts = [
        "[",
        "]",
        "[a](",
        "[a](b \"",
        "[a](<",
        "![",
        "[a][",
        "*",
        "**a ",
        "_a",
        "*a_",
        "~~",
        "`",
        "``a`",
        "<",
        "<a ",
        "<a x=\"",
        "<a {",
        "<!--",
        "{/*",
        "{{<",
        "{{%",
        "{#a}",
        "# {#a}",
        "&",
        "&#",
        "- ",
        "> ",
        "<a {<a {}",
        "(",
        "\\",
        "|",
        "<b\n",
        "[a]:",
        "[a]: x.md\n[a]",
        "    ",
    ];
    let started = std::time::Instant::now();
    for part in parts {
        let text = part.repeat(50_000 / part.len());
        assert!(rendered(&text).len() <= text.len());
        let text = format!("x *y* {text}\n{}", text.replace(' ', "\n"));
        assert!(rendered(&text).len() <= text.len());
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

fn found(text: &str) -> Vec<(u8, String)> {
    let lines = LineIndex::new(text);
    let all = read(text, &lines, 0).1;
    all.into_iter().map(|heading| (heading.level, heading.title)).collect()
}

#[test]
fn markup_is_not_part_of_a_title() {
    for (heading, title) in [
        ("# <code>x</code> and `y`", "x and y"),
        ("# `Vec<T>` of T", "Vec<T> of T"),
        ("# Option&lt;T&gt; &amp; more", "Option<T> & more"),
        ("# **Bold**, _slanted_ and ~~gone~~", "Bold, slanted and gone"),
        ("# A [link](x.md \"t\") and ![an image](y.png)", "A link and an image"),
        ("# [1.2.0] - 2024\n\n[1.2.0]: https://example.com/v1", "1.2.0 - 2024"),
        ("# [Unreleased]", "[Unreleased]"),
        ("# Rates <Badge type=\"tip\" text={v >= 3} /> here", "Rates here"),
        ("# Pods {{< feature-state for_k8s_version=\"v1.2\" >}}", "Pods"),
        ("# Pods {{<feature>}} {{% x %}}", "Pods"),
        ("# Usage {/*usage*/}", "Usage"),
        ("# Usage {#use-it}", "Usage"),
        ("# Usage { #use-it .big } ##", "Usage"),
        ("# Usage <!-- omit in toc -->", "Usage"),
        ("Two\nlines {#two}\n===", "Two lines"),
        ("# GET /users/{id}", "GET /users/{id}"),
        ("# snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("# 第1条　目的", "第1条　目的"),
        ("# first<br>second", "first second"),
    ] {
        assert_eq!(found(heading).first().map(|(_, title)| title.as_str()), Some(title), "{heading}");
    }
}

#[test]
fn a_long_text_has_the_headings_of_its_parts() {
    let part = |number: usize| {
        format!(
            "# A {number}\n\n> # quoted\n\n- # listed\n\nB {number}\n===\n```\n# code\n```\n{}\n",
            "text *a* [b](c)\n".repeat(2_000)
        )
    };
    let expected: Vec<_> =
        (0..200).flat_map(|number| [(1, format!("A {number}")), (1, format!("B {number}"))]).collect();
    assert_eq!(found(&(0..200).map(part).collect::<String>()), expected);
}

#[test]
fn a_long_text_is_read_in_pieces() {
    let code = "# no heading\n".repeat(180_000);
    let comment = format!("<!--\n{}-->\n", "# no heading\n\n".repeat(20_000));
    let text = format!("# A\n\n```\n{code}```\n# *B*\n{}# C\n", format!("{comment}text\n\n").repeat(8));
    let titles: Vec<_> = found(&text).into_iter().map(|(_, title)| title).collect();
    assert_eq!(titles, ["A", "B", "C"]);
    let line = format!("# {}\n# B\n", "あ".repeat(800_000));
    assert_eq!(found(&line).len(), 2);
    for text in ["[[[\n", "- *a*\r", "[a]: b.c\r\n\r\n"] {
        assert_eq!(found(&text.repeat((3 << 20) / text.len())), []);
    }
    let indented = format!("a\n\n{}b\n# C", " ".repeat(3 << 20));
    assert_eq!(found(&indented), [(1, "C".to_owned())]);
}

proptest! {
    #[test]
    fn a_line_stays_a_line_and_nothing_is_added(
        text in r"([*_~`\[\]()<>{}!#|/ab \\:;.%-]|\*\*|<!--|-->|<br>|\{\{<|>\}\}|\]\(|給付|```|\n|\r\n|\[a\]: b\.c\n){0,40}"
    ) {
        let lines = LineIndex::new(&text);
        let rendering = rendering_of(&text);
        for number in 1..=lines.count() {
            let line = lines.line(number).unwrap();
            let shown = rendering.render(&text, line.clone());
            prop_assert!(!shown.contains(['\n', '\r']));
            // What is left is left in order; only tags become spaces.
            let mut original = text[line.clone()].chars();
            prop_assert!(shown.chars().all(|letter| letter == ' ' || original.any(|other| other == letter)), "{}", shown);
        }
    }

    #[test]
    fn a_text_without_markup_is_unchanged(text in "([a-z0-9給付金。、 .,:;()?'\"=+/-]{0,12}(\n|\r\n)){0,8}") {
        let rendering = rendering_of(&text);
        prop_assert_eq!(rendering.render(&text, 0..text.len()), text.clone());
    }

    #[test]
    fn emphasis_around_words_is_left_out(words in proptest::collection::vec(("[a-z給付]{1,4}", 0_usize..5), 1..8)) {
        let marked: Vec<_> = words.iter().map(|(word, mark)| {
            let mark = ["", "*", "**", "_", "~~"][*mark];
            format!("{mark}{word}{mark}")
        }).collect();
        let plain: Vec<_> = words.iter().map(|(word, _)| word.as_str()).collect();
        prop_assert_eq!(rendered(&marked.join(" ")), plain.join(" "));
    }

    #[test]
    fn every_heading_outside_a_code_block_is_found(parts in proptest::collection::vec((1_usize..=6, "[a-z]{1,5}", any::<bool>()), 0..12)) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (level, word, fenced) in &parts {
            let heading = format!("{} {word}\n", "#".repeat(*level));
            if *fenced {
                text.push_str(&format!("```\n{heading}```\n"));
            } else {
                expected.push((*level as u8, word.clone()));
                text.push_str(&heading);
            }
        }
        prop_assert_eq!(found(&text), expected);
    }
}
