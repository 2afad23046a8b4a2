//! What counts for a session that the Stop hook supervises, as it was when supervision began. It is
//! kept outside the project, so that nothing the agent does to SUPERVISOR.md, to `ccc.json`, to the
//! generated settings or to the state file changes how it is judged. (The same user can write here
//! too: that cannot be prevented, only be seen by whoever looks.)

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
    /// The conversation that is judged. Supervision that belongs to a launch of the client goes on with
    /// another one after `/clear` or `/resume`; before its first stop there may be none.
    #[serde(default)]
    pub session_id: String,
    pub began_at: Timestamp,
    pub project: PathBuf,
    /// The agent's provider, where it is known.
    pub provider: Option<String>,
    /// `None`: there was no SUPERVISOR.md, and the default counts.
    pub instructions: Option<PinnedInstructions>,
    /// The `supervisor` section of `ccc.json`.
    pub supervisor: Value,
    /// Of the whole `ccc.json`, which may hold keys.
    pub config_digest: String,
    /// Of the user's own `settings.json`, where it is known.
    #[serde(default)]
    pub users_settings_digest: Option<String>,
    /// What the machine's administrator had set, where it is known.
    #[serde(default)]
    pub managed: Option<String>,
    pub max_iterations: u32,
    /// The judge's generated settings, in which no key stands.
    pub settings: Option<Value>,
    /// Those of the other judges, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_settings: Vec<Option<Value>>,
    pub claude: Option<PathBuf>,
    /// Which program that was, where it is known.
    #[serde(default)]
    pub program: Option<files::Program>,
    /// The agent's options that decide how its prompt begins, where they are known.
    #[serde(default)]
    pub prompt_options: Vec<String>,
    /// Directories beside the project that the agent was given.
    #[serde(default)]
    pub add_dirs: Vec<String>,
    /// Nobody is there, and a client without a person may leave while something runs in the background.
    #[serde(default)]
    pub print: bool,
    #[serde(default)]
    pub background: Background,
    #[serde(default)]
    pub task: Task,
    /// Files that were changed since, and in which round.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed_in: BTreeMap<String, u32>,
    /// What the person was told of changes since, so that it is told once.
    #[serde(default)]
    pub told: Vec<String>,
    /// What the person has to read at the next stop: the client shows nothing that a hook says before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedInstructions {
    pub path: PathBuf,
    pub text: String,
}

/// Where the pinned facts of one supervision are: of a launch of the client, or of a session.
#[derive(Debug, Clone)]
pub struct PinnedFile {
    dir: PathBuf,
    id: String,
    of_launch: bool,
}

impl PinnedFile {
    /// Of a session that ccc did not launch.
    pub fn of_session(config_dir: &Path, id: &str) -> Result<Self> {
        ensure!(session_id::is_safe(id), "{id:?} is not a session id");
        Ok(Self { dir: config_dir.join(DIRECTORY), id: id.to_owned(), of_launch: false })
    }

    pub fn of_launch(config_dir: &Path, id: &str) -> Result<Self> {
        Ok(Self { of_launch: true, ..Self::of_session(config_dir, id)? })
    }

    /// Of the launch, where ccc launched the client; else of the session.
    pub fn of(config_dir: &Path, launch: Option<&str>, session: &str) -> Result<Self> {
        match launch.filter(|launch| session_id::is_safe(launch)) {
            Some(launch) => Self::of_launch(config_dir, launch),
            None => Self::of_session(config_dir, session),
        }
    }

    /// Of the running supervision.
    pub fn current(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.id))
    }

    /// Of a supervision that somebody wants to begin in the place of the running one.
    pub fn wanted(&self) -> PathBuf {
        self.dir.join(format!("{}.wanted.json", self.id))
    }

    /// Is there while a launch is not supervised: it began so, or the person switched supervision off.
    fn off(&self) -> PathBuf {
        self.dir.join(format!("{}.off.json", self.id))
    }

    /// The launch is supervised, whether the pinned facts are there or not.
    pub fn is_due(&self) -> bool {
        self.of_launch && !self.off().exists()
    }

    /// Supervision begins with these facts.
    pub fn begin(&self, pinned: &Pinned) -> Result<()> {
        pinned.save(&self.current())?;
        if self.of_launch {
            remove(&self.off());
        }
        Ok(())
    }

    /// The person does not want it, or not yet.
    pub fn end(&self) -> Result<()> {
        if self.of_launch {
            files::replace(&self.off(), b"{}")?;
        }
        for path in [self.current(), self.wanted(), self.base(), self.asked()] {
            remove(&path);
        }
        Ok(())
    }

    /// Is there while the agent has a prompt or feedback to work on. A file of its own: a prompt can come while
    /// a review runs.
    fn asked(&self) -> PathBuf {
        self.dir.join(format!("{}.asked.json", self.id))
    }

    pub fn ask(&self) -> Result<()> {
        files::replace(&self.asked(), b"{}")
    }

    /// Whether the agent had something to work on; it has stopped.
    pub fn was_asked(&self) -> bool {
        std::fs::remove_file(self.asked()).is_ok()
    }

    /// The project's files as they were when the task began.
    pub fn base(&self) -> PathBuf {
        self.dir.join(format!("{}.files.json", self.id))
    }

    /// The settings of a client that ccc started, where they are too long to be an argument.
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

/// A session that has not been reviewed for so long is over, or the person has forgotten it.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Takes away what is left of sessions that nobody has gone on with. Their ends are not told to ccc: a
/// window is closed, a machine is switched off.
pub fn sweep(config_dir: &Path) {
    let Ok(entries) = std::fs::read_dir(config_dir.join(DIRECTORY)) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let old = entry
            .metadata()
            .and_then(|meta| meta.modified())
            .is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > KEPT));
        if old && path.extension().is_some_and(|ending| ending == "json") {
            let _ = std::fs::remove_file(&path);
        }
    }
}

impl Pinned {
    pub fn load(path: &Path) -> Result<Option<Self>> {
        match files::read_own(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .with_context(|| format!("{} is broken", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        files::replace(path, &serde_json::to_vec_pretty(self)?)
    }
}

const COPY: &str = "file-";

/// Every copy among the options has to be what it was: the agent can write it as well.
pub fn check_copies(options: &[OsString]) -> Result<()> {
    for option in options {
        // Behind `--option=` too.
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

/// Where a copy of a file is kept: named by its content, so that copies do not pile up.
pub fn copy_path(config_dir: &Path, content: &[u8]) -> PathBuf {
    config_dir.join(DIRECTORY).join(format!("{COPY}{}", files::hex_digest(content)))
}
