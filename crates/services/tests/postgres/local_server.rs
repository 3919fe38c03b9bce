//! A server of its own for tests that crash it or give it a certificate.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use annai_services::domain::ids::CampaignId;

/// A server in a temporary folder, which is stopped and removed at the end.
pub struct LocalServer {
    folder: PathBuf,
    pub url: String,
}

impl LocalServer {
    /// Starts a server, with the certificate of this host where one is given as PEM of certificate and key.
    pub fn start(certificate: Option<(&str, &str)>) -> Self {
        let folder = new_folder();
        if let Some((certificate, key)) = certificate {
            std::fs::write(folder.join("server.crt"), certificate).unwrap();
            std::fs::write(folder.join("server.key"), key).unwrap();
        }
        let url = run("start", &folder, &[]);
        Self { folder, url }
    }

    /// Starts a standby of this server.
    pub fn standby(&self) -> Self {
        let folder = new_folder();
        let url = run("standby", &folder, &[self.folder.to_str().unwrap()]);
        Self { folder, url }
    }

    /// Makes this standby the primary.
    pub fn promote(&self) {
        run("promote", &self.folder, &[]);
    }

    /// Ends the server as a crash does.
    pub fn crash(&self) {
        run("stop", &self.folder, &["immediate"]);
    }

    /// Starts the server again.
    pub fn restart(&self) {
        run("start", &self.folder, &[]);
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        let _ = command("stop", &self.folder, &["immediate"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn new_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("annai-server-{}", CampaignId::random()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn command(verb: &str, folder: &Path, arguments: &[&str]) -> Output {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/postgres/server");
    Command::new(script).arg(verb).arg(folder).args(arguments).output().unwrap()
}

fn run(verb: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = command(verb, folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
