//! Whether files are still the same as when a session began.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// Files and programs as they were at one moment.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    files: Vec<WatchedFile>,
    programs: Vec<Program>,
}

/// A program that must not have been replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    path: PathBuf,
    /// Where the path led to. After an update the path may lead to a new version while this one
    /// remains.
    real: PathBuf,
    identity: String,
}

impl Program {
    pub fn now(path: &Path) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { path: path.to_owned(), real, identity: identity_of(path) }
    }

    pub fn found(&self) -> Result<PathBuf> {
        let mut places = [&self.path, &self.real].into_iter();
        let Some(path) = places.find(|path| identity_of(path) == self.identity) else {
            bail!(
                "{} was replaced after supervision began, so ccc does not ask it for a review: \
                 the replacement could give any answer. If you updated it yourself, start ccc \
                 again",
                self.path.display()
            );
        };
        Ok(path.clone())
    }
}

#[derive(Debug)]
struct WatchedFile {
    path: PathBuf,
    name: String,
    /// The digest of its content.
    before: String,
}

impl WatchedFiles {
    pub fn now(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut watched = Self::default();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            watched.add(path, name);
        }
        watched
    }

    pub fn at_home(home: &Path, names: &[&str]) -> Self {
        let mut watched = Self::default();
        for name in names {
            watched.add(home.join(name), format!("{name} in the home directory"));
        }
        watched
    }

    #[must_use]
    pub fn with_programs(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.programs.extend(paths.into_iter().map(|path| Program::now(&path)));
        self
    }

    pub fn changed_programs(&self) -> impl Iterator<Item = &Path> {
        let changed = |program: &&Program| identity_of(&program.path) != program.identity;
        self.programs.iter().filter(changed).map(|program| program.path.as_path())
    }

    /// The path at which the original program is now.
    pub fn program(&self, path: &Path) -> Result<PathBuf> {
        let known = self.programs.iter().find(|program| program.path == path);
        known.map_or_else(|| Ok(path.to_owned()), Program::found)
    }

    fn add(&mut self, path: PathBuf, name: String) {
        let before = digest_of(&path);
        self.files.push(WatchedFile { path, name, before });
    }

    pub fn changed(&self) -> Vec<String> {
        let changed = self.files.iter().filter(|file| digest_of(&file.path) != file.before);
        let mut names: Vec<_> = changed.map(|file| file.name.clone()).collect();
        names.dedup();
        names
    }
}

/// The file's identity, and the time of its last change of any kind: programs are too large to be
/// read each time.
fn identity_of(path: &Path) -> String {
    path.metadata().map_or_else(
        |_| String::new(),
        |meta| {
            let (dev, ino, size) = (meta.dev(), meta.ino(), meta.size());
            format!("{dev} {ino} {size} {} {}", meta.ctime(), meta.ctime_nsec())
        },
    )
}

/// The digest of a file's content; empty if there is no file. A file that cannot be read, or is too
/// large, differs from one that is not there.
pub fn digest_of(path: &Path) -> String {
    if path.symlink_metadata().is_err() {
        return String::new();
    }
    super::read(path).map_or_else(|_| "unreadable".to_owned(), |bytes| hex_digest(&bytes))
}

pub fn hex_digest(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest(&SHA256, bytes).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn changes_removals_and_new_files_are_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for name in ["same", "changed", "removed"] {
            fs::write(path(name), name).unwrap();
        }
        let watched = WatchedFiles::now(["same", "changed", "removed", "new"].map(path));
        assert_eq!(watched.changed(), [""; 0]);
        fs::write(path("changed"), "other").unwrap();
        fs::write(path("new"), "").unwrap();
        fs::remove_file(path("removed")).unwrap();
        assert_eq!(watched.changed(), ["changed", "removed", "new"]);
        fs::write(path("changed"), "changed").unwrap();
        assert_eq!(watched.changed(), ["removed", "new"]);
        let watched = WatchedFiles::at_home(dir.path(), &["new", "same"]);
        assert_eq!(watched.changed(), [""; 0]);
        // The same content in another file.
        fs::write(path("other"), "same").unwrap();
        fs::rename(path("other"), path("same")).unwrap();
        fs::write(path("new"), "newer").unwrap();
        assert_eq!(watched.changed(), ["new in the home directory"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_a_missing_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let watched = WatchedFiles::now([path.clone()]);
        fs::create_dir(&path).unwrap();
        assert_eq!(watched.changed(), ["new"]);
    }

    #[test]
    fn a_replaced_program_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let link = |to: &str| {
            let _ = fs::remove_file(path("link"));
            std::os::unix::fs::symlink(path(to), path("link")).unwrap();
        };
        for version in ["one", "two"] {
            fs::write(path(version), version).unwrap();
        }
        link("one");
        let watched = WatchedFiles::default().with_programs([path("link")]);
        assert_eq!(watched.program(&path("link")).unwrap(), path("link"));
        assert_eq!(watched.changed_programs().count(), 0);
        // An update that keeps the running version.
        link("two");
        let real = path("one").canonicalize().unwrap();
        assert_eq!(watched.program(&path("link")).unwrap(), real);
        assert!(watched.changed_programs().eq([path("link")]));
        fs::rename(path("two"), path("one")).unwrap();
        let error = watched.program(&path("link")).unwrap_err().to_string();
        assert!(error.contains("was replaced after supervision began"), "{error}");
        assert_eq!(watched.program(&path("unknown")).unwrap(), path("unknown"));
    }
}
