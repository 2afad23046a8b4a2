//! Records what is shown: a writer, a screen and a surface that pass everything on to the recording
//! as well.

use std::io::{self, Write};
use std::time::Duration;

use crate::client::stream::Line;
use crate::event::{Notice, Now, Question};
use crate::machine::Status;
use crate::record::Cast;
use crate::surface::{Look, Outlet, Report, Screen, Surface, TextSurface};

/// Writes somewhere and to the recording. What it is given in one call is one event there, however
/// many writes it takes.
pub struct Tee<W> {
    out: W,
    cast: Option<Cast>,
    record: fn(&Cast, &[u8]),
}

impl<W: Write> Tee<W> {
    /// Text, whose line ends the terminal completes.
    pub fn text(out: W, cast: Option<Cast>) -> Self {
        Self { out, cast, record: Cast::printed }
    }

    /// What is drawn on a raw terminal.
    pub fn drawing(out: W, cast: Option<Cast>) -> Self {
        Self { out, cast, record: Cast::output }
    }
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        if let Some(cast) = &self.cast {
            (self.record)(cast, bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<S: Screen> Screen for Tee<S> {
    fn size(&self) -> (u16, u16) {
        self.out.size()
    }

    fn take(&mut self) -> io::Result<()> {
        self.out.take()
    }

    fn give_back(&mut self) -> bool {
        self.out.give_back()
    }

    fn set_above(&mut self, rows: u16) {
        self.out.set_above(rows);
    }
}

/// A transcript next to the actual output, for anyone who reads it. If writing it fails, the
/// session continues without it.
struct SideTranscript(Option<Outlet>);

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
    pub fn new(inner: S, look: Look, beside: Option<Outlet>, cast: Option<Cast>) -> Self {
        let ticker = look.ticker.filter(|_| beside.is_some());
        let as_text =
            TextSurface::new(Tee::text(SideTranscript(beside), cast), Look { ticker, ..look });
        Self { inner, as_text }
    }
}

impl<S: Surface> Surface for RecordedSurface<S> {
    fn agent(&mut self, line: &Line) {
        self.inner.agent(line);
        self.as_text.agent(line);
    }

    fn supervisor(&mut self, line: &Line) {
        self.inner.supervisor(line);
        self.as_text.supervisor(line);
    }

    fn notice(&mut self, notice: &Notice) {
        self.inner.notice(notice);
        self.as_text.notice(notice);
    }

    fn ask(&mut self, question: &Question) {
        self.as_text.ask(question);
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        self.as_text.update(status, now)?;
        self.inner.update(status, now)
    }

    fn redraw_in(&self) -> Option<Duration> {
        self.as_text.redraw_in()
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        self.as_text.close(report)?;
        self.inner.close(report)
    }
}
