//! What ccc found out about the project's files when the agent stopped. Small, whatever changed.

use serde::{Deserialize, Serialize};

/// As many changed files as are named; of more only the number is known.
pub const MOST_FILES: usize = 2000;

/// The project's files, compared with how they were when the task began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Examined {
    /// Of the files as they are: what was found out about them holds as long as it stays the same.
    /// Nobody knows: nothing was found that could hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What changed since the task began, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<Sign>,
    /// What git says, where there is git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// Files that are not as the agent's last message says, with why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Ports on which the agent says that something runs, and on which nothing listens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent_ports: Vec<u16>,
    /// What was not looked at, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitState {
    /// The files stand on another commit than when the task began.
    pub moved: bool,
    /// Files that changed since the task began and are not in the commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
}

/// Something in the changed lines that is worth a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// `path:line`, or the path alone.
    pub place: String,
    pub what: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Changed {
    pub files: Vec<FileChange>,
    /// How many there are, named or not.
    pub count: usize,
    /// The files are named from the root of a repository, and the project is this directory in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub below: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: String,
    pub how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Added,
    Modified,
    Deleted,
}

impl Changed {
    pub fn new(mut files: Vec<FileChange>) -> Self {
        let count = files.len();
        files.truncate(MOST_FILES);
        Self { files, count, below: String::new() }
    }

    /// All paths, if all are known: a check that waits for one of them must not miss it. In a part of a
    /// repository a file has two names: SUPERVISOR.md may stand here, or at the repository's root.
    pub fn paths(&self) -> Option<Vec<String>> {
        let all = self.count == self.files.len();
        let begin = format!("{}/", self.below);
        let names = |change: &FileChange| {
            let from_here = change.path.strip_prefix(&begin).filter(|_| !self.below.is_empty());
            [Some(change.path.clone()), from_here.map(str::to_owned)]
        };
        all.then(|| self.files.iter().flat_map(names).flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_part_of_a_repository_a_file_has_two_names() {
        let file = |path: &str| FileChange { path: path.into(), how: How::Added };
        let files = vec![file("web/src/a.ts"), file("webs/b.ts"), file("web.ts")];
        let changed = Changed { below: "web".into(), ..Changed::new(files) };
        assert_eq!(changed.paths().unwrap(), ["web/src/a.ts", "src/a.ts", "webs/b.ts", "web.ts"]);
    }

    #[test]
    fn of_very_many_files_the_number_is_known_and_not_all_names() {
        let file = |at: usize| FileChange { path: format!("{at}"), how: How::Added };
        let few = Changed::new((0..3).map(file).collect());
        assert_eq!(few.paths().map(|paths| paths.len()), Some(3));
        let many = Changed::new((0..=MOST_FILES).map(file).collect());
        assert_eq!(
            (many.count, many.files.len(), many.paths()),
            (MOST_FILES + 1, MOST_FILES, None)
        );
    }
}
