//! Where things are: resolved once, at the start of a command.

use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub struct Place {
    pub project: PathBuf,
    pub config_dir: PathBuf,
    pub state_dir: PathBuf,
}

impl Place {
    pub fn find() -> Result<Self> {
        let project = env::current_dir().context("the current directory is gone")?;
        let config_dir = set("CCC_CONFIG_DIR").or_else(|| set("CLAUDE_CONFIG_DIR"));
        let config_dir = match config_dir {
            Some(dir) => project.join(dir),
            None => dirs::home_dir().context("there is no home directory")?.join(".claude"),
        };
        let state_dir = project.join(".claude/ccc");
        Ok(Self { project, config_dir, state_dir })
    }
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The client: `CCC_CLAUDE`, else `claude` on the path. Checked here, because a PTY reports a
/// missing executable as a child that started and failed.
pub fn claude() -> Result<PathBuf> {
    if let Some(chosen) = set("CCC_CLAUDE") {
        let path = PathBuf::from(&chosen);
        let found = if path.components().count() > 1 { Some(path) } else { on_path(&path) };
        return match found.filter(|path| is_executable(path)) {
            Some(path) => Ok(std::path::absolute(path)?),
            None => bail!("CCC_CLAUDE names {}, which cannot be run", chosen.display()),
        };
    }
    on_path(Path::new("claude")).context(
        "claude is not on the PATH. Install it (npm install -g @anthropic-ai/claude-code), or name \
         the executable in CCC_CLAUDE",
    )
}

pub fn on_path(name: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
