//! What ccc found out about the project's files when the agent stopped. The size is bounded,
//! whatever changed.

use serde::{Deserialize, Serialize};

/// The number of changed files that are named; of more, only the number is known.
pub const MOST_FILES: usize = 2000;

/// The project's files, compared with how they were when the task began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Examined {
    /// Identifies the state of the files; the findings hold as long as it stays the same. `None` if
    /// the state is unknown, so that no finding can be relied on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The changes since the task began, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Changed>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<Sign>,
    /// The state of git, if the project uses git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitState>,
    /// Files that are not as the agent's last message says, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Ports on which nothing listens, although the agent says that something runs there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent_ports: Vec<u16>,
    /// Whether the project is a single Cargo package, so that `-p NAME` leaves nothing out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_package: bool,
    /// What was not examined, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GitState {
    /// Whether the project is on another commit than when the task began.
    pub moved: bool,
    /// Whether HEAD was on a branch when the task began, and is on none now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_branch: bool,
    /// Files that changed since the task began and are not committed.
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
    /// How many files changed, named or not.
    pub count: usize,
    /// The project's directory in its repository, if files are named from the repository's root.
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

    /// All paths, or `None` if not all are known: a check that waits for one of them must not miss
    /// it. In a subdirectory of a repository, a file has two names: SUPERVISOR.md may be here or at
    /// the repository's root.
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
