//! Writes `events.jsonl`: what happened and what was decided, in order. The clients' own lines are
//! only counted.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::format::{Begun, ClientLines, Entry, EventLine, VERSION};
use super::read::EVENTS;
use super::replay::LineSource;
use super::sink::Sink;
use crate::event::Now;

pub struct Events {
    pub sink: Sink,
    counted: Option<Counted>,
}

/// Client lines that are in their file but not yet counted in `events.jsonl`.
#[derive(Debug, Clone, Copy)]
struct Counted {
    source: LineSource,
    lines: u64,
    /// When the last of them was read.
    at: Now,
}

impl Events {
    pub fn new() -> Self {
        Self { sink: Sink::early(EVENTS), counted: None }
    }

    pub fn open(&mut self, path: &Path, begun: Begun) {
        self.sink.open(path, |_| {
            let mut first = Vec::new();
            push(&mut first, Now::ZERO, Entry::Begun { begun: Box::new(begun) });
            Ok(first)
        });
    }

    /// Counts one more line of a client. Lines that cause nothing are counted together, with the
    /// time of the last of them, unless `timed` says that their times matter.
    pub fn count(&mut self, source: LineSource, at: Now, timed: bool) {
        let goes_on = |counted: &Counted| counted.source == source && (counted.at == at || !timed);
        if !self.counted.as_ref().is_some_and(goes_on) {
            self.tell_count();
        }
        let lines = self.counted.map_or(0, |counted| counted.lines) + 1;
        self.counted = Some(Counted { source, lines, at });
    }

    pub fn tell(&mut self, at: Now, content: Entry) {
        self.tell_count();
        self.sink.add(|buffer| push(buffer, at, content));
    }

    fn tell_count(&mut self) {
        let Some(Counted { source, lines, at }) = self.counted.take() else { return };
        let counted = match source {
            LineSource::Agent => ClientLines::Agent { lines },
            LineSource::Supervisor { review } => ClientLines::Supervisor { review, lines },
        };
        self.sink.add(|buffer| push(buffer, at, Entry::Lines(counted)));
    }
}

pub(super) fn push(to: &mut Vec<u8>, at: Now, content: Entry) {
    let before = to.len();
    let time = jiff::Timestamp::now();
    let time = time.round(jiff::Unit::Microsecond).unwrap_or(time);
    let line = EventLine { v: VERSION, time, at: seconds(at), content };
    match serde_json::to_writer(&mut *to, &line) {
        Ok(()) => to.push(b'\n'),
        Err(error) => {
            to.truncate(before);
            log::error!("an event could not be serialised: {error}");
        }
    }
}

/// Rounded to whole microseconds, which print with at most six decimals.
fn seconds(at: Now) -> f64 {
    (at.as_secs_f64() * 1e6).round() / 1e6
}

/// How many non-empty lines are in a file, as `WholeLines` counts them.
pub fn count_lines(path: &Path) -> io::Result<u64> {
    let file = crate::files::open_file(path)?;
    // Only up to the current length: the file may grow.
    let len = file.metadata()?.len();
    let mut file = BufReader::with_capacity(256 << 10, file.take(len));
    let (mut lines, mut last) = (0, b'\n');
    loop {
        let chunk = file.fill_buf()?;
        let Some(end) = chunk.last().copied() else { return Ok(lines) };
        for at in memchr::memchr_iter(b'\n', chunk) {
            let before = if at == 0 { last } else { chunk[at - 1] };
            lines += u64::from(before != b'\n');
        }
        last = end;
        let size = chunk.len();
        file.consume(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::record::read::Recording;
    use std::fs;
    use std::time::Duration;

    fn begun() -> Begun {
        Begun {
            ccc: "0".into(),
            project: "/p".into(),
            provider: None,
            rules: crate::machine::Rules::default(),
            agent_lines: 0,
            supervisor_lines: 0,
        }
    }

    fn second(at: u64) -> Now {
        Duration::from_secs(at)
    }

    /// The time and content of every entry.
    fn told(tell: impl FnOnce(&mut Events)) -> Vec<(f64, Entry)> {
        let dir = tempfile::tempdir().unwrap();
        let mut events = Events::new();
        tell(&mut events);
        events.open(&dir.path().join(EVENTS), begun());
        events.sink.flush();
        let recording = Recording::open(dir.path()).unwrap();
        let lines = recording.event_lines().unwrap().map(Option::unwrap);
        lines.map(|line| (line.at, line.content)).collect()
    }

    #[test]
    fn a_run_begins_with_its_rules() {
        let told = told(|events| events.tell(second(1), Entry::Event(Event::Tick)));
        assert_eq!(told[0], (0.0, Entry::Begun { begun: Box::new(begun()) }));
        assert_eq!(told[1], (1.0, Entry::Event(Event::Tick)));
    }

    #[test]
    fn lines_are_counted_up_to_the_first_one_that_matters() {
        let told = told(|events| {
            for at in 1..=5 {
                events.count(LineSource::Agent, second(at), false);
            }
            events.tell(second(5), Entry::Event(Event::Tick));
            events.count(LineSource::Agent, second(6), false);
            events.count(LineSource::Supervisor { review: 1 }, second(7), false);
            events.count(LineSource::Supervisor { review: 2 }, second(8), false);
            events.tell(second(9), Entry::Event(Event::Leave));
            events.count(LineSource::Agent, second(10), false);
        });
        assert_eq!(
            told[1..],
            [
                (5.0, Entry::Lines(ClientLines::Agent { lines: 5 })),
                (5.0, Entry::Event(Event::Tick)),
                (6.0, Entry::Lines(ClientLines::Agent { lines: 1 })),
                (7.0, Entry::Lines(ClientLines::Supervisor { review: 1, lines: 1 })),
                (8.0, Entry::Lines(ClientLines::Supervisor { review: 2, lines: 1 })),
                (9.0, Entry::Event(Event::Leave)),
            ]
        );
    }

    #[test]
    fn lines_of_different_times_are_counted_apart_while_their_times_matter() {
        let told = told(|events| {
            events.count(LineSource::Agent, second(1), true);
            events.count(LineSource::Agent, second(1), true);
            events.count(LineSource::Agent, second(2), true);
            events.count(LineSource::Agent, second(3), false);
            events.tell(second(3), Entry::Event(Event::Tick));
        });
        assert_eq!(
            told[1..],
            [
                (1.0, Entry::Lines(ClientLines::Agent { lines: 2 })),
                (3.0, Entry::Lines(ClientLines::Agent { lines: 2 })),
                (3.0, Entry::Event(Event::Tick)),
            ]
        );
    }

    #[test]
    fn times_are_read_back_to_the_microsecond() {
        for micros in [0, 1, 999_999, 1_000_001, 123_456_789, 86_400_000_001, 31_536_000_123_457] {
            let at = Duration::from_micros(micros);
            let told = told(|events| events.tell(at, Entry::Event(Event::Tick)));
            assert_eq!(Duration::from_secs_f64(told[1].0), at);
        }
    }

    #[test]
    fn empty_lines_in_a_file_are_not_counted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let long = "x".repeat(600 << 10);
        for (text, lines) in [
            (String::new(), 0),
            ("\n\n".into(), 0),
            ("a\n\nb\n".into(), 2),
            (format!("\n{long}\n{long}\n\n"), 2),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(count_lines(&path).unwrap(), lines);
        }
    }
}
