//! What to do to connect a client, for people who do it themselves.

use std::path::Path;

use super::client::{Client, KEY_PLACEHOLDER, KeySource};
use super::server::{SERVER_NAME, Server};
use super::toml_edit;
use crate::environment;

/// The instructions for a client: where the snippet belongs, and the snippet, ready to paste.
pub(super) fn instructions(client: Client, server: &Server) -> String {
    let file = client.file().map(|path| home_relative(&path)).unwrap_or_default();
    let by_itself =
        format!("Or let this program do it: add --write (annai init {} … --write).\n", client.id());
    let key = server.key_variable.as_ref().map(|variable| match client.key_source() {
        KeySource::Environment => format!("{variable} is taken from the environment of {}.\n", client.name()),
        KeySource::Question => format!("{} asks for the key when it starts the server.\n", client.name()),
        KeySource::Settings => format!("Replace {KEY_PLACEHOLDER} by your key.\n"),
    });
    let end = format!("\n{}{by_itself}", key.unwrap_or_default());
    match client {
        Client::ClaudeCode => {
            let reference = |variable: &String| {
                format!(" --env {}", shell_word(&format!("{variable}={}", client.key_reference(variable))))
            };
            let env = server.key_variable.as_ref().map(reference).unwrap_or_default();
            let command = words(&server.program, &server.arguments);
            format!("Run:\n\nclaude mcp add --scope user {SERVER_NAME}{env} -- {command}\n{end}")
        }
        Client::Codex => format!("Add to {file}:\n\n{}{end}", toml_edit::table(server)),
        Client::Chatgpt => chatgpt(server),
        _ => {
            let restart = if client == Client::ClaudeDesktop { ", then restart Claude" } else { "" };
            format!("Add to {file}{restart}:\n\n{:#}\n{end}", client.snippet(server))
        }
    }
}

fn chatgpt(server: &Server) -> String {
    let key = server.key_variable.as_ref();
    let key = key.map(|variable| format!("{variable}={KEY_PLACEHOLDER} ")).unwrap_or_default();
    format!(
        "ChatGPT connects to servers over HTTPS and signs people in with OAuth. You need\n\
         a reverse proxy or tunnel that serves https://YOUR-HOST, and an OpenID provider\n\
         at https://YOUR-ISSUER, such as an Auth0 tenant. Run:\n\n\
         {key}PUBLIC_URL=https://YOUR-HOST OAUTH_ISSUER=https://YOUR-ISSUER {}\n\n\
         Then in ChatGPT: Settings → Apps → Advanced settings, turn Developer mode on,\n\
         Create app, and enter https://YOUR-HOST/mcp with OAuth as authentication.\n\
         docs/operations.md says how to set up the provider and the proxy. ChatGPT cannot\n\
         send static tokens (annai token new); other clients can, and need no provider,\n\
         except for the services, which need to know who calls.\n",
        words(&server.program, &server.http_arguments)
    )
}

/// The path with `~` for the home folder, as people write it.
fn home_relative(path: &Path) -> String {
    let home = environment::folder("HOME");
    let below =
        home.and_then(|home| path.strip_prefix(home).ok().map(|rest| format!("~/{}", rest.display())));
    below.unwrap_or_else(|| path.display().to_string())
}

/// A command line for a POSIX shell.
fn words(program: &str, arguments: &[String]) -> String {
    let all = std::iter::once(program).chain(arguments.iter().map(String::as_str));
    all.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell, if it needs quotes.
pub(in super::super) fn shell_word(word: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%=,".contains(&byte);
    let is_plain = !word.is_empty() && word.bytes().all(is_safe);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    fn server(key_variable: Option<&str>) -> Server {
        let words = |first: &str| [first, "--toolset", "library"].map(str::to_owned).to_vec();
        Server {
            program: "/opt/my tools/annai \"1\"".to_owned(),
            arguments: words("--stdio"),
            http_arguments: words("--http"),
            key_variable: key_variable.map(str::to_owned),
            usual_variable: "OPENAI_API_KEY".to_owned(),
            needs_person: false,
        }
    }

    #[test]
    fn snippets_are_valid_when_the_path_has_spaces_and_quotes() {
        for client in Client::value_variants() {
            let text = instructions(*client, &server(None));
            assert!(text.contains("annai") && !text.contains("OPENAI_API_KEY"), "{client:?}: {text}");
            if let Some((_, json)) = text.split_once("\n\n{") {
                let json = format!("{{{}", json.split("\n\n").next().unwrap());
                let snippet: serde_json::Value = serde_json::from_str(&json).unwrap();
                let entry = &snippet[client.servers_key()]["annai"];
                assert_eq!(entry["command"], "/opt/my tools/annai \"1\"", "{client:?}");
                assert_eq!(entry["args"], serde_json::json!(["--stdio", "--toolset", "library"]));
            }
        }
        assert_eq!(shell_word("/a b/it's"), "'/a b/it'\\''s'");
        assert_eq!(shell_word("/usr/bin/annai"), "/usr/bin/annai");
    }

    #[test]
    fn a_key_comes_from_where_the_client_takes_it() {
        for (client, expected) in [
            (Client::ClaudeCode, "--env 'OPENAI_API_KEY=${OPENAI_API_KEY}' --"),
            (Client::ClaudeDesktop, "\"OPENAI_API_KEY\": \"YOUR-OPENAI-KEY\""),
            (Client::Cursor, "\"OPENAI_API_KEY\": \"${env:OPENAI_API_KEY}\""),
            (Client::Vscode, "\"OPENAI_API_KEY\": \"${input:annai-openai-key}\""),
            (Client::Codex, "env_vars = [\"OPENAI_API_KEY\"]"),
            (Client::GeminiCli, "\"OPENAI_API_KEY\": \"$OPENAI_API_KEY\""),
            (Client::Zed, "\"OPENAI_API_KEY\": \"YOUR-OPENAI-KEY\""),
            (Client::Windsurf, "\"OPENAI_API_KEY\": \"${env:OPENAI_API_KEY}\""),
            (Client::Chatgpt, "OPENAI_API_KEY=YOUR-OPENAI-KEY PUBLIC_URL="),
        ] {
            let text = instructions(client, &server(Some("OPENAI_API_KEY")));
            assert!(text.contains(expected), "{client:?}: {text}");
        }
    }
}
