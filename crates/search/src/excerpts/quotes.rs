//! The sentences of conflicts as they are written in the files: the index has only their normalized text.

use crate::conclusion::sentences::sentences;
use crate::context::FindContext;
use crate::trace::{Quote, TraceMatch, TraceRecord};
use annai_text::normalize_text;

impl FindContext<'_> {
    /// The sentence that a quote was taken from, as it is written; the normalized text where the file has changed since,
    /// or has no such sentence.
    pub fn original_sentence(&self, record: &TraceRecord, found: &TraceMatch, quote: &Quote) -> String {
        let wanted = squeezed(&quote.text);
        let original = record.file_of(found).and_then(|file| self.original_text(file));
        // The heading of a table and the line before a list belong to the sentences of their rows and items, so the section
        // is read from its start; from the sentence on where its heading would become a part of it.
        let starts = [found.span.start.line, quote.first_line];
        let written = starts.into_iter().find_map(|first| {
            let lines = original.as_ref()?.rendered_lines(first as usize, quote.last_line as usize);
            let number = quote.first_line.saturating_sub(first) as usize;
            let is_wanted = |text: &str| squeezed(&normalize_text(text)) == wanted;
            let all = sentences(lines.lines()).into_iter().filter(|sentence| is_wanted(&sentence.text));
            Some(all.min_by_key(|sentence| sentence.lines.start.abs_diff(number))?.text)
        });
        written.unwrap_or_else(|| quote.text.clone())
    }
}

/// A text without white space, which lines are joined with or not by their characters.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::candidate::MatchKind;
    use crate::test_corpus::{TestLibrary, trace_of};
    use annai_files::fs::Sha256;

    #[test]
    fn a_sentence_with_markup_is_found_as_it_is_written() {
        let mut record = trace_of(&[(1.0, MatchKind::Exact)]);
        let quote = |text: &str| Quote { text: text.to_owned(), first_line: 2, last_line: 4 };
        for (written, text, sentence) in [
            (
                "The **Refund** [window](x.md)\nis <b\nid=x>14 Days</b>.",
                "the refund window is 14 days.",
                "The Refund window is 14 Days.",
            ),
            ("**有給**休暇は\n<!-- 注 -->\n10日。", "10日。", "10日。"),
            ("「特約」(第3条)は\n無効。\nx", "[特約](第3条)は無効。", "「特約」(第3条)は無効。"),
            ("Something\nelse\n.", "not there", "not there"),
        ] {
            let text_of_file = format!("# A\n{written}\n");
            record.files[0].sha256 = Sha256::of(text_of_file.as_bytes());
            let library = TestLibrary::new(&[("m/0.md", &text_of_file)]);
            let found = library.context().original_sentence(&record, &record.matches[0], &quote(text));
            assert_eq!(found, sentence, "{written}");
        }
    }
}
