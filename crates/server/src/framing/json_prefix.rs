//! Tells whether a JSON text that has been read so far could go on with an object. It reads every byte once, so that asking at
//! each line of a long text costs no more than reading the text.

/// What may come next in a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A value.
    Value,
    /// A value, or the end of an array that is empty.
    ValueOrEnd,
    /// A key.
    Key,
    /// A key, or the end of an object that is empty.
    KeyOrEnd,
    Colon,
    /// A comma, or the end of the array or object.
    CommaOrEnd,
    /// The rest of a string.
    String {
        is_key: bool,
    },
    /// The rest of an escape in a string: the letter after the backslash, or so many hexadecimal digits.
    Escape {
        is_key: bool,
    },
    Digits {
        is_key: bool,
        left: u8,
    },
    /// The rest of a number.
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
    /// Nothing but white space: the text is complete.
    End,
    /// Nothing: the text is not JSON.
    Nothing,
}

/// The part of a number that was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

/// The beginning of a JSON text.
#[derive(Debug, Clone)]
pub(super) struct JsonPrefix {
    next: Next,
    /// The arrays and objects that are open; `true` for objects.
    open: Vec<bool>,
    /// How many bytes were read.
    length: usize,
}

impl JsonPrefix {
    /// An empty text.
    pub(super) const fn new() -> Self {
        Self { next: Next::Value, open: Vec::new(), length: 0 }
    }

    /// How many bytes were read.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// Reads on.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.next = self.after(*byte);
        }
        self.length += bytes.len();
    }

    /// Whether the text could go on with `{`.
    pub(super) const fn could_continue_with_object(&self) -> bool {
        matches!(self.next, Next::Value | Next::ValueOrEnd | Next::String { .. })
    }

    fn after(&mut self, byte: u8) -> Next {
        match (self.next, byte) {
            (Next::String { is_key }, b'"') => match is_key {
                true => Next::Colon,
                false => self.after_value(),
            },
            (Next::String { is_key }, b'\\') => Next::Escape { is_key },
            (Next::String { .. }, 0..0x20) => Next::Nothing,
            (string @ Next::String { .. }, _) => string,
            (Next::Escape { is_key }, b'u') => Next::Digits { is_key, left: 4 },
            (Next::Escape { is_key }, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                Next::String { is_key }
            }
            (Next::Digits { is_key, left }, digit) if digit.is_ascii_hexdigit() => match left {
                1 => Next::String { is_key },
                _ => Next::Digits { is_key, left: left - 1 },
            },
            (Next::Number(number), byte) => self.after_number(number, byte),
            (Next::Word(word), byte) => match word.split_first() {
                Some((first, [])) if *first == byte => self.after_value(),
                Some((first, rest)) if *first == byte => Next::Word(rest),
                _ => Next::Nothing,
            },
            (same, b' ' | b'\t' | b'\n' | b'\r')
                if !matches!(same, Next::Escape { .. } | Next::Digits { .. }) =>
            {
                same
            }
            (Next::Value | Next::ValueOrEnd, b'"') => Next::String { is_key: false },
            (Next::Value | Next::ValueOrEnd, b'{') => self.open(true, Next::KeyOrEnd),
            (Next::Value | Next::ValueOrEnd, b'[') => self.open(false, Next::ValueOrEnd),
            (Next::Value | Next::ValueOrEnd, b't') => Next::Word(b"rue"),
            (Next::Value | Next::ValueOrEnd, b'f') => Next::Word(b"alse"),
            (Next::Value | Next::ValueOrEnd, b'n') => Next::Word(b"ull"),
            (Next::Value | Next::ValueOrEnd, b'-') => Next::Number(Number::Minus),
            (Next::Value | Next::ValueOrEnd, b'0') => Next::Number(Number::Zero),
            (Next::Value | Next::ValueOrEnd, b'1'..=b'9') => Next::Number(Number::Integer),
            (Next::ValueOrEnd, b']') | (Next::KeyOrEnd, b'}') => self.close(),
            (Next::Key | Next::KeyOrEnd, b'"') => Next::String { is_key: true },
            (Next::Colon, b':') => Next::Value,
            (Next::CommaOrEnd, b',') => match self.open.last() {
                Some(true) => Next::Key,
                _ => Next::Value,
            },
            (Next::CommaOrEnd, b'}') if self.open.last() == Some(&true) => self.close(),
            (Next::CommaOrEnd, b']') if self.open.last() == Some(&false) => self.close(),
            _ => Next::Nothing,
        }
    }

    fn after_number(&mut self, number: Number, byte: u8) -> Next {
        use Number as Is;
        let next = match (number, byte) {
            (Is::Minus, b'0') => Is::Zero,
            (Is::Minus, b'1'..=b'9') | (Is::Integer, b'0'..=b'9') => Is::Integer,
            (Is::Zero | Is::Integer, b'.') => Is::Point,
            (Is::Point | Is::Fraction, b'0'..=b'9') => Is::Fraction,
            (Is::Zero | Is::Integer | Is::Fraction, b'e' | b'E') => Is::Exponent,
            (Is::Exponent, b'+' | b'-') => Is::ExponentSign,
            (Is::Exponent | Is::ExponentSign | Is::ExponentDigits, b'0'..=b'9') => Is::ExponentDigits,
            (Is::Zero, b'0'..=b'9') => return Next::Nothing,
            (Is::Zero | Is::Integer | Is::Fraction | Is::ExponentDigits, byte) => {
                // The number ended before this byte.
                self.next = self.after_value();
                return self.after(byte);
            }
            _ => return Next::Nothing,
        };
        Next::Number(next)
    }

    fn open(&mut self, is_object: bool, next: Next) -> Next {
        self.open.push(is_object);
        next
    }

    fn close(&mut self) -> Next {
        self.open.pop();
        self.after_value()
    }

    const fn after_value(&self) -> Next {
        if self.open.is_empty() { Next::End } else { Next::CommaOrEnd }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn could_continue(text: &[u8], piece: usize) -> bool {
        let mut prefix = JsonPrefix::new();
        text.chunks(piece).for_each(|piece| prefix.read(piece));
        assert_eq!(prefix.length(), text.len());
        prefix.could_continue_with_object()
    }

    /// What the parser says about the text with an opening brace behind it.
    fn expected(text: &[u8]) -> bool {
        let with_brace = [text, b"{"].concat();
        serde_json::from_slice::<IgnoredAny>(&with_brace).is_err_and(|error| error.is_eof())
    }

    /// Whether a text ends inside a `\\uXXXX`: the parser then waits for the rest, also when it is wrong already.
    fn ends_in_escape(text: &[u8]) -> bool {
        let escape = text.windows(2).rposition(|pair| pair == b"\\u");
        escape.is_some_and(|at| text.len() - at < 6)
    }

    #[test]
    fn it_agrees_with_the_parser() {
        for text in [
            "",
            " ",
            "[",
            "[ ",
            "[1",
            "[1,",
            "[1, ",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "\"a",
            "\"a\\",
            "\"a\\u12g",
            "\"\n",
            "[{}",
            "[{},",
            "[{},\n",
            "[{}\n",
            "{}",
            "{}\n",
            "true",
            "[true,",
            "[tru",
            "[nul,",
            "-",
            "[-,",
            "[01,",
            "[0,",
            "[1.,",
            "[1.5,",
            "[1e,",
            "[1e+,",
            "[1e5,",
            "[1.5e-3,",
            "]",
            "}",
            "[}",
            "{]",
            "[,",
            "{,",
            "{\"a\" \"b\"",
            "{1",
            "\u{feff}",
            "[\"é\",",
            "1 ",
            "[[[[",
            "[[]",
            "[[],",
            "{\"a\":{\"b\":[",
        ] {
            assert_eq!(could_continue(text.as_bytes(), 3), expected(text.as_bytes()), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_parser_on_any_text(text in "[\\[\\]{}:,\"\\\\u0-9a-f.eE+\\-tru nl\n]{0,24}", piece in 1_usize..9) {
            prop_assume!(!ends_in_escape(text.as_bytes()));
            prop_assert_eq!(could_continue(text.as_bytes(), piece), expected(text.as_bytes()));
        }

        #[test]
        fn it_agrees_with_the_parser_on_parts_of_valid_texts(
            values in proptest::collection::vec("(-?[1-9][0-9]{0,3}(\\.[0-9]{1,2})?|\"[a-z\\\\n]{0,4}\"|true|null|\\{\"k\":\\[1,\\{\\}\\]\\})", 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = format!("[{}]", values.join(" , "));
            let text = &text.as_bytes()[..cut.index(text.len() + 1)];
            prop_assume!(!ends_in_escape(text));
            prop_assert_eq!(could_continue(text, 5), expected(text));
        }
    }
}
