//! A recording on the screen: the same machine, the same surface, at the speed of then.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::stop::Stop;
use crate::event::{Now, Phase};
use crate::fixture::Pace;
use crate::fixture::recorded::{Rerun, runs};
use crate::machine::Status;
use crate::record::read::Recording;
use crate::surface::Surface;

pub struct Show<'a> {
    pub pace: Pace,
    pub idle_limit: Duration,
    pub stop: &'a Stop,
}

impl Show<'_> {
    /// What is decided differently today, in words.
    pub fn recording(
        &self,
        dir: &Path,
        surface: impl Fn() -> Box<dyn Surface>,
    ) -> Result<Option<String>> {
        let recording = Recording::open(dir)?;
        let (mut decisions, mut differences, mut first) = (0, 0, None);
        for run in &runs(&recording)? {
            let mut surface = surface();
            let mut rerun = Rerun::new(run);
            let mut last = Now::ZERO;
            for (at, moment) in run.moments.iter().enumerate() {
                self.wait(&rerun, surface.as_mut(), last, moment.at)?;
                if self.stop.seen().is_some() {
                    // The line that tells that something is going on must not stay behind.
                    let status = Status { phase: Phase::Waiting, ..rerun.machine.status() };
                    surface.update(&status, moment.at).context("cannot write the output")?;
                    return Ok(None);
                }
                rerun.step(at, surface.as_mut());
                let status = rerun.machine.status();
                surface.update(&status, moment.at).context("cannot write the output")?;
                last = moment.at;
            }
            surface.close(&rerun.report()).context("cannot write the output")?;
            decisions += rerun.decisions;
            differences += rerun.differences.len();
            first = first.or_else(|| rerun.differences.first().map(ToString::to_string));
        }
        let unread = (recording.unread > 0)
            .then(|| format!("{} of its lines cannot be read by this ccc", recording.unread));
        let differ = first.map(|first| {
            format!("{differences} of {decisions} decisions differ from the recorded ones; {first}")
        });
        let told: Vec<String> = differ.into_iter().chain(unread).collect();
        Ok((!told.is_empty()).then(|| told.join("; ")))
    }

    /// Lets the time between two moments pass, and the clock on the screen with it.
    fn wait(&self, rerun: &Rerun<'_>, surface: &mut dyn Surface, from: Now, to: Now) -> Result<()> {
        let wait = self.pace.of(to.saturating_sub(from).min(self.idle_limit));
        let began = Instant::now();
        loop {
            let elapsed = began.elapsed();
            let left = wait.saturating_sub(elapsed);
            if left.is_zero() || self.stop.seen().is_some() {
                return Ok(());
            }
            self.stop.wait(surface.redraw_in().map_or(left, |redraw| redraw.min(left)));
            if surface.redraw_in().is_some() {
                let now = from + self.pace.recorded(began.elapsed()).min(to.saturating_sub(from));
                surface.update(&rerun.machine.status(), now).context("cannot write the output")?;
            }
        }
    }
}
