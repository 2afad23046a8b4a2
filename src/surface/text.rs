//! The transcript as plain text, for a pipe, a log, or a simple terminal.

use std::io::{self, Write};
use std::time::Duration;

use super::{Look, Report, Styled, Surface, Transcript, status};
use crate::client::stream::Line;
use crate::event::{Notice, Now, Phase, Question};
use crate::machine::Status;

const TICK: Duration = Duration::from_secs(1);
const ERASE: &[u8] = b"\r\x1b[K";
const NO_WRAP: &[u8] = b"\x1b[?7l";
const WRAP: &[u8] = b"\x1b[?7h";

#[derive(Debug)]
pub struct TextSurface<W> {
    pub(super) out: W,
    pub(super) transcript: Transcript,
    /// Not yet written.
    pub(super) pending: Vec<u8>,
    pub(super) look: Look,
    ticking: bool,
}

impl<W: Write> TextSurface<W> {
    pub fn new(out: W, look: Look) -> Self {
        let mut transcript = Transcript::new(look);
        if let Some(columns) = look.ticker {
            transcript.set_width(columns);
        }
        Self { out, transcript, pending: Vec::new(), look, ticking: false }
    }

    pub fn get_ref(&self) -> &W {
        &self.out
    }

    pub(super) fn push(&mut self, lines: &[Styled]) {
        for line in lines {
            line.write(self.look.colour, &mut self.pending);
            self.pending.push(b'\n');
        }
    }

    /// Writes what is new, followed by the line that will be overwritten.
    fn write(&mut self, last: Option<&Styled>) -> io::Result<()> {
        let mut out = Vec::new();
        if std::mem::take(&mut self.ticking) {
            out.extend_from_slice(ERASE);
        }
        out.append(&mut self.pending);
        if let Some(last) = last {
            out.extend_from_slice(NO_WRAP);
            last.write(self.look.colour, &mut out);
            out.extend_from_slice(WRAP);
            self.ticking = true;
        }
        if out.is_empty() {
            return Ok(());
        }
        self.out.write_all(&out)?;
        self.out.flush()
    }
}

impl<W: Write> Surface for TextSurface<W> {
    fn agent(&mut self, line: &Line) {
        let lines = self.transcript.agent(line);
        self.push(&lines);
    }

    fn supervisor(&mut self, line: &Line) {
        let lines = self.transcript.supervisor(line);
        self.push(&lines);
    }

    fn notice(&mut self, notice: &Notice) {
        let lines = self.transcript.notice(notice);
        self.push(&lines);
    }

    fn ask(&mut self, question: &Question) {
        let lines = self.transcript.question(question);
        self.push(&lines);
    }

    fn update(&mut self, status: &Status, now: Now) -> io::Result<()> {
        let busy = matches!(status.phase, Phase::Working | Phase::Reviewing);
        let columns = self.look.ticker.filter(|_| busy);
        let last = columns.map(|columns| status::ticker(status, now, self.look.glyphs, columns));
        self.write(last.as_ref())
    }

    fn redraw_in(&self) -> Option<Duration> {
        self.ticking.then_some(TICK)
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        let lines = self.transcript.report(report);
        self.push(&lines);
        self.write(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Glyphs, sample};
    use super::*;
    use crate::event::{Outcome, Phase};

    const LOOK: Look = Look {
        glyphs: Glyphs::unicode(),
        colour: None,
        hints: false,
        phases: true,
        rich: true,
        live: false,
        spoken: false,
        ticker: None,
    };

    fn session<W: Write>(surface: &mut TextSurface<W>) -> io::Result<()> {
        surface.notice(&Notice::Started { supervising: true, max_iterations: 10 });
        surface.notice(&Notice::UserMessage { text: "fix it".into() });
        surface.notice(&Notice::Phase { phase: Phase::Working, round: 0, max: 10 });
        surface.agent(&sample::line(
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Fixed."}]}}"#,
        ));
        surface.update(&sample::status(), Now::ZERO)?;
        surface.close(&sample::report(Outcome::Completed))
    }

    #[test]
    fn a_session_to_read() {
        let mut surface = TextSurface::new(Vec::new(), LOOK);
        session(&mut surface).unwrap();
        assert_eq!(
            String::from_utf8(surface.out).unwrap(),
            "Supervisor mode enabled · up to 10 reviews\n\
             \n\
             ❯ fix it\n\
             \n\
             ── working · round 1/10 ──\n\
             \x20 Fixed.\n\
             \n\
             ✔ Confirmed complete · 1 round · 2m 03s · $0.0123 (reviews: 99% cached, $0.0100)\n"
        );
    }

    #[test]
    fn colours_only_when_asked_for() {
        let mut surface = TextSurface::new(
            Vec::new(),
            Look { colour: Some(crate::surface::Theme::default()), ..LOOK },
        );
        session(&mut surface).unwrap();
        assert!(String::from_utf8(surface.out).unwrap().contains("\x1b[1mSupervisor mode"));
    }

    #[test]
    fn a_terminal_is_told_that_something_is_going_on() {
        let screen = |out: &[u8]| {
            let size = |cells: u16| cells.try_into().unwrap();
            let mut parser = vt100::Parser::new(size(10), size(60), 0);
            parser.process(String::from_utf8_lossy(out).replace('\n', "\r\n").as_bytes());
            parser.screen().contents()
        };
        let mut surface = TextSurface::new(Vec::new(), Look { ticker: Some(60), ..LOOK });
        surface.notice(&Notice::UserMessage { text: "fix it".into() });
        let working = Status { phase: Phase::Working, ..sample::status() };
        surface.update(&working, working.since + Duration::from_secs(65)).unwrap();
        assert!(screen(&surface.out).contains("working 1:05"), "{}", screen(&surface.out));
        assert_eq!(surface.redraw_in(), Some(TICK));
        surface.close(&sample::report(Outcome::Completed)).unwrap();
        assert!(!screen(&surface.out).contains("working"), "{}", screen(&surface.out));
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let mut surface = TextSurface::new(sample::ClosedPipe, LOOK);
        assert!(session(&mut surface).is_err());
        assert!(surface.close(&sample::report(Outcome::Ended)).is_err());
    }
}
