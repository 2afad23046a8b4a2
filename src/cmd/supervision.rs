//! Starts a supervision by the Stop hook: pins the facts that decide from now on.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use serde_json::Value;

use super::{base, release};
use crate::client::args::ClientArgs;
use crate::config::clients::Limits;
use crate::config::{self, Config, managed};
use crate::directories::Directories;
use crate::executables;
use crate::files;
use crate::hook::background::Background;
use crate::hook::pinned::{self, Pinned, PinnedFile, PinnedInstructions};
use crate::hook::state::StateFile;
use crate::hook::task::Task;
use crate::review::instructions;

/// What is known about the client when supervision begins.
#[derive(Default)]
pub struct Begins<'a> {
    pub provider: Option<&'a str>,
    /// The generated settings file of each judge.
    pub settings: &'a [PathBuf],
    pub max_iterations: Option<u32>,
    pub arguments: Option<&'a ClientArgs>,
}

/// Collects the facts as they are now.
pub fn pin(
    directories: &Directories,
    config: &Config,
    id: &str,
    begins: &Begins<'_>,
) -> Result<Pinned> {
    let found = instructions::find(&directories.project, &directories.config_dir).ok();
    let instructions = found.and_then(|found| {
        // The whole file, including its front matter.
        let text = files::read_text(&found.path).ok()?;
        Some(PinnedInstructions { path: found.path, text })
    });
    let read = |path: &PathBuf| {
        let text = files::read_text(path).ok();
        text.and_then(|text| serde_json::from_str::<Value>(&text).ok())
    };
    let mut settings = begins.settings.iter().map(read);
    let claude = executables::claude().ok();
    Ok(Pinned {
        session_id: id.to_owned(),
        began_at: Timestamp::now(),
        project: directories.project.clone(),
        provider: begins.provider.map(str::to_owned),
        instructions,
        supervisor: config.supervisor_section(),
        config_digest: files::digest_of(&directories.config_dir.join(config::FILE)),
        users_settings_digest: Some(files::digest_of(&directories.users_settings())),
        managed: Some(managed::fingerprint()),
        max_iterations: Limits::of(config, begins.max_iterations)?.max_iterations,
        settings: settings.next().flatten(),
        other_settings: settings.collect(),
        program: claude.as_deref().map(files::Program::now),
        claude,
        prompt_options: begins
            .arguments
            .map(|taken| as_text(&pinned_options(&directories.config_dir, &taken.prompt_options)))
            .unwrap_or_default(),
        add_dirs: begins.arguments.map(|taken| as_text(&taken.add_dirs)).unwrap_or_default(),
        print: begins.arguments.is_some_and(|taken| taken.print),
        background: Background::default(),
        task: Task::default(),
        changed_in: BTreeMap::new(),
        told: Vec::new(),
        unread: Vec::new(),
    })
}

fn as_text(args: &[OsString]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect()
}

/// The agent's options that a review needs, with a copy of every file that they name as it is now: the
/// agent can change the file itself. A file that cannot be read is left to the client, which reports it.
pub fn pinned_options(config_dir: &Path, options: &[OsString]) -> Vec<OsString> {
    const FILES: [&str; 3] =
        ["--mcp-config", "--append-system-prompt-file", "--system-prompt-file"];
    let mut names_files = false;
    let pinned = options.iter().map(|option| {
        let text = option.to_string_lossy();
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (&*text, None),
        };
        if name.starts_with("--") {
            names_files = FILES.contains(&name);
        }
        let file = match attached {
            Some(value) if names_files => value,
            None if names_files && !name.starts_with("--") => &text,
            _ => return option.clone(),
        };
        match files::read(Path::new(file)).ok().and_then(|bytes| copy(config_dir, &bytes)) {
            Some(copy) if attached.is_some() => format!("{name}={}", copy.display()).into(),
            Some(copy) => copy.into(),
            None => option.clone(),
        }
    });
    pinned.collect()
}

fn copy(config_dir: &Path, bytes: &[u8]) -> Option<PathBuf> {
    let path = pinned::copy_path(config_dir, bytes);
    let written = files::replace(&path, bytes);
    written.inspect_err(|error| log::warn!("{}: {error:#}", path.display())).ok()?;
    Some(path)
}

/// Switches supervision on. If it is already on, the present facts stay in force until the Stop hook
/// has confirmed that it was the person who asked for a new start.
pub fn begin(
    directories: &Directories,
    state: Option<&StateFile>,
    file: &PinnedFile,
    id: &str,
    begins: &Begins<'_>,
) -> Result<()> {
    if let Ok(claude) = executables::claude() {
        release::refuse_too_old(&claude)?;
    }
    let config = Config::load(&directories.config_dir)?;
    let pinned = pin(directories, &config, id, begins)?;
    // Somebody may have removed the facts of a supervised launch; that must not let them pin others.
    let runs = file.current().exists() || (begins.arguments.is_none() && file.is_due());
    pinned::sweep(&directories.config_dir);
    if let Some(state) = state {
        state.change(|state| {
            state.enabled = true;
            state.task = Task::default();
        })?;
    }
    if !runs {
        base::renew(file, &directories.project);
    }
    if runs { pinned.save(&file.wanted()) } else { file.begin(&pinned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_options_name_are_copied_as_they_are_now() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("servers.json");
        std::fs::write(&file, "of the start").unwrap();
        let name = file.to_str().unwrap();
        let attached = format!("--append-system-prompt-file={name}");
        let json = r#"{"mcpServers":{}}"#;
        let given = ["--mcp-config", name, json, &attached, "--tools", name].map(OsString::from);
        let pinned = as_text(&pinned_options(dir.path(), &given));
        std::fs::write(&file, "of the agent").unwrap();
        assert_eq!(std::fs::read_to_string(&pinned[1]).unwrap(), "of the start");
        assert_eq!(pinned[3], format!("--append-system-prompt-file={}", pinned[1]));
        let unchanged = [&pinned[0], &pinned[2], &pinned[4], &pinned[5]];
        assert_eq!(unchanged, ["--mcp-config", json, "--tools", name]);
        let options: Vec<_> = pinned.iter().map(OsString::from).collect();
        pinned::check_copies(&options).unwrap();
        std::fs::write(&pinned[1], "of the agent").unwrap();
        for options in [&options[..2], &options[3..4]] {
            let error = pinned::check_copies(options).unwrap_err().to_string();
            assert!(error.contains("was changed since"), "{error}");
        }
    }
}
