//! Files that count as they were when a session began: whether they are still the same.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

/// By their content at one moment.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    files: Vec<(PathBuf, String)>,
}

impl WatchedFiles {
    pub fn now(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = paths.into_iter().map(|path| {
            let digest = digest_of(&path);
            (path, digest)
        });
        Self { files: files.collect() }
    }

    /// Those that are not what they were, by name.
    pub fn changed(&self) -> Vec<String> {
        let changed = self.files.iter().filter(|(path, then)| digest_of(path) != *then);
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut names: Vec<_> = changed.map(|(path, _)| name(path)).collect();
        names.dedup();
        names
    }
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
    }
}
