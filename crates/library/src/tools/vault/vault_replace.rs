//! `vault_replace`.

use annai_core::{Access, Call, Effect, Facts, Reply, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_replacement::{Replaced, replace};
use crate::scopes::LIBRARY_WRITE;
use crate::tools::library_tool::{LibraryTool, facts};
use crate::tools::vault::writing::{MAX_EDITED_BYTES, check_content, check_sha256_format};
use crate::toolset::{Library, LibraryState};
use annai_core::cancellation::Cancellation;
use annai_files::LibraryError;
use annai_files::fs::{RelPath, read_text};
use annai_files::vault::{VaultOperation, check_utf8};

/// The mark that a file keeps at its beginning.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What to replace.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file's path, relative to the vault.
    path: String,
    /// The text to find. It is matched literally, not as a pattern. A line break `\n` matches every kind of line break.
    #[schemars(length(min = 1))]
    find: String,
    /// The replacement text. Its line breaks become those that the file has.
    replace: String,
    /// The maximum number of occurrences to replace (default 1).
    #[schemars(range(min = 1), extend("default" = 1))]
    max_replacements: Option<usize>,
    /// The SHA-256 that you last saw of the whole file, as 64 hexadecimal digits (optional). If the file has changed
    /// since, the call fails with `conflict` and changes nothing.
    if_sha256: Option<String>,
}

/// What was replaced.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The path of the file that was written, relative to the vault.
    written_path: String,
    /// The number of replacements; 0 means that the file is unchanged.
    replacements: usize,
    /// The SHA-256 of the whole file after the change; pass it as `if_sha256` to the next change.
    sha256: String,
}

pub(crate) struct VaultReplace;

impl Tool for VaultReplace {
    const FACTS: Facts = facts(LibraryTool {
        name: "vault_replace",
        title: "Replace in a vault file / 文字列を置き換える",
        description: "Replace a literal text in a vault file: the first occurrence, or up to max_replacements of them.",
        effect: Effect::Destroy,
        access: Access::Local(LIBRARY_WRITE),
        when: "To change a few words in a file.",
        safe_defaults: r#"{"path":"…","find":"…","replace":"…"}"#,
        common_errors: &[
            ("invalid_parameter", "find must not be empty; it is matched literally, not as a pattern"),
            ("conflict", "the file does not exist or has changed; read it again"),
            ("forbidden", "a file that is not UTF-8 cannot be changed; vault_create a new one"),
        ],
    });
    type Set = Library;
    type Input = Input;
    type Output = Output;

    async fn run(set: &Library, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        let path = RelPath::parse(&input.path)?;
        call.note("path", path.as_str());
        check_sha256_format(input.if_sha256.as_deref())?;
        check_content("replace", &input.replace)?;
        set.state.vault.check_write(&path, VaultOperation::Overwrite)?;
        let work = move |state: &LibraryState, cancellation: &Cancellation| {
            state.vault.write(cancellation, |writer| {
                let file = writer.existing(&path)?;
                writer.check_hash(&file, input.if_sha256.as_deref())?;
                let content = read_text(file.folder.open_file(&file.name)?, &file.path(), MAX_EDITED_BYTES)?;
                check_utf8(&file.path(), content.encoding)?;
                let max_replacements = input.max_replacements.unwrap_or(1);
                let replaced =
                    replace(&content.text, &input.find, &input.replace, max_replacements, MAX_EDITED_BYTES);
                let Replaced { mut text, replacements } = replaced.map_err(|size| {
                    let problem = format!(
                        "would have {size} bytes after the change; the maximum is {MAX_EDITED_BYTES}"
                    );
                    LibraryError::forbidden(file.path(), problem)
                })?;
                if replacements == 0 {
                    return Ok((file.path(), 0, content.sha256));
                }
                if content.has_bom {
                    text.insert(0, BYTE_ORDER_MARK);
                }
                let written = writer.overwrite(&file, &text)?;
                Ok((written.path, replacements, written.sha256))
            })
        };
        let (written_path, replacements, sha256) = set.write(work).await?;
        call.note("path", &written_path);
        call.note("replacements", replacements);
        Ok(Reply::new(Output { written_path, replacements, sha256: sha256.to_string() }))
    }
}
