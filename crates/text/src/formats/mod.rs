//! The file formats. Adding one is one file and its line in [`FORMATS`].

mod format;
mod html;
pub mod json;
mod markdown;
mod paragraphs;
mod plain;

pub use format::{Format, PointerError, Structure};
pub use html::Html;
pub use json::Json;
pub use markdown::Markdown;
pub use paragraphs::Paragraphs;
pub use plain::Plain;

/// All formats, in the order in which messages name them.
pub static FORMATS: &[&dyn Format] = &[&Markdown, &Plain, &Json, &Html];

/// The format of a file of a manual, by its extension; none for files that are not searched.
pub fn format_of(path: &str) -> Option<&'static dyn Format> {
    // Every file of a manual is asked with every find, so nothing is allocated.
    let (_, extension) = path.rsplit_once('.')?;
    let is_known =
        |format: &&&dyn Format| format.extensions().iter().any(|known| known.eq_ignore_ascii_case(extension));
    FORMATS.iter().find(is_known).copied()
}

/// The format of a file of the vault.
pub fn note_format_of(path: &str) -> &'static dyn Format {
    match format_of(path).is_some_and(Format::has_tags) {
        true => &Paragraphs { has_tags: true },
        false => &Paragraphs { has_tags: false },
    }
}

/// The extensions of all formats, for messages: `.md, .txt and .json`.
pub fn extension_list() -> String {
    let all = FORMATS.iter().flat_map(|format| format.extensions());
    listed(&all.map(|extension| format!(".{extension}")).collect::<Vec<_>>(), "and")
}

/// The names of all formats, for descriptions: ``` `md`, `txt` or `json` ```.
pub fn name_list() -> String {
    listed(&FORMATS.iter().map(|format| format!("`{}`", format.name())).collect::<Vec<_>>(), "or")
}

fn listed(all: &[String], word: &str) -> String {
    match all.split_last() {
        Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The name of a file; of a file that stands for its folder (`index.md`, `README.md`), the name of that folder. At the top
/// of a collection that is the collection, if it has a name.
pub fn page_name<'a>(path: &'a str, collection: &'a str) -> &'a str {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stands_for_folder =
        ["index", "_index", "readme"].iter().any(|known| stem.eq_ignore_ascii_case(known))
            && format_of(name).is_some_and(|format| format.structure() == Structure::Headings);
    let folder = folders.rsplit('/').next().filter(|folder| !folder.is_empty()).unwrap_or(collection);
    if stands_for_folder && !folder.is_empty() { folder } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_tells_the_format_and_no_extension_has_two() {
        let mut all: Vec<_> = FORMATS.iter().flat_map(|format| format.extensions()).collect();
        assert!(name_list().starts_with("`md`, `txt`, ") && name_list().contains(" or `"));
        assert!(extension_list().starts_with(".md, .markdown, ") && extension_list().contains(" and ."));
        for extension in &all {
            let name = format_of(&format!("a/b.{}", extension.to_uppercase())).unwrap().name();
            assert!(FORMATS.iter().any(|format| format.name() == name));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(format_of("a.png").is_none() && format_of("md").is_none());
    }

    #[test]
    fn a_file_that_stands_for_its_folder_has_its_name() {
        for (path, name) in [
            ("a/limits.md", "limits.md"),
            ("docs/a/index.md", "a"),
            ("a/_index.md", "a"),
            ("a/ReadMe.MD", "a"),
            ("a/index.mdx", "a"),
            ("index.md", "manual"),
            ("a/index.json", "index.json"),
            ("a/indexes.md", "indexes.md"),
            ("", ""),
        ] {
            assert_eq!(page_name(path, "manual"), name, "{path}");
        }
        assert_eq!(page_name("README.md", ""), "README.md");
    }
}
