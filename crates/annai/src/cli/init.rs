//! `annai init`: prints the configuration snippet that makes an MCP client start this server.

use clap::ValueEnum;
use serde_json::json;

use super::{Failure, print};

/// A placeholder that the user replaces with an OpenAI API key.
const KEY_PLACEHOLDER: &str = "YOUR-OPENAI-KEY";

/// The clients for which there are instructions.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    Chatgpt,
}

pub(super) fn run(client: Client) -> Result<(), Failure> {
    let program = std::env::current_exe()?.display().to_string();
    print(&instructions(client, &program))?;
    Ok(())
}

/// The instructions for a client: where the snippet belongs, and the snippet, ready to paste.
fn instructions(client: Client, program: &str) -> String {
    let env = json!({ "OPENAI_API_KEY": KEY_PLACEHOLDER });
    let server = json!({ "command": program, "args": ["--stdio"], "env": env });
    let quoted = serde_json::Value::from(program);
    match client {
        Client::ClaudeCode => format!(
            "Run:\n\nclaude mcp add annai --env OPENAI_API_KEY={KEY_PLACEHOLDER} -- {} --stdio\n",
            shell_word(program)
        ),
        Client::ClaudeDesktop => format!(
            "Add to claude_desktop_config.json (Settings → Developer → Edit Config), then restart Claude:\n\n{:#}\n",
            json!({ "mcpServers": { "annai": server } })
        ),
        Client::Cursor => {
            format!("Add to ~/.cursor/mcp.json:\n\n{:#}\n", json!({ "mcpServers": { "annai": server } }))
        }
        Client::Vscode => format!(
            "Add to .vscode/mcp.json:\n\n{:#}\n",
            json!({ "servers": { "annai": { "type": "stdio", "command": program, "args": ["--stdio"], "env": env } } })
        ),
        Client::Codex => format!(
            "Add to ~/.codex/config.toml:\n\n[mcp_servers.annai]\ncommand = {quoted}\nargs = [\"--stdio\"]\n\n[mcp_servers.annai.env]\nOPENAI_API_KEY = \"{KEY_PLACEHOLDER}\"\n"
        ),
        Client::Chatgpt => format!(
            "ChatGPT connects to servers over HTTPS. Run this behind a reverse proxy or tunnel that serves https://YOUR-HOST:\n\n\
             OPENAI_API_KEY={KEY_PLACEHOLDER} PUBLIC_URL=https://YOUR-HOST {} --http\n\n\
             Then add https://YOUR-HOST/mcp under Settings → Apps & Connectors → Create.\n\n\
             Note: this version has no sign-in yet. Its tools are for the owner of the machine, so a client that connects \
             over the internet connects, but sees no tools.\n",
            shell_word(program)
        ),
    }
}

/// Quotes a word for a POSIX shell, if it needs quotes.
fn shell_word(word: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if word.bytes().all(is_safe) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_valid_when_the_path_has_spaces_and_quotes() {
        let program = "/opt/my tools/annai \"1\"";
        for client in Client::value_variants() {
            let text = instructions(*client, program);
            if let Some(start) = text.find("{\n") {
                let snippet: serde_json::Value = serde_json::from_str(&text[start..]).unwrap();
                assert!(snippet.to_string().contains("--stdio"), "{client:?}");
            }
            assert!(text.contains("annai"), "{client:?}");
        }
        assert_eq!(shell_word("/a b/it's"), "'/a b/it'\\''s'");
        assert_eq!(shell_word("/usr/bin/annai"), "/usr/bin/annai");
    }
}
