//! Adds, changes and removes the entry of the server in the JSON settings of a client.

use serde_json::Value;

use super::EditError;
use super::client::{Client, INPUT_ID};
use super::json_edit::{has_id, push, remove as remove_member, remove_by_id, remove_if_empty, set};
use super::json_tree::{Node, parse};
use super::server::{SERVER_NAME, Server};

/// The program and arguments of the server in the text. An entry without a program, such as that of a server behind a URL,
/// has the program "".
pub(super) fn found(client: Client, text: &str) -> Result<Option<(String, Vec<String>)>, EditError> {
    let root = parse(text)?;
    let entry = root.as_ref().and_then(|root| root.at(&[client.servers_key(), SERVER_NAME]));
    Ok(entry.map(|entry| {
        let string = |node: Option<&Node>| match node.map(Node::to_value) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let arguments = entry.at(&["args"]).map(Node::items).unwrap_or_default();
        let arguments = arguments.iter().map(|item| string(Some(&item.value))).collect();
        (string(entry.at(&["command"])), arguments)
    }))
}

/// The text with the server. Of an entry that exists, only what the server needs is changed.
pub(super) fn add(client: Client, text: &str, server: &Server) -> Result<String, EditError> {
    let path = [client.servers_key(), SERVER_NAME];
    let entry = client.entry(server);
    let mut changed = match client.question(server) {
        Some(question) if !asks(text)? => push(text, &["inputs"], &question)?,
        _ => text.to_owned(),
    };
    if parse(&changed)?.as_ref().and_then(|root| root.at(&path)).is_none() {
        return set(&changed, &path, &entry);
    }
    for (key, value) in entry.as_object().into_iter().flatten().filter(|(key, _)| *key != "env") {
        changed = set(&changed, &[path[0], path[1], key], value)?;
    }
    let variable = [path[0], path[1], "env", server.usual_variable.as_str()];
    let reference = Value::from(client.key_reference(&server.usual_variable));
    let current = parse(&changed)?.as_ref().and_then(|root| root.at(&variable)).map(Node::to_value);
    match (&server.key_variable, current) {
        (Some(_), None) => set(&changed, &variable, &reference),
        // A key that is no longer needed is removed, unless somebody has put another value there.
        (None, Some(current)) if current == reference => {
            let changed = remove_question(&remove_member(&changed, &variable)?)?;
            remove_if_empty(&changed, &[path[0], path[1], "env"])
        }
        _ => Ok(changed),
    }
}

/// The text without the server.
pub(super) fn remove(client: Client, text: &str) -> Result<String, EditError> {
    remove_question(&remove_member(text, &[client.servers_key(), SERVER_NAME])?)
}

/// The text without the objects and arrays that [`add`] may have created, if they are empty.
pub(super) fn prune(client: Client, text: &str) -> Result<String, EditError> {
    let text = remove_if_empty(text, &[client.servers_key()])?;
    if client == Client::Vscode { remove_if_empty(&text, &["inputs"]) } else { Ok(text) }
}

fn asks(text: &str) -> Result<bool, EditError> {
    let root = parse(text)?;
    let inputs = root.as_ref().and_then(|root| root.at(&["inputs"])).map(Node::items).unwrap_or_default();
    Ok(inputs.iter().any(|item| has_id(item, INPUT_ID)))
}

fn remove_question(text: &str) -> Result<String, EditError> {
    if asks(text)? { remove_by_id(text, &["inputs"], INPUT_ID) } else { Ok(text.to_owned()) }
}
