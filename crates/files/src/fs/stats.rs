//! A small file of lines that several processes rewrite, one at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, Read as _, Result, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// How much of the file is read. Its lines take less than 200 KiB; what a larger file has beyond 4 MiB is dropped.
const MAX_STATS_BYTES: u64 = 4 << 20;

/// A small file of lines.
pub struct StatsFile {
    /// Where it is.
    pub path: PathBuf,
    /// The vault whose reserved folder contains it. Without that vault, nothing is written.
    pub vault: Option<PathBuf>,
}

impl StatsFile {
    /// Its text, with invalid UTF-8 replaced.
    pub fn read(&self) -> Result<String> {
        text_of(&self.open(OpenOptions::new().read(true))?)
    }

    /// Replaces its text by what `make` returns for it. The file and its folder are created.
    pub fn rewrite(&self, make: impl FnOnce(&str) -> String) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        match &self.vault {
            Some(vault) if !vault.is_dir() => return Ok(()),
            // A symbolic link could lead out of the vault.
            Some(_) if folder.is_symlink() => return Err(Error::other("its folder is a symbolic link")),
            _ => fs::create_dir_all(folder)?,
        }
        let mut file = self.open(OpenOptions::new().read(true).write(true).create(true))?;
        file.lock()?;
        let text = make(&text_of(&file)?);
        // The file is shortened last, so that a write that fails half-way damages one line and not all of them.
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    }

    /// Opens it without following a link or waiting for the other end of a pipe.
    fn open(&self, options: &mut OpenOptions) -> Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        options.mode(0o600).custom_flags(flags).open(&self.path)
    }
}

fn text_of(file: &File) -> Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_STATS_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
