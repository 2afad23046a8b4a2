//! What a case has to cover, and what stays the real thing.

use std::env;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Paths that exist, resolved: a link to the project leads into the case too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Covers {
    /// Directories of which nothing may change, none inside another.
    pub covered: Vec<PathBuf>,
    /// The client's own: the directory `~/.claude` and the file `~/.claude.json`, or what stands for them.
    pub kept: Vec<PathBuf>,
    /// Where everybody may write.
    pub temporary: Vec<PathBuf>,
    /// The directories among those that clients make for themselves.
    pub of_clients: Vec<PathBuf>,
    /// Files that name programs for git to run. They stay what they are, whoever writes to them.
    pub of_git: Vec<PathBuf>,
}

impl Covers {
    /// For these directories, in the environment of the client.
    pub fn of(dirs: &[PathBuf]) -> Self {
        let set =
            |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME");
        let mut covered: Vec<_> = dirs.iter().filter_map(|dir| dir.canonicalize().ok()).collect();
        let repositories: Vec<_> =
            covered.iter().flat_map(|dir| repository(dir, home.as_deref())).collect();
        covered.extend(repositories);
        let of_git = covered.iter().flat_map(|dir| configuration(dir));
        let of_git = resolved(of_git);
        let own = home.map(|home| [home.join(".claude"), home.join(".claude.json")]);
        let kept = own.into_iter().flatten().chain(set("CLAUDE_CONFIG_DIR"));
        let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter();
        let temporary = temporary.chain([env::temp_dir()]).chain(set("CLAUDE_CODE_TMPDIR"));
        let of_clients = [Some(env::temp_dir()), set("CLAUDE_CODE_TMPDIR")].into_iter().flatten();
        Self {
            covered: outermost(covered),
            kept: resolved(kept),
            temporary: resolved(temporary),
            of_clients: resolved(of_clients.map(|dir| of_clients_in(&dir))),
            of_git,
        }
    }
}

/// The configuration of the repository whose directory this may be, and of its submodules.
fn configuration(dir: &Path) -> Vec<PathBuf> {
    let modules = fs::read_dir(dir.join("modules")).into_iter().flatten().flatten();
    let modules = modules.take(MOST_SUBMODULES).map(|entry| entry.path());
    let dirs =
        std::iter::once(dir.to_owned()).chain(modules).filter(|dir| dir.join("HEAD").exists());
    dirs.flat_map(|dir| ["config", "config.worktree"].map(|name| dir.join(name))).collect()
}

const MOST_SUBMODULES: usize = 1000;

/// The directory that a client makes for itself among temporary files.
pub fn of_clients_in(temporary: &Path) -> PathBuf {
    let own = temporary.join(format!("claude-{}", nix::unistd::geteuid()));
    // One that is there already is as good.
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

/// What of a repository lies outside the directory: the rest of the work tree (tests of a part write
/// to the root), and for a worktree or a submodule the directory that git keeps elsewhere.
fn repository(dir: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(root) = dir.ancestors().find(|dir| dir.join(".git").exists()) else {
        return Vec::new();
    };
    // Who keeps a home directory in git does not mean everything below it.
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
    fn a_worktree_brings_the_directory_of_its_repository() {
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
