//! Everything that is known about a tool before it runs. No field has a default, so forgetting one does not compile.

use super::Access;

/// The facts of one tool. Its list entry, its documentation and its access check are derived from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The name that clients call.
    pub name: &'static str,
    /// The name that clients show to people.
    pub title: &'static str,
    /// What it does and when to use it, for the model.
    pub description: &'static str,
    /// Whether it reads, adds or destroys data.
    pub effect: Effect,
    /// Whether it communicates with other machines.
    pub world: World,
    /// Who may call it.
    pub access: Access,
    /// Whether a sponsor may pay for a call.
    pub sponsor: Sponsor,
    /// What ChatGPT shows while the tool runs and when it has finished.
    pub status: Option<StatusText>,
    /// The page that displays its result in clients that support widgets, and whether such pages call it.
    pub widget: Widget,
    /// Its section of the tooling guide.
    pub guide: Guide,
}

/// Whether a tool reads, adds or destroys data; published as `readOnlyHint` and `destructiveHint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Read,
    /// It adds or sets data, and loses no existing data.
    Write,
    /// It may replace or remove existing data.
    Destroy,
}

/// Whether a tool communicates with other machines; published as `openWorldHint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum World {
    /// It may reach any server on the internet.
    Open,
    /// It uses only data of this machine.
    Closed,
}

/// Whether a sponsor may pay for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sponsor {
    /// It cannot be sponsored.
    Never,
    /// It can be sponsored; the input of the sponsored task becomes this argument.
    Input(&'static str),
}

/// The status of a call, as a person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusText {
    /// The text while the tool runs.
    pub invoking: &'static str,
    /// The text when the tool has finished.
    pub invoked: &'static str,
}

/// What a tool has to do with widgets: HTML pages that display the result of a tool and may call tools themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widget {
    /// Nothing.
    None,
    /// Widgets call it, and its result appears in the widget that called it.
    Called,
    /// Its result is displayed by the page with this URI among the server's resources, and widgets call it too.
    Page(&'static str),
}

/// The section of the tooling guide about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guide {
    /// When to use it.
    pub when: &'static str,
    /// Arguments that are safe to start with, as a JSON object.
    pub safe_defaults: &'static str,
    /// At most two common errors, each with its remedy.
    pub common_errors: &'static [(&'static str, &'static str)],
}
