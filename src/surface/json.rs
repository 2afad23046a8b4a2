//! `--output-format json`: nothing until the end, then one object on one line.

use std::io::{self, Write};

use serde::Serialize;

use super::{Report, Surface};
use crate::console;
use crate::event::Notice;

#[derive(Debug)]
pub struct JsonSurface<W> {
    out: W,
    /// What is missing from the recording, and why.
    not_recorded: Vec<String>,
}

/// The final object, with additions that the loop does not know.
#[derive(Serialize)]
struct Closing<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_recorded: &'a [String],
}

impl<W: Write> JsonSurface<W> {
    pub fn new(out: W) -> Self {
        Self { out, not_recorded: Vec::new() }
    }
}

impl<W: Write> Surface for JsonSurface<W> {
    fn notice(&mut self, notice: &Notice) {
        if let Notice::NotRecorded { what, why } = notice {
            self.not_recorded.push(format!("{what}: {why}"));
        }
    }

    fn close(&mut self, report: &Report) -> io::Result<()> {
        let closing = Closing { report, not_recorded: &self.not_recorded };
        let line = serde_json::to_string(&closing)? + "\n";
        self.out.write_all(console::clean_json(&line).as_bytes())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::event::{Now, Outcome};

    #[test]
    fn one_object_on_one_line_at_the_end() {
        let mut surface = JsonSurface::new(Vec::new());
        surface.agent(&sample::line(r#"{"type":"x"}"#));
        surface.notice(&Notice::Interrupted);
        surface.update(&sample::status(), Now::ZERO).unwrap();
        assert!(surface.out.is_empty());
        surface.close(&sample::report(Outcome::Limit)).unwrap();
        let text = String::from_utf8(surface.out).unwrap();
        assert_eq!(text.lines().count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["outcome"], value.get("not_recorded")), (&"limit".into(), None));
        assert_eq!(value["exit_code"], 3);
        assert_eq!(value["session_id"], "s-1");
        assert_eq!(value["rounds"][0]["feedback"], "add tests");
    }
}
