//! The transcript as plain text, for a pipe, a log, or a terminal that can do no more.

use std::io::{self, Write};

use super::{Look, Report, Styled, Surface, Transcript};
use crate::event::{Notice, Now, Question};
use crate::machine::Status;
use crate::stream::Line;

#[derive(Debug)]
pub struct TextSurface<W> {
    out: W,
    colour: bool,
    transcript: Transcript,
    pending: Vec<u8>,
}

impl<W: Write> TextSurface<W> {
    pub fn new(out: W, look: Look) -> Self {
        let transcript = Transcript::new(look);
        Self { out, colour: look.colour, transcript, pending: Vec::new() }
    }

    pub fn get_ref(&self) -> &W {
        &self.out
    }

    fn push(&mut self, lines: &[Styled]) {
        for line in lines {
            line.write(self.colour, &mut self.pending);
            self.pending.push(b'\n');
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        self.out.write_all(&pending)?;
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

    fn update(&mut self, _status: &Status, _now: Now) -> io::Result<()> {
        self.write()
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        let lines = self.transcript.report(report);
        self.push(&lines);
        self.write()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Glyphs, sample};
    use super::*;
    use crate::event::{Outcome, Phase};

    const LOOK: Look =
        Look { glyphs: Glyphs::unicode(), colour: false, hints: false, phases: true };

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
             Fixed.\n\
             \n\
             ✔ Confirmed complete · 1 round · 2m 03s · $0.0123\n"
        );
    }

    #[test]
    fn colours_only_when_asked_for() {
        let mut surface = TextSurface::new(Vec::new(), Look { colour: true, ..LOOK });
        session(&mut surface).unwrap();
        assert!(String::from_utf8(surface.out).unwrap().contains("\x1b[1;36mSupervisor mode"));
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let mut surface = TextSurface::new(sample::ClosedPipe, LOOK);
        assert!(session(&mut surface).is_err());
        assert!(surface.close(&sample::report(Outcome::Ended)).is_err());
    }
}
