use proptest::prelude::*;

use super::*;

fn chart(text: &str) -> Flowchart {
    let lines: Vec<_> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    Flowchart::parse(&crate::audit::flowchart::without_comments(&lines))
}

fn edges(text: &str) -> Vec<String> {
    let chart = chart(text);
    assert_eq!(chart.problems, [], "{text}");
    let name = |node: usize| chart.graph.nodes[node].id.clone();
    chart.graph.edges.iter().map(|(from, to)| format!("{}>{}", name(*from), name(*to))).collect()
}

#[test]
fn every_kind_of_link_is_an_edge() {
    for (link, expected) in [
        ("A --> B", &["A>B"][..]),
        ("A-->B", &["A>B"]),
        ("A -->|yes| B", &["A>B"]),
        ("A -- yes and no --> B", &["A>B"]),
        ("A ==> B", &["A>B"]),
        ("A == text ==> B", &["A>B"]),
        ("A -.-> B", &["A>B"]),
        ("A -. text .-> B", &["A>B"]),
        ("A ----> B", &["A>B"]),
        ("A --x B", &["A>B"]),
        ("A --o B", &["A>B"]),
        ("A --- B", &["A>B", "B>A"]),
        ("A === B", &["A>B", "B>A"]),
        ("A -.- B", &["A>B", "B>A"]),
        ("A -- text --- B", &["A>B", "B>A"]),
        ("A <--> B", &["A>B", "B>A"]),
        ("A ~~~ B", &[]),
        ("A e1@--> B", &["A>B"]),
        ("A --> B --> C", &["A>B", "B>C"]),
        ("A & B --> C & D", &["A>C", "A>D", "B>C", "B>D"]),
        ("node-1 --> node-2", &["node-1>node-2"]),
        ("開始 --> 終了", &["開始>終了"]),
        ("A --> B; B --> C", &["A>B", "B>C"]),
    ] {
        assert_eq!(edges(&format!("flowchart TD\n{link}")), expected, "{link}");
    }
    assert_eq!(edges("graph LR; A --> B\nB --> C"), ["A>B", "B>C"]);
}

#[test]
fn every_shape_is_a_node_and_only_diamonds_are_decisions() {
    for shape in [
        "A",
        "A[x]",
        "A[\"x [y] (z) ; {\"]",
        "A(x)",
        "A((x))",
        "A(((x)))",
        "A([x])",
        "A[[x]]",
        "A[(x)]",
        "A[/x/]",
        "A[/x\\]",
        "A[\\x\\]",
        "A[\\x/]",
        "A{{x}}",
        "A>x]",
        "A:::big",
        "A[x]:::big",
        "A@{ shape: rect, label: \"x\" }",
    ] {
        let chart = chart(&format!("flowchart TD\n{shape} --> B"));
        assert_eq!((chart.problems.len(), chart.graph.edges.len()), (0, 1), "{shape}: {:?}", chart.problems);
        assert!(!chart.graph.nodes[0].is_decision, "{shape}");
    }
    for shape in ["A{x}", "A{\"x?\"}", "A@{ shape: diam, label: \"x\" }"] {
        assert!(chart(&format!("flowchart TD\n{shape} --> B")).graph.nodes[0].is_decision, "{shape}");
    }
}

#[test]
fn subgraphs_are_connected_and_comments_and_styles_are_skipped() {
    let text = "flowchart TD\n%% a comment --> not\n%%{init: {}}%%\nA --> one\nsubgraph one [First part]\ndirection LR\nB --> C\nend\none --> D\nclassDef big fill:#f9f\nclass A big\nstyle B fill:#fff\nlinkStyle 0 stroke:red\nclick A \"#x\"\n";
    let chart = chart(text);
    assert_eq!(chart.problems, []);
    assert_eq!(chart.graph.unreachable().count(), 0);
    let groups: Vec<_> =
        chart.graph.nodes.iter().filter(|node| node.is_subgraph).map(|node| node.id.as_str()).collect();
    assert_eq!(groups, ["one"]);
}

#[test]
fn a_statement_may_span_lines_and_contain_special_characters() {
    for (text, expected) in [
        ("A[\"one\ntwo\"] --> B", &["A>B"][..]),
        ("A\n  --> B\n  --> C", &["A>B", "B>C"]),
        ("A -->\nB", &["A>B"]),
        ("A@{\n shape: rect\n label: \"x } y\"\n} --> B", &["A>B"]),
        ("accDescr {\nmulti line\ntext\n}\nA --> B", &["A>B"]),
        ("%%{\n init: {}\n}%%\nA --> B", &["A>B"]),
        ("A e1@--> B\ne1@{ animate: true }", &["A>B"]),
        ("A -->|a; b| B", &["A>B"]),
        ("A -->|x #35; y| B", &["A>B"]),
        ("A[\"100%% sure\"] --> B", &["A>B"]),
        ("A --> B %% a comment --> C", &["A>B"]),
        ("A -- \"a -- b\" --> B", &["A>B"]),
        ("A -->|\"a|b\"| B", &["A>B"]),
        ("title --> B", &["title>B"]),
        ("direction --> B", &["direction>B"]),
        ("A --> B\nsubgraph A team\nC\nend", &["A>B"]),
    ] {
        assert_eq!(edges(&format!("flowchart TD\n{text}")), expected, "{text}");
    }
}

#[test]
fn a_decision_counts_the_edges_as_drawn() {
    for (text, expected) in [
        ("A{x} -->|yes| B\nA -->|no| B", 0),
        ("A{x} -->|retry| A\nA -->|ok| B", 0),
        ("A --- B{x}\nB --- C", 1),
        ("A{x} --> B\nA ~~~ C", 1),
        ("A --> B{x}\nsubgraph g\nB --> C\nend\ng --> D", 1),
    ] {
        let chart = chart(&format!("flowchart TD\n{text}"));
        assert_eq!(chart.graph.one_way_decisions().count(), expected, "{text}");
    }
    let first = chart("flowchart TD\none --> two\nsubgraph one\na1 --> a2\nend\nsubgraph two\nb1\nend");
    assert_eq!(first.graph.unreachable().count(), 0);
}

#[test]
fn huge_statements_end_in_time_and_too_many_edges_are_reported() {
    let many = |ch: char| (0..3000).map(|number| format!("{ch}{number}")).collect::<Vec<_>>().join("&");
    let too_many = format!("flowchart TD\n{}-->{}", many('a'), many('b'));
    assert!(chart(&too_many).problems[0].1.contains("the rest was left out"));
    for text in ["A --> ", "A -- x", "A[\"", "A -- \"", "A -->|\"", "A@{ \""] {
        chart(&format!("flowchart TD\n{}", text.repeat(20_000)));
        chart(&format!("flowchart TD\n{}", format!("{text}\n").repeat(20_000)));
    }
}

#[test]
fn each_statement_that_cannot_be_parsed_is_reported_once() {
    for text in ["A -->", "A ?? B", "--> B", "A[x --> B", "e1@A --> B", "end", "subgraph x", "A -- text B"] {
        let chart = chart(&format!("flowchart TD\n{text}"));
        assert_eq!(chart.problems.len(), 1, "{text}: {:?}", chart.problems);
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[A-C \\[\\](){}<>xo=.~|&;:\"%@-]{0,40}") {
        chart(&format!("flowchart TD\n{text}"));
    }
}
