//! The end, in order: close the agent's input, wait, TERM, wait, KILL; then see the reviews off.
//! Whoever waits is told so after a moment, and may press Ctrl-C to go on with the next step.

use std::time::{Duration, Instant};

use crossbeam_channel::select_biased;
use crossterm::event::{Event as Input, KeyCode, KeyModifiers};

use super::{Control, From, Session};
use crate::child::ChildEvent;
use crate::event::Outcome;
use crate::signals;

/// An idle client exits within a tenth of a second of the end of its input.
const BY_ITSELF: Duration = Duration::from_secs(3);
/// The shim's own grace period, and some.
const AFTER_TERM: Duration = Duration::from_secs(4);

/// Most children are gone before a person could read that they are being waited for.
const UNSEEN: Duration = Duration::from_millis(400);

impl Session<'_> {
    pub(super) fn shut_down(&mut self) {
        for process in self.supervisors.values_mut() {
            process.handle = None;
        }
        if let Some(agent) = &self.agent {
            // In the middle of a turn the client would finish it first, however long that takes.
            let idle = matches!(
                self.outcome,
                Some(Outcome::Completed | Outcome::Unreviewed | Outcome::Limit)
            ) || !self.machine.is_busy();
            if idle {
                agent.handle.close_input();
                self.drain(BY_ITSELF);
            }
        }
        if let Some(agent) = &self.agent {
            agent.handle.terminate();
        }
        self.drain(AFTER_TERM);
        if let Some(mut agent) = self.agent.take() {
            log::warn!("the agent does not end; killing it");
            agent.handle.sweep();
        }
    }

    /// Reads what still comes, so that nobody blocks on a full pipe, until all children are gone.
    fn drain(&mut self, patience: Duration) {
        let began = Instant::now();
        let deadline = began + patience;
        while self.agent.is_some() || !self.supervisors.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            select_biased! {
                recv(self.control) -> control => match control {
                    Ok(Control::Signal(signal)) if !signals::is_continue(signal) => return,
                    Ok(Control::Input(input)) if is_impatient(&input) => return,
                    Ok(control @ (Control::AgentExited(..) | Control::SupervisorExited(..))) => {
                        self.control(control);
                    }
                    _ => {}
                },
                recv(self.output) -> output => if let Ok((from, event)) = output {
                    self.last_output(&from, event);
                },
                default(left.min(Duration::from_millis(100))) => {}
            }
            self.check_drained();
            self.flush();
            if began.elapsed() >= UNSEEN
                && let Err(error) = self.surface.update(&self.machine.status(), self.now())
            {
                log::debug!("nobody sees the end: {error}");
            }
        }
    }

    /// The machine has ended, so that it does not matter whether it sees the agent's last lines.
    fn last_output(&mut self, from: &From, event: ChildEvent) {
        let now = self.now();
        if let (From::Agent(_), ChildEvent::Lines(lines), Some(recorder)) =
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

fn is_impatient(input: &Input) -> bool {
    matches!(input, Input::Key(key)
        if key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL)
}
