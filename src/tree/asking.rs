//! git, asked: within a bound of time, and not at all where a pipe or a device stands in the place of a
//! file that it reads first. An agent can put one there, and git waits for it for ever.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::files;
use crate::process::answer::{Answer, Bounds, answer};

/// A disk on the network may be slow; one that does not answer must not hold up a session for ever.
const DEADLINE: Duration = Duration::from_secs(30);
/// For what takes a few small files.
const SOON: Duration = Duration::from_secs(5);

/// What git reads whatever it is asked, below its own directory and in the root of the files.
const OWN: [&str; 7] = [
    "HEAD",
    "index",
    "config",
    "config.worktree",
    "packed-refs",
    "info/exclude",
    "info/attributes",
];
const ROOT: [&str; 2] = [".gitignore", ".gitattributes"];

/// Asks about the repository around `dir`, in which the command is run. At most `bytes` are read of
/// the answer.
pub fn ask(command: &mut Command, dir: &Path, input: &[u8], bytes: u64) -> Result<Answer> {
    ask_within(Bounds { time: DEADLINE, bytes }, command, dir, input)
}

/// What stands in its configuration, or where something is. Nobody waits long for that.
pub fn ask_soon(command: &mut Command, dir: &Path) -> Result<Answer> {
    ask_within(Bounds { time: SOON, bytes: u64::MAX }, command, dir, b"")
}

fn ask_within(bounds: Bounds, command: &mut Command, dir: &Path, input: &[u8]) -> Result<Answer> {
    if let Some(odd) = odd_file(dir) {
        bail!("{} is no file", odd.display());
    }
    answer(command.current_dir(dir), input, bounds)
}

fn odd_file(dir: &Path) -> Option<PathBuf> {
    let root = dir.ancestors().find(|dir| dir.join(".git").exists())?;
    let git = git_dir(root);
    let own = git.iter().flat_map(|git| OWN.iter().map(|name| git.join(name)));
    let mut all = own.chain(ROOT.iter().map(|name| root.join(name))).chain([root.join(".git")]);
    all.find(|path| path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()))
}

/// The directory that git keeps for the files below `root`. A worktree and a submodule have a file in
/// its place that names it.
pub fn git_dir(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = files::read_text(&git).ok()?;
    Some(root.join(text.trim().strip_prefix("gitdir: ")?))
}
