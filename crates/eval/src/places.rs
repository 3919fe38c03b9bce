//! Which section a line of a manual belongs to.

use std::collections::{BTreeMap, BTreeSet};

use annai_library::Section;

/// A section: its manual, its file and the line of its heading.
pub type Place = (String, String, usize);

/// The lines of the headings of each file.
pub struct SectionPlaces(BTreeMap<(String, String), BTreeSet<usize>>);

impl SectionPlaces {
    pub fn of(sections: impl Iterator<Item = Section>) -> Self {
        let mut files = BTreeMap::<_, BTreeSet<_>>::new();
        for Section { manual_id, path, line, .. } in sections {
            files.entry((manual_id, path)).or_default().insert(line);
        }
        Self(files)
    }

    /// The section that contains a line; `None` if the file is unknown or the line is above its first section.
    pub fn at(&self, manual_id: &str, path: &str, line: usize) -> Option<Place> {
        let file = (manual_id.to_owned(), path.to_owned());
        let start = *self.0.get(&file)?.range(..=line).next_back()?;
        Some((file.0, file.1, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_last_section_that_begins_before_it() {
        let section = |(path, line): (&str, usize)| Section {
            manual_id: "m".to_owned(),
            path: path.to_owned(),
            line,
            title: String::new(),
            heading_path: Vec::new(),
            text: String::new(),
        };
        let places = SectionPlaces::of([("a.md", 3), ("a.md", 10), ("b.md", 5)].into_iter().map(section));
        let start = |path, line| places.at("m", path, line).map(|(_, _, start)| start);
        assert_eq!([start("a.md", 3), start("a.md", 9), start("a.md", 10)], [Some(3), Some(3), Some(10)]);
        assert_eq!([start("a.md", 2), start("c.md", 5)], [None, None]);
        assert_eq!(places.at("n", "a.md", 3), None);
    }
}
