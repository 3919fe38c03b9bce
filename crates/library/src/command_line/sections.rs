//! The sections of all manuals one after another, for what measures the search from outside.

use std::rc::Rc;

use annai_core::ToolError;

use crate::config::LibrarySection;
use annai_files::fs::RelPath;
use annai_files::manuals::Manuals;
use annai_text::{Document, Node};

/// A section of a file, from its heading to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The manual that the file belongs to.
    pub manual_id: String,
    /// The file, relative to the manual.
    pub path: String,
    /// The line of its heading.
    pub line: usize,
    /// Its heading.
    pub title: String,
    /// The headings from the top of the file down to its own.
    pub heading_path: Vec<String>,
    /// Its text with the heading: of HTML the rows that a reader sees, of other files what is written in them.
    pub text: String,
}

/// The sections of all manuals in the order of the files. Each file is read when its first section is asked for, and files
/// that cannot be read are left out.
pub fn sections(settings: &LibrarySection) -> Result<impl Iterator<Item = Section>, ToolError> {
    let manuals = Manuals::new(settings.manual_folders());
    let mut files = Vec::new();
    for manual in manuals.get_all(&manuals.ids()?)? {
        let manual = Rc::new(manual?);
        files.extend(manual.files()?.into_iter().map(|path| (Rc::clone(&manual), path)));
    }
    let sections = files.into_iter().flat_map(|(manual, path)| {
        let file = RelPath::parse(&path).and_then(|path| manual.file(&path));
        file.map(|file| sections_of(&manual.id, &path, &file.document)).unwrap_or_default()
    });
    Ok(sections)
}

fn sections_of(manual_id: &str, path: &str, document: &Document) -> Vec<Section> {
    let section = |(index, node): (usize, &Node)| Section {
        manual_id: manual_id.to_owned(),
        path: path.to_owned(),
        line: node.start_line,
        title: node.title.clone(),
        heading_path: document.heading_path(index),
        text: document.own_text(node).to_owned(),
    };
    document.nodes.iter().enumerate().map(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use annai_files::testing::TempFolder;

    #[test]
    fn sections_have_the_headings_above_them() {
        let text = "# Returns\n\n## Period\n\n14 days.\n\n### Gifts\n\n30 days.\n\n## Costs\n\nNone.\n";
        let folder = TempFolder::new(&[("shop/returns.md", text)]);
        let settings =
            LibrarySection { manuals: vec![folder.0.display().to_string()], ..LibrarySection::default() };
        let sections: Vec<_> = sections(&settings).unwrap().collect();
        let paths: Vec<_> =
            sections.iter().map(|section| (section.line, section.heading_path.join(" > "))).collect();
        let expected = ["Returns", "Returns > Period", "Returns > Period > Gifts", "Returns > Costs"];
        assert_eq!(paths, [1, 3, 7, 11].into_iter().zip(expected.map(str::to_owned)).collect::<Vec<_>>());
        let gifts = Section {
            manual_id: "shop".to_owned(),
            path: "returns.md".to_owned(),
            line: 7,
            title: "Gifts".to_owned(),
            heading_path: ["Returns", "Period", "Gifts"].map(str::to_owned).to_vec(),
            text: "### Gifts\n\n30 days.\n".to_owned(),
        };
        assert_eq!(sections[2], gifts);
    }
}
