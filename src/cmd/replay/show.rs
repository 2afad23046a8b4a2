//! Shows a recording on the screen: the same machine and the same surface, at the original speed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::client::stream::Line;
use crate::cmd::stop::Stop;
use crate::event::{Action, Event, Now, Phase};
use crate::fixture::Pace;
use crate::machine::Status;
use crate::record::Entry;
use crate::record::read::Recording;
use crate::record::replay::{LineSource, Moment, Replay, RunEnd, Visitor};
use crate::record::rerun::{Rerun, runs};
use crate::surface::Surface;

/// Output recorded at one moment is shown after at most this many lines, because a surface buffers it
/// until then.
const LINES: usize = 64;

pub struct Show<'a> {
    pub pace: Pace,
    pub idle_limit: Duration,
    pub stop: &'a Stop,
}

impl Show<'_> {
    /// Returns what would be decided differently today, in words.
    pub fn recording(
        &self,
        dir: &Path,
        surface: impl Fn() -> Box<dyn Surface>,
    ) -> Result<Option<String>> {
        let recording = Recording::open(dir)?;
        let mut replay = Replay::of(&recording);
        let (mut decisions, mut differences, mut first) = (0, 0, None);
        for run in &runs(&recording)? {
            let Some(begun) = &run.begun else { continue };
            let mut shown = ShownRun {
                show: self,
                rerun: Rerun::new(begun.rules.clone()),
                surface: surface(),
                reviews: BTreeSet::new(),
                last: Now::ZERO,
                lines: 0,
            };
            replay.run(run, &mut shown)?;
            if self.stop.seen().is_some() {
                // The line that shows ongoing activity must not stay on the screen.
                let status = Status { phase: Phase::Waiting, ..shown.rerun.machine.status() };
                shown.update(&status, shown.last)?;
                return Ok(None);
            }
            decisions += shown.rerun.decisions;
            let (count, difference) = shown.rerun.differences();
            differences += count;
            first = first.or_else(|| difference.map(ToString::to_string));
        }
        let unread = (replay.unread > 0)
            .then(|| format!("this version of ccc cannot read {} of its lines", replay.unread));
        let differ = first.map(|first| {
            format!("{differences} of {decisions} decisions differ from the recorded ones; {first}")
        });
        let told: Vec<String> = differ.into_iter().chain(unread).collect();
        Ok((!told.is_empty()).then(|| told.join("; ")))
    }
}

/// One run of a recording, with its own surface.
struct ShownRun<'a> {
    show: &'a Show<'a>,
    rerun: Rerun,
    surface: Box<dyn Surface>,
    /// The reviews that are in progress.
    reviews: BTreeSet<u32>,
    last: Now,
    lines: usize,
}

impl ShownRun<'_> {
    /// Waits for the time between two moments, and keeps the clock on the screen running.
    fn wait(&mut self, to: Now) -> Result<()> {
        let Show { pace, idle_limit, stop } = self.show;
        let from = std::mem::replace(&mut self.last, to);
        let wait = pace.of(to.saturating_sub(from).min(*idle_limit));
        let began = Instant::now();
        loop {
            let left = wait.saturating_sub(began.elapsed());
            if left.is_zero() || stop.seen().is_some() {
                return Ok(());
            }
            stop.wait(self.surface.redraw_in().map_or(left, |redraw| redraw.min(left)));
            if self.surface.redraw_in().is_some() {
                let now = from + pace.recorded(began.elapsed()).min(to.saturating_sub(from));
                self.update(&self.rerun.machine.status(), now)?;
            }
        }
    }

    fn update(&mut self, status: &Status, now: Now) -> Result<()> {
        self.lines = 0;
        self.surface.update(status, now).context("cannot write the output")
    }

    fn show(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Say(notice) => self.surface.notice(&notice),
                Action::Ask(question) => self.surface.ask(&question),
                Action::Unask => self.surface.unask(),
                Action::GiveBack { text } => self.surface.give_back(&text),
                Action::StartReview(request) => drop(self.reviews.insert(request.review)),
                Action::StopReview { review } => drop(self.reviews.remove(&review)),
                // The effects on the clients show in what they print.
                _ => {}
            }
        }
    }
}

impl Visitor for ShownRun<'_> {
    fn event(&mut self, event: Event, moment: Moment) -> Result<()> {
        self.wait(moment.at)?;
        if self.has_enough() {
            return Ok(());
        }
        let actions = self.rerun.tell(event, moment);
        self.show(actions);
        Ok(())
    }

    fn line(&mut self, source: LineSource, raw: &[u8], moment: Moment) -> Result<()> {
        self.wait(moment.at)?;
        if self.has_enough() {
            return Ok(());
        }
        let line = Line::decode(raw.to_vec());
        match source {
            LineSource::Agent => self.surface.agent(&line),
            // Output of a review after its end was recorded, but not shown.
            LineSource::Supervisor { review } if self.reviews.contains(&review) => {
                self.surface.supervisor(&line);
            }
            LineSource::Supervisor { .. } => {}
        }
        let actions = self.rerun.tell_line(source, line, moment);
        self.show(actions);
        self.lines += 1;
        if self.lines >= LINES {
            self.update(&self.rerun.machine.status(), moment.at)?;
        }
        Ok(())
    }

    fn decided(&mut self, decision: Entry, moment: Moment) -> Result<()> {
        self.rerun.decided(decision, moment)
    }

    fn settled(&mut self, last: bool) -> Result<()> {
        self.rerun.settled(last)?;
        self.update(&self.rerun.machine.status(), self.last)
    }

    fn ends(&mut self, end: RunEnd) -> Result<()> {
        self.rerun.ends(end)?;
        self.surface.close(&self.rerun.report()).context("cannot write the output")
    }

    fn has_enough(&self) -> bool {
        self.show.stop.seen().is_some()
    }
}
