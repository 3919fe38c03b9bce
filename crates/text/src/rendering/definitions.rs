//! The definitions of links: `[label]: target "title"`.

use std::collections::HashSet;

use crate::lines::line_end;

/// The maximum length of a label.
const MAX_LABEL_BYTES: usize = 999;

/// The label that a line defines, if it defines one. A line whose target could be a word is text: `[Note]: important`.
pub fn definition(line: &str) -> Option<&str> {
    let (label, rest) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    let is_label = !label.trim().is_empty()
        && label.len() <= MAX_LABEL_BYTES
        && !label.starts_with('^')
        && !label.contains(['[', ']']);
    let rest = rest.trim();
    let end = if rest.starts_with('<') {
        rest.find('>')? + 1
    } else {
        rest.find([' ', '\t']).unwrap_or(rest.len())
    };
    let (target, title) = rest.split_at_checked(end)?;
    let is_target = target.starts_with('<') || target.contains(['/', '.', '#', ':']);
    let title = title.trim();
    let is_title = title.is_empty()
        || [('"', '"'), ('\'', '\''), ('(', ')')]
            .iter()
            .any(|(open, close)| title.len() > 1 && title.starts_with(*open) && title.ends_with(*close));
    (is_label && is_target && is_title).then_some(label)
}

/// The labels that a text defines.
#[derive(Debug, Default)]
pub struct Definitions(HashSet<String>);

impl Definitions {
    /// Collects the labels of a text.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut labels, mut at) = (HashSet::new(), 0);
        while let Some(found) = memchr::memmem::find(bytes.get(at..).unwrap_or_default(), b"]:") {
            let found = at + found;
            let before = bytes.get(at..found).unwrap_or_default();
            let start = memchr::memrchr2(b'\n', b'\r', before).map_or(at, |length| at + length + 1);
            let end = line_end(bytes, found);
            let line = text.get(start..end).unwrap_or_default();
            labels.extend(definition(line.trim_start_matches(['>', ' ', '\t'])).map(folded));
            at = end;
        }
        Self(labels)
    }

    /// Whether nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a label is defined.
    pub fn has(&self, label: &str) -> bool {
        label.len() <= MAX_LABEL_BYTES && !label.contains(['[', ']']) && self.0.contains(&folded(label))
    }
}

/// A label in the spelling in which labels are compared.
fn folded(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_has_a_label_and_a_target() {
        for (line, label) in [
            ("[a b]: https://example.com", Some("a b")),
            ("  [a]: x.md \"A title\"", Some("a")),
            ("[a]: <my file>", Some("a")),
            ("[a]: #part 'x'", Some("a")),
            ("[a]: word", None),
            ("[a]: x.md and more", None),
            ("[^a]: x.md", None),
            ("[]: x.md", None),
            ("[a]:", None),
            ("a [b]: x.md", None),
            ("[a]: <x", None),
        ] {
            assert_eq!(definition(line), label, "{line}");
        }
    }

    #[test]
    fn labels_are_compared_regardless_of_case_and_white_space() {
        let known = Definitions::of("x\n[The  A]: x.md\n> [b]: y.md\nsee [c]: no.md\r[d]: z.md");
        assert!(known.has("the a") && known.has("B") && known.has("d"));
        assert!(!known.has("c") && !known.has("[b]"));
        assert!(Definitions::of("]:").is_empty());
    }
}
