//! The branch that a project is on, without asking git: where `HEAD` points.

use std::path::Path;

use super::asking::{git_dir, root};
use crate::files;

/// The length of the abbreviated commit that is shown if `HEAD` is not on a branch.
const SHORT: usize = 7;

pub fn branch(project: &Path) -> Option<String> {
    let head = head(project)?;
    match head.strip_prefix("ref: ") {
        Some(reference) => {
            Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned())
        }
        None => head.get(..SHORT).map(str::to_owned),
    }
}

pub fn is_on_branch(project: &Path) -> bool {
    head(project).is_some_and(|head| head.starts_with("ref: "))
}

fn head(project: &Path) -> Option<String> {
    let head = files::read_text(&git_dir(root(project)?)?.join("HEAD")).ok()?;
    Some(head.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        assert!(is_on_branch(&inner));
        head("0123456789abcdef\n");
        assert!(!is_on_branch(&inner) && !is_on_branch(Path::new("/")));
    }
}
