//! The three directories that everything else is found from, resolved once at the start of a command.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Where ccc stores what belongs to a project, relative to the project's directory.
pub const STATE_DIR: &str = ".claude/ccc";

pub struct Directories {
    pub project: PathBuf,
    pub config_dir: PathBuf,
    pub state_dir: PathBuf,
}

impl Directories {
    pub fn find() -> Result<Self> {
        let project = env::current_dir().context("the current directory no longer exists")?;
        let config_dir = set("CCC_CONFIG_DIR").or_else(|| set("CLAUDE_CONFIG_DIR"));
        let config_dir = match config_dir {
            Some(dir) => project.join(dir),
            None => dirs::home_dir()
                .context("ccc cannot find your home directory; set HOME")?
                .join(".claude"),
        };
        let state_dir = project.join(STATE_DIR);
        Ok(Self { project, config_dir, state_dir })
    }

    /// Where claude keeps the conversations of this project.
    pub fn conversations(&self) -> Option<PathBuf> {
        let dir = match (set("CCC_CONFIG_DIR"), set("CLAUDE_CONFIG_DIR")) {
            (None, _) => self.config_dir.clone(),
            (Some(_), Some(dir)) => self.project.join(dir),
            (Some(_), None) => dirs::home_dir()?.join(".claude"),
        };
        let name = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = self.project.to_str()?.chars().map(name).collect();
        Some(dir.join("projects").join(name))
    }
}

fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}
