//! Keys, signals, exits, and the results of other threads: everything but the children's output.

use std::io;

use super::{ChildId, Session, editing};
use crate::brief::facts::Examined;
use crate::client::stream::{Image, Line};
use crate::event::{Event, Gone, Outcome};
use crate::native::server::Report as HookReport;
use crate::native::transcript::News;
use crate::process::child::ChildEvent;
use crate::process::screen::ScreenEvent;
use crate::process::signals;
use crate::surface::{Intent, Typed};
use crate::tree::{Change, Snapshot};

/// What reaches the loop apart from the children's output, before which it is handled.
#[derive(Debug)]
pub enum Incoming {
    Input(crossterm::event::Event),
    /// Keys can no longer be read.
    KeysLost(io::Error),
    Typed(Typed),
    Event(Event),
    Signal(i32),
    /// What the task has changed, as `git diff` writes it.
    Diff(Result<String, String>),
    Image(anyhow::Result<Image>),
    Edited(editing::Returned),
    AgentExited(u32, Gone),
    /// What changed in the project during this review, and its current state.
    TreeCompared(u32, Box<Snapshot>, Vec<Change>),
    SupervisorExited(u32, Gone),
    /// The files were examined before a review.
    Examined(u32, Box<(Examined, Snapshot)>),
    /// What the judge of this review printed before the review began.
    SaidEarly(u32, Vec<Line>),
    /// The snapshot at the beginning of a task has been taken, or takes too long to wait for.
    FilesNoted,
    Hook(HookReport),
    Transcript(News),
    /// Keys on their way to the client's own screen.
    Relayed(io::Result<Vec<u8>>),
    Screen(ScreenEvent),
    Resized,
}

impl Session<'_> {
    pub(super) fn control(&mut self, control: Incoming) {
        match control {
            Incoming::Event(event) => self.step(event),
            Incoming::Edited(text) => self.edited(text),
            Incoming::Diff(found) => self.diff_found(found),
            Incoming::Image(image) => self.image_found(image),
            Incoming::Signal(signal) if self.is_for_editor(signal) => {}
            Incoming::Signal(signal) if signals::is_stop(signal) => self.suspend(),
            Incoming::Signal(signal) if signals::is_continue(signal) => self.continued(),
            Incoming::Signal(signal) => {
                self.surface.set_now(self.now());
                let meant = signals::is_interrupt(signal).then(|| self.surface.interrupt());
                match meant.flatten() {
                    Some(intents) => self.perform_intents(intents),
                    None => self.step(Event::Signal(signal)),
                }
            }
            Incoming::Typed(typed) => {
                if let (Typed::Line(line), Some(recorder)) = (&typed, &mut self.setup.recorder) {
                    recorder.typed(&format!("{line}\n"));
                }
                self.surface.set_now(self.now());
                let intents = self.surface.typed(typed);
                self.perform_intents(intents);
            }
            Incoming::Input(input) => {
                if let Some(recorder) = &mut self.setup.recorder {
                    recorder.input(&input);
                }
                if let crossterm::event::Event::Resize(columns, rows) = input {
                    self.resized(columns, rows);
                }
                self.surface.set_now(self.now());
                let intents = self.surface.input(input);
                self.perform_intents(intents);
            }
            Incoming::KeysLost(error) => {
                let outcome = Outcome::Failed(format!("the keys cannot be read: {error}"));
                self.lost(&error, outcome);
            }
            Incoming::Examined(id, found) => {
                let (examined, looked) = *found;
                self.looked = Some(looked);
                self.step(Event::Examined { id, examined });
            }
            Incoming::SaidEarly(review, lines) => {
                self.output(&ChildId::Supervisor(review), ChildEvent::Lines(lines));
            }
            Incoming::FilesNoted => self.files_noted(),
            Incoming::TreeCompared(review, after, changes) => {
                self.tree_compared(review, *after, &changes);
            }
            Incoming::AgentExited(id, gone) => {
                let now = self.now();
                if let Some(agent) = self.agent.as_mut().filter(|_| id == self.agents) {
                    agent.exited(gone, now);
                }
            }
            Incoming::Hook(report) => self.reported(report),
            Incoming::Transcript(news) => self.read_transcript(news),
            Incoming::Relayed(keys) => self.relayed(keys),
            Incoming::Screen(event) => self.screen_event(event),
            Incoming::Resized => self.screen_resized(),
            Incoming::SupervisorExited(id, gone) => {
                let now = self.now();
                let review = self.early.review_of(id);
                if let Some(supervisor) = self.supervisors.get_mut(&review) {
                    supervisor.exited(gone, now);
                }
            }
        }
    }

    pub(super) fn perform_intents(&mut self, intents: Vec<Intent>) {
        for intent in intents {
            match intent {
                Intent::Event(event) => self.step(event),
                Intent::Suspend => self.suspend(),
                Intent::Edit(text) => self.edit(&text),
                Intent::Page(text) => self.page(&text),
                Intent::Shell(command) => self.run_in_shell(&command),
                Intent::Note(note) => self.note(&note),
                Intent::Diff => self.show_diff(),
                Intent::Attach(source) => self.attach(source),
            }
        }
    }

    /// If no agent is running, the next one is started with the new size.
    pub(super) fn resized(&mut self, columns: u16, rows: u16) {
        self.setup.size = (columns, rows);
        if let Some(agent) = &self.agent {
            agent.handle.resize(columns, rows);
        }
    }
}
