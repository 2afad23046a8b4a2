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

/// Everything a session needs to know, resolved: nothing is looked up later.
pub struct Setup {
    pub rules: Rules,
    pub prompt: Option<String>,
    pub first: AgentStart,
    pub ccc: PathBuf,
    /// The client: an executable, and what must precede its arguments.
    pub claude: Vec<OsString>,
    /// The program that plays the agent instead of the client.
    pub scripted_agent: Option<Vec<OsString>>,
    pub claude_args: Vec<OsString>,
    /// A person watches the text arrive, so the client is asked to stream it.
    pub live: bool,
    /// A person types, so the client is asked to list its slash commands and models before its first
    /// message.
    pub introduced: bool,
    pub settings: Option<PathBuf>,
    pub agent_env: Vec<(OsString, OsString)>,
    pub judge: JudgeLaunch,
    /// The judges after the first, if there are several.
    pub other_judges: Vec<JudgeLaunch>,
    pub instructions: String,
    /// Files that were read once, when the session began.
    pub watched: WatchedFiles,
    /// Files that every shell reads when it starts, including the judge's.
    pub start_files: WatchedFiles,
    /// The administrator's managed settings when the session began.
    pub managed: Option<String>,
    /// Where files are examined and checks run; `None` for a scripted session.
    pub workplace: Option<Workplace>,
    pub dir: PathBuf,
    pub size: (u16, u16),
    pub recorder: Option<Recorder>,
    /// Finds what earlier runs of a session handed on, by its id.
    pub earlier: Earlier,
    /// Reads the commands that the agent ran in earlier runs. `None` for a new session.
    pub earlier_commands: Option<ReadEarlierCommands>,
    /// The person's own editor, and its arguments.
    pub editor: OsString,
    /// The person's pager, and its arguments.
    pub pager: OsString,
    /// Set if the client has its own screen; ccc then communicates through its hooks.
    pub native: Option<NativeSetup>,
}

#[derive(Clone, Default)]
pub struct JudgeLaunch {
    pub env: Vec<(OsString, OsString)>,
    /// `None` for a scripted judge.
    pub settings: Option<JudgeSettings>,
    pub options: ReviewOptions,
}

impl Setup {
    /// A session of `claude` in this directory that nobody watches, records or continues.
    pub fn new(
        rules: Rules,
        first: AgentStart,
        ccc: PathBuf,
        claude: Vec<OsString>,
        dir: PathBuf,
    ) -> Self {
        Self {
            rules,
            prompt: None,
            first,
            ccc,
            claude,
            scripted_agent: None,
            claude_args: Vec::new(),
            live: false,
            introduced: false,
            settings: None,
            agent_env: Vec::new(),
            judge: JudgeLaunch::default(),
            other_judges: Vec::new(),
            instructions: String::new(),
            watched: WatchedFiles::default(),
            start_files: WatchedFiles::default(),
            managed: None,
            workplace: None,
            dir,
            size: (120, 40),
            recorder: None,
            earlier: Box::new(|_| None),
            earlier_commands: None,
            editor: OsString::new(),
            pager: OsString::new(),
            native: None,
        }
    }

    pub(super) fn judge(&self, at: usize) -> &JudgeLaunch {
        let other = at.checked_sub(1).and_then(|at| self.other_judges.get(at));
        other.unwrap_or(&self.judge)
    }
}

pub type ReadEarlierCommands = Arc<dyn Fn(&str) -> Commands + Send + Sync>;
pub type Earlier = Box<dyn Fn(&str) -> Option<Carried>>;
