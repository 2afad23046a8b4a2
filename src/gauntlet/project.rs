//! The project of a session before anyone works on it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::session::GauntletSession;
use crate::process::orphans::Awaited;

/// The environment of everything that runs in a project: Python leaves no files, and git is
/// independent of the user's configuration.
const ENV: [(&str, &str); 7] = [
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@localhost"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@localhost"),
    ("LC_ALL", "C.UTF-8"),
];

/// A shell for this command in a project, without the user's environment: a `GIT_DIR`, for example,
/// would lead it into another repository, and keys must not reach it.
pub fn shell(command: &str, dir: &Path, home: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(dir).env_clear().envs(ENV).env("HOME", home);
    for name in ["PATH", "TMPDIR"] {
        shell.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    shell
}

/// `dir` must exist and be empty.
pub fn write(session: &GauntletSession, dir: &Path) -> Result<()> {
    for (path, text) in &session.files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().context("no directory")?)?;
        fs::write(path, text)?;
    }
    if !session.without_git {
        let git = "git init -q --template= && git add -A && git commit -q --allow-empty -m begin";
        let (mut child, _awaited) = Awaited::spawn(&mut shell(git, dir, dir))?;
        ensure!(child.wait()?.success(), "git could not make the project a repository");
    }
    Ok(())
}
