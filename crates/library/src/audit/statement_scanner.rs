//! Scans one statement of a Mermaid flowchart from left to right: ids, shapes with their labels, and links.

use std::collections::HashSet;

use super::links::LinkStyle;
use super::statements::find_unquoted;

/// The brackets of each shape, longer ones first, and whether the shape is a decision.
const SHAPES: &[(&str, &[&str], bool)] = &[
    ("(((", &[")))"], false),
    ("((", &["))"], false),
    ("([", &["])"], false),
    ("(", &[")"], false),
    ("[[", &["]]"], false),
    ("[(", &[")]"], false),
    ("[/", &["/]", "\\]"], false),
    ("[\\", &["\\]", "/]"], false),
    ("[", &["]"], false),
    ("{{", &["}}"], false),
    ("{", &["}"], true),
    (">", &["]"], false),
];

/// The direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkDirection {
    /// From the first node to the second.
    Forward,
    /// Without an arrowhead.
    Undirected,
    /// With an arrowhead at each end.
    Both,
    /// `~~~`, which only affects the layout.
    Invisible,
}

/// The rest of a statement that has not been scanned yet.
pub struct StatementScanner<'a>(pub &'a str);

impl<'a> StatementScanner<'a> {
    /// Skips white space.
    pub fn skip_space(&mut self) {
        self.0 = self.0.trim_start();
    }

    /// Scans an id: letters, digits and some punctuation; a hyphen only when it does not begin a link.
    pub fn id(&mut self) -> Option<&'a str> {
        let mut end = 0;
        let mut letters = self.0.char_indices().peekable();
        while let Some((at, ch)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let fits = match ch {
                '-' => !matches!(next, None | Some('-' | '.' | '>')),
                '=' => !matches!(next, None | Some('=')),
                '_' | '.' | '/' | '#' | '$' | '!' | '*' | '+' | '?' | '\'' | '\\' | '%' => true,
                ch => ch.is_alphanumeric(),
            };
            if !fits {
                break;
            }
            end = at + ch.len_utf8();
        }
        let (id, rest) = self.0.split_at(end);
        self.0 = rest;
        (!id.is_empty()).then_some(id)
    }

    /// Scans a shape and returns its label, and whether it is a decision; the label is empty when there is no shape.
    pub fn shape(&mut self) -> Option<(&'a str, bool)> {
        if let Some(rest) = self.0.strip_prefix("@{") {
            let end = find_unquoted(rest, "}")?;
            let inside = rest.get(..end)?;
            self.0 = rest.get(end + 1..)?;
            let decision = ["diam", "decision", "diamond", "question"].iter().any(|shape| {
                inside.split([',', '\n']).any(|part| {
                    part.split_once(':').is_some_and(|(key, value)| {
                        key.trim() == "shape" && value.trim().trim_matches('"') == *shape
                    })
                })
            });
            return Some((inside, decision));
        }
        let Some((opening, closings, decision)) =
            SHAPES.iter().find(|(opening, ..)| self.0.starts_with(opening))
        else {
            return Some(("", false));
        };
        let inside = self.0.get(opening.len()..)?;
        // A quoted label may contain anything but a quote.
        let quoted = inside.trim_start().strip_prefix('"').and_then(|text| text.find('"'));
        let skip = quoted.map_or(0, |end| inside.len() - inside.trim_start().len() + 1 + end + 1);
        let close = closings
            .iter()
            .filter_map(|closing| Some((inside.get(skip..)?.find(closing)? + skip, closing.len())))
            .min();
        let (end, length) = close?;
        self.0 = inside.get(end + length..)?;
        Some((inside.get(..end)?, *decision))
    }

    /// Skips a style class such as `:::big`.
    pub fn skip_class(&mut self) {
        if let Some(rest) = self.0.strip_prefix(":::") {
            self.0 = rest.trim_start_matches(|ch: char| ch.is_alphanumeric() || ch == '_' || ch == '-');
        }
    }

    /// Scans a link with its text. The id of the link, if it has one, is added to `link_ids`.
    pub fn link(&mut self, link_ids: &mut HashSet<String>) -> Option<LinkDirection> {
        self.skip_link_id(link_ids);
        let mut rest = self.0;
        let has_tail = rest.starts_with('<');
        if let Some(after) = rest.strip_prefix(['<', 'x', 'o'])
            && after.starts_with(['-', '='])
        {
            rest = after;
        }
        if rest.starts_with("~~~") {
            self.0 = rest.trim_start_matches('~');
            return Some(LinkDirection::Invisible);
        }
        let style = LinkStyle::of(rest)?;
        let (end, has_head) = match style.plain_link(rest) {
            Some(link) => link,
            None => style.link_with_text(rest)?,
        };
        self.0 = rest.get(end..)?.trim_start();
        if let Some(text) = self.0.strip_prefix('|') {
            let end = find_unquoted(text, "|")?;
            self.0 = text.get(end + 1..)?;
        }
        Some(match (has_tail, has_head) {
            (true, true) => LinkDirection::Both,
            (false, true) => LinkDirection::Forward,
            (_, false) => LinkDirection::Undirected,
        })
    }

    /// Skips the id of a link: `e1@-->`.
    fn skip_link_id(&mut self, link_ids: &mut HashSet<String>) {
        let end = self.0.find(|ch: char| !(ch.is_alphanumeric() || ch == '_')).unwrap_or(self.0.len());
        if let Some(rest) = self.0.get(end..).and_then(|rest| rest.strip_prefix('@'))
            && end > 0
            && rest.starts_with(['-', '=', '<', '~', 'x', 'o'])
        {
            link_ids.insert(self.0.get(..end).unwrap_or_default().to_owned());
            self.0 = rest;
        }
    }
}
