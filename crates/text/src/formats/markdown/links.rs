//! The links of a Markdown text.

use crate::sections::Link;

/// The links of a text, without URLs: those in the text first, then the definitions.
pub fn links(text: &str) -> impl Iterator<Item = Link> {
    let mut end = 0;
    let inline = text.split("](").map(move |part| {
        let start = end;
        end += part.len() + "](".len();
        (start, part)
    });
    let mut end = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = end;
        end += line.len();
        (start, line.trim_start())
    });
    let defined = lines.filter_map(|(at, line)| Some((at, line.strip_prefix('[')?.split_once("]: ")?.1)));
    inline.skip(1).chain(defined).filter_map(|(at, text)| Some(Link { at, target: target(text)? }))
}

/// The target that a text begins with; none where it is a URL.
fn target(text: &str) -> Option<String> {
    let text = text.trim_start();
    // A path in angle brackets may contain spaces.
    let (text, end) = match text.strip_prefix('<') {
        Some(text) => (text, text.find(['>', '\n', '\r'])),
        None => (text, text.find([')', ' ', '\n', '\r', '"'])),
    };
    let target = text.get(..end.unwrap_or(text.len()))?;
    let is_external = target.contains("://") || target.starts_with("mailto:");
    (!target.is_empty() && target.len() <= Link::MAX_BYTES && !is_external).then(|| target.to_owned())
}
