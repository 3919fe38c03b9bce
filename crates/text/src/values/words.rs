//! English words that belong to values: numbers, months, and the words before the numbers of sections, pages and versions.

/// The value of a word for a number below 100.
fn small(word: &str) -> Option<f64> {
    const WORDS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
        sixteen seventeen eighteen nineteen";
    const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
    let position = |words: &str| words.split(' ').position(|known| known == word);
    position(WORDS).or_else(|| Some((position(TENS)? + 2) * 10)).map(|value| value as f64)
}

/// The value of a word that multiplies what stands before it.
pub fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 100.0,
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        "trillion" => 1e12,
        _ => return None,
    })
}

/// The letters that a text begins with.
pub fn letters(text: &str) -> &str {
    let end = text.find(|ch: char| !ch.is_ascii_lowercase()).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether a word ends before this text.
pub fn ends_word(text: &str) -> bool {
    !text.starts_with(|ch: char| ch.is_ascii_alphanumeric() || ch == '_')
}

/// The number in words that a text begins with: its value and length. The text must begin with a word.
pub fn number_words(text: &str) -> Option<(f64, usize)> {
    let (mut total, mut current, mut len) = (0.0, None::<f64>, 0);
    let mut rest = text;
    loop {
        let word = letters(rest);
        if word.is_empty() || !ends_word(rest.get(word.len()..).unwrap_or_default()) {
            break;
        }
        match (small(word), scale(word), current) {
            (Some(value), _, None) => current = Some(value),
            // Twenty-one, one hundred five.
            (Some(value), _, Some(before)) if value > 0.0 && fits_after(before, value) => {
                current = Some(before + value);
            }
            (_, Some(hundred), Some(before)) if hundred < 1e3 && before < 100.0 => {
                current = Some(before * hundred);
            }
            (_, Some(scale), Some(before)) if scale >= 1e3 => {
                total += before * scale;
                current = None;
            }
            _ => break,
        }
        len = text.len() - rest.len() + word.len();
        let after = text.get(len..).unwrap_or_default();
        let next = after.strip_prefix([' ', '-']).unwrap_or_default();
        rest = match next.strip_prefix("and ").filter(|_| len > 0 && scale(word).is_some()) {
            Some(next) => next,
            None => next,
        };
    }
    (len > 0).then_some((total + current.unwrap_or(0.0), len))
}

/// Whether a small number continues the one before it.
fn fits_after(before: f64, value: f64) -> bool {
    let is_tens = before % 10.0 == 0.0 && before % 100.0 >= 20.0 && value < 10.0;
    is_tens || (before >= 100.0 && before % 100.0 == 0.0)
}

/// Whether an ASCII text has a word that may be a number or a month, in either case. It is quick and errs on the side of yes.
pub fn may_have_number_word(text: &str) -> bool {
    let words = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    words.filter_map(<[u8]>::first_chunk).any(|start: &[u8; 3]| {
        let start = start.map(|byte| byte.to_ascii_lowercase());
        BEGINNINGS.as_bytes().chunks(4).any(|known| known.starts_with(&start))
    })
}

/// How the words for numbers and months begin.
const BEGINNINGS: &str = "zer one two thr fou fiv six sev eig nin ten ele twe thi fif for \
    jan feb mar apr may jun jul aug sep oct nov dec";

/// The part of a whole that a word after a number names: two thirds.
pub fn fraction(word: &str) -> Option<f64> {
    Some(match word {
        "half" | "halves" => 2.0,
        "third" | "thirds" => 3.0,
        "quarter" | "quarters" | "fourth" | "fourths" => 4.0,
        "fifth" | "fifths" => 5.0,
        "tenth" | "tenths" => 10.0,
        _ => return None,
    })
}

/// The number of a month, and whether the word means nothing else.
pub fn month(word: &str) -> Option<(f64, bool)> {
    const NAMES: &str =
        "january february march april may june july august september october november december";
    let index = NAMES.split(' ').position(|name| name == word || (word.len() == 3 && name.starts_with(word)));
    let index = index.or((word == "sept").then_some(8))?;
    Some((
        index as f64 + 1.0,
        word.len() > 4 && word != "march" && word != "august" || matches!(word, "june" | "july"),
    ))
}

/// Whether the number after this word counts sections, pages, versions or the like, and states nothing.
pub fn is_reference_word(word: &str) -> bool {
    const WORDS: &str = "section sections sec article articles art chapter chapters appendix annex figure figures fig figs \
        table tables step steps page pages p pp line lines l version versions ver v no nos issue paragraph para item note \
        footnote example clause schedule part volume vol release rfc iso question";
    WORDS.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words_have_their_value_and_end_where_they_end() {
        for (text, value, len) in [
            ("two weeks", 2.0, 3),
            ("twenty-one days", 21.0, 10),
            ("one hundred and fifty days", 150.0, 21),
            ("one hundred", 100.0, 11),
            ("two thousand five hundred", 2500.0, 25),
            ("three million and two", 3_000_002.0, 21),
            ("five and six", 5.0, 4),
            ("two three", 2.0, 3),
            ("sixty", 60.0, 5),
        ] {
            assert_eq!(number_words(text), Some((value, len)), "{text}");
        }
        for text in ["weeks", "hundred", "tend", "ones", "", "and two"] {
            assert_eq!(number_words(text), None, "{text}");
        }
    }
}
