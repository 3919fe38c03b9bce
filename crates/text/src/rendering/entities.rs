//! Character references: `&lt;`, `&#39;`, `&#x27;`.

/// The maximum length of a reference without `&`.
const MAX_BYTES: usize = 10;

/// The character of the reference at the start of a text, and the length of the reference.
pub fn entity(text: &str) -> Option<(char, usize)> {
    let inside = text.strip_prefix('&')?;
    let end = inside.bytes().take(MAX_BYTES).position(|byte| byte == b';')?;
    let name = inside.get(..end)?;
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let hexadecimal = number.strip_prefix(['x', 'X']);
            let code = match hexadecimal {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            // A line stays one line.
            char::from_u32(code.ok()?)
                .map(|character| if character.is_control() { ' ' } else { character })?
        }
        None => named(name)?,
    };
    Some((character, end + 2))
}

/// The characters whose names are common in manuals.
fn named(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "middot" => '·',
        "bull" => '•',
        "times" => '×',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "deg" => '°',
        "yen" => '¥',
        "euro" => '€',
        "larr" => '←',
        "rarr" => '→',
        "le" => '≤',
        "ge" => '≥',
        "ne" => '≠',
        "lbrace" | "lcub" => '{',
        "rbrace" | "rcub" => '}',
        "vert" => '|',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_by_name_and_by_number() {
        for (text, expected) in [
            ("&lt;T", Some(('<', 4))),
            ("&#39;", Some(('\'', 5))),
            ("&#x7D66;", Some(('給', 8))),
            ("&#10;", Some((' ', 5))),
            ("&nbsp;", Some((' ', 6))),
            ("&unknown;", None),
            ("& b;", None),
            ("&#xD800;", None),
            ("&#99999999;", None),
            ("&;", None),
            ("&lt", None),
            ("&ｌt;", None),
        ] {
            assert_eq!(entity(text), expected, "{text}");
        }
    }
}
