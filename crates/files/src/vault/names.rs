//! Which names the tools of the vault may use. The vault is a folder of text, and no file in it may become a program: other
//! programs run or obey files because of their names, such as `.git/config`, `.envrc` or `AGENTS.md`.

use annai_core::ToolError;
use unicode_normalization::UnicodeNormalization as _;

use crate::error::LibraryError;
use crate::fs::{self, RelPath, SYSTEM_DIR, fold_name};

/// The names of files that agents read as instructions or settings of their own accord when they work in a folder, in lower
/// case. Those that begin with a dot, such as `.cursorrules`, are hidden names and need no entry; files that an agent reads
/// only when somebody tells it to, such as `CONVENTIONS.md`, are not listed.
const AGENT_FILES: &[&str] = &[
    "agent.md",
    "agents.local.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "codebuddy.local.md",
    "codebuddy.md",
    "copilot-instructions.md",
    "crush.json",
    "crush.local.md",
    "crush.md",
    "gemini.local.md",
    "gemini.md",
    "iflow.md",
    "opencode.json",
    "opencode.jsonc",
    "opencode.md",
    "qwen.md",
    "replit.md",
    "skill.md",
    "warp.md",
];
/// The file that makes git take a folder for a repository, whose `config` may name programs to run, in lower case.
const REPOSITORY_FILE: &str = "head";
/// The ending of a repository without a working tree, in lower case.
const REPOSITORY_SUFFIX: &str = ".git";
/// The longest base and extension of a short name that Windows makes up for a longer one.
const SHORT_NAME_CHARS: (usize, usize) = (8, 3);

/// Characters that Apple's file systems ignore when they compare names.
const fn is_ignorable(ch: char) -> bool {
    matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

/// Whether a name begins with a dot, or with what some file system takes for one.
pub fn is_hidden(name: &str) -> bool {
    let first = name.chars().find(|ch| !is_ignorable(*ch));
    matches!(first, Some('.' | '\u{2024}' | '\u{fe52}' | '\u{ff0e}'))
}

/// A name as the most tolerant file systems compare it: without case, compatibility forms, ignorable characters, the name of
/// a stream after a colon, and trailing dots and spaces.
fn comparable(name: &str) -> String {
    let name: String = name.chars().filter(|ch| !is_ignorable(*ch)).nfkc().collect();
    fold_name(name.split(':').next().unwrap_or_default())
}

/// Whether Windows may take a name for a longer one, such as `GIT~1` for `.git`.
fn is_short_name(name: &str) -> bool {
    let (base, extension) = name.split_once('.').unwrap_or((name, ""));
    let (max_base, max_extension) = SHORT_NAME_CHARS;
    let has_number = base.rsplit_once('~').is_some_and(|(start, number)| {
        !start.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    has_number && base.chars().count() <= max_base && extension.chars().count() <= max_extension
}

/// Why a name may not be written, as the rest of a sentence that starts with the path.
fn problem_of(name: &str) -> Option<&'static str> {
    let compared = comparable(name);
    if is_hidden(name) {
        Some("has a name that begins with a dot; hidden files are settings of programs, and are not written")
    } else if AGENT_FILES.contains(&compared.as_str()) {
        Some("has a name that agents read as instructions; choose another name")
    } else if compared == REPOSITORY_FILE || compared.ends_with(REPOSITORY_SUFFIX) {
        Some("has a name that git takes for a repository; choose another name")
    } else if is_short_name(&compared) {
        Some("has a name that Windows takes for a longer one; choose another name")
    } else {
        None
    }
}

/// The rules about names, with the exceptions that the owner made.
#[derive(Debug, Clone, Default)]
pub struct NameRules {
    allowed: Vec<String>,
}

impl NameRules {
    /// The rules, except for these names.
    pub fn new(allowed: &[String]) -> Self {
        Self { allowed: allowed.iter().map(|name| comparable(name)).collect() }
    }

    /// Whether the owner made an exception for a name.
    pub fn allows(&self, name: &str) -> bool {
        self.allowed.contains(&comparable(name))
    }

    /// Refuses to read what is reserved for the server or hidden.
    pub fn check_readable(&self, path: &RelPath) -> Result<(), ToolError> {
        check_not_reserved(path)?;
        if path.segments().any(|name| is_hidden(name) && !self.allows(name)) {
            let problem = "has a name that begins with a dot; hidden files and folders are neither read, listed nor searched. The owner of the vault can allow a name with library.vault_allow_names";
            return Err(LibraryError::forbidden(path.as_str(), problem).into());
        }
        Ok(())
    }

    /// Refuses to write under a name that another program may run or obey.
    pub fn check_writable(&self, path: &RelPath) -> Result<(), ToolError> {
        check_not_reserved(path)?;
        let mut forbidden = path.segments().filter(|name| !self.allows(name)).filter_map(problem_of);
        match forbidden.next() {
            Some(problem) => {
                let problem = format!(
                    "{problem}. The owner of the vault can allow a name with library.vault_allow_names"
                );
                Err(LibraryError::forbidden(path.as_str(), problem).into())
            }
            None => Ok(()),
        }
    }
}

/// Refuses a path that is reserved for the server.
fn check_not_reserved(path: &RelPath) -> Result<(), ToolError> {
    let is_system = |first: &str| fold_name(first) == SYSTEM_DIR || comparable(first) == SYSTEM_DIR;
    if path.segments().next().is_some_and(is_system) || path.segments().any(fs::is_temporary) {
        return Err(LibraryError::forbidden(path.as_str(), "is reserved for the server").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    #[test]
    fn names_that_programs_run_or_obey_are_not_written() {
        let rules = NameRules::new(&[]);
        for text in [
            ".git/config",
            ".GIT/config",
            "a/.git./config",
            "\u{200c}.git/config",
            ".g\u{200c}it/config",
            "\u{ff0e}git/config",
            "\u{2024}envrc",
            "a/.obsidian/plugins/x/main.js",
            ".mcp.json",
            "GIT~1/config",
            "git~12/config",
            "GI7EBA~1",
            "COPILO~1.MD",
            "CLAUDE.md",
            "a/claude.MD",
            "Claude.md.",
            "AGENTS.md ",
            "AGENTS\u{200d}.md",
            "ＡＧＥＮＴＳ.md",
            "AGENTS.md::$DATA",
            "agents.override.md/x",
            "SKILL.md",
            "opencode.json",
            "HEAD",
            "a/Head",
            "mirror.git/config",
            ".system/x",
            "\u{200c}.system/x",
        ] {
            assert!(rules.check_writable(&path(text)).is_err(), "{text}");
        }
        for text in [
            "a.md",
            "notes.d/a.b.md",
            "…続き.md",
            "agents/plan.md",
            "my-agents.md",
            "heading.md",
            "HEAD.md",
            "git.md",
            "digit/a.md",
            "a~b.md",
            "a~1 draft.md",
            "a long name~1.md",
            "10:30.md",
            "CONVENTIONS.md",
        ] {
            assert!(rules.check_writable(&path(text)).is_ok(), "{text}");
        }
    }

    #[test]
    fn the_owner_can_allow_names_but_not_the_folder_of_the_server() {
        let rules = NameRules::new(&["agents.MD".to_owned(), ".drafts".to_owned(), ".system".to_owned()]);
        for (text, readable, writable) in [
            ("AGENTS.md", true, true),
            ("CLAUDE.md", true, false),
            (".drafts/a.md", true, true),
            (".Drafts/a.md", true, true),
            (".drafts/.x", false, false),
            (".git/config", false, false),
            (".system/lock", false, false),
            ("GIT~1", true, false),
        ] {
            assert_eq!(rules.check_readable(&path(text)).is_ok(), readable, "{text}");
            assert_eq!(rules.check_writable(&path(text)).is_ok(), writable, "{text}");
        }
    }
}
