//! The facts that decide how a session under the Stop hook is judged, as they were when supervision
//! began. They are kept outside the project, so that nothing the agent does to SUPERVISOR.md,
//! `ccc.json`, the generated settings or the state file changes them. (The agent runs as the same user
//! and can write here too; that cannot be prevented, only noticed.)

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::background::Background;
use super::task::Task;
use crate::client::session_id;
use crate::files;

pub const DIRECTORY: &str = "supervised";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pinned {
    /// The conversation being judged. When supervision belongs to a launch of the client, it moves on
    /// to another conversation after `/clear` or `/resume`, and there may be none before the first stop.
    #[serde(default)]
    pub session_id: String,
    pub began_at: Timestamp,
    pub project: PathBuf,
    pub provider: Option<String>,
    /// `None` if there was no SUPERVISOR.md: the default instructions apply.
    pub instructions: Option<PinnedInstructions>,
    pub supervisor: Value,
    /// Digest of the whole `ccc.json`; the file itself may contain keys.
    pub config_digest: String,
    /// Digest of the user's own `settings.json`, if known.
    #[serde(default)]
    pub users_settings_digest: Option<String>,
    /// What the machine's administrator had configured, if known.
    #[serde(default)]
    pub managed: Option<String>,
    pub max_iterations: u32,
    /// The judge's generated settings, which contain no key.
    pub settings: Option<Value>,
    /// The settings of the other judges, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_settings: Vec<Option<Value>>,
    pub claude: Option<PathBuf>,
    /// Identifies the program that `claude` was, if known.
    #[serde(default)]
    pub program: Option<files::Program>,
    /// The agent's options that decide how its prompt begins, if known.
    #[serde(default)]
    pub prompt_options: Vec<String>,
    /// Directories outside the project that the agent was given access to.
    #[serde(default)]
    pub add_dirs: Vec<String>,
    /// The client runs without a person, and may then exit while background tasks are still running.
    #[serde(default)]
    pub print: bool,
    #[serde(default)]
    pub background: Background,
    #[serde(default)]
    pub task: Task,
    /// Files that have changed since, each with the round in which it changed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed_in: BTreeMap<String, u32>,
    /// Changes that the person has already been told of, so that each is reported once.
    #[serde(default)]
    pub told: Vec<String>,
    /// Messages to show at the next stop: the client shows nothing that a hook says before then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedInstructions {
    pub path: PathBuf,
    pub text: String,
}

/// What the agent works on.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Asked {
    /// The turn, if it is known: a prompt's. Feedback, and work whose review was put off, are due whatever
    /// the next turn is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

impl Asked {
    /// Whether the turn that has ended is this one, as far as the client says.
    pub fn is_in(&self, turn: Option<&str>) -> bool {
        match (self.turn.as_deref(), turn) {
            (Some(asked), Some(turn)) => asked == turn,
            _ => true,
        }
    }
}

/// Where the pinned facts of one supervision are kept. It belongs to a launch of the client, or to a session.
#[derive(Debug, Clone)]
pub struct PinnedFile {
    dir: PathBuf,
    id: String,
    of_launch: bool,
}

impl PinnedFile {
    /// For a session that ccc did not launch.
    pub fn of_session(config_dir: &Path, id: &str) -> Result<Self> {
        ensure!(session_id::is_safe(id), "{id:?} is not a session id");
        Ok(Self { dir: config_dir.join(DIRECTORY), id: id.to_owned(), of_launch: false })
    }

    pub fn of_launch(config_dir: &Path, id: &str) -> Result<Self> {
        Ok(Self { of_launch: true, ..Self::of_session(config_dir, id)? })
    }

    /// For the launch if ccc launched the client, otherwise for the session.
    pub fn of(config_dir: &Path, launch: Option<&str>, session: &str) -> Result<Self> {
        match launch.filter(|launch| session_id::is_safe(launch)) {
            Some(launch) => Self::of_launch(config_dir, launch),
            None => Self::of_session(config_dir, session),
        }
    }

    pub fn current(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.id))
    }

    /// The facts of a supervision that somebody asked to start in place of the running one.
    pub fn wanted(&self) -> PathBuf {
        self.dir.join(format!("{}.wanted.json", self.id))
    }

    /// A marker that exists while a launch is unsupervised: it started that way, or the person switched
    /// supervision off.
    fn off(&self) -> PathBuf {
        self.dir.join(format!("{}.off.json", self.id))
    }

    /// Whether the launch should be under supervision, even if its pinned facts are missing.
    pub fn is_due(&self) -> bool {
        self.of_launch && !self.off().exists()
    }

    pub fn begin(&self, pinned: &Pinned) -> Result<()> {
        pinned.save(&self.current())?;
        if self.of_launch {
            remove(&self.off());
        }
        Ok(())
    }

    /// Ends supervision, or records that a launch starts without it.
    pub fn end(&self) -> Result<()> {
        if self.of_launch {
            files::replace(&self.off(), b"{}")?;
        }
        for path in [self.current(), self.wanted(), self.base(), self.asked()] {
            remove(&path);
        }
        Ok(())
    }

    /// A marker that exists while the agent has a prompt or feedback to work on. It is a separate file
    /// because a prompt can arrive while a review is running.
    fn asked(&self) -> PathBuf {
        self.dir.join(format!("{}.asked.json", self.id))
    }

    pub fn ask(&self, asked: &Asked) -> Result<()> {
        files::replace(&self.asked(), &serde_json::to_vec(asked)?)
    }

    /// What the agent, which has now stopped, had to work on; removes the marker.
    pub fn was_asked(&self) -> Option<Asked> {
        let text = files::read_own(&self.asked());
        std::fs::remove_file(self.asked()).ok()?;
        // In case of doubt, the turn was work.
        Some(text.ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default())
    }

    /// The snapshot of the project's files from when the task began.
    pub fn base(&self) -> PathBuf {
        self.dir.join(format!("{}.files.json", self.id))
    }

    /// The settings of a client that ccc started, if they are too long for an argument.
    pub fn client(&self) -> PathBuf {
        self.dir.join(format!("{}.client.json", self.id))
    }
}

fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            log::warn!("{} was not removed: {error}", path.display());
        }
        _ => {}
    }
}

/// A session without a review for this long is over or forgotten.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Removes files of abandoned sessions and launches, copies included. ccc does not always learn that
/// one ends: a window is closed, or the machine is switched off.
pub fn sweep(config_dir: &Path) {
    for entry in std::fs::read_dir(config_dir.join(DIRECTORY)).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|meta| meta.modified());
        if changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > KEPT)) {
            remove(&entry.path());
        }
    }
}

impl Pinned {
    pub fn load(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::if_there(files::read_own(path), path)? else { return Ok(None) };
        let pinned = serde_json::from_slice(&bytes);
        pinned.map(Some).with_context(|| format!("{} is broken", path.display()))
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        files::replace(path, &serde_json::to_vec_pretty(self)?)
    }
}

const COPY: &str = "file-";

/// Fails if a copy among the options was changed: the agent can write these files too.
pub fn check_copies(options: &[OsString]) -> Result<()> {
    for option in options {
        // The path may also follow `--option=`.
        let name = option.to_string_lossy();
        let path = name.find("=/").map_or(&*name, |at| &name[at + 1..]);
        let path = Path::new(path);
        let is_ours = path.parent().and_then(Path::file_name).is_some_and(|dir| dir == DIRECTORY);
        let digest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(COPY));
        if let Some(digest) = digest.filter(|_| is_ours) {
            ensure!(
                files::digest_of(path) == digest,
                "{}, a copy that ccc made for the supervisor when supervision began, was changed since",
                path.display()
            );
        }
    }
    Ok(())
}

/// Where a copy of a file is kept. It is named after its content, so that copies do not pile up.
pub fn copy_path(config_dir: &Path, content: &[u8]) -> PathBuf {
    config_dir.join(DIRECTORY).join(format!("{COPY}{}", files::hex_digest(content)))
}
