//! The `instructions` of `initialize`: what the served toolsets are for and which tool to call first.

/// The maximum length of the instructions in bytes. Some clients cut them off at 2 KiB; a test checks every combination of
/// toolsets.
pub const MAX_INSTRUCTIONS_BYTES: usize = 2000;

/// The paragraph of one toolset: its sentences without those that name a tool which the caller does not see. An empty
/// paragraph is `None`.
pub(super) fn paragraph(sentences: &[&str], is_visible: impl Fn(&str) -> bool) -> Option<String> {
    let told: Vec<_> = sentences.iter().copied().filter(|text| tools_in(text).all(&is_visible)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// The tools that a sentence names: the words in backticks.
pub fn tools_in(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_appears_only_when_all_tools_that_it_names_are_visible() {
        let sentences = ["First `find`, then `read`.", "Use `write` to write.", "Cite your sources."];
        let paragraph = |visible: &[&str]| paragraph(&sentences, |name| visible.contains(&name));
        assert_eq!(paragraph(&["find", "write"]).unwrap(), "Use `write` to write. Cite your sources.");
        assert_eq!(paragraph(&["find", "read"]).unwrap(), "First `find`, then `read`. Cite your sources.");
        assert_eq!(super::paragraph(&["Use `write`."], |_| false), None);
    }
}
