//! The real executable, as people and clients run it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails loudly")]

mod suite {
    mod command_line;
    mod configuration;
    mod docs;
    mod http;
    mod stdio;
}

use std::path::PathBuf;
use std::process::{Command, Output};

/// The program with an empty home and no settings from outside.
fn annai(home: &Home) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annai"));
    command.env_clear().env("HOME", &home.0).current_dir(&home.0);
    command
}

/// A home folder of its own, gone with the test.
struct Home(PathBuf);

impl Home {
    fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("annai-test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file below it and gives its path.
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
