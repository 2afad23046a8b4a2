//! The branch that a project is on, without asking git: where `HEAD` points.

use std::fs;
use std::path::{Path, PathBuf};

/// So much of a commit names it where no branch does.
const SHORT: usize = 7;

pub fn branch(project: &Path) -> Option<String> {
    let head = fs::read_to_string(git_dir(project)?.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: ") {
        Some(reference) => {
            Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned())
        }
        None => head.get(..SHORT).map(str::to_owned),
    }
}

/// A worktree and a submodule have a file in its place that names it.
fn git_dir(project: &Path) -> Option<PathBuf> {
    let found = project.ancestors().map(|dir| dir.join(".git")).find(|git| git.exists())?;
    if found.is_dir() {
        return Some(found);
    }
    let text = fs::read_to_string(&found).ok()?;
    let named = text.trim().strip_prefix("gitdir: ")?;
    Some(found.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_is_where_head_points() {
        let dir = tempfile::tempdir().unwrap();
        let (git, inner) = (dir.path().join(".git"), dir.path().join("a/b"));
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(&git).unwrap();
        let head = |text: &str| {
            fs::write(git.join("HEAD"), text).unwrap();
            branch(&inner)
        };
        assert_eq!(head("ref: refs/heads/feature/x\n").as_deref(), Some("feature/x"));
        assert_eq!(head("0123456789abcdef\n").as_deref(), Some("0123456"));
        assert_eq!(head(""), None);
        head("ref: refs/heads/main\n");
        fs::write(inner.join(".git"), "gitdir: ../../.git\n").unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("main"));
    }
}
