use proptest::prelude::*;

use super::*;
use crate::lines::LineIndex;

/// The lines of a text as a reader sees them.
fn rendered(text: &str) -> String {
    let lines = LineIndex::new(text);
    Rendering::of_file(text, &lines).render_lines(text, &lines, 1..=lines.count())
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
        ("see <https://example.com/a?b> or <a@example.com>", "see   or <a@example.com>"),
        ("[not closed](x", "[not closed](x"),
        ("[a](<my file.md>)b", "ab"),
        ("a](b) c] [d", "a](b) c] [d"),
        ("[note]: important", "[note]: important"),
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
        ("<!-- never\n\n**a**", "<!-- never\n\na"),
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
    let rendering = Rendering::new(text, 0);
    assert_eq!(rendering.render(text, 0..5), "a b");
    assert_eq!(rendering.render(text, 3..10), "b c");
    // A part may begin and end inside of what is left out.
    assert_eq!(rendering.render(text, 12..19), " e");
    assert_eq!(rendering.render(text, 5..13), " c");
    let rendering = Rendering::new("x<br>y", 0);
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

proptest! {
    #[test]
    fn a_line_stays_a_line_and_nothing_is_added(
        text in r"([*_~`\[\]()<>{}!#|/ab \\:;.%-]|\*\*|<!--|-->|<br>|\{\{<|>\}\}|\]\(|給付|```|\n|\r\n|\[a\]: b\.c\n){0,40}"
    ) {
        let lines = LineIndex::new(&text);
        let rendering = Rendering::of_file(&text, &lines);
        for number in 1..=lines.count() {
            let line = lines.line(number).unwrap();
            let shown = rendering.render(&text, line.clone());
            prop_assert!(!shown.contains(['\n', '\r']));
            // What is left is left in order; only tags become spaces.
            let mut original = text[line.clone()].chars();
            prop_assert!(shown.chars().all(|letter| letter == ' ' || original.any(|other| other == letter)), "{}", shown);
        }
        for edits in rendering.edits.windows(2) {
            prop_assert!(edits[0].end <= edits[1].start);
        }
    }

    #[test]
    fn a_text_without_markup_is_unchanged(text in "([a-z0-9給付金。、 .,:;()?'\"=+/-]{0,12}(\n|\r\n)){0,8}") {
        let lines = LineIndex::new(&text);
        let rendering = Rendering::of_file(&text, &lines);
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
}
