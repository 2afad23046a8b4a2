//! Runs git with a time limit, and not at all if a pipe or a device takes the place of a file that
//! git always reads: an agent can put one there, and git would wait for it for ever. If there is
//! one deeper down, among rules, refs or objects, git is run, and ended as soon as it is seen to
//! wait.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::files;
use crate::process::answer::{Bounds, ProgramOutput, answer};

/// A network disk may be slow, but one that does not answer must not hold up a session for ever.
const DEADLINE: Duration = Duration::from_secs(30);
/// For questions that need only a few small files.
const SOON: Duration = Duration::from_secs(5);
/// git is taken to be waiting after this long without any activity. Reading files counts as
/// activity.
const IDLE: Duration = Duration::from_secs(1);

/// What git reads for every question, in its own directory and at the root of the files.
const OWN: [&str; 7] = [
    "HEAD",
    "index",
    "config",
    "config.worktree",
    "packed-refs",
    "info/exclude",
    "info/attributes",
];
const RULES: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// The number of files that are examined to find what git waited for.
const MOST_LOOKED: usize = 100_000;

/// Asks git about the repository around `dir`, in which the command is run. At most `bytes` of the
/// answer are read.
pub fn ask(command: &mut Command, dir: &Path, input: &[u8], bytes: u64) -> Result<ProgramOutput> {
    ask_within(Bounds { time: DEADLINE, idle: IDLE, bytes }, command, dir, input)
}

/// Asks for a setting or a location, with a short time limit.
pub fn ask_soon(command: &mut Command, dir: &Path) -> Result<ProgramOutput> {
    ask_within(Bounds { time: SOON, idle: IDLE, bytes: u64::MAX }, command, dir, b"")
}

fn ask_within(
    bounds: Bounds,
    command: &mut Command,
    dir: &Path,
    input: &[u8],
) -> Result<ProgramOutput> {
    if let Some(odd) = odd_file(dir) {
        bail!("{} is not a file", odd.display());
    }
    // These settings keep git to the files at this root, whatever the configuration says, and to
    // the committed objects rather than to replacements for them.
    if let Some(root) = root(dir) {
        command.env("GIT_WORK_TREE", root);
    }
    command.current_dir(dir).env("GIT_NO_REPLACE_OBJECTS", "1");
    answer(command, input, bounds).map_err(|error| match waited_for(dir) {
        Some(odd) => {
            let why = anyhow!("{} is not a file", odd.display());
            met().insert(odd);
            why
        }
        None => error,
    })
}

/// The top of the files of the repository around `dir`.
pub fn root(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|dir| dir.join(".git").exists())
}

/// The files for which git once waited. As long as one of them exists, git is not run again.
static MET: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn met() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    MET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file for which git waited, if it can be found: anything in git's own directory, and rules
/// elsewhere.
fn waited_for(dir: &Path) -> Option<PathBuf> {
    let root = root(dir)?;
    let mut left: Vec<(PathBuf, bool)> = git_dir(root).into_iter().map(|dir| (dir, true)).collect();
    left.insert(0, (root.to_owned(), false));
    let mut looked = 0;
    while let Some((dir, is_gits)) = left.pop().filter(|_| looked < MOST_LOOKED) {
        for entry in std::fs::read_dir(dir).ok().into_iter().flatten().flatten() {
            looked += 1;
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if name != ".git" {
                    left.push((path, is_gits));
                }
            } else if (is_gits || RULES.iter().any(|rules| name == *rules)) && is_odd(&path) {
                return Some(path);
            }
        }
    }
    None
}

fn odd_file(dir: &Path) -> Option<PathBuf> {
    let root = root(dir)?;
    let git = git_dir(root);
    let own = git.iter().flat_map(|git| OWN.iter().map(|name| git.join(name)));
    let mut all = own.chain(RULES.iter().map(|name| root.join(name))).chain([root.join(".git")]);
    all.find(|path| is_odd(path)).or_else(|| {
        let known = |path: &&PathBuf| is_odd(path) && waits_below(root, git.as_deref(), path);
        met().iter().find(known).cloned()
    })
}

fn waits_below(root: &Path, git: Option<&Path>, path: &Path) -> bool {
    path.starts_with(root) || git.is_some_and(|git| path.starts_with(git))
}

fn is_odd(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// The directory in which git keeps the repository of the files below `root`. In a worktree or a
/// submodule, `.git` is a file that names it.
pub fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = files::read_text(&git).ok()?;
    Some(root.join(text.trim().strip_prefix("gitdir: ")?))
}
