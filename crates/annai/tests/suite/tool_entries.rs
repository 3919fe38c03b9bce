//! Each tool's published entry is a file under `tests/snapshots`, so that a change of the contract is seen in review.
//! After an intended change: `INSTA_UPDATE=always cargo test -p annai tool_entries`.

use std::collections::BTreeSet;
use std::path::Path;

use annai_testkit::mcp::{Framing, StdioServer};
use serde_json::{Value, json};

use crate::{Home, annai};

#[test]
fn published_tool_entries_match_their_snapshots() {
    let home = Home::new();
    let mut server = StdioServer::start(annai(&home).arg("--stdio"), Framing::Lines);
    server.initialize("2025-11-25");
    let list = server.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), tools.len(), "two tools have one name");

    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for tool in tools {
            insta::assert_json_snapshot!(tool["name"].as_str().unwrap(), tool);
        }
        insta::assert_json_snapshot!(
            "_order",
            tools.iter().map(|tool| &tool["name"]).collect::<Vec<&Value>>()
        );
    });

    // The snapshot of a removed tool must be removed, too.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file
            .strip_suffix(".snap")
            .unwrap_or_else(|| panic!("{file} is not a snapshot; accept or remove it"));
        assert!(name == "_order" || names.contains(name), "{file} belongs to no tool; remove it");
    }
}
