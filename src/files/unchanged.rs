//! Files that count as they were when a session began: whether they are still the same.

use std::fmt::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

/// As they were at one moment.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    files: Vec<Watched>,
    programs: Vec<Program>,
}

/// A program that must still be the one that it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    path: PathBuf,
    /// Where the path led to. An update may leave this one, and have the path lead to another.
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
struct Watched {
    path: PathBuf,
    /// For people.
    name: String,
    /// What tells that it is still the same: its content, or of a large one which file it is.
    sign: fn(&Path) -> String,
    then: String,
}

impl WatchedFiles {
    pub fn now(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut watched = Self::default();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            watched.add(path, name, digest_of);
        }
        watched
    }

    /// Files in somebody's home directory.
    pub fn at_home(home: &Path, names: &[&str]) -> Self {
        let mut watched = Self::default();
        for name in names {
            watched.add(home.join(name), format!("{name} in the home directory"), digest_of);
        }
        watched
    }

    /// And these programs, which are too large to be read each time.
    #[must_use]
    pub fn with_programs(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        for path in paths {
            let name = path.display().to_string();
            self.programs.push(Program::now(&path));
            self.add(path, name, identity_of);
        }
        self
    }

    /// One of the programs as it was, wherever it is now.
    pub fn program(&self, path: &Path) -> Result<PathBuf> {
        let known = self.programs.iter().find(|program| program.path == path);
        known.map_or_else(|| Ok(path.to_owned()), Program::found)
    }

    fn add(&mut self, path: PathBuf, name: String, sign: fn(&Path) -> String) {
        let then = sign(&path);
        self.files.push(Watched { path, name, sign, then });
    }

    /// Those that are not what they were, by name.
    pub fn changed(&self) -> Vec<String> {
        let changed = self.files.iter().filter(|file| (file.sign)(&file.path) != file.then);
        let mut names: Vec<_> = changed.map(|file| file.name.clone()).collect();
        names.dedup();
        names
    }
}

/// Which file it is, and when it was last changed in any way.
fn identity_of(path: &Path) -> String {
    path.metadata().map_or_else(
        |_| String::new(),
        |meta| {
            let (dev, ino, size) = (meta.dev(), meta.ino(), meta.size());
            format!("{dev} {ino} {size} {} {}", meta.ctime(), meta.ctime_nsec())
        },
    )
}

/// Of a file's content; one that cannot be read has none.
pub fn digest_of(path: &Path) -> String {
    super::read(path).map(|bytes| hex_digest(&bytes)).unwrap_or_default()
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
    fn a_change_a_removal_and_a_new_file_are_seen() {
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
        let watched =
            WatchedFiles::at_home(dir.path(), &["new", "same"]).with_programs([path("same")]);
        assert_eq!(watched.changed(), [""; 0]);
        // The same content in another file: only of a program that matters.
        fs::write(path("other"), "same").unwrap();
        fs::rename(path("other"), path("same")).unwrap();
        fs::write(path("new"), "newer").unwrap();
        let program = path("same").display().to_string();
        assert_eq!(watched.changed(), ["new in the home directory", &program]);
    }

    #[test]
    fn a_program_is_the_one_that_it_was_or_an_error() {
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
        // An update, which leaves the version that runs.
        link("two");
        let real = path("one").canonicalize().unwrap();
        assert_eq!(watched.program(&path("link")).unwrap(), real);
        fs::rename(path("two"), path("one")).unwrap();
        let error = watched.program(&path("link")).unwrap_err().to_string();
        assert!(error.contains("was replaced after supervision began"), "{error}");
        assert_eq!(watched.program(&path("unknown")).unwrap(), path("unknown"));
    }
}
