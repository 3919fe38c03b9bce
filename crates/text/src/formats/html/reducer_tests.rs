use proptest::prelude::*;

use super::*;
use crate::lines::LineIndex;
use crate::sections::{Node, NodeKind};

fn parse(original: &str) -> Document {
    reduce(original, "page.html")
}

/// Every line of the original that has rows, with them.
fn rows(original: &str) -> Vec<(usize, String)> {
    let html = parse(original);
    let lines = (1..=html.lines.count())
        .map(|number| (number, html.text[html.lines.line(number).unwrap()].to_owned()));
    lines.filter(|(_, text)| !text.is_empty()).collect()
}

/// The reduced text.
fn text(original: &str) -> String {
    parse(original).text
}

#[test]
fn blocks_are_rows_on_the_line_where_they_began() {
    let page = "<!doctype html>\n<html><head><title>Page</title>\n<style>p { color: red }</style></head>\n<body>\n<h1>Big\n  title</h1>\n<p>First &amp; second\nline <b>bo</b>ld\n<p>Third<br>Fourth\n</body></html>\n";
    let expected = [(5, "# Big title"), (7, "First & second line bold"), (9, "Third\nFourth")];
    assert_eq!(rows(page), expected.map(|(line, text)| (line, text.to_owned())));
    let html = parse(page);
    assert_eq!((html.lines.count(), html.title.as_str()), (10, "Big title"));
    assert_eq!(html.text, "# Big title\nFirst & second line bold\nThird\nFourth");
    // A line on which nothing began is empty, at the position of the next row.
    assert_eq!(html.lines.line(6), html.lines.line(7).map(|line| line.start..line.start));
    assert_eq!((html.lines.line_at(0), html.lines.line_at(13), html.lines.line_at(40)), (5, 7, 9));
}

#[test]
fn lists_tables_preformatted_text_and_pictures_are_reduced() {
    let page = "<ul><li>One<li><p>Two</p><ul><li>Deep</ul></ul><table><tr><th>A<th>B</tr><tr><td><p>1</p></td><td></td><td><div>3</div>\
        </table><pre>\n  x\n\n  y\n</pre>tail <img alt='a  picture'> <textarea>\nq\n</textarea>";
    assert_eq!(text(page), "- One\n- Two\n- Deep\nA | B\n1 |  | 3\n  x\n\n  y\ntail a picture\nq");
}

#[test]
fn what_is_not_shown_is_dropped() {
    let page = "a<script>if (a < b) '<p>no'</script>b<style><p>no</style><!-- no <p> -->c<template><p>no<template>no</template>no</template>d\
        <svg><title>no</title><text>no</text><style/><svg/></svg>e<noscript><p>no</noscript>f<iframe>no</iframe>";
    assert_eq!(text(page), "abcdef");
    // A drawing that is not closed ends where browsers end it.
    assert_eq!(text("<svg><g><h2>Title</h2>x"), "## Title\nx");
    for page in
        ["a<script>no", "a<!-- no <p>", "a<style>no", "a<template>no", "a<b x='no", "a<b no", "a</", "a<"]
    {
        assert!(["a", "a</", "a<"].contains(&text(page).as_str()), "{page}");
    }
}

#[test]
fn a_line_break_between_japanese_characters_is_no_space() {
    assert_eq!(text("<p>被保険\n  者が\nabc\n死亡"), "被保険者が abc 死亡");
    assert_eq!(text("<p>被保険 者"), "被保険 者");
}

#[test]
fn headings_on_one_line_are_told_apart_by_their_characters() {
    let html = parse("x<h1>一つ</h1>aa<h2>Two</h2>b\n<h2>Three ¶</h2><h1>Four</h1>c");
    assert_eq!(html.text, "x\n# 一つ\naa\n## Two\nb\n## Three ¶\n# Four\nc");
    let shown: Vec<_> = html
        .nodes
        .iter()
        .map(|node| {
            let Node { title, level, start_line, start_char, end_line, own_end_line, parent, .. } = node;
            (title.as_str(), *level, (*start_line, *start_char), *own_end_line, *end_line, *parent)
        })
        .collect();
    let expected = [
        ("page.html", 1, (1, 0), 1, 1, None),
        ("一つ", 1, (1, 2), 1, 2, None),
        ("Two", 2, (1, 10), 1, 1, Some(1)),
        ("Three", 2, (2, 0), 2, 2, Some(1)),
        ("Four", 1, (2, 11), 2, 2, None),
    ];
    assert_eq!(shown, expected);
    let starts: Vec<_> =
        html.nodes.iter().map(|node| html.text[node.own.start..].lines().next().unwrap()).collect();
    assert_eq!(starts, ["x", "# 一つ", "## Two", "## Three ¶", "# Four"]);
}

#[test]
fn a_page_without_headings_is_headed_by_its_title() {
    let html = parse("<title>The\n page</title>\n<p>text");
    assert_eq!((html.text.as_str(), html.nodes[0].kind), ("# The page\ntext", NodeKind::Heading));
    assert_eq!(
        rows("<title>The page</title>\n<p>text"),
        [(1, "# The page".to_owned()), (2, "text".to_owned())]
    );
    assert_eq!(rows("<title>The page</title><p>text"), [(1, "# The page\ntext".to_owned())]);
    let html = parse("<p>text");
    assert_eq!(
        (html.text.as_str(), html.nodes[0].title.as_str(), html.nodes[0].kind),
        ("text", "page.html", NodeKind::Untitled)
    );
    for page in ["", "\n", "<p></p>", "<!-- -->", "<h1></h1>"] {
        let html = parse(page);
        assert_eq!(
            (html.text.as_str(), html.nodes.len(), html.lines.count()),
            ("", 1, LineIndex::new(page).count())
        );
    }
    assert_eq!(text("<title>Only</title>"), "# Only");
}

#[test]
fn relative_links_belong_to_their_section() {
    let page = "<a href=top.html>t</a><h1><a href='#one'>One</a></h1><a href=' b.html?x#y '>b</a><a href=https://x.org>x</a>\
        <a href='mailto:a@b'>m</a><a href='//x.org/y'>y</a><h2>Two</h2><a href=/abs>z</a><a href='javascript:f()'>j</a>";
    let expected = [(0, "top.html"), (1, "#one"), (1, "b.html?x#y"), (2, "/abs")];
    let nodes = parse(page).nodes;
    let links =
        (0..).zip(&nodes).flat_map(|(index, node)| node.links.iter().map(move |link| (index, &*link.target)));
    assert_eq!(links.collect::<Vec<_>>(), expected);
}

#[test]
fn a_heading_that_is_not_closed_ends_at_the_next_block() {
    assert_eq!(text("<h2>Title<p>text<h3><div>Sub</div></h3>x"), "## Title\ntext\n### Sub\nx");
    assert_eq!(parse("<h1>a<br>b</h1>").nodes[0].title, "a b");
}

#[test]
fn bombs_take_linear_time_and_little_memory() {
    let start = std::time::Instant::now();
    let deep = format!("{}deep{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    assert_eq!(text(&deep), "deep");
    let attributes: String = (0..60_000).map(|number| format!(" a{number}\n")).collect();
    assert_eq!(
        rows(&format!("<p{attributes}>after\n<p>end")),
        [(60_001, "after".into()), (60_002, "end".into())]
    );
    let quoted: String = (0..60_000).map(|number| format!("a{number}='>'")).collect();
    assert_eq!(text(&format!("<p {quoted} x>after")), "after");
    for (unit, times) in [
        ("<!-- ", 200_000),
        ("<script>", 100_000),
        ("<td>", 100_000),
        ("<li>", 100_000),
        ("<h1>", 100_000),
        ("<pre>", 100_000),
        ("<svg>", 100_000),
        ("<template>", 100_000),
        ("<a href='", 100_000),
        ("&", 200_000),
        ("&amp", 100_000),
        ("<", 200_000),
        ("</", 200_000),
        ("<a b", 100_000),
        ("<![CDATA[", 100_000),
    ] {
        let html = parse(&unit.repeat(times));
        assert!(html.text.len() <= unit.len() * times && html.nodes.len() <= 2, "{unit}");
    }
    assert_eq!(parse(&"<h1>a".repeat(120_000)).nodes.len(), 100_000);
    assert!(start.elapsed() < std::time::Duration::from_secs(120), "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn every_word_is_found_on_the_line_where_its_row_began(parts in proptest::collection::vec(0_usize..16, 0..60)) {
        let units = [
            "<p>", "</p>", "\n", "\r\n", " ", "<h2>", "</h2>", "<b\n>", "<!--\n-->", "<br>", "<li>", "<td>", "<pre>\n", "</pre>",
            "&amp;", "<script>\n</script>",
        ];
        let mut page = String::new();
        for (number, unit) in parts.iter().enumerate() {
            page.push_str(units[*unit]);
            page.push_str(&format!("<p>w{number}."));
        }
        let html = parse(&page);
        let lines = LineIndex::new(&page);
        prop_assert_eq!(html.lines.count(), lines.count());
        for number in 0..parts.len() {
            let word = format!("w{number}.");
            let (at, original) = (html.text.find(&word).unwrap(), page.find(&word).unwrap());
            prop_assert_eq!(html.lines.line_at(at), lines.line_at(original), "{}", page);
        }
        // The lines cover the text, in order.
        let mut end = 0;
        for line in (1..=html.lines.count()).filter_map(|number| html.lines.line(number)) {
            prop_assert!(line.start >= end && html.text[end..line.start].trim_matches('\n').is_empty());
            end = line.end;
        }
        prop_assert_eq!(end, html.text.len());
        for node in &html.nodes {
            let line = html.lines.line(node.start_line).unwrap_or(0..0);
            let at = html.text[line.start..].char_indices().nth(node.start_char).map_or(html.text.len(), |(at, _)| line.start + at);
            prop_assert!(at == node.own.start || node.start_line == 1, "{:?}", node);
        }
    }

    #[test]
    fn any_text_is_reduced_without_a_panic(page in "[<>/a-c\"'=! &;\n\r\u{3042}-]{0,80}", many in "(<[a-z!/]{0,9}[ =\"'>]{0,3}|[^<]{0,3}){0,40}") {
        for page in [page, many] {
            let html = parse(&page);
            prop_assert_eq!(html.lines.count(), LineIndex::new(&page).count());
            prop_assert!(!html.nodes.is_empty());
        }
    }
}
