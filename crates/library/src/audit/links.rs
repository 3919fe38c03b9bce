//! The links of a Mermaid flowchart: `-->`, `-.->`, `==>`, and the same with a text in between.

use super::statements::find_unquoted;

/// The line style of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStyle {
    /// `-->`.
    Normal,
    /// `-.->`.
    Dotted,
    /// `==>`.
    Thick,
}

impl LinkStyle {
    /// The style of the link that a text begins with; `None` when it does not begin with a link.
    pub fn of(text: &str) -> Option<Self> {
        let styles = [("-.", Self::Dotted), ("--", Self::Normal), ("==", Self::Thick)];
        styles.into_iter().find(|(start, _)| text.starts_with(start)).map(|(_, style)| style)
    }

    /// The length of the link without text that a text begins with, and whether it has an arrowhead.
    pub fn plain_link(self, text: &str) -> Option<(usize, bool)> {
        let length = match self {
            Self::Dotted => {
                let after = text.strip_prefix('-')?;
                let dots = repeated(after, '.');
                (dots > 0 && after.get(dots..)?.starts_with('-')).then_some(dots + 2)?
            }
            Self::Normal => repeated(text, '-'),
            Self::Thick => repeated(text, '='),
        };
        let has_head = text.get(length..).is_some_and(|rest| rest.starts_with(['>', 'x', 'o']));
        let min_length = if self == Self::Dotted { 3 } else { 2 };
        match has_head {
            true if length >= min_length => Some((length + 1, true)),
            // `--` alone opens a link text; `---` is a link without an arrowhead.
            false if length >= 3 => Some((length, false)),
            _ => None,
        }
    }

    /// The same for a link with text, such as `-- text -->`.
    pub fn link_with_text(self, text: &str) -> Option<(usize, bool)> {
        let inside = text.get(2..)?;
        let at = match self {
            Self::Dotted => {
                let at = find_unquoted(inside, ".-")?;
                at + repeated(inside.get(at..)?, '.')
            }
            Self::Normal => find_unquoted(inside, "--")?,
            Self::Thick => find_unquoted(inside, "==")?,
        };
        let tail = inside.get(at..)?;
        let length = repeated(tail, if self == Self::Thick { '=' } else { '-' });
        let has_head = tail.get(length..).is_some_and(|rest| rest.starts_with(['>', 'x', 'o']));
        Some((2 + at + length + usize::from(has_head), has_head))
    }
}

/// How often a character is repeated at the start of a text.
fn repeated(text: &str, ch: char) -> usize {
    text.len() - text.trim_start_matches(ch).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_measured_with_its_text_and_arrowhead() {
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
            let found = LinkStyle::of(text)
                .and_then(|style| style.plain_link(text).or_else(|| style.link_with_text(text)));
            assert_eq!(found, expected, "{text}");
        }
    }
}
