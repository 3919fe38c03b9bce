//! How much of a manual a call reads: the scope, the lines and the limits, as callers give them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadScope {
    Snippet,
    Passage,
    Section,
    Sections,
    File,
    // Not a value of the argument `scope`: the argument `lines` selected the text.
    #[serde(skip_deserializing)]
    Lines,
}

/// The limits of a call.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadLimits {
    /// The maximum number of sections to return with scope `sections` (default and maximum: the server's
    /// HARD_MAX_SECTIONS, 20).
    #[schemars(range(min = 1), extend("default" = 20))]
    pub(crate) max_sections: Option<usize>,
    /// The maximum number of characters to return (default 8000; the server's HARD_MAX_CHARS, 20000, always applies).
    #[schemars(range(min = 1), extend("default" = 8000))]
    pub(crate) max_chars: Option<usize>,
    /// Allow a whole file to be read (default false; the server must allow it too, with ALLOW_FILE_SCOPE). It has no
    /// effect on sections, lines and JSON files.
    #[schemars(extend("default" = false))]
    pub(crate) allow_file: Option<bool>,
}

/// The limits of a copy.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CopyLimits {
    /// Accepted and ignored, because a copy has one section or a whole file.
    #[schemars(range(min = 1))]
    pub(crate) max_sections: Option<usize>,
    /// The maximum number of characters to copy (default and maximum: the server's HARD_MAX_CHARS, 20000).
    #[schemars(range(min = 1), extend("default" = 20_000))]
    pub(crate) max_chars: Option<usize>,
    /// Allow a whole file to be copied (default false; the server must allow it too, with ALLOW_FILE_SCOPE). It has no
    /// effect on sections and JSON files.
    #[schemars(extend("default" = false))]
    pub(crate) allow_file: Option<bool>,
}

/// How much text is returned around the line of a snippet.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expand {
    /// The number of characters before the line (default 240).
    #[schemars(range(min = 0), extend("default" = 240))]
    pub(crate) before_chars: Option<usize>,
    /// The number of characters after the line (default 240).
    #[schemars(range(min = 0), extend("default" = 240))]
    pub(crate) after_chars: Option<usize>,
}

/// A range of lines, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lines {
    /// The first line, counted from 1.
    #[schemars(range(min = 1))]
    pub(crate) start: u64,
    /// The last line, inclusive (default: the last line of the file). A number beyond the end means the last line.
    #[schemars(range(min = 1))]
    pub(crate) end: Option<u64>,
}
