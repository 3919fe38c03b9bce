use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::time::Duration;

use annai_core::TokenScope;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::record::hex;
use super::*;

const READ: TokenScope = TokenScope::new("library.read");
const NOW: u64 = 1_800_000_000;

/// A folder that is deleted at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let mut random = [0; 8];
        SystemRandom::new().fill(&mut random).unwrap();
        let folder = std::env::temp_dir().join(format!("annai-tokens-{}", hex(&random)));
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> TokenFile {
        TokenFile::new(self.0.join("tokens.json"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn add(file: &TokenFile, name: &str, scopes: &[&str], expires_at: Option<u64>) -> (TokenRecord, String) {
    let scopes: BTreeSet<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let (record, token) = TokenRecord::create(name, scopes, NOW, expires_at).unwrap();
    file.add(record.clone()).unwrap();
    (record, token)
}

fn mode(file: &TokenFile, mode: u32) {
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Waits until a verifier looks at the file again.
fn wait() {
    std::thread::sleep(Duration::from_millis(600));
}

#[test]
fn a_token_is_a_person_with_the_scopes_that_static_tokens_may_have() {
    let (folder, scopes) = (Folder::new(), [READ]);
    let file = folder.file();
    let (record, token) = add(&file, "aiko", &["library.read", "services.execute"], Some(NOW + 10));
    assert_eq!((token.len(), token.starts_with(TOKEN_PREFIX)), (TOKEN_PREFIX.len() + 43, true));
    assert!(!std::fs::read_to_string(file.path()).unwrap().contains(&token), "the file has only a digest");
    let tokens = StaticTokens::new(file.clone(), &scopes);
    let person = tokens.verify(&token, NOW).unwrap();
    assert_eq!((person.issuer.as_str(), &person.subject), (TOKEN_ISSUER, &record.id));
    assert_eq!(person.scopes, ["library.read".to_owned()].into(), "the file cannot grant scopes of people");
    assert_eq!(tokens.verify(&token, NOW + 10), Err("the token has expired"));
    assert!(tokens.verify("annai_guess", NOW).is_err() && tokens.verify(&record.sha256, NOW).is_err());
    assert_eq!(file.last_uses().unwrap(), [(record.id, NOW)].into());
}

#[test]
fn a_revoked_token_is_refused_within_a_second() {
    let folder = Folder::new();
    let file = folder.file();
    let (record, token) = add(&file, "aiko", &["library.read"], None);
    let tokens = StaticTokens::new(file.clone(), &[READ]);
    assert!(tokens.verify(&token, NOW).is_ok());
    assert_eq!(file.revoke("aiko").unwrap(), record);
    wait();
    assert_eq!(tokens.verify(&token, NOW), Err("the token is unknown or was revoked"));
    assert!(matches!(file.revoke("aiko"), Err(TokenFileError::Unknown(_))));
}

#[test]
fn names_are_unique_and_an_id_is_looked_up_before_a_name() {
    let folder = Folder::new();
    let file = folder.file();
    let (first, _) = add(&file, "aiko", &["library.read"], None);
    let (second, _) = add(&file, &first.id, &["library.read"], None);
    let (again, _) = TokenRecord::create("aiko", BTreeSet::new(), NOW, None).unwrap();
    assert!(matches!(file.add(again), Err(TokenFileError::DuplicateName(_))));
    assert_eq!(file.revoke(&first.id).unwrap(), first);
    assert_eq!(file.read().unwrap(), [second]);
}

#[test]
fn a_file_that_others_can_read_refuses_all_tokens_until_it_is_safe_again() {
    let folder = Folder::new();
    let file = folder.file();
    let (_, token) = add(&file, "aiko", &["library.read"], None);
    let tokens = StaticTokens::new(file.clone(), &[READ]);
    for bits in [0o644, 0o640, 0o604, 0o620] {
        mode(&file, bits);
        wait();
        assert!(tokens.verify(&token, NOW).is_err(), "{bits:o}");
        let refused = file.read().unwrap_err();
        assert_eq!(refused.remedy, "take their permissions away (chmod 600)", "{bits:o}");
    }
    mode(&file, 0o600);
    wait();
    assert!(tokens.verify(&token, NOW).is_ok());
}

#[test]
fn what_is_not_a_token_file_is_refused_and_never_overwritten() {
    let folder = Folder::new();
    let file = folder.file();
    let (record, _) = TokenRecord::create("aiko", BTreeSet::new(), NOW, None).unwrap();
    let restore = "restore it from a backup, or delete it and make new tokens";
    let update = "update this program";
    for (content, remedy) in [
        ("", restore),
        ("{}", restore),
        ("[]", restore),
        (r#"{"version":0,"tokens":[]}"#, restore),
        (r#"{"version":1,"tokens":[{}]}"#, restore),
        (r#"{"version":1,"tokens":[],"more":1}"#, restore),
        (r#"{"version":2,"tokens":[]}"#, update),
        // What a newer version adds does not hide that it is newer.
        (r#"{"version":3,"entries":{}}"#, update),
    ] {
        std::fs::write(file.path(), content).unwrap();
        mode(&file, 0o600);
        let Err(TokenFileError::Unusable(refused)) = file.add(record.clone()) else { panic!("{content}") };
        assert_eq!(refused.remedy, remedy, "{content}");
        assert!(!refused.problem.contains(remedy) && refused.to_string().ends_with(remedy), "{refused}");
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), content);
    }
    std::fs::remove_file(file.path()).unwrap();
    symlink("/dev/zero", file.path()).unwrap();
    assert_eq!(file.read().unwrap_err().remedy, "set ANNAI_TOKEN_FILE to the file itself");
    std::fs::remove_file(file.path()).unwrap();
    std::fs::create_dir(file.path()).unwrap();
    assert_eq!(file.read().unwrap_err().remedy, "set ANNAI_TOKEN_FILE to another path");
    let below_a_file = TokenFile::new("/dev/null/tokens.json").read().unwrap_err();
    assert_eq!(below_a_file.remedy, "set ANNAI_TOKEN_FILE to a file that can be read and written");
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = Folder::new();
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let file = folder.file();
            std::thread::spawn(move || add(&file, &format!("writer {number}"), &["library.read"], None))
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    assert_eq!(folder.file().read().unwrap().len(), 8);
}
