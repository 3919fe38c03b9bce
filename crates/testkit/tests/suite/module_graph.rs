//! Dependencies between the modules of a crate point one way: neither its top-level modules nor the files of its folders
//! form a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Which modules each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The sources below a folder, each with the name of its module: the first part of its path.
fn sources(folder: &Path, module: Option<&str>, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = module.unwrap_or(&name);
        if path.is_dir() {
            sources(&path, Some(module), found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !name.ends_with("tests") {
            // Tests may use modules above their own.
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap();
            let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let code = code.join("\n");
            // In a folder inside the folder, the files beside it are one level further up.
            let is_nested = module != name && name != "mod";
            let code = if is_nested { one_level_down(&code) } else { code };
            found.push((module.to_owned(), code));
        }
    }
}

/// The code of a file in a folder inside the folder, as if it stood beside that folder.
fn one_level_down(code: &str) -> String {
    code.replace("super::super::", "\0").replace("super::", "inside::").replace('\0', "super::")
}

/// The names after each `prefix`, as in `crate::fs::RelPath` or `use super::{query, terms::Role};`.
fn names_behind<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|ch| ch.is_alphanumeric() || matches!(ch, '_' | ':' | '$')) {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_level(list)),
            None => names.push(identifier(rest)),
        }
    }
    names
}

/// The names that begin the items of a list in braces, without those inside further braces.
fn first_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut names) = (0, Some(0), Vec::new());
    for (at, ch) in list.char_indices() {
        match ch {
            '}' if depth == 0 => {
                names.extend(start.map(|start| identifier(list[start..at].trim_start())));
                return names;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(start.map(|start| identifier(list[start..at].trim_start())));
                start = Some(at + 1);
            }
            _ => {}
        }
    }
    names
}

fn identifier(text: &str) -> &str {
    let end = text.find(|ch: char| !ch.is_alphanumeric() && ch != '_').unwrap_or(text.len());
    &text[..end]
}

/// The graph of the modules below a folder, by the paths that begin with `prefix`.
fn graph(folder: &Path, prefix: &str) -> Graph {
    let mut files = Vec::new();
    sources(folder, None, &mut files);
    let modules: BTreeSet<_> = files.iter().map(|(module, _)| module.clone()).collect();
    let mut graph = Graph::new();
    for (module, code) in &files {
        let uses = names_behind(code, prefix).into_iter().filter(|name| modules.contains(*name));
        let uses = uses.filter(|name| name != module).map(str::to_owned);
        graph.entry(module.clone()).or_default().extend(uses);
    }
    graph
}

/// The graph of the files of one folder. The items of `mod.rs` count as a module `mod` of their own: a file that imports
/// from `mod.rs` what `mod.rs` imports from another file would hide a cycle.
fn folder_graph(folder: &Path) -> Graph {
    let mut files = Vec::new();
    sources(folder, None, &mut files);
    let modules: BTreeSet<_> = files.iter().map(|(module, _)| module.clone()).collect();
    let mut graph = Graph::new();
    for (module, code) in &files {
        let uses: BTreeSet<String> = if module == "mod" {
            let names = ["self::", "pub use "].iter().flat_map(|prefix| names_behind(code, prefix));
            names.filter(|name| modules.contains(*name)).map(str::to_owned).collect()
        } else {
            let names = names_behind(code, "super::").into_iter().filter(|name| *name != "super");
            names.map(|name| if modules.contains(name) { name } else { "mod" }.to_owned()).collect()
        };
        graph.entry(module.clone()).or_default().extend(uses);
    }
    graph
}

/// A cycle, as the modules on it from one back to itself.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(graph: &Graph, module: &str, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        if let Some(start) = path.iter().position(|seen| seen == module) {
            path.drain(..start);
            path.push(module.to_owned());
            return true;
        }
        if done.contains(module) {
            return false;
        }
        path.push(module.to_owned());
        if graph.get(module).into_iter().flatten().any(|next| visit(graph, next, path, done)) {
            return true;
        }
        path.pop();
        done.insert(module.to_owned());
        false
    }
    let (mut path, mut done) = (Vec::new(), BTreeSet::new());
    graph.keys().any(|module| visit(graph, module, &mut path, &mut done)).then_some(path)
}

/// The source folder of a crate.
fn source_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

fn path_of(cycle: Option<Vec<String>>) -> Option<String> {
    cycle.map(|path| path.join(" -> "))
}

#[test]
fn the_top_level_modules_of_a_crate_have_no_cycles() {
    for (name, used, user) in [
        ("answers", "toolset", "tools"),
        ("library", "explore", "toolset"),
        ("server", "failure", "handler"),
        ("services", "toolset", "rest"),
    ] {
        let graph = graph(&source_folder(name), "crate::");
        assert!(graph[user].contains(used), "{name}: {graph:#?}");
        assert_eq!(path_of(cycle(&graph)), None, "{name}");
    }
}

#[test]
fn the_files_of_a_folder_have_no_cycles() {
    let folders =
        ["adaptive", "audit", "explore", "explore/conflicts", "facts", "fs", "index", "search", "text"];
    for folder in folders {
        let graph = folder_graph(&source_folder("library").join(folder));
        assert!(graph.values().any(|uses| !uses.is_empty()), "{folder}: {graph:#?}");
        assert_eq!(path_of(cycle(&graph)), None, "{folder}");
    }
    let graph = folder_graph(&source_folder("services").join("rest"));
    assert!(graph["campaigns"].contains("reply"), "{graph:#?}");
    assert_eq!(path_of(cycle(&graph)), None, "the routes of services");
    let graph = folder_graph(&source_folder("library").join("fs"));
    assert!(graph["write"].contains("lock") && graph["mod"].contains("write"), "{graph:#?}");
}

#[test]
fn a_cycle_would_be_found_and_named() {
    let edges = |list: &[(&str, &[&str])]| -> Graph {
        let edge = |(from, to): &(&str, &[&str])| {
            ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect())
        };
        list.iter().map(edge).collect()
    };
    assert_eq!(cycle(&edges(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let found = cycle(&edges(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])).unwrap();
    assert_eq!(found, ["b", "c", "b"]);
    let code = "use crate::fs::{self, Kind};\nlet x = crate::index::View; use crate::{a::B, c::{d, e}, f};";
    assert_eq!(names_behind(code, "crate::"), ["fs", "index", "a", "c", "f"]);
    assert!(names_behind("use annai_crate::x; my::crate::y", "crate::").is_empty());
}
