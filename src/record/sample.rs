//! Recordings for tests: a machine is given events, and everything is recorded as the recorder does
//! it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::format::{Begun, ClientLines, Entry, EventLine, VERSION};
use super::read::{AGENT, EVENTS, SUPERVISOR};
use crate::client::stream::Line;
use crate::event::{Action, Event, Outcome};
use crate::machine::{Machine, Rules};

pub struct SampleRecording {
    dir: PathBuf,
    machine: Machine,
    began: Timestamp,
    now: Duration,
    review: u32,
}

impl SampleRecording {
    pub fn begin(dir: &Path, began: &str, rules: Rules) -> Self {
        std::fs::create_dir_all(dir).unwrap();
        let machine = Machine::new(rules.clone());
        let began = began.parse().unwrap();
        let sample = Self { dir: dir.to_owned(), machine, began, now: Duration::ZERO, review: 0 };
        sample.write(Entry::Begun {
            begun: Box::new(Begun {
                ccc: "0.1.0".into(),
                project: "/p/here".into(),
                provider: Some("kimi".into()),
                rules,
                agent_lines: lines(&dir.join(AGENT)),
                supervisor_lines: lines(&dir.join(SUPERVISOR)),
            }),
        });
        sample
    }

    pub fn event(&mut self, event: Event) -> &mut Self {
        self.write(Entry::Event(event.clone()));
        self.step(event);
        self
    }

    pub fn said(&mut self, text: &str) -> &mut Self {
        self.event(Event::Said(text.into()))
    }

    /// The agent takes up its message, works for ten seconds, and finishes.
    pub fn turn(&mut self, session: &str, answer: &str, total_cost: f64) -> &mut Self {
        self.agent(&format!(
            r#"{{"type":"system","subtype":"init","model":"m","session_id":"{session}"}}"#
        ));
        for sent in self.machine.unconfirmed() {
            self.agent(&format!(r#"{{"type":"user","isReplay":true,"uuid":"{sent}"}}"#));
        }
        self.agent(r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"a.rs"}}]}}"#);
        self.now += Duration::from_secs(10);
        self.agent(&format!(
            r#"{{"type":"result","num_turns":1,"result":"{answer}","total_cost_usd":{total_cost}}}"#
        ))
    }

    /// The supervisor runs the tests and judges.
    pub fn verdict(&mut self, completed: bool, feedback: &str) -> &mut Self {
        self.supervisor(r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"v","name":"Bash","input":{"command":"cargo test"}}]}}"#);
        self.now += Duration::from_secs(5);
        self.supervisor(&format!(
            r#"{{"type":"result","num_turns":1,"result":"","total_cost_usd":0.01,"structured_output":{{"completed":{completed},"feedback":"{feedback}"}}}}"#
        ))
    }

    pub fn agent(&mut self, raw: &str) -> &mut Self {
        append(&self.dir.join(AGENT), raw.as_bytes());
        self.write(Entry::Lines(ClientLines::Agent { lines: 1 }));
        for envelope in Line::decode(raw.into()).into_messages() {
            self.step(Event::Agent(envelope));
        }
        self
    }

    pub fn supervisor(&mut self, raw: &str) -> &mut Self {
        let review = self.review;
        append(&self.dir.join(SUPERVISOR), raw.as_bytes());
        self.write(Entry::Lines(ClientLines::Supervisor { review, lines: 1 }));
        for envelope in Line::decode(raw.into()).into_messages() {
            self.step(Event::Supervisor { review, envelope });
        }
        self
    }

    pub fn end(&mut self, outcome: Outcome) {
        let report = self.machine.report(outcome, self.now);
        self.write(Entry::Ended {
            ended: Box::new(report),
            carried: Some(Box::new(self.machine.carried())),
        });
    }

    fn step(&mut self, event: Event) {
        for action in self.machine.step(event, self.now) {
            if let Action::StartReview(request) = &action {
                self.review = request.review;
            }
            self.write(Entry::from(&action));
        }
    }

    fn write(&self, content: Entry) {
        let at = self.now.as_secs_f64();
        let time = self.began + SignedDuration::try_from(self.now).unwrap();
        let line = serde_json::to_vec(&EventLine { v: VERSION, time, at, content }).unwrap();
        append(&self.dir.join(EVENTS), &line);
    }
}

pub fn append(path: &Path, line: &[u8]) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(&[line, b"\n"].concat()).unwrap();
}

fn lines(path: &Path) -> u64 {
    std::fs::read_to_string(path).map_or(0, |text| text.lines().count() as u64)
}
