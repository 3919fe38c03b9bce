//! The URIs of files as MCP resources: `manual://MANUAL/PATH` and `vault:///PATH`, each with the place where reading begins as
//! `?line=LINE&char=CHAR`. Names are percent-encoded as RFC 3986 asks for, because paths contain spaces and Japanese.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::reading::Cursor;

/// What is encoded in a path: everything but unreserved characters and the slashes between its segments.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The collection that a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Collection {
    Manual(String),
    Vault,
}

/// A file, and the place in it where reading begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResourceUri {
    pub(crate) collection: Collection,
    pub(crate) path: String,
    /// The place; `None` for the beginning of the file.
    pub(crate) start: Option<Cursor>,
}

impl ResourceUri {
    pub(crate) fn manual(manual_id: &str, path: &str) -> Self {
        let collection = Collection::Manual(manual_id.to_owned());
        Self { collection, path: path.to_owned(), start: None }
    }

    pub(crate) fn vault(path: &str) -> Self {
        Self { collection: Collection::Vault, path: path.to_owned(), start: None }
    }

    /// Parses a URI; `None` if it is none of ours, so that no resource can have it.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let (scheme, rest) = uri.split_once("://")?;
        let (name, query) = rest.split_once('?').map_or((rest, None), |(name, query)| (name, Some(query)));
        if name.contains('#') {
            return None;
        }
        let (collection, path) = match scheme {
            "manual" => {
                let (id, path) = name.split_once('/')?;
                (Collection::Manual(decode(id)?), path)
            }
            // Programs that normalize URIs may take the first folder for a host, and leave the third slash out.
            "vault" => (Collection::Vault, name.strip_prefix('/').unwrap_or(name)),
            _ => return None,
        };
        let start = query.map(parse_start).transpose().ok()?;
        Some(Self { collection, path: decode(path)?, start }).filter(|uri| !uri.path.is_empty())
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encode = |text| utf8_percent_encode(text, PATH);
        match &self.collection {
            Collection::Manual(id) => write!(f, "manual://{}/{}", encode(id), encode(&self.path))?,
            Collection::Vault => write!(f, "vault:///{}", encode(&self.path))?,
        }
        let Some(start) = self.start else { return Ok(()) };
        write!(f, "?line={}", start.start_line)?;
        match start.char {
            Some(char) if char > 0 => write!(f, "&char={char}"),
            _ => Ok(()),
        }
    }
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// The place that a query names.
fn parse_start(query: &str) -> Result<Cursor, ()> {
    let (mut line, mut char) = (None, None);
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').ok_or(())?;
        let value: u64 = value.parse().map_err(drop)?;
        match name {
            "line" if line.is_none() && value > 0 => line = Some(value),
            "char" if char.is_none() => char = Some(value),
            _ => return Err(()),
        }
    }
    Ok(Cursor { start_line: line.ok_or(())?, char })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_encoded_and_places_are_kept() {
        let at = |line, char| Some(Cursor { start_line: line, char });
        for (uri, text) in [
            (ResourceUri::manual("hr", "rules/a b.md"), "manual://hr/rules/a%20b.md"),
            (ResourceUri::manual("規程", "第1章.md"), "manual://%E8%A6%8F%E7%A8%8B/%E7%AC%AC1%E7%AB%A0.md"),
            (ResourceUri::vault("notes/50%.md"), "vault:///notes/50%25.md"),
            (ResourceUri::vault("what?#.md"), "vault:///what%3F%23.md"),
            (ResourceUri { start: at(12, None), ..ResourceUri::vault("a.md") }, "vault:///a.md?line=12"),
            (
                ResourceUri { start: at(1, Some(9)), ..ResourceUri::manual("a", "b") },
                "manual://a/b?line=1&char=9",
            ),
        ] {
            assert_eq!(uri.to_string(), text);
            assert_eq!(ResourceUri::parse(text), Some(uri));
        }
        assert_eq!(ResourceUri::parse("vault://notes/a.md"), Some(ResourceUri::vault("notes/a.md")));
    }

    #[test]
    fn what_is_not_a_uri_of_a_file_is_refused() {
        for text in [
            "",
            "manual:",
            "manual://",
            "manual://a",
            "manual://a/",
            "vault://",
            "vault:///",
            "file:///etc/passwd",
            "MANUAL://a/b",
            "manual://a/b#c",
            "manual://a/b?",
            "manual://a/b?line=0",
            "manual://a/b?line=x",
            "manual://a/b?line=1&line=2",
            "manual://a/b?char=1",
            "manual://a/b?line=1&more=2",
            "manual://a/%FF",
            "vault:///a.md?line=-1",
            "vault:///a.md?line=99999999999999999999",
        ] {
            assert_eq!(ResourceUri::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_uri_is_read_back(id in "[^/\\x00]{1,12}", path in "\\PC{1,40}", line in 1..u64::MAX, char in 1..9_u64) {
            prop_assume!(!path.starts_with('/'));
            let start = Some(Cursor { start_line: line, char: Some(char) });
            let uri = ResourceUri { start, ..ResourceUri::manual(&id, &path) };
            let text = uri.to_string();
            prop_assert!(text.is_ascii());
            prop_assert_eq!(ResourceUri::parse(&text), Some(uri));
        }

        #[test]
        fn any_text_has_an_answer(text in "\\PC*") {
            let _ = ResourceUri::parse(&text);
            let _ = ResourceUri::parse(&format!("vault://{text}"));
        }
    }
}
