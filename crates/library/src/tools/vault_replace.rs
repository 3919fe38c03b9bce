//! `vault_replace`.

use annai_core::{Access, Call, Effect, Facts, Guide, Reply, Sponsor, Tool, ToolError, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::error::LibraryError;
use crate::fs::{RelPath, read_text};
use crate::toolset::{LIBRARY_WRITE, Library, LibraryState};
use crate::vault::{VaultOperation, check_write};
use crate::writing::{MAX_EDITED_BYTES, check_hash_form};

/// What to replace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The file.
    pub path: String,
    /// What to look for, literally.
    #[schemars(length(min = 1))]
    pub find: String,
    /// What to put there.
    pub replace: String,
    /// How often at most; once where it is left out.
    #[schemars(range(min = 1))]
    pub max_replacements: Option<usize>,
    /// The SHA-256 of the whole file as the caller saw it last; another file is a conflict.
    pub if_sha256: Option<String>,
}

/// What was replaced.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub written_path: String,
    /// How often; 0 = the file is untouched.
    pub replacements: usize,
    /// The hash of the whole file now.
    pub sha256: String,
}

/// Replace a literal text in a vault file, the first time it occurs or more often.
pub struct VaultReplace;

impl Tool for VaultReplace {
    const FACTS: Facts = Facts {
        name: "vault_replace",
        title: "Replace in a vault file / 文字列を置き換える",
        description: "Replace a literal text in a vault file, the first time it occurs or more often.",
        effect: Effect::Destroy,
        world: World::Closed,
        access: Access::Local(LIBRARY_WRITE),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide {
            when: "To change a few words of a file.",
            safe_defaults: r#"{"path":"…","find":"…","replace":"…"}"#,
            common_errors: &[
                ("invalid_parameter", "find must not be empty; it is literal, no pattern"),
                ("conflict", "the file is missing or changed; read it again"),
            ],
        },
    };
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_hash_form(input.if_sha256.as_deref())?;
        check_write(&path, VaultOperation::Overwrite)?;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state.vault.write(cancellation, |writer| {
                let place = writer.existing(&path)?;
                writer.check_hash(&place, input.if_sha256.as_deref())?;
                let file = read_text(place.folder.open_file(&place.name)?, &place.path(), MAX_EDITED_BYTES)?;
                let most = input.max_replacements.unwrap_or(1);
                let replacements = file.text.matches(&input.find).take(most).count();
                if replacements == 0 {
                    return Ok((place.path(), 0, file.sha256));
                }
                let grown = replacements.saturating_mul(input.replace.len());
                let size =
                    file.text.len().saturating_sub(replacements * input.find.len()).saturating_add(grown);
                if size as u64 > MAX_EDITED_BYTES {
                    let problem =
                        format!("would have {size} bytes after that, at most {MAX_EDITED_BYTES} are written");
                    return Err(LibraryError::forbidden(place.path(), problem).into());
                }
                let written =
                    writer.overwrite(&place, &file.text.replacen(&input.find, &input.replace, most))?;
                Ok((written.path, replacements, written.sha256))
            })
        };
        let (written_path, replacements, sha256) = set.write(work).await?;
        call.note("path", &written_path);
        call.note("replacements", replacements);
        let text = format!("{replacements} replacements in {written_path}");
        Ok(Reply::new(Output { written_path, replacements, sha256: sha256.to_string() }, text))
    }
}
