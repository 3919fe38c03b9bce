//! Quotations in a line of text.

use std::ops::Range;

/// What stands before and after code in a line of text: characters that text has no use for.
pub(crate) const CODE_START: char = '\u{e0c0}';
/// What stands after code.
pub(crate) const CODE_END: char = '\u{e0c1}';

/// A quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    /// The bytes of the quotation with its marks.
    pub(super) whole: Range<usize>,
    /// The bytes between the marks.
    pub(super) inside: Range<usize>,
}

/// The mark that ends a quotation.
const fn closing(open: char) -> Option<char> {
    Some(match open {
        '「' => '」',
        '『' => '』',
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        '„' => '“',
        '"' | '\'' | '＂' => open,
        _ => return None,
    })
}

/// The code in a line of text, with the characters around it.
pub(super) fn code_spans(line: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(start) = line.get(at..).and_then(|rest| rest.find(CODE_START)).map(|start| at + start) {
        let rest = line.get(start..).unwrap_or_default();
        at = rest.find(CODE_END).map_or(line.len(), |end| start + end + CODE_END.len_utf8());
        found.push(start..at);
    }
    found
}

/// The outermost quotations of a line. An apostrophe opens none, and neither does a quote in code.
pub(super) fn quotes(line: &str) -> Vec<Quote> {
    let mut found: Vec<Quote> = Vec::new();
    // The quotation that is open: its marks, where it begins, and how many of the same kind are open inside it.
    let mut open: Option<(char, char, usize, usize)> = None;
    let mut before: Option<char> = None;
    let mut is_code = false;
    let mut letters = line.char_indices().peekable();
    while let Some((at, ch)) = letters.next() {
        is_code = (is_code || ch == CODE_START) && ch != CODE_END;
        if is_code {
            before = Some(ch);
            continue;
        }
        let next = letters.peek().map(|(_, next)| *next);
        match &mut open {
            None => {
                let opens = !matches!(ch, '\'' | '‘' | '"')
                    || opens_word(before, next)
                    || (ch == '"' && next.is_some());
                if let Some(close) = closing(ch).filter(|_| opens) {
                    open = Some((ch, close, at, 0));
                }
            }
            Some((start, close, _, depth)) if ch == *start && start != close => *depth += 1,
            Some((_, close, _, depth)) if ch == *close && *depth > 0 => *depth -= 1,
            Some((start, close, begin, _)) if ch == *close => {
                // An apostrophe inside a word ends nothing.
                let is_apostrophe = matches!(ch, '\'' | '’') && next.is_some_and(char::is_alphanumeric);
                if !is_apostrophe {
                    let inside = *begin + start.len_utf8()..at;
                    found.push(Quote { whole: *begin..at + ch.len_utf8(), inside });
                    open = None;
                }
            }
            Some(_) => {}
        }
        before = Some(ch);
    }
    // A single quote inside a word or between words may be an apostrophe: such a quotation would contain another opening.
    found.retain(|quote| {
        let inside = line.get(quote.inside.clone()).unwrap_or_default();
        !(line.get(quote.whole.clone()).is_some_and(|whole| whole.starts_with('\'')) && inside.contains(" '"))
    });
    found
}

/// Whether a straight quote stands where a quotation begins.
fn opens_word(before: Option<char>, next: Option<char>) -> bool {
    let after_space = before.is_none_or(|before| !before.is_alphanumeric() || !before.is_ascii());
    after_space && next.is_some_and(|next| !next.is_whitespace())
}

/// Blanks a part of a text with what is as long, and does not join what stands around it.
pub(super) fn blank(text: &mut String, part: Range<usize>) {
    let blank = format!("{:<len$}", "|", len = part.len());
    text.replace_range(part, &blank);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_found_and_apostrophes_are_not() {
        for (line, expected) in [
            ("定款に「定年は60歳」とある", &["定年は60歳"][..]),
            ("『A「B」C』と「D」", &["A「B」C", "D"]),
            ("it says \"thirty days\" and “no more”", &["thirty days", "no more"]),
            ("the 'best' of employees' rights", &["best"]),
            ("don't, it's the employees' own", &[]),
            ("‘one’ and he’s", &["one"]),
            ("open \"only", &[]),
            ("「開いた", &[]),
            ("the '90s and the 'best'", &[]),
        ] {
            let found: Vec<_> = quotes(line).into_iter().map(|quote| line[quote.inside].to_owned()).collect();
            assert_eq!(found, expected, "{line}");
        }
        let line = format!("「a {CODE_START}b「\"{CODE_END} c」");
        let found: Vec<_> = quotes(&line).into_iter().map(|quote| quote.whole.len()).collect();
        assert_eq!((found, code_spans(&line).len()), (vec![line.len()], 1));
        let mut line = "a「b」c".to_owned();
        quotes("a「b」c").into_iter().for_each(|quote| blank(&mut line, quote.whole));
        assert_eq!(line, "a|      c");
    }
}
