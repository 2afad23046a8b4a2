//! Handles the children's output: shows it, records it, and feeds it to the machine.

use super::{ChildId, Session};
use crate::client::stream::{Line, Part};
use crate::event::{Event, Now};
use crate::process::child::ChildEvent;

impl Session<'_> {
    pub(super) fn output(&mut self, from: &ChildId, event: ChildEvent) {
        // One timestamp for everything read at once.
        let now = self.now();
        match (from, event) {
            (ChildId::Agent(id), ChildEvent::Lines(lines)) if *id == self.agents => {
                for line in lines {
                    self.agent_line(line, now);
                }
            }
            (ChildId::Supervisor(id), ChildEvent::Lines(mut lines)) => {
                if self.early.keep(*id, &mut lines) {
                    return;
                }
                let review = self.early.review_of(*id);
                for line in lines {
                    if !self.defer_until_compared(review, &line) {
                        self.supervisor_line(review, line, now);
                    }
                }
            }
            (ChildId::Agent(id), ChildEvent::OutputEnded) if *id == self.agents => {
                if let Some(agent) = &mut self.agent {
                    agent.output_ended = true;
                }
            }
            (ChildId::Supervisor(id), ChildEvent::OutputEnded) => {
                let review = self.early.review_of(*id);
                if let Some(supervisor) = self.supervisors.get_mut(&review) {
                    supervisor.output_ended = true;
                }
            }
            _ => {}
        }
    }

    pub(super) fn agent_line(&mut self, line: Line, now: Now) {
        self.silence.broken();
        self.surface.agent(&line);
        self.known.agent.line(&line);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.agent(&line, now, self.machine.is_timing());
        }
        for part in line.parts {
            match part {
                Part::Message(envelope) => self.feed(Event::Agent(*envelope), now),
                Part::Text(text) => {
                    if let Some(agent) = &mut self.agent {
                        agent.said(text);
                    }
                }
                Part::Bad(error) => log::warn!("the agent printed a broken line: {error}"),
            }
        }
        // Only now, because a line is fed as a whole, as it is when read back from a recording.
        self.feed_queued();
    }

    pub(super) fn supervisor_line(&mut self, review: u32, line: Line, now: Now) {
        // After its end a review is no longer shown, but still recorded.
        if self.supervisors.get(&review).is_some_and(|process| process.handle.is_some()) {
            self.surface.supervisor(&line);
        }
        self.known.judge.line(&line);
        if let Some(recorder) = &mut self.setup.recorder {
            recorder.supervisor(review, &line, now, self.machine.is_timing());
        }
        for part in line.parts {
            match part {
                Part::Message(envelope) => {
                    self.feed(Event::Supervisor { review, envelope: *envelope }, now);
                }
                Part::Text(text) => {
                    if let Some(supervisor) = self.supervisors.get_mut(&review) {
                        supervisor.said(text);
                    }
                }
                Part::Bad(error) => log::warn!("the supervisor printed a broken line: {error}"),
            }
        }
        self.feed_queued();
    }
}
