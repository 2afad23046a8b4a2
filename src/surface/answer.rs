//! Writes only the agent's last answer to standard output: `ccc --supervisor -p … > answer.txt`. The
//! transcript goes elsewhere.

use std::io::{self, Write};

use super::{Report, Surface};
use crate::console;

#[derive(Debug)]
pub struct AnswerSurface<W> {
    out: W,
}

impl<W: Write> AnswerSurface<W> {
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> Surface for AnswerSurface<W> {
    fn close(&mut self, report: &Report) -> io::Result<()> {
        let answer = report.result.trim_end();
        if answer.is_empty() {
            return Ok(());
        }
        self.out.write_all(console::clean(answer).as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::event::{Notice, Now, Outcome};

    #[test]
    fn the_answer_and_nothing_else() {
        let printed = |result: &str| {
            let mut surface = AnswerSurface::new(Vec::new());
            surface.notice(&Notice::Interrupted);
            surface.update(&sample::status(), Now::ZERO).unwrap();
            let report = Report { result: result.into(), ..sample::report(Outcome::Completed) };
            surface.close(&report).unwrap();
            String::from_utf8(surface.out).unwrap()
        };
        assert_eq!(printed("Two\nlines. \x1b[2J\n\n"), "Two\nlines. \\u{1b}[2J\n");
        assert_eq!(printed(""), "");
    }
}
