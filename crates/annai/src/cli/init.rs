//! `annai init`: prints the configuration snippet that makes an MCP client start this server.

use clap::ValueEnum;
use serde_json::json;

use super::arguments::Options;
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

pub(super) fn run(client: Client, options: &Options) -> Result<(), Failure> {
    let program = std::env::current_exe()?.display().to_string();
    print(&instructions(client, &program, &server_options(options)?))?;
    Ok(())
}

/// The options of this command line that the server needs too, with paths that do not depend on the current folder.
fn server_options(options: &Options) -> Result<Vec<String>, Failure> {
    let mut arguments = Vec::new();
    for toolset in options.toolsets() {
        let name = toolset.to_possible_value().map(|value| value.get_name().to_owned());
        arguments.extend(name.map(|name| ["--toolset".to_owned(), name]).into_iter().flatten());
    }
    if !options.tools.is_empty() {
        arguments.extend(["--tools".to_owned(), options.tools.join(",")]);
    }
    if options.read_only {
        arguments.push("--read-only".to_owned());
    }
    let paths = options.manuals.iter().map(|path| ("--manuals", path));
    for (option, path) in paths.chain(options.config.iter().map(|path| ("--config", path))) {
        arguments.extend([option.to_owned(), std::path::absolute(path)?.display().to_string()]);
    }
    if let Some(model) = &options.model {
        arguments.extend(["--model".to_owned(), model.clone()]);
    }
    Ok(arguments)
}

/// The instructions for a client: where the snippet belongs, and the snippet, ready to paste.
fn instructions(client: Client, program: &str, options: &[String]) -> String {
    let env = json!({ "OPENAI_API_KEY": KEY_PLACEHOLDER });
    let arguments: Vec<_> = std::iter::once("--stdio").chain(options.iter().map(String::as_str)).collect();
    let server = json!({ "command": program, "args": arguments, "env": env });
    let (quoted, quoted_arguments) = (json!(program), json!(arguments));
    let words = |first: &[&str]| -> String {
        let all = first.iter().copied().chain(options.iter().map(String::as_str));
        all.map(shell_word).collect::<Vec<_>>().join(" ")
    };
    match client {
        Client::ClaudeCode => format!(
            "Run:\n\nclaude mcp add annai --env OPENAI_API_KEY={KEY_PLACEHOLDER} -- {}\n",
            words(&[program, "--stdio"])
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
            json!({ "servers": { "annai": { "type": "stdio", "command": program, "args": arguments, "env": env } } })
        ),
        Client::Codex => format!(
            "Add to ~/.codex/config.toml:\n\n[mcp_servers.annai]\ncommand = {quoted}\nargs = {quoted_arguments}\n\n[mcp_servers.annai.env]\nOPENAI_API_KEY = \"{KEY_PLACEHOLDER}\"\n"
        ),
        Client::Chatgpt => format!(
            "ChatGPT connects to servers over HTTPS and signs people in with OAuth. You need a reverse proxy or tunnel that\n\
             serves https://YOUR-HOST, and an OpenID provider at https://YOUR-ISSUER, such as an Auth0 tenant. Run:\n\n\
             OPENAI_API_KEY={KEY_PLACEHOLDER} PUBLIC_URL=https://YOUR-HOST OAUTH_ISSUER=https://YOUR-ISSUER {}\n\n\
             Then add https://YOUR-HOST/mcp under Settings → Apps & Connectors → Create, with OAuth as authentication.\n\
             docs/operations.md says how to set up the provider and the proxy. ChatGPT cannot send static tokens\n\
             (annai token new); other clients can, and need no provider.\n",
            words(&[program, "--http"])
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
            let text = instructions(*client, program, &["--toolset".into(), "library".into()]);
            if let Some(start) = text.find("{\n") {
                let snippet: serde_json::Value = serde_json::from_str(&text[start..]).unwrap();
                let arguments = r#"["--stdio","--toolset","library"]"#;
                assert!(snippet.to_string().contains(arguments), "{client:?}: {snippet}");
            }
            assert!(text.contains("annai"), "{client:?}");
        }
        assert_eq!(shell_word("/a b/it's"), "'/a b/it'\\''s'");
        assert_eq!(shell_word("/usr/bin/annai"), "/usr/bin/annai");
    }
}
