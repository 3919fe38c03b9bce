//! Which toolsets a client is connected to when the user chose none: those that can work here.

use annai_core::config::Origin;

use super::super::Failure;
use crate::app::App;
use crate::options::Options;
use crate::toolset_name::ToolsetName;

/// The settings that say where documents are. Without any of them the library looks into the current folder, and a client may
/// start the server in any.
const FOLDER_SETTINGS: [&str; 5] = [
    "library.manuals",
    "library.manual_dirs",
    "library.manuals_root",
    "library.workspace_root",
    "library.vault_root",
];

/// The options of the server, and what to say about the toolsets that were left out.
pub(super) struct Choice {
    pub options: Options,
    pub notes: Vec<String>,
}

impl Choice {
    /// The toolsets that can work here, unless the user chose toolsets or tools.
    pub(super) fn new(app: &App, options: &Options) -> Result<Self, Failure> {
        let mut chosen = Self { options: options.clone(), notes: Vec::new() };
        if !options.toolset.is_empty() || !app.server.tools.is_empty() {
            return Ok(chosen);
        }
        // Who gives a folder of manuals wants the library, which needs no key.
        if !options.manuals.is_empty() || !options.manual_dir.is_empty() {
            chosen.options.toolset.push(ToolsetName::Library);
            return Ok(chosen);
        }
        let variable = &app.answers.settings.openai.api_key_env;
        let has_documents = FOLDER_SETTINGS.iter().any(|key| *app.config.origin(key) != Origin::Default);
        let has_person = app.services.dev_user.is_some() || app.server.oauth_issuer.is_some();
        let needs_key = format!(
            "answers and search are left out, because {variable} is not set here: set it and repeat the command, or add \
             --toolset answers --toolset search"
        );
        let needs_folder =
            "the library is left out, because no folder of documents is set: add --manuals DIR".to_owned();
        let needs_person = "the services are left out, because they need to know who calls: set ANNAI_DEV_USER, or \
                            services.dev_user, to your e-mail address and repeat the command; they also need sponsors \
                            (annai campaigns new)"
            .to_owned();
        for (toolsets, works, missing) in [
            (&[ToolsetName::Answers, ToolsetName::Search][..], app.answers.key.is_some(), needs_key),
            (&[ToolsetName::Library], has_documents, needs_folder),
            (&[ToolsetName::Services], has_person, needs_person),
        ] {
            if works {
                chosen.options.toolset.extend(toolsets);
            } else {
                chosen.notes.push(missing);
            }
        }
        if chosen.options.toolset.is_empty() {
            let ways = format!(
                "nothing can work here yet. Add --manuals DIR for a folder of documents, set {variable} for answers from \
                 the web, or choose with --toolset"
            );
            return Err(Failure::usage(ways));
        }
        if chosen.notes.is_empty() {
            // All of them: the short form, which also serves toolsets that a later version adds.
            chosen.options.toolset.clear();
        }
        Ok(chosen)
    }
}
