//! The state of the project's files at one moment, by content, and what changed between two moments.
//!
//! In a git repository only what differs from HEAD is read: git's own cache of file times finds it
//! without opening the rest. Elsewhere every file is read, up to a bound.
//!
//! Not seen: files that git ignores (outside git: that a `.gitignore` names), files whose content a
//! filter in the repository's own configuration hides from git, files that ccc's own output goes to,
//! and what `note` names.

mod asking;
mod branch;
mod content;
mod git;
pub mod git_programs;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::directories::STATE_DIR;
use crate::files;
use anyhow::Result;
use content::{Budget, Content};
use git::Repository;
use serde::{Deserialize, Serialize};

pub use crate::event::ChangeKind;
pub use asking::{ask, root};
pub use branch::branch;
pub use git::ignored;
pub use walk::has_rules;

/// How deep repositories inside repositories are followed.
const DEEPEST: usize = 8;

/// The state of a project's files. With git it is small, because it holds only what differs from
/// HEAD.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    commit: Option<Commit>,
    /// The files by their path below the root: with git those that differ from the commit,
    /// otherwise all.
    files: BTreeMap<PathBuf, Content>,
    /// Repositories inside this one in which something differs.
    inner: BTreeMap<PathBuf, Snapshot>,
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Commit {
    repository: Repository,
    id: String,
    /// Whether HEAD names a branch, and not the commit itself.
    #[serde(default)]
    on_branch: bool,
}

/// A file that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Relative to the root of the repository, or of the project if there is no repository.
    pub path: PathBuf,
    pub kind: ChangeKind,
}

impl Snapshot {
    /// `git` is the executable that was found before the agent could put another one in its place.
    pub fn take(project: &Path, git: Option<&Path>) -> Self {
        let mut budget = Budget::default();
        let repository = git.and_then(|git| Repository::around(project, git));
        let failed = match repository.map(|repository| Self::of(repository, &mut budget, 0)) {
            Some(Ok(mut snapshot)) => {
                snapshot.files.retain(|path, _| !is_own(path));
                return Self { note: budget.note(), ..snapshot };
            }
            Some(Err(error)) => Some(format!("git could not be asked ({error:#})")),
            None => None,
        };
        let mut files = walk::files(project, &mut budget);
        files.retain(|path, _| !is_own(path));
        let notes: Vec<_> = failed.into_iter().chain(budget.note()).collect();
        let note = (!notes.is_empty()).then(|| notes.join("; "));
        Self { commit: None, files, inner: BTreeMap::new(), note }
    }

    /// A later snapshot to compare with this one. If there was no repository, a new one is not asked:
    /// what the agent has committed there would not be seen.
    #[must_use]
    pub fn again(&self, project: &Path, git: Option<&Path>) -> Self {
        Self::take(project, git.filter(|_| self.commit.is_some()))
    }

    /// Whether the two snapshots tell what changed between them. They do not if the repository was
    /// removed, broken or replaced by another one.
    pub fn is_comparable(&self, later: &Self) -> bool {
        match (&self.commit, &later.commit) {
            (None, None) => true,
            (Some(before), Some(after)) => {
                let (mine, git) = (before.repository.root(), after.repository.git());
                mine == after.repository.root() && (before.id == after.id || git.has(&before.id))
            }
            _ => false,
        }
    }

    fn of(repository: Repository, budget: &mut Budget, depth: usize) -> Result<Self> {
        let state = repository.state(budget)?;
        let mut inner = BTreeMap::new();
        for path in state.inner.into_iter().filter(|_| depth < DEEPEST) {
            match repository.inner(&path).map(|found| Self::of(found, budget, depth + 1)) {
                Some(Ok(snapshot)) => drop(inner.insert(path, snapshot)),
                Some(Err(error)) => log::warn!("{}: {error:#}", path.display()),
                None => {}
            }
        }
        let on_branch = branch::is_on_branch(repository.root());
        let commit = Some(Commit { repository, id: state.head, on_branch });
        Ok(Self { commit, files: state.differs, inner, note: None })
    }

    /// The commit that was checked out, in a git repository.
    pub fn commit(&self) -> Option<&str> {
        self.commit.as_ref().map(|commit| commit.id.as_str())
    }

    pub fn is_on_branch(&self) -> bool {
        self.commit.as_ref().is_some_and(|commit| commit.on_branch)
    }

    /// The path of the project in its repository; files are named from the repository's root.
    pub fn part(&self, project: &Path) -> Option<PathBuf> {
        let (project, root) =
            (project.canonicalize().ok()?, self.commit.as_ref()?.repository.root());
        project.strip_prefix(root).ok().map(Path::to_owned)
    }

    /// Whether a file differs from the commit.
    pub fn differs(&self, path: &Path) -> bool {
        self.commit.is_some() && self.files.contains_key(path)
    }

    /// Whether this file was there: not if it is unknown, because git ignores it or it is in a
    /// repository of its own.
    pub fn had(&self, path: &Path) -> bool {
        let committed = || {
            let commit = self.commit.as_ref()?;
            commit.repository.git().committed(&commit.id, &[path]).ok()?.remove(path)
        };
        let known = self.files.get(path).cloned().or_else(committed);
        known.is_some_and(|content| content != Content::Absent)
    }

    /// The agent may have begun to work before this snapshot was complete.
    pub fn came_late(&mut self) {
        const LATE: &str = "the first look at the files took so long that the agent had begun to work; a file \
            that it changed before is missing in this list";
        self.note = Some(self.note.take().map_or(LATE.into(), |note| format!("{note}; {LATE}")));
    }

    /// What was not compared by content, if anything.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Identifies the files together with their commit. A commit of unchanged files changes the
    /// fingerprint; `changes` says whether the files themselves differ.
    pub fn fingerprint(&self) -> String {
        let mut text = String::new();
        self.describe(&mut text);
        files::hex_digest(text.as_bytes())
    }

    fn describe(&self, text: &mut String) {
        let commit = self.commit.as_ref().map_or("", |commit| &commit.id);
        let _ = writeln!(text, "{commit} {:?}", self.files);
        for (path, inner) in &self.inner {
            let _ = write!(text, "{} ", path.display());
            inner.describe(text);
        }
    }

    /// The files that changed between this snapshot and a later one, by path. A commit alone
    /// changes no file. If they are not comparable, that is the one change that is known.
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        if !self.is_comparable(later) {
            return vec![Change { path: ".git".into(), kind: ChangeKind::Modified }];
        }
        let committed = self.committed(later);
        let paths: BTreeSet<&Path> = self
            .files
            .keys()
            .chain(later.files.keys())
            .chain(&committed)
            .map(AsRef::as_ref)
            .collect();
        let before = self.contents(&paths);
        let after = later.contents(&paths);
        let changed = |path: &&Path| {
            let kind = kind(before.get(*path)?, after.get(*path)?)?;
            Some(Change { path: (*path).to_owned(), kind })
        };
        let mut changes: Vec<_> = paths.iter().filter_map(changed).collect();
        let inner: BTreeSet<_> = self.inner.keys().chain(later.inner.keys()).collect();
        for path in inner {
            changes.extend(self.inner_changes(later, path));
        }
        changes.sort_by(|one, other| one.path.cmp(&other.path));
        changes.dedup_by(|one, other| one.path == other.path);
        changes
    }

    /// What changed in a repository inside this one.
    fn inner_changes(&self, later: &Self, path: &Path) -> Vec<Change> {
        let whole = |kind| vec![Change { path: path.to_owned(), kind }];
        let (before, after) = match (self.inner.get(path), later.inner.get(path)) {
            (Some(before), Some(after)) => (before.clone(), after.clone()),
            (None, Some(after)) => match self.unchanged(path, after) {
                Some(before) => (before, after.clone()),
                None => return whole(ChangeKind::Added),
            },
            (Some(before), None) => match later.unchanged(path, before) {
                Some(after) => (before.clone(), after),
                None => return whole(ChangeKind::Deleted),
            },
            (None, None) => return Vec::new(),
        };
        if !before.is_comparable(&after) {
            return whole(ChangeKind::Modified);
        }
        let changes = before.changes(&after).into_iter();
        changes.map(|change| Change { path: path.join(change.path), ..change }).collect()
    }

    /// The snapshot of a submodule in which nothing differs from the commit that the outer
    /// repository records.
    fn unchanged(&self, path: &Path, other: &Self) -> Option<Self> {
        let commit = self.commit.as_ref()?;
        let found = commit.repository.git().committed(&commit.id, &[path]).ok()?;
        let Some(Content::Submodule(id)) = found.get(path) else { return None };
        let repository = other.commit.as_ref()?.repository.clone();
        let commit = Some(Commit { repository, id: id.clone(), on_branch: false });
        Some(Self { commit, files: BTreeMap::new(), inner: BTreeMap::new(), note: None })
    }

    /// The paths that differ between the commits of the two snapshots.
    fn committed(&self, later: &Self) -> Vec<PathBuf> {
        match (&self.commit, &later.commit) {
            (Some(before), Some(after)) if before.id != after.id => {
                after.repository.git().differing(&before.id, &after.id).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The content of each path: as it was read, or else as it is in the commit.
    fn contents(&self, paths: &BTreeSet<&Path>) -> BTreeMap<PathBuf, Content> {
        let (read, unread): (Vec<&Path>, Vec<&Path>) =
            paths.iter().partition(|path| self.files.contains_key(**path));
        let mut contents: BTreeMap<_, _> =
            read.into_iter().map(|path| (path.to_owned(), self.files[path].clone())).collect();
        match &self.commit {
            Some(commit) => match commit.repository.git().committed(&commit.id, &unread) {
                Ok(committed) => contents.extend(committed),
                Err(error) => log::warn!("git could not say what was committed: {error:#}"),
            },
            // Without git every file was read, so a file that is missing here did not exist.
            None => {
                contents.extend(unread.into_iter().map(|path| (path.to_owned(), Content::Absent)));
            }
        }
        contents
    }
}

/// ccc's own directory, whose files come and go while it is being set up.
fn is_own(path: &Path) -> bool {
    let state = Path::new(STATE_DIR);
    path.ancestors().any(|above| above.ends_with(state))
}

fn kind(before: &Content, after: &Content) -> Option<ChangeKind> {
    match (before, after) {
        (before, after) if before == after => None,
        (Content::Absent, _) => Some(ChangeKind::Added),
        (_, Content::Absent) => Some(ChangeKind::Deleted),
        _ => Some(ChangeKind::Modified),
    }
}

/// The first `git` in a search path.
pub fn find_git(path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|dir| dir.join("git"))
        .find(|git| git.is_absolute() && git.is_file())
}

#[cfg(test)]
mod tests;
