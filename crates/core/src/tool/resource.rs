//! MCP resources of a toolset: what it lists, and what a client reads.

use crate::{Access, JsonObject};

/// A resource that `resources/list` shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Its address, unique among all toolsets.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What it holds.
    pub description: String,
    /// Its media type.
    pub mime_type: String,
    /// Who may read it.
    pub access: Access,
    /// Its `_meta`.
    pub meta: JsonObject,
}

/// A family of resources whose addresses are made from a template.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceTemplate {
    /// An RFC 6570 template, such as `manual://{manual_id}/{path}`. The text before its first `{` must be unique.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What such a resource holds.
    pub description: String,
    /// Its media type.
    pub mime_type: String,
    /// Who may read such resources.
    pub access: Access,
}

impl ResourceTemplate {
    /// Whether an address can have been made from it.
    #[must_use]
    pub fn matches(&self, uri: &str) -> bool {
        let prefix = self.uri_template.split('{').next().unwrap_or_default();
        !prefix.is_empty() && uri.starts_with(prefix)
    }
}

/// What a resource holds: text, since all resources so far are pages and documents.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceText {
    /// Its media type.
    pub mime_type: String,
    /// Its text.
    pub text: String,
    /// Its `_meta`.
    pub meta: JsonObject,
}
