//! Records what is shown: a writer, a screen and a surface that pass everything on to the recording
//! as well.

use std::io::{self, Write};
use std::time::Duration;

use crate::client::stream::Line;
use crate::event::{Notice, Now, Question};
use crate::machine::Status;
use crate::record::Cast;
use crate::surface::{Intent, Look, Outlet, Report, Screen, Surface, TextSurface};

/// A writer for text on standard output.
pub struct Tee<W> {
    out: W,
    cast: Option<Cast>,
}

impl<W: Write> Tee<W> {
    pub fn new(out: W, cast: Option<Cast>) -> Self {
        Self { out, cast }
    }
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        if let Some(cast) = &self.cast {
            cast.printed(&bytes[..written]);
        }
        Ok(written)
    }

    /// One event in the recording, however many writes it takes.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        if let Some(cast) = &self.cast {
            cast.printed(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A screen that is drawn on.
pub struct RecordedScreen<S> {
    screen: S,
    cast: Option<Cast>,
}

impl<S: Screen> RecordedScreen<S> {
    pub fn new(screen: S, cast: Option<Cast>) -> Self {
        Self { screen, cast }
    }
}

impl<S: Screen> Write for RecordedScreen<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.screen.write(bytes)?;
        if let Some(cast) = &self.cast {
            cast.output(&bytes[..written]);
        }
        Ok(written)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.screen.write_all(bytes)?;
        if let Some(cast) = &self.cast {
            cast.output(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.screen.flush()
    }
}

impl<S: Screen> Screen for RecordedScreen<S> {
    fn size(&self) -> (u16, u16) {
        self.screen.size()
    }

    fn take(&mut self) -> io::Result<()> {
        self.screen.take()
    }

    fn give_back(&mut self) -> bool {
        self.screen.give_back()
    }

    fn set_above(&mut self, rows: u16) {
        self.screen.set_above(rows);
    }
}

/// A transcript next to the actual output, for anyone who reads it. If writing it fails, the
/// session continues without it.
pub struct SideTranscript(Option<Outlet>);

impl SideTranscript {
    pub fn nowhere() -> Self {
        Self(None)
    }

    pub fn to(out: Outlet) -> Self {
        Self(Some(out))
    }
}

impl Write for SideTranscript {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.as_mut().is_some_and(|out| out.write_all(bytes).is_err()) {
            self.0 = None;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A surface that is not a screen, such as JSON for a program: what a person would have seen is
/// recorded, and printed as a side transcript.
pub struct RecordedSurface<S> {
    inner: S,
    as_text: TextSurface<Tee<SideTranscript>>,
}

impl<S: Surface> RecordedSurface<S> {
    pub fn new(inner: S, look: Look, beside: SideTranscript, cast: Option<Cast>) -> Self {
        let ticker = look.ticker.filter(|_| beside.0.is_some());
        let as_text = TextSurface::new(Tee::new(beside, cast), Look { ticker, ..look });
        Self { inner, as_text }
    }

    fn also(&mut self, tell: impl FnOnce(&mut TextSurface<Tee<SideTranscript>>)) {
        tell(&mut self.as_text);
    }
}

impl<S: Surface> Surface for RecordedSurface<S> {
    fn agent(&mut self, line: &Line) {
        self.inner.agent(line);
        self.also(|text| text.agent(line));
    }

    fn supervisor(&mut self, line: &Line) {
        self.inner.supervisor(line);
        self.also(|text| text.supervisor(line));
    }

    fn notice(&mut self, notice: &Notice) {
        self.inner.notice(notice);
        self.also(|text| text.notice(notice));
    }

    fn ask(&mut self, question: &Question) {
        self.inner.ask(question);
        self.also(|text| text.ask(question));
    }

    fn unask(&mut self) {
        self.inner.unask();
    }

    fn give_back(&mut self, text: &str) {
        self.inner.give_back(text);
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        self.as_text.update(status, now)?;
        self.inner.update(status, now)
    }

    fn redraw_in(&self) -> Option<Duration> {
        self.inner.redraw_in().or_else(|| self.as_text.redraw_in())
    }

    fn set_now(&mut self, now: Now) {
        self.inner.set_now(now);
    }

    fn input(&mut self, input: crossterm::event::Event) -> Vec<Intent> {
        self.inner.input(input)
    }

    fn suspend(&mut self) {
        self.inner.suspend();
    }

    fn resume(&mut self) {
        self.inner.resume();
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        self.as_text.close(report)?;
        self.inner.close(report)
    }
}
