//! The MCP resources of a toolset.

use crate::{Access, JsonObject};

/// A resource that `resources/list` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The URI, unique among all toolsets.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What it contains.
    pub description: String,
    /// The media type.
    pub mime_type: String,
    /// Who may read it.
    pub access: Access,
    /// The `_meta` object.
    pub meta: JsonObject,
}

/// A group of resources whose URIs match a template.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceTemplate {
    /// An RFC 6570 template, such as `manual://{manual_id}/{path}`. The text before its first `{` must be unique.
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// What such a resource contains.
    pub description: String,
    /// The media type.
    pub mime_type: String,
    /// Who may read such resources.
    pub access: Access,
    /// The tool that reads the same data, if there is one. The template exists only where this tool is served, so that whoever
    /// selects tools selects what can be read.
    pub tool: Option<&'static str>,
}

impl ResourceTemplate {
    /// Whether a URI begins with the literal text before the first variable. The toolset checks the rest when it reads.
    #[must_use]
    pub fn matches(&self, uri: &str) -> bool {
        !self.prefix().is_empty() && uri.starts_with(self.prefix())
    }

    /// The text before the first variable.
    pub(super) fn prefix(&self) -> &str {
        self.uri_template.split('{').next().unwrap_or_default()
    }
}

/// A page of the resources that exist when they are listed, such as the files of a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourcePage {
    /// The resources.
    pub resources: Vec<Resource>,
    /// Where the next page begins; `None` after the last one.
    pub next_cursor: Option<String>,
}

/// The contents of a resource. All resources so far are pages and documents, so there is only text.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceText {
    /// The media type.
    pub mime_type: String,
    /// The text.
    pub text: String,
    /// The `_meta` object.
    pub meta: JsonObject,
    /// Where a long text goes on.
    pub next: Option<NextPart>,
}

/// The part of a resource that follows the one that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextPart {
    /// The URI that reads it.
    pub uri: String,
    /// A sentence that says what was read and what is left.
    pub note: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_matches_by_the_text_before_its_first_variable() {
        let matches = |uri_template: &str, uri: &str| {
            let template = ResourceTemplate {
                uri_template: uri_template.into(),
                name: String::new(),
                title: String::new(),
                description: String::new(),
                mime_type: String::new(),
                access: Access::Anyone,
                tool: None,
            };
            template.matches(uri)
        };
        assert!(matches("manual://{manual_id}/{path}", "manual://a/b.md"));
        assert!(!matches("manual://{manual_id}/{path}", "vault://b.md"));
        assert!(!matches("{everything}", "vault://b.md"), "a template without a prefix matches nothing");
    }
}
