//! The targets of links.

/// The maximum depth of brackets in a target, as in CommonMark.
const MAX_DEPTH: usize = 32;

/// The length of a target with its brackets, `(target "title")`, at the start of a text.
pub fn target_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('(')?.trim_start();
    let rest = match inside.strip_prefix('<') {
        Some(target) => {
            let end = target.find(['>', '<', '\n', '\r'])?;
            target.get(end..)?.strip_prefix('>')?
        }
        None => inside.get(bare_length(inside)?..)?,
    };
    let rest = rest.trim_start();
    let rest = match rest.chars().next()? {
        quote @ ('"' | '\'') => {
            let title = rest.get(1..)?;
            title.get(closing_quote(title, quote)? + 1..)?.trim_start()
        }
        _ => rest,
    };
    rest.starts_with(')').then(|| text.len() - rest.len() + 1)
}

/// The length of a target without angle brackets: up to white space or to the bracket that closes it.
fn bare_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            b'(' if depth == MAX_DEPTH => return None,
            b'(' => depth += 1,
            b'\\' => drop(bytes.next()),
            _ if byte.is_ascii_whitespace() => return (depth == 0).then_some(at),
            _ => {}
        }
    }
    None
}

/// Where a title ends.
fn closing_quote(title: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    title.char_indices().find_map(|(at, letter)| {
        let ends = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_ends_with_its_bracket() {
        for (text, target) in [
            ("(x.md) y", Some("(x.md)")),
            ("()", Some("()")),
            ("( x.md \"a (title)\" )y", Some("( x.md \"a (title)\" )")),
            ("(x 'it\\'s')", Some("(x 'it\\'s')")),
            ("(https://example.com/a_(b)) c", Some("(https://example.com/a_(b))")),
            ("(<my file.md>)", Some("(<my file.md>)")),
            ("(a\\)b)", Some("(a\\)b)")),
            ("(my file.md)", None),
            ("(x", None),
            ("(<x)", None),
            ("(x \"y)", None),
            ("((x y)", None),
            ("x", None),
            ("(", None),
        ] {
            assert_eq!(target_length(text).map(|length| &text[..length]), target, "{text}");
        }
        assert_eq!(target_length(&"(".repeat(100)), None);
    }
}
