//! Recordings to test with: a fixture is rehearsed, and what the machine saw and decided is written
//! down as the format says.

use std::fs;
use std::path::{Path, PathBuf};

use ccc::event::{Event, Now, Report};
use ccc::fixture::{MachineStep, Script, run_on_machine_observed};
use ccc::machine::Rules;
use ccc::record::read::{AGENT, EVENTS, SUPERVISOR};
use ccc::record::{Begun, ClientLines, Entry, EventLine, VERSION};
use regex::Regex;

/// Ids as they are in the world: the session's, and a seed of its own.
pub const SESSION: &str = "0f1e2d3c-4b5a-4678-9abc-def012345678";
const SEED: u64 = 0x0000_abcd_1234_5678;

#[derive(Default)]
struct Notes {
    events: Vec<EventLine>,
    agent: Vec<u8>,
    supervisor: Vec<u8>,
    /// Lines that nothing was decided about yet, and of which review.
    pending: Option<(Option<u32>, u64)>,
    now: Now,
}

impl Notes {
    fn write(&mut self, content: Entry) {
        let time = "2026-01-02T03:04:05Z".parse().expect("a time");
        self.events.push(EventLine { v: VERSION, time, at: self.now.as_secs_f64(), content });
    }

    fn settle(&mut self) {
        match self.pending.take() {
            Some((None, lines)) => self.write(Entry::Lines(ClientLines::Agent { lines })),
            Some((Some(review), lines)) => {
                self.write(Entry::Lines(ClientLines::Supervisor { review, lines }));
            }
            None => {}
        }
    }

    fn line(&mut self, review: Option<u32>, raw: &[u8]) {
        if self.pending.is_some_and(|(other, _)| other != review) {
            self.settle();
        }
        let file = if review.is_none() { &mut self.agent } else { &mut self.supervisor };
        file.extend_from_slice(raw);
        file.push(b'\n');
        self.pending.get_or_insert((review, 0)).1 += 1;
    }

    fn witness(&mut self, rehearsed: &MachineStep<'_>) {
        match rehearsed {
            MachineStep::AgentLine(raw) => self.line(None, raw),
            MachineStep::SupervisorLine(review, raw) => self.line(Some(*review), raw),
            MachineStep::Step(event, now, actions) => {
                let printed = matches!(event, Event::Agent(_) | Event::Supervisor { .. });
                if !printed || !actions.is_empty() {
                    self.settle();
                }
                self.now = *now;
                if !printed {
                    self.write(Entry::Event((*event).clone()));
                }
                for action in *actions {
                    self.write(Entry::from(action));
                }
            }
            MachineStep::End(report, now) => {
                self.settle();
                self.now = *now;
                let ended: Report = (*report).clone();
                self.write(Entry::Ended { ended: Box::new(ended), carried: None });
            }
        }
    }
}

/// Appends a run of the fixture to the recording in `dir`.
pub fn record(script: &Script, dir: &Path) {
    let mut notes = Notes::default();
    let rules = script.header.rules().expect("rules");
    let begun = Begun {
        ccc: "0.1.0".to_owned(),
        project: "/srv/somewhere/app".to_owned(),
        provider: None,
        rules: Rules { seed: SEED, ..rules },
        agent_lines: lines_in(&dir.join(AGENT)),
        supervisor_lines: lines_in(&dir.join(SUPERVISOR)),
    };
    notes.write(Entry::Begun { begun: Box::new(begun) });
    run_on_machine_observed(script, &mut |rehearsed| notes.witness(&rehearsed))
        .expect("the fixture holds");
    let mut events = Vec::new();
    for line in &notes.events {
        events.extend(serde_json::to_vec(line).expect("JSON"));
        events.push(b'\n');
    }
    fs::create_dir_all(dir).expect("a directory");
    for (file, content) in [(EVENTS, events), (AGENT, notes.agent), (SUPERVISOR, notes.supervisor)]
    {
        let mut all = fs::read(dir.join(file)).unwrap_or_default();
        all.extend_from_slice(worldly(&content).as_bytes());
        fs::write(dir.join(file), all).expect("a file");
    }
}

fn lines_in(file: &Path) -> u64 {
    fs::read_to_string(file).unwrap_or_default().lines().count() as u64
}

/// With ids as a real session has them.
fn worldly(content: &[u8]) -> String {
    let own = Regex::new("00000000-([0-9a-f]{4}-4[0-9a-f]{3})-8ccc-00000001").expect("a pattern");
    let content = String::from_utf8_lossy(content).replace("\"S1\"", &format!("\"{SESSION}\""));
    own.replace_all(&content, "0000abcd-$1-8ccc-12345678").into_owned()
}

pub fn fixtures() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let entries =
        fs::read_dir(dir).expect("the fixtures").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

pub fn fixture(name: &str) -> Script {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    Script::load(&dir.join(format!("{name}.jsonl"))).expect("a fixture")
}

/// Lines of a file of a recording, to be changed and written again.
pub fn edit(dir: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let path = dir.join(file);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(path, change(text)).expect("a file");
}
