//! How the links of a flowchart are drawn: `-->`, `-.->`, `==>`, and the same with a text in between.

use super::statements::find_unquoted;

/// What a link is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// `-->`.
    Line,
    /// `-.->`.
    Dotted,
    /// `==>`.
    Thick,
}

impl Stroke {
    /// The stroke that a text begins with; none where it begins with something else.
    pub fn of(text: &str) -> Option<Self> {
        let strokes = [("-.", Self::Dotted), ("--", Self::Line), ("==", Self::Thick)];
        strokes.into_iter().find(|(start, _)| text.starts_with(start)).map(|(_, stroke)| stroke)
    }

    /// The length of a link without a text of its own at the start of a text, and whether it has a head.
    pub fn plain_link(self, text: &str) -> Option<(usize, bool)> {
        let length = match self {
            Self::Dotted => {
                let after = text.strip_prefix('-')?;
                let dots = repeated(after, '.');
                (dots > 0 && after.get(dots..)?.starts_with('-')).then_some(dots + 2)?
            }
            Self::Line => repeated(text, '-'),
            Self::Thick => repeated(text, '='),
        };
        let has_head = text.get(length..).is_some_and(|rest| rest.starts_with(['>', 'x', 'o']));
        let least = if self == Self::Dotted { 3 } else { 2 };
        match has_head {
            true if length >= least => Some((length + 1, true)),
            // `--` alone opens a text; `---` is a link without a head.
            false if length >= 3 => Some((length, false)),
            _ => None,
        }
    }

    /// The same for `-- text -->`, where the link goes on behind its text.
    pub fn link_with_text(self, text: &str) -> Option<(usize, bool)> {
        let inside = text.get(2..)?;
        let at = match self {
            Self::Dotted => {
                let at = find_unquoted(inside, ".-")?;
                at + repeated(inside.get(at..)?, '.')
            }
            Self::Line => find_unquoted(inside, "--")?,
            Self::Thick => find_unquoted(inside, "==")?,
        };
        let tail = inside.get(at..)?;
        let length = repeated(tail, if self == Self::Thick { '=' } else { '-' });
        let has_head = tail.get(length..).is_some_and(|rest| rest.starts_with(['>', 'x', 'o']));
        Some((2 + at + length + usize::from(has_head), has_head))
    }
}

/// How often a letter is repeated at the start of a text.
fn repeated(text: &str, letter: char) -> usize {
    text.len() - text.trim_start_matches(letter).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_measured_with_their_heads() {
        for (text, expected) in [
            ("--> B", Some((3, true))),
            ("--- B", Some((3, false))),
            ("--x B", Some((3, true))),
            ("-- yes --> B", Some((10, true))),
            ("-- yes --- B", Some((10, false))),
            ("-.-> B", Some((4, true))),
            ("-.- B", Some((3, false))),
            ("-. no .-> B", Some((9, true))),
            ("==> B", Some((3, true))),
            ("== x ==> B", Some((8, true))),
            ("-- open", None),
            ("B", None),
        ] {
            let found = Stroke::of(text)
                .and_then(|stroke| stroke.plain_link(text).or_else(|| stroke.link_with_text(text)));
            assert_eq!(found, expected, "{text}");
        }
    }
}
