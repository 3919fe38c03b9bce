use super::*;
use crate::test_corpus::{self, manual, place, shown};

fn candidate(place: NodePlace, score: f32) -> Candidate {
    Candidate { score, ..test_corpus::candidate(place) }
}

/// What the first section of a file refers to, as `path:line`.
fn referred(views: &[View], path: &str) -> Vec<String> {
    referred_at(views, path, 1)
}

/// What the section on a line of a file refers to, as `path:line`.
fn referred_at(views: &[View], path: &str, line: u32) -> Vec<String> {
    let mut candidates = [candidate(place(views, path, line), 1.0)];
    let mut found: Vec<_> = add_references(views, &mut candidates, &|_| true)
        .iter()
        .map(|candidate| shown(views, candidate.place))
        .collect();
    found.sort();
    found
}

#[test]
fn labels_links_and_anchors_are_followed() {
    for (text, target, expected) in [
        ("# A\n第3条に準ずる\n", "# X\n# 第三条 支払\nx\n", &["b.md:2"][..]),
        ("# A\n別表２のとおり\n", "# X\n# 別表 第2 手術\nx\n", &["b.md:2"]),
        ("# A\nsee Section 4.2.\n", "# X\n## 4.2 Limits\nx\n", &["b.md:2"]),
        ("# A\n(§4.2)\n", "# X\n## 4.2. Limits\nx\n", &["b.md:2"]),
        ("# A\n第3章参照\n", "# X\n# 3. 準備\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md)\n", "# X\n# Y\nx\n", &["b.md:1"]),
        ("# A\n[there](./b.md#rate-limits)\n", "# X\n# Rate limits\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#%E7%AC%AC3%E6%9D%A1)\n", "# X\n# 第3条\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#use-it)\n", "# X\n## Usage {#use-it}\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#use-it)\n", "# X\n## Usage {/*use-it*/}\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#usage)\n", "# X\n## Usage {#use-it}\nx\n", &["b.md:2"]),
        ("# A\n[there](b.md#page-12)\n", "# X\n## Page 12\nx\n", &["b.md:2"]),
        // The title of the page is that of its first heading, which the link leads to.
        ("# A\n[there](b.md#x)\n", "before\n# X\nx\n", &["b.md:2"]),
        // What is not there, or outside of the manual, is not followed.
        ("# A\nsee section 9.9\n", "# X\n## 4.2 Limits\nx\n", &[]),
        ("# A\n[there](c.md) [out](../b.md) [web](https://b.md)\n", "# X\nx\n", &[]),
        ("# A\n[there](b.md#nowhere)\n", "# X\nx\n", &[]),
    ] {
        let views = [manual("m", &[("a.md", text), ("b.md", target)])];
        assert_eq!(referred(&views, "a.md"), expected, "{text}");
    }
}

#[test]
fn a_label_in_the_same_file_wins_and_its_own_is_no_reference() {
    let text = "# 第1条\n第1条と第2条による\n# 第2条\nx\n# 第1条 補足\ny\n";
    let views = [manual("m", &[("a.md", text), ("b.md", "# 第2条\ny\n# 第1条\nz\n")])];
    assert_eq!(referred(&views, "a.md"), ["a.md:3"]);
}

#[test]
fn a_label_of_another_manual_is_not_followed() {
    let views = [manual("m", &[("a.md", "# A\n第2条による\n")]), manual("n", &[("b.md", "# 第2条\ny\n")])];
    assert_eq!(referred(&views, "a.md"), Vec::<String>::new());
}

#[test]
fn a_label_that_many_sections_have_is_not_followed() {
    let chapters = |count: usize| "# Step 1\nx\n".repeat(count);
    let found = |count: usize| {
        let views = [manual("m", &[("a.md", "# A\nas in step 1\n"), ("b.md", &chapters(count))])];
        referred(&views, "a.md").len()
    };
    assert_eq!((found(MAX_SAME_LABEL), found(MAX_SAME_LABEL + 1)), (MAX_SAME_LABEL, 0));
}

#[test]
fn a_candidate_is_marked_and_another_section_gets_a_share_of_the_best_score() {
    let text = "# A\n第3条と第4条\n# B\n第4条\n# 第3条\nx\n# 第4条\ny\n";
    let views = [manual("m", &[("a.md", text)])];
    let at = |line| place(&views, "a.md", line);
    let mut candidates = [candidate(at(1), 2.0), candidate(at(3), 4.0), candidate(at(5), 1.0)];
    let added = add_references(&views, &mut candidates, &|_| true);
    let reference = |line, score| Candidate {
        signals: Signals::REFERENCE,
        terms: 0,
        kind: MatchKind::Reference,
        ..candidate(at(line), score)
    };
    assert_eq!(added, [reference(7, 4.0 * REFERENCE_SHARE)]);
    // The candidate keeps its score.
    let marked = Candidate { signals: Signals::NORMALIZED.with(Signals::REFERENCE), ..candidate(at(5), 1.0) };
    assert_eq!(candidates, [candidate(at(1), 2.0), candidate(at(3), 4.0), marked]);
}

#[test]
fn only_allowed_sections_are_added() {
    let views = [manual("m", &[("a.md", "# A\n第3条\n# 第3条\nx\n")])];
    let mut candidates = [candidate(place(&views, "a.md", 1), 1.0)];
    assert_eq!(add_references(&views, &mut candidates, &|_| false), []);
}

#[test]
fn an_anchor_counts_headings_and_not_the_passages_of_a_long_section() {
    let long = "words of a long section\n\n".repeat(400);
    let target = format!("# Limits\n{long}# Limits\nthe second\n");
    let line = target.lines().position(|line| line == "the second").unwrap();
    let views = [manual("m", &[("a.md", "# A\n[there](b.md#limits-1)\n"), ("b.md", &target)])];
    assert!(views[0].segments[0].nodes.iter().any(|node| node.is_continuation));
    assert_eq!(referred(&views, "a.md"), [format!("b.md:{line}")]);
}

/// A rule with two chapters: articles in the first one, sections with articles in the second one.
const RULES: &str = "# 規則\n## 第一章 総則\n### 第一条 目的\n次条\n### 第二条 定義\n前条\n### 第二条の二 特則\n前条\n\
    ## 第二章 支払\n### 第1節 通則\n本章、前節\n#### 第三条 支払\n前三条\n#### 第四条 時期\n前二条\n\
    ### 第2節 特例\n前節\n#### 第五条 休止\n同条、本節、本章、前章\n#### 第六条 再開\n第一条及び同条、次条\n\
    # 附則\n## 第一条 施行\n前条、本章\n## 第二条 経過\n前条\n";

/// The line of a heading of these rules.
fn line_of(title: &str) -> u32 {
    u32::try_from(RULES.lines().position(|line| line.ends_with(title)).unwrap()).unwrap() + 1
}

#[test]
fn relative_references_count_from_their_section() {
    let views = [manual("m", &[("a.md", RULES)])];
    for (from, expected) in [
        ("目的", &["定義"][..]),
        ("定義", &["目的"]),
        ("特則", &["定義"]),
        ("通則", &["支払"]),
        ("第三条 支払", &["目的", "定義", "特則"]),
        ("時期", &["特則", "第三条 支払"]),
        ("特例", &["通則"]),
        ("休止", &["第一章 総則", "第二章 支払", "特例"]),
        // 同条 is the article that was named, which two sections have; the last article has no next one.
        ("再開", &["目的", "施行"]),
        // The first article has none before it, and the supplementary provisions are in no chapter but their own.
        ("施行", &["附則"]),
        ("経過", &["施行"]),
    ] {
        let mut expected: Vec<_> = expected.iter().map(|title| format!("a.md:{}", line_of(title))).collect();
        expected.sort();
        assert_eq!(referred_at(&views, "a.md", line_of(from)), expected, "{from}");
    }
}

#[test]
fn the_article_before_the_first_one_leads_nowhere() {
    for text in
        ["# 第1条\n前条\n# 第2条\nx\n", "# 前文\nx\n# 第1条\n前条\n", "# 第9条\nx\n# 第1条\n前条、前三条\n"]
    {
        let views = [manual("m", &[("a.md", text), ("b.md", "# 第5条\nx\n")])];
        let line = text.lines().position(|line| line == "# 第1条").unwrap() + 1;
        assert_eq!(referred_at(&views, "a.md", u32::try_from(line).unwrap()), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn chapters_and_articles_on_one_level_belong_together() {
    let text = "# 第1章\nx\n# 第1節\nx\n# 第1条\n本章と本節\n# 第2章\nx\n# 第2条\n本章と本節、前章\n";
    let views = [manual("m", &[("a.md", text)])];
    assert_eq!(referred_at(&views, "a.md", 5), ["a.md:1", "a.md:3"]);
    assert_eq!(referred_at(&views, "a.md", 9), ["a.md:1", "a.md:7"]);
}

#[test]
fn a_paragraph_with_a_heading_refers_to_the_one_before_and_to_its_article() {
    let text =
        "# 第3条\nx\n## 第1項\n前項\n## 第2項\n前項と本条\n# 第4条\n前項と本条と本項\n## 1\nx\n## 2\n前項\n";
    let views = [manual("m", &[("a.md", text)])];
    assert_eq!(referred_at(&views, "a.md", 3), Vec::<String>::new());
    assert_eq!(referred_at(&views, "a.md", 5), ["a.md:1", "a.md:3"]);
    assert_eq!(referred_at(&views, "a.md", 7), Vec::<String>::new());
    assert_eq!(referred_at(&views, "a.md", 11), ["a.md:9"]);
}

#[test]
fn articles_that_are_only_numbered_count_among_their_siblings() {
    let text = "# A\n## はじめに\nx\n## 1. 目的\n前条と次条\n## 2. 定義\n前条\n# B\n## 3. 別\n前条\n";
    let views = [manual("m", &[("a.md", text)])];
    assert_eq!(referred_at(&views, "a.md", 4), ["a.md:6"]);
    assert_eq!(referred_at(&views, "a.md", 6), ["a.md:4"]);
}

#[test]
fn an_article_goes_on_in_another_file_where_only_one_has_it() {
    let files = [("a.md", "# 第1章\n## 第3条\n次条、次章\n"), ("b.md", "# 第2章\n## 第4条\n前条、前章\n")];
    let views = [manual("m", &files)];
    assert_eq!(referred_at(&views, "a.md", 2), ["b.md:1", "b.md:2"]);
    assert_eq!(referred_at(&views, "b.md", 2), ["a.md:1", "a.md:2"]);
    let more = [manual("m", &[files[0], files[1], ("c.md", "# 第2章\n## 第4条\nx\n")])];
    assert_eq!(referred_at(&more, "a.md", 2), Vec::<String>::new());
}

#[test]
fn english_relative_references_count_headings() {
    let text = "# Ownership\nx\n## One\nas in the next section\n## Two\nsee the previous section and the following section\n\
        ## Three\nthis chapter\n# Structs\nthe previous chapter\n## Four\nthe previous section, the next chapter\n";
    let views = [manual("m", &[("a.md", text)])];
    assert_eq!(referred_at(&views, "a.md", 3), ["a.md:5"]);
    assert_eq!(referred_at(&views, "a.md", 5), ["a.md:3", "a.md:7"]);
    assert_eq!(referred_at(&views, "a.md", 7), ["a.md:1"]);
    assert_eq!(referred_at(&views, "a.md", 9), ["a.md:1"]);
    assert_eq!(referred_at(&views, "a.md", 11), Vec::<String>::new());
}

#[test]
fn appendices_and_supplementary_provisions_are_followed() {
    for (text, target) in [
        ("別表のとおり", "別表 手術"),
        ("別表第二のとおり", "別表２"),
        ("付録Ａを見よ", "付録A 用語"),
        ("別紙１による", "別紙1"),
        ("附則による", "附　則"),
        ("see Appendix A", "Appendix A: Tables"),
        ("see Annex B", "Annex B"),
        ("see Schedule 1", "Schedule 1 - Fees"),
    ] {
        let files = [("a.md", format!("# A\n{text}\n")), ("b.md", format!("# X\n# {target}\nx\n"))];
        let views = [manual("m", &files.each_ref().map(|(path, text)| (*path, text.as_str())))];
        assert_eq!(referred(&views, "a.md"), ["b.md:2"], "{text}");
    }
}

#[test]
fn names_lead_to_the_file_the_page_or_the_heading_that_has_them() {
    for (text, path, target, expected) in [
        ("別に定める慶弔見舞金規程による", "慶弔見舞金規程.md", "# 総則\nx\n", &["慶弔見舞金規程.md:1"][..]),
        ("別に定める慶弔見舞金規程による", "b.md", "# 慶弔見舞金規程\nx\n", &["b.md:1"]),
        ("「旅費規程」に従う", "b.md", "# X\n## 旅費・規程\nx\n", &["b.md:2"]),
        (
            "『運用 ガイドライン』",
            "rules/運用ガイドライン.md",
            "no heading\n",
            &["rules/運用ガイドライン.md:1"],
        ),
        ("「よくある質問」を見よ", "b.md", "# X\n# よくある質問\nx\n", &["b.md:2"]),
        // The whole name has to be there.
        ("「旅費規程」に従う", "b.md", "# 海外旅費規程\nx\n", &[]),
        ("旅費規程に従う", "b.md", "# 旅費規程\nx\n", &[]),
        ("「旅費」", "b.md", "# 旅費\nx\n", &[]),
        // What a link shows is not a name.
        ("[旅費規程](https://a.example/)", "b.md", "# 旅費規程\nx\n", &[]),
    ] {
        let own = format!("# A\n{text}\n");
        let views = [manual("m", &[("a.md", &own), (path, target)]), manual("n", &[("n.md", target)])];
        assert_eq!(referred(&views, "a.md"), expected, "{text} {path}");
    }
}

#[test]
fn a_name_that_many_sections_have_is_not_followed() {
    let target = "# 旅費規程\nx\n".repeat(MAX_SAME_LABEL + 1);
    let views = [manual("m", &[("a.md", "# A\n「旅費規程」\n"), ("b.md", &target)])];
    assert_eq!(referred(&views, "a.md"), Vec::<String>::new());
}

#[test]
fn links_lead_to_pages_and_anchors_of_the_manual() {
    let page = "# Storage\nx\n## Limits {#caps}\ny\n";
    let path = "manuals/engine/storage/_index.md";
    for (link, expected) in [
        ("/engine/storage/", Some(1)),
        ("/engine/storage/#caps", Some(3)),
        ("/manuals/engine/storage/_index.md#limits", Some(3)),
        ("manuals/engine/storage", Some(1)),
        ("./manuals/engine/storage/index.html#caps", Some(3)),
        ("/engine/storage/#", Some(1)),
        ("/engine/storage/#Lim.its", Some(3)),
        ("/engine/storage/#nothing", None),
        ("/other/", None),
        ("//engine/storage/", None),
    ] {
        let text = format!("# A\n[there]({link})\n");
        let views = [manual("m", &[("a.md", &text), (path, page)]), manual("n", &[("other.md", page)])];
        let expected: Vec<_> = expected.iter().map(|line| format!("{path}:{line}")).collect();
        assert_eq!(referred(&views, "a.md"), expected, "{link}");
    }
    let views =
        [manual("m", &[("a.md", "# A\n[below](#the-end) [own](#own)\n## The end\nx\n## B {#own}\ny\n")])];
    assert_eq!(referred(&views, "a.md"), ["a.md:3", "a.md:5"]);
}

#[test]
fn a_chain_of_links_ends_after_the_first_one() {
    let files = [("a.md", "# A\n[b](b.md)\n"), ("b.md", "# B\n[c](c.md)\n"), ("c.md", "# C\n[a](a.md)\n")];
    assert_eq!(referred(&[manual("m", &files)], "a.md"), ["b.md:1"]);
}

#[test]
fn ten_thousand_references_in_one_section_are_followed_in_time() {
    let mut text = "# 第1条\n".to_owned();
    for number in 2..10_000 {
        text += &format!("第{number}条 「規程{number}」 [x](#{number}) 前条 次条 同条 別表{number}\n");
    }
    let headings: String = (2..10_000).map(|number| format!("# 第{number}条\nx\n")).collect();
    text += &headings;
    let views = [manual("m", &[("a.md", &text)])];
    let mut candidates: Vec<_> =
        test_corpus::all_places(&views).into_iter().map(test_corpus::candidate).collect();
    let started = std::time::Instant::now();
    add_references(&views, &mut candidates, &|_| true);
    let seconds = started.elapsed().as_secs();
    assert!(candidates.len() > 10_000 && seconds < 120, "{seconds} seconds");
}
