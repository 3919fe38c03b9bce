//! Dependencies between the modules of every crate point one way: at no level of the tree of modules do those beside each
//! other form a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::module_sources::{Modules, Names};

/// Which modules each module uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The name of the code that stands in a module itself, beside the modules inside it.
const OWN: &str = "mod";

/// The modules whose own code and the modules inside them use each other, as they may: a part knows its whole. Everywhere
/// else they do not, and no module is added to this list without need.
const WHOLES: &[(&str, &str)] = &[
    ("annai/src/main.rs", "cli"),
    ("annai/src/main.rs", "cli::init"),
    ("core/src/lib.rs", "config"),
    ("core/src/lib.rs", "schema"),
    ("server/src/lib.rs", "stdio"),
    ("server/src/lib.rs", "tokens"),
    ("services/src/lib.rs", "runs"),
    ("services/src/lib.rs", "store::sqlite"),
    ("testkit/src/bin/attacks/main.rs", ""),
    ("testkit/src/lib.rs", "openai"),
];

/// The graph of the modules directly inside a module, and of its own code.
fn graph_inside(dependencies: &[(Names, Names)], parent: &[String]) -> Graph {
    let mut graph = Graph::new();
    for (user, used) in dependencies {
        if let (Some(user), Some(used)) = (user.strip_prefix(parent), used.strip_prefix(parent)) {
            let name = |path: &[String]| path.first().map_or(OWN, String::as_str).to_owned();
            let (user, used) = (name(user), name(used));
            if user != used {
                graph.entry(user).or_default().insert(used);
            }
        }
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

/// A cycle at each level of a crate that has one, as `level: a -> b -> a`. The own code of the `wholes` is left out.
fn cycles(modules: &Modules, wholes: &[&str]) -> Vec<String> {
    let dependencies = modules.dependencies();
    let found = modules.paths().filter_map(|parent| {
        let level = parent.join("::");
        let mut graph = graph_inside(&dependencies, parent);
        if wholes.contains(&level.as_str()) {
            graph.remove(OWN);
        }
        Some(format!("{level}: {}", cycle(&graph)?.join(" -> ")))
    });
    found.collect()
}

/// The roots of all libraries and programs of the workspace.
fn roots() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for folder in entries(&crates) {
        found.extend(["src/lib.rs", "src/main.rs"].map(|root| folder.join(root)));
        for program in entries(&folder.join("src/bin")) {
            found.extend([program.join("main.rs"), program]);
        }
    }
    found.retain(|root| root.is_file());
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_modules_of_every_crate_have_no_cycles() {
    let roots = roots();
    assert!(roots.len() > 10, "{roots:#?}");
    let mut found = Vec::new();
    for root in roots {
        let name = root.to_str().unwrap().rsplit_once("../").unwrap().1;
        let wholes: Vec<_> =
            WHOLES.iter().filter(|(root, _)| *root == name).map(|(_, module)| *module).collect();
        let cycles = cycles(&Modules::read(&root), &wholes);
        found.extend(cycles.iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert_eq!(found, [""; 0], "{found:#?}");
}

/// Writes the files of a crate, and returns its cycles and its dependencies.
fn read(name: &str, files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("annai-modules-{name}-{}", std::process::id()));
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let modules = Modules::read(&folder.join("lib.rs"));
    std::fs::remove_dir_all(folder).unwrap();
    let edge = |(user, used): &(Names, Names)| format!("{} -> {}", user.join("::"), used.join("::"));
    (cycles(&modules, &[]), modules.dependencies().iter().map(edge).collect())
}

#[test]
fn a_cycle_is_found_however_the_paths_are_written() {
    for (name, one, other) in [
        ("crate", "use crate::b::B;", "use crate::a::A;"),
        ("super", "use super::b::B;", "fn f() { super::a::g() }"),
        ("inline", "fn f() -> crate::b::B { todo!() }", "struct S(crate::a::A);"),
        ("list", "use crate::{c, b::{self, B as X}};", "use super::{a::A, c};"),
        ("module", "use crate::b; fn f() { b::g() }", "use crate::a as other;"),
        ("export", "use crate::B;", "use crate::A;"),
        ("glob", "use crate::b::*;", "use crate::a::*;"),
        ("late", "#[cfg(test)] use crate::c::C; use crate::b::B;", "#[cfg(test)] mod t {} use crate::a::A;"),
        (
            "string",
            "const C: char = '\"'; use crate::b::B;",
            r##"const R: &str = r#""; //"#; use crate::a::A;"##,
        ),
    ] {
        let root = "mod a; mod b; mod c; pub use a::A; pub use self::b::B;";
        let (cycles, edges) = read(name, &[("lib.rs", root), ("a.rs", one), ("b.rs", other), ("c.rs", "")]);
        assert_eq!(cycles, [": a -> b -> a"], "{name}: {edges:#?}");
    }
}

#[test]
fn modules_inside_modules_are_compared_with_those_beside_them() {
    let files = [
        ("lib.rs", "mod a; mod b { pub mod inside { use super::super::a::x::X; } }"),
        ("a/mod.rs", "mod x; mod y; pub use x::X; pub use y::Y;"),
        ("a/x.rs", "mod deep; use super::Y;"),
        ("a/x/deep.rs", "use super::super::y; #[path = \"far.rs\"] mod odd;"),
        ("a/x/far.rs", "use crate::b::inside;"),
        ("a/y.rs", "fn f(x: super::x::deep::Deep) {}"),
    ];
    let (cycles, edges) = read("nested", &files);
    let expected = [
        "a::x -> a::y",
        "a::x::deep -> a::y",
        "a::x::deep::odd -> b::inside",
        "a::y -> a::x::deep",
        "b::inside -> a::x",
    ];
    assert_eq!(edges, expected);
    assert_eq!(cycles, [": a -> b -> a", "a: x -> y -> x"]);
}

#[test]
fn what_is_no_dependency_makes_no_cycle() {
    let root = "mod a; mod b; mod c;";
    for (name, text) in [
        ("comment", "// use crate::a::A;\n/* crate::a */ /// [`crate::a::A`]\nfn f() {}"),
        ("text", "const T: &str = \"crate::a::A\";"),
        ("tests", "#[cfg(test)]\nmod tests { use crate::a::A; }"),
        ("test", "#[cfg(test)] use crate::a::A; #[cfg(all(test, unix))] fn f() -> crate::a::A {}"),
        ("other", "use other_crate::a::A; use std::a; fn f() { x.a::<u8>(); y::crate_a::b() }"),
    ] {
        let files = [("lib.rs", root), ("a.rs", "use crate::b::B;"), ("b.rs", text), ("c.rs", "")];
        assert_eq!(read(name, &files), (Vec::new(), vec!["a -> b".to_owned()]), "{name}");
    }
}

#[test]
fn a_module_that_uses_a_module_inside_it_must_not_be_used_by_it() {
    let files = [("lib.rs", "mod a; pub struct Root; fn f() { a::g() }"), ("a.rs", "use crate::Root;")];
    assert_eq!(read("whole", &files).0, [": a -> mod -> a"]);
    // An export is no use.
    let files = [("lib.rs", "mod a; pub use a::A; pub struct Root;"), ("a.rs", "use crate::Root;")];
    assert_eq!(read("facade", &files), (Vec::new(), vec!["a -> ".to_owned()]));
}
