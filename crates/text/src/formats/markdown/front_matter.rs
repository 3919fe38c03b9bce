//! The YAML front matter of a Markdown file: where it ends, and the title in it.

use crate::lines::LineIndex;

/// What the front matter of a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter {
    /// The byte at which the document begins.
    pub end: usize,
    /// The title, as it is meant, but with its inline markup.
    pub title: Option<String>,
}

/// Reads the front matter (`---` … `---` from the first line on); an empty one where there is none.
pub fn front_matter(text: &str, lines: &LineIndex) -> FrontMatter {
    let bom = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    match last_line(text, lines) {
        Some(last) => FrontMatter {
            end: lines.line(last + 1).map_or(text.len(), |next| next.start),
            title: (2..last).find_map(|number| scalar(line(text, lines, number)?.strip_prefix("title:")?)),
        },
        None => FrontMatter { end: bom, title: None },
    }
}

fn line<'a>(text: &'a str, lines: &LineIndex, number: usize) -> Option<&'a str> {
    lines.line(number).and_then(|line| text.get(line)).map(str::trim_end)
}

/// The number of the line that ends the front matter.
fn last_line(text: &str, lines: &LineIndex) -> Option<usize> {
    let line = |number: usize| line(text, lines, number);
    if line(1).map(|line| line.trim_start_matches('\u{feff}')) != Some("---") {
        return None;
    }
    // Front matter begins with a key; any other `---` is a thematic break.
    let has_key = line(2).is_some_and(is_key);
    let mut is_after_blank = false;
    for number in 2..=lines.count() {
        match line(number)? {
            "---" | "..." => return Some(number).filter(|end| *end == 2 || has_key),
            "" => is_after_blank = true,
            // After a blank line, whatever does not look like YAML is text between two thematic breaks.
            other if is_after_blank && !(is_key(other) || other.starts_with([' ', '\t', '-'])) => {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Whether a line begins with a key.
fn is_key(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    name.len() < line.len()
        && !name.is_empty()
        && name.chars().all(|ch| ch.is_alphanumeric() || "_- .".contains(ch))
}

/// The text of a scalar that stands on one line; none where it is empty, or a block of lines.
fn scalar(value: &str) -> Option<String> {
    let value = value.trim();
    let text = match value.chars().next()? {
        '"' => double_quoted(value.get(1..)?),
        '\'' => single_quoted(value.get(1..)?),
        '|' | '>' | '{' | '[' | '&' | '*' | '#' => return None,
        _ => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
    };
    let text = text.trim();
    (!text.is_empty() && !matches!(text, "null" | "~")).then(|| text.to_owned())
}

/// The text up to the closing quote, with its escapes decoded.
fn double_quoted(rest: &str) -> String {
    let mut text = String::with_capacity(rest.len());
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('n' | 'r' | 't') => text.push(' '),
                Some('x') => text.extend(code_point(&mut letters, 2)),
                Some('u') => text.extend(code_point(&mut letters, 4)),
                Some('U') => text.extend(code_point(&mut letters, 8)),
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(letter),
        }
    }
    text
}

/// The character of a hexadecimal escape.
fn code_point(letters: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let code: String = letters.by_ref().take(digits).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
}

/// The text up to the closing quote. A doubled quote stands for one; no file has a NUL.
fn single_quoted(rest: &str) -> String {
    let marked = rest.replace("''", "\0");
    marked.split('\'').next().unwrap_or_default().replace('\0', "'")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (usize, Option<String>) {
        let FrontMatter { end, title } = front_matter(text, &LineIndex::new(text));
        (end, title)
    }

    #[test]
    fn the_title_is_a_scalar_of_yaml() {
        for (value, title) in [
            ("Pods", Some("Pods")),
            ("  Pods and nodes # of a cluster", Some("Pods and nodes")),
            ("C# and F#", Some("C# and F#")),
            ("\"A \\\"quoted\\\" \\u7d66\\x41\" # x", Some("A \"quoted\" 給A")),
            ("'it''s'", Some("it's")),
            ("\"never closed", Some("never closed")),
            ("'", None),
            ("\"\"", None),
            ("|", None),
            (">-", None),
            ("~", None),
            ("", None),
            ("Note: with a colon", Some("Note: with a colon")),
            ("\"\\u12\"", None),
        ] {
            let text = format!("---\nweight: 1\ntitle: {value}\n---\nx");
            assert_eq!(read(&text).1.as_deref(), title, "{value}");
            assert_eq!(text.get(read(&text).0..), Some("x"), "{value}");
        }
        assert_eq!(read("---\nmeta:\n  title: no\n---\n"), (26, None));
        assert_eq!(read("\u{feff}---\r\ntitle: A\r\n---\r\n").1.as_deref(), Some("A"));
        assert_eq!(read("title: A\n"), (0, None));
    }

    #[test]
    fn blank_lines_are_allowed_where_all_of_it_looks_like_yaml() {
        assert_eq!(read("---\ntitle: A\n\nweight: 1\n\n---\nx").1.as_deref(), Some("A"));
        assert_eq!(read("---\ntitle: A\nitems:\n\n- x\n  y\n---\n").1.as_deref(), Some("A"));
        for text in ["---\ntitle: A\n\n# Real\n\n---\n", "---\ntitle: A\n\ntext\n---\n", "---\ntitle: A\n"] {
            assert_eq!(read(text), (0, None), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in "---\n(title: [\"'\\\\ux0-9a# ]{0,12}|[a:-]{0,4}|\n){0,6}(---\n)?") {
            prop_assert!(text.is_char_boundary(read(&text).0));
        }
    }
}
