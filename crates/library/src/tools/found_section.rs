//! A section that a find found, as the finds and manual_hits return it.

use annai_core::ToolError;
use schemars::JsonSchema;
use serde::Serialize;

use annai_search::reference::Ref;
use annai_search::{
    ExcerptLine, FindContext, MAX_SHOWN, MatchKind, SectionExcerpts, TraceMatch, TraceRecord,
};

/// A matching section with its score.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct FoundSection {
    /// Where the section is. Pass it to manual_read as `ref`; for a place in the vault, pass its path and line to
    /// vault_read.
    #[serde(rename = "ref")]
    pub(crate) place: Ref,
    /// The rank score. It orders the sections of this search and cannot be compared with other searches.
    pub(crate) score: f64,
    /// How the section matched. `exact`, `separated` (other separators or spelling) and `synonym` are candidates;
    /// `part` (a part of a term, or only general words), `reference` (another match refers to it) and `exception` (an
    /// exception next to a match) are related sections.
    #[serde(rename = "match")]
    pub(crate) kind: MatchKind,
    /// The titles from the top of the file down to the section.
    pub(crate) heading_path: Vec<String>,
    /// The number of the best matching line.
    pub(crate) line: u64,
    /// True when the section lies outside the manual that was asked for; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outside: Option<bool>,
    /// The best matching lines, in document order, as they are written in the file; absent without `excerpt_chars`, or
    /// when the file has changed since. They do not count as read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) excerpt: Vec<ExcerptLine>,
}

impl FoundSection {
    /// A match of a trace; none where the trace is damaged.
    pub(super) fn new(record: &TraceRecord, found: &TraceMatch) -> Option<Self> {
        Some(Self {
            place: record.ref_of(found)?,
            score: (f64::from(found.score) * 100.0).round() / 100.0,
            kind: found.kind,
            heading_path: record.heading_path(found),
            line: if found.best_line == 0 { found.ref_line } else { found.best_line }.into(),
            outside: found.is_outside.then_some(true),
            excerpt: Vec::new(),
        })
    }

    /// The best matches of a trace, best first, with their excerpts.
    pub(super) fn best_of(
        context: FindContext<'_>,
        record: &TraceRecord,
        max_excerpt_chars: usize,
    ) -> Result<Vec<Self>, ToolError> {
        let mut excerpts = SectionExcerpts::new(context, record, max_excerpt_chars)?;
        let section = |found: &TraceMatch| {
            let section = Self::new(record, found)?;
            let excerpt = excerpts.as_mut().map(|excerpts| excerpts.excerpt(found, section.line));
            Some(Self { excerpt: excerpt.unwrap_or_default(), ..section })
        };
        Ok(record.best().take(MAX_SHOWN).filter_map(section).collect())
    }
}
