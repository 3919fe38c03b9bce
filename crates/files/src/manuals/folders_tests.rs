#![expect(clippy::disallowed_methods, reason = "links are made among the manuals")]

use annai_core::ErrorKind;

use super::*;
use crate::manuals::Manuals;
use crate::testing::TempFolder;

const TEXT: &str = "# A\n";

fn root(folder: &TempFolder) -> Manuals {
    Manuals::new(vec![ManualFolder::Root(folder.0.clone())])
}

fn beside(manuals: &Manuals) -> Vec<(String, &'static str)> {
    manuals.beside().into_iter().map(|file| (file.path, file.reason.name())).collect()
}

fn reasons(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
    expected.iter().map(|(path, reason)| ((*path).to_owned(), *reason)).collect()
}

#[test]
fn each_subfolder_of_the_root_is_a_manual_and_files_beside_them_are_stray() {
    let folder = TempFolder::new(&[
        ("handbook/a.md", TEXT),
        ("api/b.md", TEXT),
        ("pictures/a.png", ""),
        ("notes.md", TEXT),
        ("plan.pdf", ""),
        ("synonyms.yaml", "synonyms: []\n"),
        (".git/config", ""),
    ]);
    let manuals = root(&folder);
    assert_eq!(manuals.ids().unwrap(), ["api", "handbook", "pictures"]);
    assert_eq!(beside(&manuals), reasons(&[("notes.md", "stray"), ("plan.pdf", "stray")]));
    // Without manuals below it, the folder is the manual.
    let single = TempFolder::new(&[("a.md", TEXT), ("pictures/a.png", "")]);
    let name = single.0.file_name().unwrap().to_string_lossy().into_owned();
    let manuals = root(&single);
    assert_eq!((manuals.ids().unwrap(), beside(&manuals)), (vec![name], Vec::new()));
}

#[test]
fn a_readme_beside_subfolders_does_not_make_them_one_manual() {
    let files = |own: &'static str| TempFolder::new(&[("handbook/a.md", TEXT), (own, TEXT)]);
    for (own, is_one) in [
        ("README.md", false),
        ("Readme.ja.md", false),
        ("LICENSE.txt", false),
        ("index.md", true),
        ("readme-first.md", true),
    ] {
        let folder = files(own);
        let manuals = Manuals::new(vec![ManualFolder::Folder(folder.0.clone())]);
        let name = folder.0.file_name().unwrap().to_string_lossy().into_owned();
        let (id, stray) =
            if is_one { (name, Vec::new()) } else { ("handbook".into(), reasons(&[(own, "stray")])) };
        assert_eq!((manuals.ids().unwrap(), beside(&manuals)), (vec![id], stray), "{own}");
    }
    let alone = TempFolder::new(&[("README.md", TEXT), ("img/a.png", "")]);
    let manuals = Manuals::new(vec![ManualFolder::Folder(alone.0.clone())]);
    assert_eq!((manuals.ids().unwrap().len(), beside(&manuals)), (1, Vec::new()));
}

#[test]
fn a_linked_root_is_resolved_once_and_a_linked_manual_is_named_but_not_followed() {
    let one = TempFolder::new(&[("handbook/a.md", TEXT)]);
    let other = TempFolder::new(&[("secret/b.md", TEXT)]);
    let links = TempFolder::new(&[]);
    let link = links.0.join("manuals");
    std::os::unix::fs::symlink(&one.0, &link).unwrap();
    std::os::unix::fs::symlink(other.0.join("secret"), one.0.join("linked")).unwrap();
    let manuals = Manuals::new(vec![ManualFolder::Root(link.clone())]);
    assert_eq!(beside(&manuals), reasons(&[("linked", "link")]));
    let error = manuals.get("linked").err().unwrap();
    assert!(error.kind() == ErrorKind::NotFound && error.message().contains("--manual-dir"), "{error}");
    // The link of the root leads elsewhere now, which changes nothing.
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other.0, &link).unwrap();
    assert_eq!(manuals.ids().unwrap(), ["handbook"]);
    let named = ManualFolder::Named { id: "linked".into(), path: one.0.join("linked") };
    let manuals = Manuals::new(vec![ManualFolder::Root(one.0.clone()), named]);
    assert_eq!(manuals.ids().unwrap(), ["handbook", "linked"]);
    assert_eq!(manuals.get("linked").unwrap().files().unwrap(), ["b.md"]);
}

#[test]
fn a_given_name_counts_before_the_name_of_a_folder_and_a_missing_folder_is_named() {
    let folder = TempFolder::new(&[("handbook/a.md", TEXT), ("docs/b.md", TEXT)]);
    let named = |id: &str, path: &str| ManualFolder::Named { id: id.into(), path: folder.0.join(path) };
    let all =
        vec![ManualFolder::Folder(folder.0.clone()), named("handbook", "docs"), named("gone", "missing")];
    let manuals = Manuals::new(all);
    assert_eq!(manuals.ids().unwrap(), ["docs", "handbook"]);
    assert_eq!(manuals.get("handbook").unwrap().files().unwrap(), ["b.md"]);
    assert_eq!(manuals.hidden_ids(), ["handbook"]);
    let error = manuals.get("gone").err().unwrap();
    assert!(error.message().contains("missing of the manual \"gone\" does not exist"), "{error}");
    assert!(Manuals::new(vec![named("gone", "missing")]).ids().is_err());
}
