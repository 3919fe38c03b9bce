//! A limit on the number of values in JSON from outside. A parsed value takes up to a hundred times as much memory as its
//! text, so limiting the bytes of a message does not limit the memory that it takes.

/// The maximum number of values in one JSON text: objects, arrays, strings, numbers, booleans and nulls. This
/// many fit into some tens of megabytes, and legitimate messages stay far below. A text with more is rejected unparsed.
pub const MAX_JSON_VALUES: usize = 200_000;

/// Whether a JSON text has more than [`MAX_JSON_VALUES`] values. It counts commas and opening brackets outside of strings,
/// since every value but the first follows one of them, and so needs no memory and no valid JSON.
#[must_use]
pub fn has_too_many_values(json: &[u8]) -> bool {
    if json.len() <= MAX_JSON_VALUES {
        return false;
    }
    let (mut values, mut in_string, mut escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values >= MAX_JSON_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_up_to_the_limit() {
        let array = |items: usize| format!("[{}]", vec!["1"; items].join(","));
        // The array itself is a value too.
        assert!(!has_too_many_values(array(MAX_JSON_VALUES - 1).as_bytes()));
        assert!(has_too_many_values(array(MAX_JSON_VALUES).as_bytes()));
    }

    #[test]
    fn punctuation_inside_strings_is_not_counted() {
        let string = format!("[\"{}\"]", r#"\",[{"#.repeat(MAX_JSON_VALUES));
        assert!(!has_too_many_values(string.as_bytes()));
    }
}
