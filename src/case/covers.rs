//! Which paths a case covers, and which stay real.

use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::tree;

/// Existing paths with links resolved, so that a link to the project leads into the case too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Covers {
    /// Directories that must not change; none is inside another.
    pub covered: Vec<PathBuf>,
    /// The client's own files: `~/.claude` and `~/.claude.json`, or what replaces them.
    pub kept: Vec<PathBuf>,
    /// Temporary directories, which everybody may write to.
    pub temporary: Vec<PathBuf>,
    /// The directories that clients create for themselves in the temporary ones.
    pub client_dirs: Vec<PathBuf>,
    /// Configuration files of git, which can name programs to run. The judge sees them unchanged,
    /// whoever writes to them.
    pub git_configs: Vec<PathBuf>,
}

impl Covers {
    pub fn of(dirs: &[PathBuf]) -> Self {
        let set =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME");
        let mut covered: Vec<_> = dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        let repositories: Vec<_> =
            covered.iter().flat_map(|dir| repository(dir, home.as_deref())).collect();
        covered.extend(repositories);
        let git_configs = covered.iter().flat_map(|dir| configuration(dir));
        let git_configs = resolved(git_configs);
        let own = home.map(|home| [home.join(".claude"), home.join(".claude.json")]);
        let kept = own.into_iter().flatten().chain(set("CLAUDE_CONFIG_DIR"));
        let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
        let temporary = temporary.chain([env::temp_dir()]).chain(set("CLAUDE_CODE_TMPDIR"));
        let client_dirs = [Some(env::temp_dir()), set("CLAUDE_CODE_TMPDIR")].into_iter().flatten();
        Self {
            covered: outermost(covered),
            kept: resolved(kept),
            temporary: resolved(temporary),
            client_dirs: resolved(client_dirs.map(|dir| client_dir_in(&dir))),
            git_configs,
        }
    }
}

/// The configuration files of a git directory and its submodules, if `dir` is one.
fn configuration(dir: &Path) -> Vec<PathBuf> {
    let modules = fs::read_dir(dir.join("modules")).into_iter().flatten().flatten();
    let modules = modules.take(MOST_SUBMODULES).map(|entry| entry.path());
    let dirs =
        std::iter::once(dir.to_owned()).chain(modules).filter(|dir| dir.join("HEAD").exists());
    dirs.flat_map(|dir| ["config", "config.worktree"].map(|name| dir.join(name))).collect()
}

const MOST_SUBMODULES: usize = 1000;

/// The directory that a client creates for itself in this temporary directory.
pub fn client_dir_in(temporary: &Path) -> PathBuf {
    let own = temporary.join(format!("claude-{}", nix::unistd::geteuid()));
    // It may exist already.
    let _ = fs::DirBuilder::new().mode(0o700).create(&own);
    own
}

fn resolved(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<_> = paths.filter_map(|path| path.canonicalize().ok()).collect();
    paths.sort();
    paths.dedup();
    paths
}

fn outermost(mut dirs: Vec<PathBuf>) -> Vec<PathBuf> {
    dirs.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for dir in dirs {
        if !outer.iter().any(|outer| dir.starts_with(outer)) {
            outer.push(dir);
        }
    }
    outer
}

/// The parts of a repository outside the directory: the rest of the work tree, since tests of a
/// part may write to the root, and for a worktree or submodule the git directory.
fn repository(dir: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(root) = tree::root(dir) else { return Vec::new() };
    // A home directory that is kept in git is not a project.
    let is_above_home = home.is_some_and(|home| home.starts_with(root));
    let mut found = Vec::new();
    if !is_above_home {
        found.push(root.to_owned());
    }
    let git = root.join(".git");
    if git.is_dir() {
        found.push(git);
    } else if let Some(own) = first_line(&git).and_then(|line| elsewhere(root, &line)) {
        let common = first_line(&own.join("commondir")).map(|line| own.join(line));
        found.extend(common.and_then(|common| common.canonicalize().ok()));
        found.push(own);
    }
    found
}

/// `gitdir: ../main/.git/worktrees/this`
fn elsewhere(root: &Path, line: &str) -> Option<PathBuf> {
    root.join(line.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

fn first_line(path: &Path) -> Option<String> {
    let text = crate::files::read_text(path).ok()?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_directories_count() {
        let dirs = ["/a/b", "/a", "/ab", "/c/d", "/a"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(dirs), ["/a", "/ab", "/c/d"].map(PathBuf::from));
    }

    #[test]
    fn a_worktree_includes_the_git_directory_of_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let own = root.join("main/.git/worktrees/x");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let tree = root.join("tree/part");
        fs::create_dir_all(&tree).unwrap();
        fs::write(root.join("tree/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        let found = outermost(repository(&tree, None));
        assert_eq!(found, [root.join("main/.git"), root.join("tree")]);
        assert_eq!(repository(&root, None), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_home_directory_under_git_is_not_covered_for_a_project_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        fs::create_dir_all(home.join(".git")).unwrap();
        fs::create_dir_all(home.join("src/x")).unwrap();
        assert_eq!(repository(&home.join("src/x"), Some(&home)), [home.join(".git")]);
        assert!(repository(&home.join("src/x"), None).contains(&home));
    }
}
