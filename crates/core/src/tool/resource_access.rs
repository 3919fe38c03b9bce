//! The resources of a registry: which of them a caller sees, and whether a caller is admitted to read one.

use std::sync::Arc;

use tracing::Instrument as _;

use super::admitted::{guard, log_and_count, note_caller, start_clock};
use super::registry::ErasedToolset;
use super::{Access, AdmittedResource, Denied, Registry, Resource, ResourcePage, ResourceTemplate};
use crate::{Call, Identity, ToolError};

/// The label of resource lists among the tools.
const RESOURCE_LISTS: &str = "resources/list";

impl Registry {
    /// Whether any toolset has resources or resource templates.
    #[must_use]
    pub const fn has_resources(&self) -> bool {
        !self.resources.is_empty() || !self.templates.is_empty()
    }

    /// The resources that are listed for a caller and always exist.
    #[must_use]
    pub fn resources(&self, identity: &Identity) -> Vec<Resource> {
        let all = self.resources.iter().map(|(resource, _)| resource);
        all.filter(|resource| resource.access.lists_for(identity)).cloned().collect()
    }

    /// The resource templates that are listed for a caller.
    #[must_use]
    pub fn resource_templates(&self, identity: &Identity) -> Vec<ResourceTemplate> {
        let all = self.templates.iter().map(|(template, _)| template);
        all.filter(|template| template.access.lists_for(identity)).cloned().collect()
    }

    /// Decides whether a caller may read a resource, which is either listed or matches a template. Of several templates
    /// the most specific one decides, so that a general one cannot open what a specific one protects.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn admit_resource(
        self: &Arc<Self>,
        uri: &str,
        identity: &Identity,
    ) -> Result<AdmittedResource, Denied> {
        let (access, toolset) = self.find_resource(uri).ok_or(Denied::Unknown)?;
        access.check(identity)?;
        Ok(AdmittedResource::new(self.clone(), toolset.clone(), uri.to_owned(), identity.clone()))
    }

    /// The name of the toolset that a resource belongs to; `None` when there is no such resource.
    #[must_use]
    pub fn toolset_of_resource(&self, uri: &str) -> Option<&'static str> {
        self.find_resource(uri).map(|(_, toolset)| toolset.name())
    }

    fn find_resource(&self, uri: &str) -> Option<(Access, &Arc<dyn ErasedToolset>)> {
        let listed = self.resources.iter().find(|(resource, _)| resource.uri == uri);
        listed.map(|(resource, toolset)| (resource.access, toolset)).or_else(|| {
            let matching = self.templates.iter().filter(|(template, _)| template.matches(uri));
            let specific = matching.max_by_key(|(template, _)| template.prefix().len());
            specific.map(|(template, toolset)| (template.access, toolset))
        })
    }

    /// A page of the resources that a caller sees: on the first page those that always exist, then those of one template
    /// after the other. It has the same guards, log line and count as a tool call.
    ///
    /// # Errors
    ///
    /// The cursor is not one of this list, or the error of [`super::Toolset::list_resources`].
    pub async fn list_resources(
        self: &Arc<Self>,
        cursor: Option<&str>,
        identity: &Identity,
        mut call: Call,
    ) -> Result<ResourcePage, ToolError> {
        let readable = |access: Access| access.check(identity).is_ok();
        let mut templates = self.templates.iter().filter(|(template, _)| readable(template.access));
        let (first, inner, mut resources) = match cursor {
            None => (templates.next(), None, self.resources(identity)),
            Some(cursor) => {
                let (name, inner) = cursor.split_once('/').unwrap_or_default();
                let named = templates.find(|(template, _)| template.name == name);
                let inner = Some(inner).filter(|inner| !inner.is_empty());
                (Some(named.ok_or_else(unknown_cursor)?), inner, Vec::new())
            }
        };
        let Some((template, toolset)) = first else {
            return Ok(ResourcePage { resources, next_cursor: None });
        };
        let span = tracing::error_span!("list", template = template.name, request_id = call.request_id);
        call.set_admitted(identity.clone(), self, span.clone());
        note_caller(&call);
        let (started, deadline) = start_clock(&mut call, self.call_timeout);
        let page = async {
            let work = toolset.list_resources(&call, &template.name, inner);
            let page = guard(work, &call, started, deadline).await;
            log_and_count(RESOURCE_LISTS, started, page.as_ref().err());
            page
        };
        let page = page.instrument(span).await?;
        resources.extend(page.resources);
        let next_cursor = match (page.next_cursor, templates.next()) {
            (Some(inner), _) => Some(format!("{}/{inner}", template.name)),
            (None, Some((next, _))) => Some(format!("{}/", next.name)),
            (None, None) => None,
        };
        Ok(ResourcePage { resources, next_cursor })
    }
}

fn unknown_cursor() -> ToolError {
    ToolError::invalid(
        "cursor: unknown; pass the nextCursor of the previous page, or none for the first page",
    )
}
