//! The modules of a crate and the paths that their code uses, read from the sources as the compiler reads them: from the
//! root along the `mod` declarations. Code of tests is left out, because tests may use modules above their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A path of names below the root of a crate.
pub type Names = Vec<String>;

/// A module that is no test.
#[derive(Debug, Default)]
pub struct Module {
    /// The names that it imports or exports under a name of its own, and what they stand for.
    imports: BTreeMap<String, Names>,
    /// The paths in its code as they are written, with those of its imports; without its exports, which only pass on what
    /// another module defines.
    written: Vec<Names>,
}

/// The modules of a crate by their paths; the root has the empty one.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<Names, Module>);

impl Modules {
    /// Reads the crate with this root, such as `src/lib.rs`.
    pub fn read(root: &Path) -> Self {
        let mut modules = Self::default();
        let text = std::fs::read_to_string(root).unwrap();
        let folder = root.parent().unwrap().to_owned();
        modules.add(Vec::new(), &tokens(&text), &Place { folder: folder.clone(), children: folder });
        modules
    }

    /// The paths of all modules.
    pub fn paths(&self) -> impl Iterator<Item = &Names> {
        self.0.keys()
    }

    /// Which module uses which other one: the one that defines what is used, wherever it is exported.
    pub fn dependencies(&self) -> Vec<(Names, Names)> {
        let mut found = Vec::new();
        for (path, module) in &self.0 {
            let used = module.written.iter().filter_map(|written| self.absolute(path, written));
            let used = used.map(|used| self.defining(used));
            found.extend(used.filter(|used| used != path).map(|used| (path.clone(), used)));
        }
        found
    }

    /// The path from the root for one that stands in a module; `None` for one of another crate.
    fn absolute(&self, module: &Names, written: &[String]) -> Option<Names> {
        let (head, rest) = written.split_first()?;
        let below = |start: &[String]| Some([start, rest].concat());
        match head.as_str() {
            "crate" => below(&[]),
            "self" => below(module),
            "super" => self.absolute(&module[..module.len().checked_sub(1)?].to_vec(), rest).or_else(|| {
                // What follows is a name of the module above.
                below(&module[..module.len() - 1])
            }),
            _ if self.0.contains_key(&child(module, head)) => below(&child(module, head)),
            _ => {
                let import = self.0.get(module)?.imports.get(head)?;
                // An import may be of another crate, and its own head must not be looked up among the imports again.
                let import = if import.first() == Some(head) { return None } else { import };
                self.absolute(module, import).map(|start| [start, rest.to_vec()].concat())
            }
        }
    }

    /// The module that defines the item at a path.
    fn defining(&self, mut path: Names) -> Names {
        // An export may lead to another export. There are fewer than ten of them in a row.
        for _ in 0..10 {
            let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length])).unwrap();
            let module = path[..length].to_vec();
            let import = path.get(length).and_then(|name| self.0[&module].imports.get(name));
            match import.and_then(|import| self.absolute(&module, import)) {
                Some(start) => path = [start, path[length + 1..].to_vec()].concat(),
                None => return module,
            }
        }
        panic!("{path:?} is exported in a circle");
    }

    /// Adds a module with this code, and those inside it.
    fn add(&mut self, path: Names, code: &[String], place: &Place) {
        let mut module = Module::default();
        let (mut at, mut file) = (0, None);
        while let Some(token) = code.get(at) {
            let next = |offset: usize| code.get(at + offset).map(String::as_str);
            let is_inside_path = at > 0 && matches!(code[at - 1].as_str(), "::" | ".");
            match token.as_str() {
                "#" if next(1) == Some("[") => {
                    let end = closing(code, at + 1);
                    let attribute = &code[at + 2..end];
                    at = end + 1;
                    if is_of_tests(attribute) {
                        at = end_of_item(code, at);
                    } else if attribute.first().is_some_and(|name| name == "path") {
                        file = attribute.last().map(|text| text.trim_start_matches('"').to_owned());
                    }
                    continue;
                }
                "mod" if next(2) == Some(";") => {
                    let name = code[at + 1].clone();
                    let (text, inside) = place.read(&name, file.take().as_deref());
                    self.add(child(&path, &name), &tokens(&text), &inside);
                    at += 3;
                }
                "mod" if next(2) == Some("{") => {
                    let (name, end) = (code[at + 1].clone(), closing(code, at + 2));
                    let folder = place.children.join(&name);
                    let inside = Place { folder: folder.clone(), children: folder };
                    self.add(child(&path, &name), &code[at + 3..end], &inside);
                    at = end + 1;
                }
                "use" if !is_inside_path => {
                    let is_export = at > 0 && matches!(code[at - 1].as_str(), "pub" | ")");
                    let end = code[at..].iter().position(|token| token == ";").unwrap() + at;
                    for (import, name) in use_tree(&code[at + 1..end], &[]) {
                        if !is_export {
                            module.written.push(import.clone());
                        }
                        module.imports.insert(name, import);
                    }
                    at = end + 1;
                }
                name if is_name(name) && !is_inside_path => {
                    let mut written = vec![name.to_owned()];
                    while next(2 * written.len() - 1) == Some("::")
                        && next(2 * written.len()).is_some_and(is_name)
                    {
                        written.push(code[at + 2 * written.len()].clone());
                    }
                    at += 2 * written.len() - 1;
                    if written.len() > 1 {
                        module.written.push(written);
                    }
                }
                _ => at += 1,
            }
        }
        self.0.insert(path, module);
    }
}

/// Where the files of a module are.
struct Place {
    /// The folder of its own file, to which `#[path]` is relative.
    folder: PathBuf,
    /// The folder of the modules inside it.
    children: PathBuf,
}

impl Place {
    /// The text of a module inside this one, and where the modules inside that one are.
    fn read(&self, name: &str, file: Option<&str>) -> (String, Self) {
        let beside = file.map_or(self.children.join(format!("{name}.rs")), |file| self.folder.join(file));
        let (path, children) = match beside.exists() {
            true => (beside, self.children.join(name)),
            false => (self.children.join(name).join("mod.rs"), self.children.join(name)),
        };
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (text, Self { folder: path.parent().unwrap().to_owned(), children })
    }
}

fn child(path: &[String], name: &str) -> Names {
    [path, &[name.to_owned()]].concat()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|ch: char| ch.is_alphabetic() || ch == '_')
}

/// Whether an attribute leaves its item to tests alone.
fn is_of_tests(attribute: &[String]) -> bool {
    let text = attribute.concat();
    text == "cfg(test)" || text.starts_with("cfg(all(test,") || text == "test"
}

/// The place of the bracket that closes the one at `open`.
fn closing(code: &[String], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in code.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("a bracket is not closed: {}", code[open..].concat());
}

/// The place behind the item that begins at `at`: behind its semicolon or its braces.
fn end_of_item(code: &[String], mut at: usize) -> usize {
    while let Some(token) = code.get(at) {
        match token.as_str() {
            ";" | "," => return at + 1,
            "{" => return closing(code, at) + 1,
            "}" => return at,
            "(" | "[" => at = closing(code, at) + 1,
            _ => at += 1,
        }
    }
    at
}

/// The paths that a `use` imports, each with the name that it gets.
fn use_tree(code: &[String], before: &[String]) -> Vec<(Names, String)> {
    let mut found = Vec::new();
    let mut path = before.to_vec();
    let mut at = 0;
    while let Some(token) = code.get(at) {
        match token.as_str() {
            "::" => {}
            "{" => {
                let end = closing(code, at);
                for part in parts(&code[at + 1..end]) {
                    found.extend(use_tree(part, &path));
                }
                return found;
            }
            "as" => {
                found.push((path, code[at + 1].clone()));
                return found;
            }
            // A glob uses the module itself, and gives no name that could be looked up.
            "*" => {
                found.push((path, "*".to_owned()));
                return found;
            }
            "self" if !path.is_empty() => {}
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    found.extend(path.last().cloned().map(|name| (path, name)));
    found
}

/// The parts of a list between the commas that are in no further braces.
fn parts(code: &[String]) -> Vec<&[String]> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    while at < code.len() {
        match code[at].as_str() {
            "{" => at = closing(code, at),
            "," => {
                found.push(&code[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(&code[start..]);
    found.retain(|part| !part.is_empty());
    found
}

/// The tokens of a source: names, `::`, texts as one token that begins with a quotation mark, and single characters.
/// Comments, characters and lifetimes are left out.
pub fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if rest.starts_with("//") {
            length = rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            length = rest.find("*/").expect("the comment ends") + 2;
        } else if rest.starts_with("::") {
            length = 2;
            found.push("::".to_owned());
        } else if first == '"' {
            length = end_of_text(rest);
            found.push(format!("\"{}", &rest[1..length - 1]));
        } else if let Some(end) = raw_text(rest) {
            length = end;
            found.push("\"".to_owned());
        } else if first == '\'' {
            length = end_of_character(rest);
        } else if first.is_alphabetic() || first == '_' {
            length = rest.find(|ch: char| !ch.is_alphanumeric() && ch != '_').unwrap_or(rest.len());
            found.push(rest[..length].to_owned());
        } else if first.is_ascii_digit() {
            length = rest.find(|ch: char| !ch.is_alphanumeric() && ch != '_').unwrap_or(rest.len());
        } else if !first.is_whitespace() {
            found.push(first.to_string());
        }
        rest = &rest[length..];
    }
    found
}

/// The length of the text with which `rest` begins, with its quotation marks.
fn end_of_text(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, ch) in rest.char_indices().skip(1) {
        match ch {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    panic!("a text does not end: {rest:.40}");
}

/// The length of the raw text with which `rest` begins, if it is one.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let inside = after[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    Some(rest.len() - inside.len() + inside.find(&end)? + end.len())
}

/// The length of the character literal or of the lifetime with which `rest` begins.
fn end_of_character(rest: &str) -> usize {
    if rest.starts_with("'\\") {
        return 3 + rest[3..].find('\'').expect("the character ends") + 1;
    }
    let mut chars = rest.char_indices().skip(2);
    match chars.next() {
        Some((at, '\'')) => at + 1,
        _ => 1 + rest[1..].find(|ch: char| !ch.is_alphanumeric() && ch != '_').unwrap_or(rest.len() - 1),
    }
}
