//! The directories that everything else is found from, resolved once at the start of a command.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Where ccc stores what belongs to a project, relative to the project's directory.
pub const STATE_DIR: &str = ".claude/ccc";

#[derive(Clone)]
pub struct Directories {
    pub project: PathBuf,
    /// ccc's own files.
    pub config_dir: PathBuf,
    /// claude's own files: its settings, commands and conversations. Not canonicalized, because claude
    /// follows links in this path itself.
    pub client_dir: PathBuf,
    pub state_dir: PathBuf,
}

impl Directories {
    pub fn find() -> Result<Self> {
        let project = env::current_dir().context("the current directory no longer exists")?;
        let set = |name: &str| {
            let dir = env::var_os(name).filter(|value| !value.is_empty());
            dir.map(|dir| project.join(dir))
        };
        let client_dir = set("CLAUDE_CONFIG_DIR")
            .or_else(|| Some(dirs::home_dir()?.join(".claude")))
            .context("ccc cannot find your home directory; set HOME")?;
        let config_dir = set("CCC_CONFIG_DIR").unwrap_or_else(|| client_dir.clone());
        let state_dir = project.join(STATE_DIR);
        Ok(Self { project, config_dir, client_dir, state_dir })
    }

    /// Where claude keeps the conversations of all projects.
    pub fn all_conversations(&self) -> PathBuf {
        self.client_dir.join("projects")
    }

    /// Where claude keeps the conversations of this project.
    pub fn conversations(&self) -> Option<PathBuf> {
        let name = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = self.project.to_str()?.chars().map(name).collect();
        Some(self.all_conversations().join(name))
    }

    /// The user's settings of claude, which ccc only reads.
    pub fn users_settings(&self) -> PathBuf {
        self.client_dir.join("settings.json")
    }
}
