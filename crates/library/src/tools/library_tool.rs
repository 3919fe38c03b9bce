//! The facts of the tools of this toolset. None of them reaches the internet, can be sponsored or has a widget.

use annai_core::{Access, Effect, Facts, Guide, Sponsor, Widget, World};

/// What the tools of this toolset differ in. The fields are those of [`Facts`] and [`Guide`]; none has a default,
/// so forgetting one does not compile.
#[derive(Clone, Copy)]
pub(crate) struct LibraryTool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) access: Access,
    pub(crate) when: &'static str,
    pub(crate) safe_defaults: &'static str,
    pub(crate) common_errors: &'static [(&'static str, &'static str)],
}

/// The facts of a tool.
pub(crate) const fn facts(tool: LibraryTool) -> Facts {
    let LibraryTool { name, title, description, effect, access, when, safe_defaults, common_errors } = tool;
    Facts {
        name,
        title,
        description,
        effect,
        world: World::Closed,
        access,
        sponsor: Sponsor::Never,
        status: None,
        widget: Widget::None,
        guide: Guide { when, safe_defaults, common_errors },
    }
}
