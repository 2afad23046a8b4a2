//! The end, in order: close the agent's input, wait, TERM, wait, no more grace, wait, KILL. The
//! person is told of a wait after a moment. Ctrl-C or another signal skips to the next step, except
//! to the last: killing a shim means cleaning up in its place.

use std::time::{Duration, Instant};

use crossbeam_channel::select_biased;
use crossterm::event::{Event as Input, KeyCode, KeyModifiers};

use super::{AgentProcess, ChildId, ChildState, Incoming, Session};
use crate::event::Outcome;
use crate::process::child::{ChildEvent, Group};
use crate::process::{orphans, signals};

/// An idle client exits within a tenth of a second after its input ends.
const BY_ITSELF: Duration = Duration::from_secs(3);
/// The shim's own grace period, and a little more.
const AFTER_TERM: Duration = Duration::from_secs(4);

/// A shim without a grace period has nothing left that takes time.
const AFTER_HURRY: Duration = Duration::from_secs(2);

/// Most children are gone before a person could read that ccc waits for them.
const NOT_WORTH_TELLING: Duration = Duration::from_millis(400);

impl Session<'_> {
    pub(super) fn shut_down(&mut self) {
        self.check = None;
        for child in self.supervisors.values_mut() {
            child.handle = None;
        }
        self.stop_comparing();
        if let Some(ChildState { handle: AgentProcess::Lines(agent), .. }) = &self.agent {
            // In the middle of a turn the client would finish it first, however long that takes.
            let idle = matches!(
                self.outcome,
                Some(
                    Outcome::Completed
                        | Outcome::Unreviewed
                        | Outcome::Limit
                        | Outcome::Blocked(_)
                        | Outcome::Impossible(_)
                        | Outcome::Stuck(_)
                )
            ) || !self.machine.is_busy();
            if idle {
                agent.close_input();
                self.drain(BY_ITSELF, is_impatient);
            }
        }
        if let Some(agent) = &self.agent {
            agent.group.terminate();
        }
        self.drain(AFTER_TERM, is_impatient);
        // Only the shims clean up, so they are asked to hurry instead of being killed.
        for group in self.groups() {
            group.hurry();
        }
        self.drain(AFTER_HURRY, |_| false);
        let left = self.groups();
        for group in &left {
            log::warn!("a child does not end; killing it");
            group.kill();
        }
        if let Some(mut agent) = self.agent.take() {
            agent.handle.sweep();
        }
        if !left.is_empty() {
            orphans::kill_all();
        }
    }

    fn groups(&self) -> Vec<Group> {
        let agent = self.agent.iter().map(|child| child.group);
        agent.chain(self.supervisors.values().map(|child| child.group)).collect()
    }

    /// Reads what still arrives, so that no child blocks on a full pipe, until all children are
    /// gone.
    fn drain(&mut self, patience: Duration, is_over: impl Fn(&Incoming) -> bool) {
        let began = Instant::now();
        let deadline = began + patience;
        while self.agent.is_some() || !self.supervisors.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            select_biased! {
                recv(self.control) -> control => match control {
                    Ok(control) if is_over(&control) => return,
                    Ok(
                        control @ (Incoming::AgentExited(..)
                        | Incoming::Screen(_)
                        | Incoming::SupervisorExited(..)),
                    ) => {
                        self.control(control);
                    }
                    _ => {}
                },
                recv(self.screen) -> screen_news => if let Ok(screen_news) = screen_news {
                    self.screen_news(screen_news);
                },
                recv(self.output) -> output => if let Ok((from, event)) = output {
                    self.last_output(&from, event);
                },
                default(left.min(Duration::from_millis(100))) => {}
            }
            self.check_drained();
            self.flush();
            if began.elapsed() >= NOT_WORTH_TELLING
                && let Err(error) = self.surface.update(&self.machine.status(), self.now())
            {
                log::debug!("nobody sees the end: {error}");
            }
        }
    }

    /// The machine has ended, so the agent's last lines are only recorded.
    fn last_output(&mut self, from: &ChildId, event: ChildEvent) {
        let now = self.now();
        if let (ChildId::Agent(_), ChildEvent::Lines(lines), Some(recorder)) =
            (from, &event, &mut self.setup.recorder)
        {
            for line in lines {
                recorder.agent(line, now, false);
            }
        } else {
            self.output(from, event);
        }
    }
}

/// Whether the person asks to skip to the next step.
fn is_impatient(control: &Incoming) -> bool {
    match control {
        Incoming::Signal(signal) => signals::asks_to_end(*signal),
        Incoming::Input(Input::Key(key)) => {
            key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL
        }
        _ => false,
    }
}
