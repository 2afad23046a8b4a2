//! Whether a session is supervised, and the pinned facts it is judged by. Changes since supervision
//! began are reported to the person and to the judge; they take effect only when the person says so.

use std::path::Path;

use anyhow::{Result, bail};
use jiff::{SignedDuration, Timestamp};

use super::switch_command;
use crate::cmd::base;
use crate::config::clients::JudgeSettings;
use crate::config::{self, Config, managed};
use crate::directories::Directories;
use crate::files;
use crate::hook::background;
use crate::hook::event::HookEvent;
use crate::hook::pinned::{self, Pinned, PinnedFile};
use crate::hook::state::StateFile;
use crate::hook::task::Task;
use crate::hook::transcript_file::TranscriptFile;
use crate::review::instructions::{self, Instructions, Problem};

/// The transcript's line about a command is written shortly after the command has run.
const SAME_MOMENT: SignedDuration = SignedDuration::from_secs(10);

/// A session under supervision: the facts it is judged by, and what must be reported about it.
pub struct Guarded {
    pub pinned: Pinned,
    file: PinnedFile,
    /// Attempts to change the supervision that were undone, for the person and for the judge.
    pub attempts: Vec<String>,
    /// Files that differ from when supervision began.
    changed: Vec<String>,
    /// The number of the review that this stop leads to.
    round: u32,
    /// `ccc.json` or the user's `settings.json` has changed.
    pub config_changed: bool,
}

pub enum Standing {
    /// Nothing is pinned: the state file alone decides.
    Unpinned,
    Off,
    On(Box<Guarded>),
}

/// Determines whether the session is supervised. A switch that the person did not make is undone.
pub fn standing(
    file: PinnedFile,
    event: &HookEvent,
    state: &StateFile,
    transcript: &mut TranscriptFile,
) -> Result<Standing> {
    let mut current = Pinned::load(&file.current());
    let mut attempts = Vec::new();
    if let Some(wanted) = Pinned::load(&file.wanted()).unwrap_or_default() {
        let near = |switch: &Switch| {
            switch.on && switch.at.duration_since(wanted.began_at).abs() <= SAME_MOMENT
        };
        if switches(event, transcript).iter().any(near) {
            file.begin(&wanted)?;
            base::renew(&file, &wanted.project);
            current = Ok(Some(wanted));
        } else {
            attempts.push(format!(
                "`ccc supervisor-mode on` was run, and not by you: the settings and the round count stay as \
                 they were. Type {} to start supervision again.",
                switch_command()
            ));
        }
        let _ = std::fs::remove_file(file.wanted());
    }
    let Some(pinned) = current? else {
        if file.is_due() {
            bail!(
                "{}, which says what supervision began with, was removed, and not by you. \
                 Type {} to start supervision again",
                file.current().display(),
                switch_command()
            );
        }
        return Ok(Standing::Unpinned);
    };
    let (changed, round) = (Vec::new(), 0);
    let mut guarded = Guarded { pinned, file, attempts, changed, round, config_changed: false };
    if guarded.pinned.session_id != event.session_id {
        guarded.another_conversation(event, state)?;
    }
    let found = state.load();
    match &found {
        Ok(Some(found)) if found.enabled && found.task == guarded.pinned.task => {}
        _ => {
            let since = |switch: &&Switch| switch.at >= guarded.pinned.began_at;
            let last = switches(event, transcript).iter().rfind(since).copied();
            let enabled = matches!(&found, Ok(Some(found)) if found.enabled);
            if !enabled && last.is_some_and(|switch| !switch.on) {
                guarded.file.end()?;
                state.change(|state| {
                    state.enabled = false;
                    state.other.insert("switched_off_by".to_owned(), "the person".into());
                })?;
                return Ok(Standing::Off);
            }
            guarded.attempts.push(format!(
                "{}, and not by you; supervision continues unchanged.",
                told(&found, &guarded.pinned)
            ));
            state.put_back(&guarded.pinned.task)?;
        }
    }
    Ok(Standing::On(Box::new(guarded)))
}

fn told(found: &Result<Option<crate::hook::state::HookState>>, pinned: &Pinned) -> String {
    match found {
        Ok(Some(found)) if !found.enabled => "Supervision was switched off".to_owned(),
        Ok(Some(found)) if found.task.count != pinned.task.count => format!(
            "The count of reviews in the state file was changed from {} to {}",
            pinned.task.count, found.task.count
        ),
        Ok(Some(_)) => "The state file of this session was changed".to_owned(),
        Ok(None) => "The state file of this session was removed".to_owned(),
        Err(error) => format!("The state file of this session was broken ({error:#})"),
    }
}

/// When the person switched supervision, and which way.
#[derive(Clone, Copy)]
struct Switch {
    at: Timestamp,
    on: bool,
}

/// The switches in order. Waits for the agent's last answer in the transcript, because until then the
/// person's commands may be missing too.
fn switches(event: &HookEvent, transcript: &mut TranscriptFile) -> Vec<Switch> {
    transcript.wait_for_answer(event.last_assistant_message.as_deref());
    let switches = transcript.transcript().switches.iter();
    switches
        .filter_map(|switch| Some(Switch { at: switch.at.parse().ok()?, on: switch.on }))
        .collect()
}

impl Guarded {
    /// Saves the progress of the task.
    pub fn keep(&mut self, task: &Task) -> Result<()> {
        self.round = self.round.max(task.count);
        self.pinned.task.clone_from(task);
        self.pinned.save(&self.file.current())
    }

    pub fn file(&self) -> &PinnedFile {
        &self.file
    }

    /// Moves on to another conversation: after `/clear` or `/resume`, or at the first stop if the
    /// client chose the session's id. The supervision belongs to the launch and continues, with a new task.
    fn another_conversation(&mut self, event: &HookEvent, state: &StateFile) -> Result<()> {
        self.pinned.session_id.clone_from(&event.session_id);
        self.pinned.task = Task::default();
        self.pinned.save(&self.file.current())?;
        state.change(|state| {
            state.enabled = true;
            state.task = Task::default();
        })
    }

    /// The tasks that the review waits for. None if the client may exit meanwhile.
    pub fn awaited(&mut self, tasks: &[background::Task]) -> Result<Vec<String>> {
        let before = self.pinned.background.clone();
        let waits_for = self.pinned.background.awaited(tasks);
        if self.pinned.background != before {
            self.pinned.save(&self.file.current())?;
        }
        Ok(if self.pinned.print { Vec::new() } else { waits_for })
    }

    /// Notes that the person is told this; returns false if they were told before.
    pub fn tell_once(&mut self, text: &str) -> bool {
        let new = !self.pinned.told.iter().any(|told| told == text);
        if new {
            self.pinned.told.push(text.to_owned());
        }
        new
    }

    /// What the person has to be told now. A change is reported once, an attempt that was undone each time.
    pub fn for_the_person(&mut self) -> Vec<String> {
        let changes = self.changes();
        for what in &self.changed {
            self.pinned.changed_in.entry(what.clone()).or_insert(self.round);
        }
        let unread = std::mem::take(&mut self.pinned.unread);
        let new = unread.into_iter().chain(changes);
        let new: Vec<_> = new.filter(|change| self.tell_once(change)).collect();
        if !new.is_empty()
            && let Err(error) = self.pinned.save(&self.file.current())
        {
            log::warn!("supervisor-hook: {error:#}");
        }
        self.attempts.iter().cloned().chain(new).collect()
    }

    /// `ccc.json` with the `supervisor` section from when supervision began. From the rest only keys
    /// are needed, and those of the client's own provider are in its environment.
    pub fn config(&mut self, directories: &Directories) -> Config {
        let path = directories.config_dir.join(config::FILE);
        if files::digest_of(&path) != self.pinned.config_digest {
            self.config_changed = true;
            self.changed(config::FILE);
        }
        let path = directories.users_settings();
        let then = self.pinned.users_settings_digest.as_ref();
        if then.is_some_and(|then| files::digest_of(&path) != *then) {
            self.config_changed = true;
            self.changed("your own settings.json");
        }
        let config = Config::load(&directories.config_dir).unwrap_or_default();
        config.with_supervisor(self.pinned.supervisor.clone())
    }

    /// SUPERVISOR.md from when supervision began; `None` if there was none.
    pub fn instructions(
        &mut self,
        directories: &Directories,
    ) -> Option<Result<Instructions, Problem>> {
        let now = instructions::find(&directories.project, &directories.config_dir);
        let whole = |found: &Instructions| files::read_text(&found.path).ok();
        let now = now.as_ref().ok().and_then(|found| Some((found.path.clone(), whole(found)?)));
        let then = self.pinned.instructions.clone();
        if now != then.clone().map(|then| (then.path, then.text))
            && (then.is_some()
                || now.is_some_and(|(path, _)| path.starts_with(&directories.project)))
        {
            self.changed(instructions::FILE);
        }
        then.map(|then| Instructions::read(&then.path, &then.text))
    }

    /// Fails if somebody else could decide which judge is asked.
    pub fn check_judge(&self) -> Result<()> {
        self.pinned.managed.as_deref().map(managed::check).transpose()?;
        let options: Vec<_> = self.pinned.prompt_options.iter().map(Into::into).collect();
        pinned::check_copies(&options)
    }

    /// The settings of a judge from when supervision began.
    pub fn settings(&mut self, judge: usize, given: &Path) -> Result<JudgeSettings> {
        let now = files::read_text(given).ok().and_then(|text| serde_json::from_str(&text).ok());
        let pinned = match judge.checked_sub(1) {
            None => &mut self.pinned.settings,
            Some(other) => {
                let others = &mut self.pinned.other_settings;
                others.resize(others.len().max(judge), None);
                &mut others[other]
            }
        };
        let content = match (&*pinned, now) {
            (Some(then), Some(now)) if *then == now => now,
            (Some(then), _) => {
                let then = then.clone();
                self.changed(&given.file_name().unwrap_or_default().to_string_lossy());
                then
            }
            (None, Some(now)) => {
                *pinned = Some(now.clone());
                self.pinned.save(&self.file.current())?;
                now
            }
            (None, None) => bail!("{} cannot be read", given.display()),
        };
        Ok(JudgeSettings { content, file: given.to_owned() })
    }

    /// Recorded once, even if a second review finds the same change again.
    fn changed(&mut self, what: &str) {
        if !self.changed.iter().any(|known| known == what) {
            self.changed.push(what.to_owned());
        }
    }

    /// One sentence for each change, with the round in which it was first seen.
    fn changes(&self) -> Vec<String> {
        let told = |what: &String| {
            let round = self.pinned.changed_in.get(what).copied().unwrap_or(self.round);
            format!(
                "{what} was changed in round {round}. Reviews still use the version from when \
                 supervision began; to use the changed one, type {}.",
                switch_command()
            )
        };
        self.changed.iter().map(told).collect()
    }

    /// The changes and undone attempts, for the judge, who may want to ask why they were made.
    pub fn for_the_judge(&self) -> String {
        let all: Vec<_> = self.attempts.iter().cloned().chain(self.changes()).collect();
        if all.is_empty() {
            return String::new();
        }
        let list: Vec<_> = all.iter().map(|change| format!("- {change}")).collect();
        format!("# Changed since supervision began\n\n{}\n\n", list.join("\n"))
    }
}
