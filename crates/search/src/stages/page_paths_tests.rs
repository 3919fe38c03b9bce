use super::*;
use crate::test_corpus::manual;

/// The path of the file that a link leads to.
fn followed(files: &[&str], from: &str, link: &str) -> Option<String> {
    let files: Vec<_> = files.iter().map(|path| (*path, "# A\nx\n")).collect();
    let view = manual("m", &files);
    let (segment, file) = PagePaths::new(&view).follow(from, link)?;
    Some(view.segments[segment as usize].files[file as usize].path.clone())
}

#[test]
fn relative_links_lead_to_pages_with_and_without_extension() {
    for (file, from, link) in [
        ("guide/setup.md", "a/b.md", "../guide/setup.md"),
        ("guide/setup.md", "a/b.md", "../guide/setup"),
        ("guide/setup.md", "a/b.md", "../guide/setup/"),
        ("guide/setup.mdx", "a/b.md", "../guide/setup"),
        ("guide/setup.html", "a/b.md", "../guide/setup"),
        ("guide/setup.md", "a/b.md", "../guide/setup.html"),
        ("guide/setup.md", "guide/b.md", "./setup"),
        ("guide/setup.md", "guide/b.md", "setup?tab=linux"),
        ("x/index.md", "b.md", "x/"),
        ("x/_index.md", "b.md", "x"),
        ("x/README.md", "b.md", "./x/"),
        ("x/index.html", "b.md", "x/index.html"),
        ("x/index.md", "b.md", "x/index.html"),
        ("x/v1.2.md", "b.md", "x/v1.2"),
        ("data.json", "b.md", "data.json"),
        // The page is shown as a folder.
        ("a/c.md", "a/b.md", "../c/"),
        ("index.md", "b.md", "/"),
    ] {
        assert_eq!(followed(&[file, from], from, link).as_deref(), Some(file), "{link} from {from}");
    }
}

#[test]
fn what_is_not_there_or_outside_is_not_followed() {
    for link in ["../b.md", "../../b", "c", "b.json", "//b.md", "/../b.md", "mailto:b", "https:"] {
        assert_eq!(followed(&["b.md", "x/b.md", "a.md"], "a.md", link), None, "{link}");
    }
}

#[test]
fn a_file_comes_before_the_page_of_a_folder_and_markdown_before_html() {
    let files = ["x.html", "x.md", "x/index.md", "x/_index.md", "a.md"];
    assert_eq!(followed(&files, "a.md", "x").as_deref(), Some("x.md"));
    assert_eq!(followed(&files, "a.md", "x.html").as_deref(), Some("x.html"));
    assert_eq!(followed(&files[2..], "a.md", "x").as_deref(), Some("x/index.md"));
}

#[test]
fn links_from_the_root_of_a_site_are_resolved_in_the_manual() {
    for (files, from, link, expected) in [
        // At the root of the manual.
        (
            &["engine/storage/_index.md", "a.md"][..],
            "a.md",
            "/engine/storage/",
            Some("engine/storage/_index.md"),
        ),
        // In a folder of the manual.
        (
            &["manuals/engine/storage/_index.md", "a.md"],
            "a.md",
            "/engine/storage/",
            Some("manuals/engine/storage/_index.md"),
        ),
        (
            &["manuals/engine/_index.md", "a.md"],
            "a.md",
            "/manuals/engine/_index.md",
            Some("manuals/engine/_index.md"),
        ),
        (
            &["site/manuals/engine/_index.md", "a.md"],
            "a.md",
            "/manuals/engine/_index.md",
            Some("site/manuals/engine/_index.md"),
        ),
        // Of several languages, the own one.
        (
            &["content/en/docs/pods.md", "content/ja/docs/pods.md", "content/ja/docs/a.md"],
            "content/ja/docs/a.md",
            "/docs/pods/",
            Some("content/ja/docs/pods.md"),
        ),
        // Which of them is meant is unknown.
        (&["en/docs/pods.md", "ja/docs/pods.md", "a.md"], "a.md", "/docs/pods/", None),
        // The end of a name is not the end of a path.
        (&["manuals/mypods.md", "a.md"], "a.md", "/pods/", None),
    ] {
        assert_eq!(followed(files, from, link).as_deref(), expected, "{link} in {files:?}");
    }
}

#[test]
fn a_path_stays_within_the_manual() {
    assert_eq!(joined("a", "c.md").as_deref(), Some("a/c.md"));
    assert_eq!(joined("a", "../c/./d.md").as_deref(), Some("c/d.md"));
    assert_eq!(joined("", "/c.md").as_deref(), Some("c.md"));
    assert_eq!(joined("", "../c.md"), None);
}
