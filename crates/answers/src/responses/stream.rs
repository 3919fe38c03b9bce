//! Reads `text/event-stream`, whatever the pieces that it arrives in.

/// One event: its name (empty if it has none) and its data.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    /// What stands after `event:`.
    pub name: String,
    /// What stands after `data:`, lines joined.
    pub data: Vec<u8>,
}

/// Collects bytes until they make events.
#[derive(Default)]
pub struct Events {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return, so a line feed now ends nothing.
    after_cr: bool,
    begun: bool,
}

impl Events {
    /// Takes the next bytes and gives the events that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut found = Vec::new();
        while let Some((&first, after_first)) = bytes.split_first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = after_first;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            let (head, rest) = bytes.split_at(end);
            self.line.extend_from_slice(head);
            self.after_cr = rest.first() == Some(&b'\r');
            bytes = rest.get(1..).unwrap_or_default();
            found.extend(self.end_line());
        }
        found
    }

    /// The event that the stream ended in, if its last blank line is missing.
    pub fn finish(mut self) -> Option<Event> {
        self.end_line().or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.name = value.to_vec(),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                none => *none = Some(value.to_vec()),
            },
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        Some(Event { name: String::from_utf8_lossy(&name).into_owned(), data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut events = Events::default();
        let mut found: Vec<_> = pieces.iter().flat_map(|piece| events.push(piece)).collect();
        found.extend(events.finish());
        found.into_iter().map(|event| (event.name, String::from_utf8(event.data).unwrap())).collect()
    }

    #[test]
    fn events_have_names_and_data() {
        let text = "\u{feff}: hello\nid: 1\nevent: a\ndata: 1\n\ndata:2\ndata: 3\n\nevent: b\n\n\ndata\n\ndata: last";
        let expected = [("a", "1"), ("", "2\n3"), ("", ""), ("", "last")];
        let expected: Vec<_> = expected.map(|(name, data)| (name.to_owned(), data.to_owned())).into();
        for ends in ["\n", "\r\n", "\r"] {
            assert_eq!(read(&[text.replace('\n', ends).as_bytes()]), expected, "{ends:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(lines in "[abdetv:\u{3042} \r\n]{0,60}", cuts in proptest::collection::vec(0_usize..100, 0..10)) {
            let bytes = lines.as_bytes();
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[bytes]));
        }
    }
}
