//! Files of ours: private, and never half-written.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result};

/// Written whole or not at all: a temporary file beside it, synced, then renamed.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create_dir(dir)?;
        // A temporary file is private (0600) from its first moment.
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// A new file; one that exists already is left alone, and is an error.
pub fn create_new(path: &Path, content: &[u8], mode: u32) -> std::io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        create_dir(dir)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would pass for a whole one from now on.
        let _ = fs::remove_file(path);
    }
    written
}

pub fn append(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// For whole lines of ours alone: half of one, which a killed ccc may have left at the end, is cut
/// off. Also the file's length.
pub fn append_lines(path: &Path) -> std::io::Result<(File, u64)> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let len = file.metadata()?.len();
    let whole = line_start(&file, len)?;
    if whole < len {
        file.set_len(whole)?;
    }
    Ok((file, whole))
}

/// Where the line begins that ends at `end`, or would end there.
pub fn line_start(mut file: &File, mut end: u64) -> std::io::Result<u64> {
    let mut chunk = vec![0; 64 << 10];
    while end > 0 {
        let size = end.min(chunk.len() as u64);
        let part = &mut chunk[..usize::try_from(size).unwrap_or_default()];
        file.seek(SeekFrom::Start(end - size))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}

/// Directories that are missing are made private; those that exist stay as they are.
pub fn create_dir(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The state directory of a project, with a `.gitignore` of its own: what is in it is nobody's source.
pub fn prepare_state_dir(dir: &Path) -> std::io::Result<()> {
    create_dir(dir)?;
    match create_new(&dir.join(".gitignore"), b"*\n", 0o600) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn replaced_files_are_private_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.json");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777,
            0o700
        );
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn half_a_line_is_cut_off_before_more_is_appended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let long = "y".repeat(100_000);
        for (before, after) in [
            (String::new(), ""),
            ("half".to_owned(), ""),
            ("one\n".to_owned(), "one\n"),
            ("one\nhalf".to_owned(), "one\n"),
            (format!("one\n{long}"), "one\n"),
            (format!("{long}\n{long}"), &*format!("{long}\n")),
        ] {
            fs::write(&path, before).unwrap();
            let (mut file, len) = append_lines(&path).unwrap();
            assert_eq!(len, after.len() as u64);
            file.write_all(b"more\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{after}more\n"));
        }
    }

    #[test]
    fn a_new_file_never_overwrites() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        create_new(&path, b"one", 0o644).unwrap();
        assert!(create_new(&path, b"two", 0o644).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
    }
}
