//! What a review needs to know from outside: its one-time word, and whether the evidence in a
//! verdict exists.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, bounded};

use super::Session;
use crate::brief::old_lines::OldLines;
use crate::event::{Event, ReviewRequest};
use crate::review::commands::Commands;
use crate::review::evidence::verify;
use crate::review::lookup::Lookup;
use crate::review::policy::Judging;
use crate::review::requirement::Evidence;
use crate::review::word;
use crate::threads::named;

/// What evidence is checked against.
#[derive(Debug, Default)]
pub struct KnownFacts {
    pub agent: Commands,
    /// The commands that the agent ran in earlier runs of the session.
    earlier: EarlierCommands,
    pub judge: Commands,
    request: ReviewRequest,
}

impl KnownFacts {
    /// The one-time word of the current review.
    pub fn word(&self) -> Option<&str> {
        self.request.word.as_deref()
    }
}

/// What stood in the project's files before the task began, as they were examined last.
#[derive(Default)]
pub struct KnownOldLines {
    found: Arc<Mutex<Option<OldLines>>>,
    /// Whether the task began before the first look at the files, so that nothing is known.
    began_earlier: bool,
}

impl KnownOldLines {
    pub fn task_begins(&mut self) {
        *self = Self::default();
    }

    /// The task turns out to be one that began earlier.
    pub fn forget(&mut self) {
        *self = Self { began_earlier: true, ..Self::default() };
    }

    /// Where the next examination leaves what it finds.
    pub fn place(&self) -> Option<Arc<Mutex<Option<OldLines>>>> {
        (!self.began_earlier).then(|| Arc::clone(&self.found))
    }
}

/// Read on another thread while the agent works.
#[derive(Debug, Default)]
enum EarlierCommands {
    #[default]
    None,
    Reading(Receiver<Commands>),
    Read(Commands),
}

impl EarlierCommands {
    /// Waits for the thread, if the first review comes before it is done.
    fn read(&mut self) -> Option<&Commands> {
        if let Self::Reading(read) = self {
            *self = read.recv().map_or(Self::None, Self::Read);
        }
        match self {
            Self::Read(commands) => Some(commands),
            Self::None | Self::Reading(_) => None,
        }
    }
}

/// A random word that cannot be known in advance.
pub fn one_time_word() -> String {
    uuid::Uuid::new_v4().simple().to_string().split_off(16)
}

impl Session<'_> {
    /// The session has an id: the commands of its earlier runs are evidence too.
    pub(super) fn look_up_commands(&mut self, session_id: &str) {
        let Some(read) = self.setup.earlier_commands.clone() else { return };
        let (send, reading) = bounded(1);
        let id = session_id.to_owned();
        let started = named("earlier commands", move || {
            let _ = send.send(read(&id));
        });
        if started.inspect_err(|error| log::warn!("{error}")).is_ok() {
            self.known.earlier = EarlierCommands::Reading(reading);
        }
    }

    /// Generates the review's word. A scripted session's script contains it.
    pub(super) fn prepare_review(&mut self, request: &mut ReviewRequest) {
        if self.setup.workplace.is_some() && self.setup.rules.judging != Judging::default() {
            let drawn = one_time_word();
            let word = word::sealed(&drawn);
            request.word = Some(drawn);
            self.events.push_back(Event::ReviewPrepared { review: request.review, word });
        }
        if request.fresh {
            let diff = self.diff.lock().unwrap_or_else(PoisonError::into_inner);
            request.diff.clone_from(&diff);
        }
        self.known.judge = Commands::default();
        self.known.request = request.clone();
    }

    pub(super) fn verify(&mut self, review: u32, evidence: &[Evidence], confirms: bool) {
        if self.setup.workplace.is_none() {
            return;
        }
        let further = self.setup.judge.options.add_dirs.iter().map(PathBuf::from);
        let further = further.map(|dir| self.setup.dir.join(dir));
        let roots: Vec<_> = std::iter::once(self.setup.dir.clone()).chain(further).collect();
        let KnownFacts { agent, earlier, judge, request } = &mut self.known;
        let earlier = earlier.read();
        let check = |name: &str| self.machine.check(name);
        let (roots, state_dir) = (&roots[..], None);
        let old = self.old.found.lock().unwrap_or_else(PoisonError::into_inner);
        let (old, check) = (old.as_ref(), &check);
        let lookup = Lookup { agent, earlier, judge, roots, state_dir, request, old, check };
        let findings = verify(evidence, confirms, &lookup);
        self.events.push_back(Event::Verified { review, findings });
    }
}
