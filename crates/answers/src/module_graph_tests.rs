//! The modules of this crate depend on each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The top-level modules that the `crate::…` paths of a source file name.
fn dependencies(source: &str) -> BTreeSet<String> {
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    // The first part is what precedes the first path.
    code.split("crate::").skip(1).flat_map(path_heads).collect()
}

/// The first segments of the paths behind `crate::`, which may be a group such as `{policy, wire::rpc}`.
fn path_heads(rest: &str) -> Vec<String> {
    let first_word = |text: &str| -> String {
        text.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![first_word(rest)] };
    let (mut heads, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                heads.push(first_word(&group[start..at]));
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// The graph of the top-level modules in a source folder.
fn module_graph(folder: &Path) -> Graph {
    let mut graph = Graph::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in std::fs::read_dir(current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let first = path.strip_prefix(folder).unwrap().components().next().unwrap();
            let name = Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned();
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            if !is_source || name == "lib" || name == "module_graph_tests" {
                continue;
            }
            // The tests of a module in a file of their own belong to that module.
            let module = name.strip_suffix("_tests").unwrap_or(&name).to_owned();
            let used = dependencies(&std::fs::read_to_string(&path).unwrap());
            graph.entry(module.clone()).or_default().extend(used.into_iter().filter(|used| *used != module));
        }
    }
    graph
}

/// A cycle in the graph, as a path that ends where it started.
fn find_cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(module: &str, graph: &Graph, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        if let Some(start) = path.iter().position(|visited| visited == module) {
            path.drain(..start);
            path.push(module.to_owned());
            return true;
        }
        if done.contains(module) {
            return false;
        }
        path.push(module.to_owned());
        for used in graph.get(module).into_iter().flatten() {
            if visit(used, graph, path, done) {
                return true;
            }
        }
        path.pop();
        done.insert(module.to_owned());
        false
    }
    let (mut path, mut done) = (Vec::new(), BTreeSet::new());
    graph.keys().any(|module| visit(module, graph, &mut path, &mut done)).then_some(path)
}

#[test]
fn modules_do_not_depend_on_each_other_in_a_cycle() {
    let graph = module_graph(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let unknown: Vec<_> = graph.values().flatten().filter(|used| !graph.contains_key(*used)).collect();
    assert!(unknown.is_empty(), "import from the module itself, not through the crate's root: {unknown:?}");
    assert!(graph["tools"].contains("toolset"), "the sources were not read: {graph:?}");
    if let Some(cycle) = find_cycle(&graph) {
        panic!("the modules form a cycle: {}", cycle.join(" → "));
    }
}

#[test]
fn a_cycle_is_found_and_named() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph = Graph::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert_eq!(find_cycle(&graph(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    let cycle = find_cycle(&graph(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")])).unwrap();
    assert_eq!(cycle, ["b", "c", "d", "b"]);
}

#[test]
fn paths_and_groups_are_read() {
    let source = "use crate::a::X;\nuse crate::{b, c::{Y, Z}, d::W};\n// crate::no\nfn f() { crate::e::g() }";
    assert_eq!(dependencies(source), ["a", "b", "c", "d", "e"].map(str::to_owned).into());
}
