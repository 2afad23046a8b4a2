//! What a session is started with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::{NativeSetup, Workplace};
use crate::client::launch::{AgentStart, ReviewOptions};
use crate::config::clients::JudgeSettings;
use crate::event::Carried;
use crate::files::WatchedFiles;
use crate::machine::Rules;
use crate::record::Recorder;
use crate::review::commands::Commands;

/// Everything a session needs to know, resolved: nothing is looked up after this.
pub struct Setup {
    pub rules: Rules,
    pub prompt: Option<String>,
    pub first: AgentStart,
    pub ccc: PathBuf,
    /// The client: an executable, and what must stand in front of its arguments.
    pub claude: Vec<OsString>,
    /// What plays the agent in the client's place.
    pub scripted_agent: Option<Vec<OsString>>,
    pub claude_args: Vec<OsString>,
    /// Somebody watches the text come, so the client is asked for it piece by piece.
    pub live: bool,
    /// Somebody types, so the client is asked for its slash commands and models before it has
    /// anything to do.
    pub introduced: bool,
    pub settings: Option<PathBuf>,
    pub agent_env: Vec<(OsString, OsString)>,
    pub judge: JudgeStart,
    /// Where several judge: those after the first.
    pub other_judges: Vec<JudgeStart>,
    /// SUPERVISOR.md.
    pub instructions: String,
    /// Files that were read once, when the session began.
    pub watched: WatchedFiles,
    /// What every shell reads when it starts, the judge's too.
    pub start_files: WatchedFiles,
    /// What the machine's administrator had set when the session began.
    pub managed: Option<String>,
    /// Where files are looked at and checks run, if they are.
    pub workplace: Option<Workplace>,
    pub dir: PathBuf,
    pub size: (u16, u16),
    pub recorder: Option<Recorder>,
    /// What earlier runs of a session left, by its id.
    pub earlier: Earlier,
    /// What the agent ran in them. `None` for a session that begins here.
    pub earlier_commands: Option<EarlierCommands>,
    /// The person's own editor, and its arguments.
    pub editor: OsString,
    /// The same for what is only read.
    pub pager: OsString,
    /// The client has its own screen, and is spoken to through its hooks.
    pub native: Option<NativeSetup>,
}

/// With what a judge is started.
#[derive(Clone, Default)]
pub struct JudgeStart {
    pub env: Vec<(OsString, OsString)>,
    /// A scripted judge has none.
    pub settings: Option<JudgeSettings>,
    pub options: ReviewOptions,
}

impl Setup {
    pub(super) fn judge(&self, at: usize) -> &JudgeStart {
        let other = at.checked_sub(1).and_then(|at| self.other_judges.get(at));
        other.unwrap_or(&self.judge)
    }
}

pub type EarlierCommands = Arc<dyn Fn(&str) -> Commands + Send + Sync>;
pub type Earlier = Box<dyn Fn(&str) -> Option<Carried>>;
