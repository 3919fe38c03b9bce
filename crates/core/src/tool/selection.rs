//! The choice of the tools that a server serves, and of the fewer ones that a single request wants to see.

use std::sync::Arc;

use super::closest::closest;
use super::{Effect, RegisteredTool};

/// A choice among the tools of a registry. The default chooses all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolSelection {
    /// The names of the chosen toolsets; `None` chooses all.
    pub toolsets: Option<Vec<String>>,
    /// The names of the chosen tools. A name with a leading `-` removes that tool; if there are only such names, all other
    /// tools are chosen.
    pub tools: Vec<String>,
    /// Whether only tools that change nothing are chosen.
    pub read_only: bool,
}

/// A selection that names something that does not exist.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SelectionError {
    /// No tool has this name.
    #[error("there is no tool named `{name}`; {}", suggestion(.meant.as_ref(), .available))]
    UnknownTool {
        /// The name.
        name: String,
        /// The tool that was probably meant.
        meant: Option<&'static str>,
        /// The tools of the chosen toolsets.
        available: Vec<&'static str>,
    },
    /// The tool exists, but its toolset is not chosen.
    #[error("the tool `{tool}` belongs to the toolset `{toolset}`, which is not served")]
    ToolsetNotChosen {
        /// The tool.
        tool: &'static str,
        /// Its toolset.
        toolset: &'static str,
    },
    /// No toolset has this name.
    #[error("no toolset named `{name}` is served; the served toolsets are {}", .available.join(", "))]
    UnknownToolset {
        /// The name.
        name: String,
        /// The toolsets that exist.
        available: Vec<&'static str>,
    },
}

/// The tool that was probably meant, or all of them.
fn suggestion(meant: Option<&&'static str>, available: &[&'static str]) -> String {
    match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the tools are {}", available.join(", ")),
    }
}

impl ToolSelection {
    /// Checks that all names exist.
    pub(super) fn check(
        &self,
        tools: &[Arc<RegisteredTool>],
        toolsets: &[&'static str],
    ) -> Result<(), SelectionError> {
        for name in self.toolsets.iter().flatten() {
            if !toolsets.contains(&name.as_str()) {
                return Err(SelectionError::UnknownToolset {
                    name: name.clone(),
                    available: toolsets.to_vec(),
                });
            }
        }
        for name in &self.tools {
            let name = name.strip_prefix('-').unwrap_or(name);
            match tools.iter().find(|tool| tool.facts.name == name) {
                Some(tool) if self.has_toolset(tool.toolset) => {}
                Some(tool) => {
                    let (tool, toolset) = (tool.facts.name, tool.toolset);
                    return Err(SelectionError::ToolsetNotChosen { tool, toolset });
                }
                None => {
                    let available = tools.iter().filter(|tool| self.has_toolset(tool.toolset));
                    let available: Vec<_> = available.map(|tool| tool.facts.name).collect();
                    let meant = closest(name, available.iter().copied());
                    return Err(SelectionError::UnknownTool { name: name.to_owned(), meant, available });
                }
            }
        }
        Ok(())
    }

    /// Whether a toolset is chosen.
    pub(super) fn has_toolset(&self, name: &str) -> bool {
        self.toolsets.as_ref().is_none_or(|names| names.iter().any(|each| each == name))
    }

    /// Whether a tool is chosen.
    pub(super) fn has_tool(&self, tool: &RegisteredTool) -> bool {
        let name = tool.facts.name;
        let is_removed = self.tools.iter().any(|each| each.strip_prefix('-') == Some(name));
        let only_removals = self.tools.iter().all(|each| each.starts_with('-'));
        self.has_toolset(tool.toolset)
            && (!self.read_only || tool.facts.effect == Effect::Read)
            && !is_removed
            && (only_removals || self.tools.iter().any(|each| each == name))
    }
}
