//! The tools and resources of a server, and which of them a caller sees.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::closest::closest;
use super::instructions::paragraph;
use super::{
    Prompt, RegisteredTool, Resource, ResourcePage, ResourceTemplate, ResourceText, SelectionError,
    ToolSelection, Widget,
};
use crate::{Call, Facts, Identity, TokenScope, ToolError, schema};

/// The maximum number of cached tool lists, one per set of scopes. There are few scopes, so more sets are not expected.
/// Beyond the limit a list is serialized for each request.
const MAX_CACHED_LISTS: usize = 64;
/// The maximum number of cached selections. Requests choose whole toolsets, with or without the tools that write, so four
/// toolsets have 32 selections. Beyond the limit a selection is made, and its tool list serialized, for each request.
const MAX_CACHED_SELECTIONS: usize = 64;

/// The cache key of a tool list. The list of a caller depends on nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ListKey {
    Owner,
    /// The scopes of the caller that any tool requires, sorted. Others are left out, so that arbitrary scopes in tokens
    /// cannot fill the cache.
    Scopes(Vec<TokenScope>),
}

/// The cache key of a selection: what it chooses, however that is written.
#[derive(PartialEq, Eq, Hash)]
struct SelectionKey {
    tools: Vec<&'static str>,
    toolsets: Vec<&'static str>,
}

/// A type-erased toolset.
pub(super) trait ErasedToolset: Send + Sync {
    fn name(&self) -> &'static str;
    fn instructions(&self) -> &'static [&'static str];
    fn prompts(&self) -> &'static [Prompt];
    fn complete<'a>(
        &'a self,
        registry: &'a Registry,
        identity: &'a Identity,
        argument: &'a str,
        typed: &'a str,
        other_arguments: &'a HashMap<String, String>,
    ) -> BoxFuture<'a, Vec<String>>;
    fn resources(&self) -> Vec<Resource>;
    fn resource_templates(&self) -> Vec<ResourceTemplate>;
    fn list_resources<'a>(
        &'a self,
        call: &'a Call,
        template: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ResourcePage, ToolError>>;
    fn read_resource<'a>(
        &'a self,
        call: &'a Call,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<ResourceText>, ToolError>>;
    fn close(&self) -> BoxFuture<'_, ()>;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// All tools and resources of one server, or those of them that a [`ToolSelection`] chooses. What is not in a registry does
/// not exist for its callers.
pub struct Registry {
    tools: Vec<Arc<RegisteredTool>>,
    by_name: HashMap<&'static str, usize>,
    pub(super) toolsets: Vec<Arc<dyn ErasedToolset>>,
    /// All resources and templates, each with the toolset that reads it.
    pub(super) resources: Vec<(Resource, Arc<dyn ErasedToolset>)>,
    pub(super) templates: Vec<(ResourceTemplate, Arc<dyn ErasedToolset>)>,
    /// The scopes that any tool requires, sorted.
    scopes: Vec<TokenScope>,
    /// The tools that selections have left out.
    left_out: Vec<&'static Facts>,
    lists: Mutex<HashMap<ListKey, Bytes>>,
    selections: Mutex<HashMap<SelectionKey, Arc<Self>>>,
    pub(super) call_timeout: Duration,
}

impl Registry {
    pub(super) fn new(
        tools: Vec<Arc<RegisteredTool>>,
        toolsets: Vec<Arc<dyn ErasedToolset>>,
        left_out: Vec<&'static Facts>,
        call_timeout: Duration,
    ) -> Self {
        let by_name: HashMap<_, _> =
            tools.iter().enumerate().map(|(index, tool)| (tool.facts.name, index)).collect();
        let mut scopes: Vec<_> = tools.iter().flat_map(|tool| tool.facts.access.scopes()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        let (mut resources, mut templates) = (Vec::new(), Vec::new());
        for toolset in &toolsets {
            resources.extend(toolset.resources().into_iter().map(|resource| (resource, toolset.clone())));
            let is_served =
                |template: &ResourceTemplate| template.tool.is_none_or(|name| by_name.contains_key(name));
            let served = toolset.resource_templates().into_iter().filter(is_served);
            templates.extend(served.map(|template| (template, toolset.clone())));
        }
        let (lists, selections) = (Mutex::default(), Mutex::default());
        Self {
            tools,
            by_name,
            toolsets,
            resources,
            templates,
            scopes,
            left_out,
            lists,
            selections,
            call_timeout,
        }
    }

    /// A registry with the chosen tools, and with the resources of the toolsets that they belong to. The state of the
    /// toolsets is shared, and equal selections share one registry with its serialized lists.
    ///
    /// # Errors
    ///
    /// The selection names a tool or a toolset that is not in this registry.
    pub fn select(self: &Arc<Self>, selection: &ToolSelection) -> Result<Arc<Self>, SelectionError> {
        if *selection == ToolSelection::default() {
            return Ok(self.clone());
        }
        let names: Vec<_> = self.toolsets.iter().map(|toolset| toolset.name()).collect();
        selection.check(&self.tools, &names)?;
        let tools: Vec<_> = self.tools.iter().filter(|tool| selection.has_tool(tool)).cloned().collect();
        let has_tool = |tools: &[Arc<RegisteredTool>], name| tools.iter().any(|tool| tool.toolset == name);
        let is_chosen = |toolset: &&Arc<dyn ErasedToolset>| {
            let name = toolset.name();
            // A toolset may have resources and no tools at all.
            selection.has_toolset(name) && (has_tool(&tools, name) || !has_tool(&self.tools, name))
        };
        let toolsets: Vec<_> = self.toolsets.iter().filter(is_chosen).cloned().collect();
        let key = SelectionKey {
            tools: tools.iter().map(|tool| tool.facts.name).collect(),
            toolsets: toolsets.iter().map(|toolset| toolset.name()).collect(),
        };
        let mut selections = self.selections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(registry) = selections.get(&key) {
            return Ok(registry.clone());
        }
        let dropped = self.tools().filter(|tool| !selection.has_tool(tool)).map(|tool| tool.facts);
        let left_out = self.left_out.iter().copied().chain(dropped).collect();
        let registry = Arc::new(Self::new(tools, toolsets, left_out, self.call_timeout));
        if selections.len() < MAX_CACHED_SELECTIONS {
            selections.insert(key, registry.clone());
        }
        Ok(registry)
    }

    /// Whether tools or resources of a toolset are in this registry.
    #[must_use]
    pub fn has_toolset(&self, name: &str) -> bool {
        self.toolsets.iter().any(|toolset| toolset.name() == name)
    }

    /// The instructions for the models of a caller: a paragraph for each toolset of which the caller sees a tool. `None`
    /// when there is nothing to say.
    #[must_use]
    pub fn instructions(&self, identity: &Identity) -> Option<String> {
        let is_visible = |tool: &RegisteredTool| tool.facts.access.lists_for(identity);
        let has_visible_tool = |name: &str| self.tools().any(|tool| tool.toolset == name && is_visible(tool));
        let told = self.toolsets.iter().filter(|toolset| has_visible_tool(toolset.name()));
        let paragraphs: Vec<_> = told
            .filter_map(|toolset| {
                paragraph(toolset.instructions(), |name| self.get(name).is_some_and(is_visible))
            })
            .collect();
        (!paragraphs.is_empty()).then(|| paragraphs.join("\n\n"))
    }

    /// The prompts that are listed for a caller.
    pub fn prompts(&self, identity: &Identity) -> impl Iterator<Item = &'static Prompt> {
        let all = self.toolsets.iter().flat_map(|toolset| toolset.prompts());
        all.filter(|prompt| self.get(prompt.tool).is_some() && prompt.access.lists_for(identity))
    }

    /// Whether there are prompts.
    #[must_use]
    pub fn has_prompts(&self) -> bool {
        let mut all = self.toolsets.iter().flat_map(|toolset| toolset.prompts());
        all.any(|prompt| self.get(prompt.tool).is_some())
    }

    /// The tools in the order in which they were added.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &RegisteredTool> {
        self.tools.iter().map(AsRef::as_ref)
    }

    /// The tools that selections have left out. They do not exist for callers; an error that would call such a tool unknown
    /// can say instead that it is not served.
    pub fn left_out(&self) -> impl Iterator<Item = &'static Facts> {
        self.left_out.iter().copied()
    }

    /// The tool with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index)).map(AsRef::as_ref)
    }

    /// The name of the tool that was probably meant by a name that no tool has.
    #[must_use]
    pub fn closest_tool(&self, name: &str) -> Option<&'static str> {
        closest(name, self.tools.iter().map(|tool| tool.facts.name))
    }

    /// The scopes that any tool requires, sorted.
    #[must_use]
    pub fn scopes(&self) -> &[TokenScope] {
        &self.scopes
    }

    /// The scopes of tools that need no person, only permission.
    #[must_use]
    pub fn local_scopes(&self) -> Vec<TokenScope> {
        let is_local = |scope: &&TokenScope| {
            let mut tools = self.tools().filter(|tool| tool.facts.access.scopes().any(|own| own == **scope));
            tools.all(|tool| tool.facts.access.is_local())
        };
        self.scopes.iter().filter(is_local).copied().collect()
    }

    /// The scopes that the tools of the same toolset as `tool` require.
    pub fn toolset_scopes(&self, tool: &str) -> impl Iterator<Item = TokenScope> {
        let toolset = self.get(tool).map(|tool| tool.toolset);
        let same = self.tools().filter(move |other| Some(other.toolset) == toolset);
        same.flat_map(|other| other.facts.access.scopes())
    }

    /// Whether the result of any tool is displayed by a widget.
    #[must_use]
    pub fn has_widgets(&self) -> bool {
        self.tools().any(|tool| matches!(tool.facts.widget, Widget::Page(_)))
    }

    /// Whether any tool may be called without a token.
    #[must_use]
    pub fn is_open_to_anyone(&self) -> bool {
        self.tools().any(|tool| tool.facts.access.is_open())
    }

    /// The `tools` array of `tools/list` for a caller, serialized once for each set of scopes.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a JSON value always serializes")]
    pub fn list(&self, identity: &Identity) -> Bytes {
        let key = match identity {
            Identity::Owner => ListKey::Owner,
            Identity::Anonymous => ListKey::Scopes(Vec::new()),
            Identity::Person(person) => {
                ListKey::Scopes(self.scopes.iter().copied().filter(|scope| person.has(*scope)).collect())
            }
        };
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.get(&key) {
            return list.clone();
        }
        let listed = self.tools().filter(|tool| tool.facts.access.lists_for(identity));
        let entries: Vec<_> = listed.map(|tool| super::listing::entry(tool, identity)).collect();
        let list = Bytes::from(serde_json::to_vec(&entries).expect("JSON values serialize"));
        if lists.len() < MAX_CACHED_LISTS {
            lists.insert(key, list.clone());
        }
        list
    }

    /// Suggests values for an argument, sorted and without duplicates. Every toolset is asked that has a tool or a prompt
    /// with this argument which the caller may use.
    pub async fn complete(
        &self,
        argument: &str,
        typed: &str,
        other_arguments: &HashMap<String, String>,
        identity: &Identity,
    ) -> Vec<String> {
        let mut values = Vec::new();
        for toolset in &self.toolsets {
            let has_argument = self.tools().any(|tool| {
                tool.toolset == toolset.name()
                    && tool.facts.access.check(identity).is_ok()
                    && schema::property_schema(tool.input_schema(), argument).is_some()
            });
            let mut prompts = toolset.prompts().iter().filter(|prompt| prompt.access.check(identity).is_ok());
            let has_argument =
                has_argument || prompts.any(|prompt| prompt.arguments.iter().any(|own| own.name == argument));
            if has_argument {
                values.extend(toolset.complete(self, identity, argument, typed, other_arguments).await);
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Closes all opened toolsets concurrently, once; afterwards none is opened any more. The caller limits the time.
    pub async fn close(&self) {
        futures_util::future::join_all(self.toolsets.iter().map(|toolset| toolset.close())).await;
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
