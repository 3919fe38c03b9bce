//! A bound on JSON from outside: a value takes up to a hundred times its text in memory, so their number is limited
//! as the text is.

/// So many values are read at once.
pub const MOST_VALUES: usize = 200_000;

/// Whether a JSON text holds more values than are read: each but the first follows a comma or an opening bracket
/// outside of strings.
#[must_use]
pub fn has_too_many_values(json: &[u8]) -> bool {
    if json.len() <= MOST_VALUES {
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
    values >= MOST_VALUES
}
