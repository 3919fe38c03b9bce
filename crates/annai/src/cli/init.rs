//! `annai init`: what to put where, so that a client finds this server.

use clap::ValueEnum;
use serde_json::json;

use super::{Failure, print};

/// Stands where the reader's own key goes.
const KEY: &str = "YOUR-OPENAI-KEY";

/// The clients that we know how to connect.
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
    print(&text(client, &program))?;
    Ok(())
}

/// The place, then the snippet, ready to paste.
fn text(client: Client, program: &str) -> String {
    let env = json!({ "OPENAI_API_KEY": KEY });
    let server = json!({ "command": program, "args": ["--stdio"], "env": env });
    let quoted = serde_json::Value::from(program);
    match client {
        Client::ClaudeCode => format!(
            "Run:\n\nclaude mcp add annai --env OPENAI_API_KEY={KEY} -- {} --stdio\n",
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
            "Add to ~/.codex/config.toml:\n\n[mcp_servers.annai]\ncommand = {quoted}\nargs = [\"--stdio\"]\n\n[mcp_servers.annai.env]\nOPENAI_API_KEY = \"{KEY}\"\n"
        ),
        Client::Chatgpt => format!(
            "ChatGPT reaches servers by HTTPS. Run behind a reverse proxy or tunnel:\n\n\
             OPENAI_API_KEY={KEY} PUBLIC_URL=https://YOUR-HOST {} --http\n\n\
             then add https://YOUR-HOST/mcp under Settings → Apps & Connectors → Create.\n",
            shell_word(program)
        ),
    }
}

fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_survive_odd_paths() {
        let program = "/opt/my tools/annai \"1\"";
        for client in Client::value_variants() {
            let text = text(*client, program);
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
