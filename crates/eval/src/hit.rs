//! A section in the results of a search.

use annai_library::Section;
use serde_json::Value;

/// A section in the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub manual_id: String,
    pub path: String,
    pub title: String,
    pub line: u64,
}

impl Hit {
    /// Reads an item of `manual_hits`.
    pub fn parse(item: &Value) -> Option<Self> {
        let reference = item.get("ref")?;
        let text = |key: &str| reference.get(key).and_then(Value::as_str).map(str::to_owned);
        let line = reference.get("start_line").and_then(Value::as_u64).unwrap_or(1);
        Some(Self {
            manual_id: text("manual_id")?,
            path: text("path")?,
            title: text("title").unwrap_or_default(),
            line,
        })
    }
}

impl From<Section> for Hit {
    fn from(section: Section) -> Self {
        let Section { manual_id, path, title, line, .. } = section;
        Self { manual_id, path, title, line: line as u64 }
    }
}
