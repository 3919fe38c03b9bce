//! What is true of a tool before it runs. No field has a default: forgetting one does not compile.

use super::Access;

/// The facts of one tool; everything that clients, docs and access checks know is derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name that clients call.
    pub name: &'static str,
    /// The name that people read.
    pub title: &'static str,
    /// What it does and when to use it, for the model.
    pub description: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// Whether it reaches beyond this machine.
    pub world: World,
    /// Who may call it.
    pub access: Access,
    /// Whether a sponsor may pay for it.
    pub sponsor: Sponsor,
    /// The page that shows its result.
    pub widget: Option<Widget>,
    /// What the tooling guide says of it.
    pub guide: Guide,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or sets, and loses nothing that was there.
    Write,
    /// May replace or remove what was there.
    Destroy,
}

/// Whether a tool reaches beyond this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// It does.
    Open,
    /// It does not.
    Closed,
}

/// Whether a sponsor may pay for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sponsor {
    /// Not for sale.
    Never,
    /// The sponsored input becomes this argument.
    Input(&'static str),
}

/// A page that shows a tool's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widget {
    /// The address of the page among the server's resources.
    pub uri: &'static str,
    /// What a client shows while the tool runs.
    pub invoking: &'static str,
    /// What a client shows when it has run.
    pub invoked: &'static str,
}

/// What the tooling guide says of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guide {
    /// When to reach for it.
    pub when: &'static str,
    /// Arguments that are safe to start with, as a JSON object.
    pub safe_defaults: &'static str,
    /// At most two errors that callers meet, each with its cure.
    pub common_errors: &'static [(&'static str, &'static str)],
}
