//! `--output-format stream-json`: the agent's lines byte for byte, and between them ccc's own, of
//! `"type":"ccc"`. Programs that read the client's stream-json can read this too.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::notices::round_of;
use super::{Report, Surface};
use crate::client::stream::Line;
use crate::console;
use crate::event::{Notice, Now};
use crate::machine::Status;

/// How much of the buffer is kept allocated between updates.
const KEEP: usize = 256 << 10;

#[derive(Debug)]
pub struct StreamJsonSurface<W> {
    out: W,
    /// Byte for byte, for programs; on a terminal, control sequences are removed.
    exact: bool,
    pending: Vec<u8>,
}

/// A line of ccc itself. `body` contains the name of its event.
#[derive(Serialize)]
struct Own<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Serialize)]
struct Finished<'a> {
    r#type: &'static str,
    event: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

/// Spelled out, because `flatten` does not work with raw JSON.
#[derive(Serialize)]
struct Supervisor<T> {
    r#type: &'static str,
    event: &'static str,
    line: T,
}

impl<W: Write> StreamJsonSurface<W> {
    pub fn new(out: W, exact: bool) -> Self {
        Self { out, exact, pending: Vec::new() }
    }

    fn push(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(line) => {
                self.pending.extend_from_slice(console::clean_json(&line).as_bytes());
                self.pending.push(b'\n');
            }
            Err(error) => log::error!("a line could not be serialised: {error}"),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let written = self.out.write_all(&self.pending).and_then(|()| self.out.flush());
        self.pending.clear();
        self.pending.shrink_to(KEEP);
        written
    }
}

impl<W: Write> Surface for StreamJsonSurface<W> {
    fn agent(&mut self, line: &Line) {
        if self.exact {
            self.pending.extend_from_slice(&line.raw);
        } else {
            let text = String::from_utf8_lossy(&line.raw);
            self.pending.extend_from_slice(console::clean_json(&text).as_bytes());
        }
        self.pending.push(b'\n');
    }

    fn supervisor(&mut self, line: &Line) {
        const TYPE: &str = "ccc";
        const EVENT: &str = "supervisor";
        let object = serde_json::from_slice::<&RawValue>(&line.raw)
            .ok()
            .filter(|raw| raw.get().starts_with('{'));
        if let Some(line) = object {
            self.push(&Supervisor { r#type: TYPE, event: EVENT, line });
        } else {
            let line = String::from_utf8_lossy(&line.raw);
            self.push(&Supervisor { r#type: TYPE, event: EVENT, line });
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let mut notice = notice.clone();
        // Uses the numbers that people see: the work before the first review belongs to round 1.
        if let Notice::Phase { phase, round, max } = &mut notice {
            *round = round_of(*phase, *round, *max).unwrap_or(*round);
        }
        self.push(&Own { r#type: "ccc", body: &notice });
    }

    fn update(&mut self, _status: &Status, _now: Now) -> io::Result<()> {
        self.write()
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        self.push(&Finished { r#type: "ccc", event: "finished", report });
        self.write()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::event::{Outcome, Phase};
    use crate::review::verdict::Verdict;

    fn written(show: impl FnOnce(&mut StreamJsonSurface<Vec<u8>>)) -> Vec<u8> {
        let mut surface = StreamJsonSurface::new(Vec::new(), true);
        show(&mut surface);
        assert!(surface.out.is_empty(), "nothing before the update");
        surface.update(&sample::status(), Now::ZERO).unwrap();
        surface.out
    }

    #[test]
    fn the_agents_lines_byte_for_byte() {
        let raws: [&[u8]; 4] = [
            b"{ \"type\" : \"x\",\t\"n\": 1.50, \"u\":\"\\u4e24\" }\r",
            b"\x1b[?1006l{\"type\":\"x\"}",
            b"\xff\xfe not UTF-8",
            b"",
        ];
        let out = written(|surface| {
            for raw in raws {
                surface.agent(&Line::decode(raw.to_vec()));
            }
        });
        assert_eq!(out, [raws.join(&b'\n'), b"\n".to_vec()].concat());
    }

    #[test]
    fn own_lines_are_of_type_ccc() {
        let verdict = Verdict::new(false, "tests");
        for (notice, expected) in [
            (Notice::Interrupted, r#"{"type":"ccc","event":"interrupted"}"#),
            (
                Notice::Phase { phase: Phase::Working, round: 0, max: 10 },
                r#"{"type":"ccc","event":"phase","phase":"working","round":1,"max":10}"#,
            ),
            (
                Notice::Verdict {
                    round: 2,
                    max: 3,
                    seconds: 1.5,
                    cost_usd: 0.25,
                    session_usd: Some(1.5),
                    usage: sample::usage(),
                    verdict,
                },
                r#"{"type":"ccc","event":"verdict","round":2,"max":3,"seconds":1.5,"cost_usd":0.25,"session_usd":1.5,"usage":{"input_tokens":500,"cache_read_tokens":49500,"cache_write_tokens":0,"output_tokens":700},"completed":false,"feedback":"tests"}"#,
            ),
        ] {
            let out = written(|surface| surface.notice(&notice));
            assert_eq!(String::from_utf8_lossy(&out), format!("{expected}\n"));
        }
    }

    #[test]
    fn the_supervisors_lines_are_embedded_as_they_are() {
        for (raw, line) in [
            (r#"{"n": 1.50,  "type":"x"}"#, r#"{"n": 1.50,  "type":"x"}"#),
            ("Error: no\t\"credit\"", r#""Error: no\t\"credit\"""#),
            ("12", "\"12\""),
        ] {
            let out = written(|surface| surface.supervisor(&sample::line(raw)));
            let expected =
                format!("{{\"type\":\"ccc\",\"event\":\"supervisor\",\"line\":{line}}}\n");
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }

    #[test]
    fn the_last_line_is_the_report() {
        let mut surface = StreamJsonSurface::new(Vec::new(), true);
        surface.close(&sample::report(Outcome::Failed("no credit".into()))).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&surface.out).unwrap();
        assert_eq!(value["type"], "ccc");
        assert_eq!(value["event"], "finished");
        assert_eq!(value["outcome"], "failed");
        assert_eq!(value["detail"], "no credit");
        assert_eq!(value["seconds"]["total"], 123.4);
    }

    #[test]
    fn a_closed_pipe_is_an_error_and_no_panic() {
        let mut surface = StreamJsonSurface::new(sample::ClosedPipe, true);
        surface.agent(&sample::line("{}"));
        assert!(surface.update(&sample::status(), Now::ZERO).is_err());
        assert!(surface.close(&sample::report(Outcome::Ended)).is_err());
    }
}
